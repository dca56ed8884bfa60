//! Why something about a dream did not work.

use everfold_kernel::{Class, Classify};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A prompt could not be filled.
    #[error("the prompt of the dream could not be filled: {source}")]
    Prompt { source: minijinja::Error },
}

impl Classify for Error {
    fn class(&self) -> Class {
        Class::Bug
    }
}
