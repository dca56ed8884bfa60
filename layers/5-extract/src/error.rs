//! What can go wrong in this layer.

use everfold_kernel::{Class, Classify};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The prompt has a hole that nothing fills, or is broken.
    #[error("the prompt of the extraction could not be filled: {0}")]
    Prompt(#[from] minijinja::Error),
}

impl Classify for Error {
    fn class(&self) -> Class {
        Class::Bug
    }
}
