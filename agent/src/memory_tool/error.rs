//! What a model is told of a command that was not carried out, in the words of
//! the file tool of Anthropic's SDK, which models know.

use super::path::{TOP, shown_name};
use everfold_kernel::ports::MemoryError;
use everfold_kernel::{Class, Classify};
use everfold_memory_file::index::INDEX_FILE;
use everfold_memory_store::Error;

/// Why a command was not carried out. What is printed goes to the model.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("The path {0} does not exist. Please provide a valid path.")]
    NothingThere(String),
    #[error("The path {0} is not a file.")]
    NoFile(String),
    #[error("The path {0} does not exist")]
    Missing(String),
    #[error("File {0} already exists")]
    Exists(String),
    #[error("The destination {0} already exists")]
    Taken(String),
    #[error("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")]
    NotFound { old: String, path: String },
    #[error(
        "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. \
         Please ensure it is unique"
    )]
    Ambiguous { old: String, lines: String },
    #[error("Invalid `insert_line` parameter: {at}. It should be within the range [0, {most}].")]
    NoSuchLine { at: i64, most: usize },
    #[error("File {0} exceeds maximum line limit of 999,999 lines.")]
    TooLong(String),
    #[error("Cannot {0} the /memories directory itself")]
    Top(&'static str),
    #[error(
        "Error: {index} is the index of the memories and cannot be {0}",
        index = shown_name(INDEX_FILE)
    )]
    Index(&'static str),
    #[error("Path must start with {top}, got: {0}", top = TOP)]
    Elsewhere(String),
    #[error("Path {0} would escape {top} directory", top = TOP)]
    Escapes(String),
    #[error("Error: nearly the same waits for the person under another name")]
    WaitsElsewhere,
    /// The one gate says no.
    #[error("Error: {0}")]
    Gate(String),
    #[error("Error: {0}")]
    Store(#[from] Error),
    #[error("Error: {0}")]
    Memory(#[from] MemoryError),
}

impl Classify for Refused {
    fn class(&self) -> Class {
        match self {
            Self::Store(error) => error.class(),
            Self::Memory(error) => error.class(),
            _ => Class::Refuse,
        }
    }
}
