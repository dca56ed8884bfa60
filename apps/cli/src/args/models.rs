//! The arguments of `everfold models`.

use clap::Subcommand;
use std::path::PathBuf;

/// `everfold models`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Try a model and its tokenizer, and copy them to Everfold's home
    Add {
        /// The model, an ONNX file of the BERT family
        model: PathBuf,
        /// Its tokenizer.json
        tokenizer: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the models that are installed
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a model
    Remove {
        /// Its name
        name: String,
    },
}
