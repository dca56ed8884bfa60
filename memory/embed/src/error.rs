//! Why a model cannot be used. Recall goes on by words.

use everfold_kernel::{Class, Classify};
use std::path::PathBuf;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This build runs no models.
    #[error("this build of everfold runs no sentence models")]
    NotBuilt,
    /// A file cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// The folder of models cannot be written.
    #[error("the folder of models {path} cannot be written: {source}")]
    Unwritable { path: PathBuf, source: std::io::Error },
    /// A file is no tokenizer that this program knows.
    #[error("{path} is not a WordPiece tokenizer: {message}")]
    NoTokenizer {
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A file is no model, or none that makes vectors of texts.
    #[error("{path} is not an ONNX model that turns text into vectors: {message}")]
    NoModel {
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The files are not what was installed.
    #[error("the model {name} is damaged: its files are not what was installed")]
    Damaged { name: String },
    /// There is no model of this name.
    #[error("no model {name}")]
    NoSuch { name: String },
}

impl Classify for Error {
    fn class(&self) -> Class {
        match self {
            Self::NotBuilt | Self::NoSuch { .. } => Class::Refuse,
            _ => Class::Degrade,
        }
    }
}
