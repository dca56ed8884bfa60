//! The arguments of `everfold models`.

use clap::Subcommand;
use std::path::PathBuf;

/// `everfold models`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Copy a model and its tokenizer under home, once they were tried
    Add {
        /// The model, an ONNX file of the BERT family
        model: PathBuf,
        /// Its tokenizer.json
        tokenizer: PathBuf,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Show the models that are installed
    List {
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Remove a model
    Remove {
        /// Its name
        name: String,
    },
}
