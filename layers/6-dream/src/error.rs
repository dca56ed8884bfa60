//! Why something about a dream did not work.

use everfold_kernel::{Class, Classify};

/// What failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A prompt could not be filled.
    #[error("the prompt of the dream could not be filled: {source}")]
    Prompt {
        /// Why.
        source: minijinja::Error,
    },
}

impl Classify for Error {
    fn class(&self) -> Class {
        Class::Bug
    }
}
