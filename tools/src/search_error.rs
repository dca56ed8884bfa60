//! Why nothing was looked for.

use crate::failure::Failure;
use crate::input::InputError;
use everfold_kernel::ports::SearchError;
use everfold_kernel::{Class, Classify};

/// What Glob and Grep come upon.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SearchToolError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(transparent)]
    Search(#[from] SearchError),
    #[error("the pattern cannot have .. in it; give the directory to look in as \"path\"")]
    LeadsOut,
}

impl Classify for SearchToolError {
    fn class(&self) -> Class {
        match self {
            Self::Search(error) => error.class(),
            _ => Class::Refuse,
        }
    }
}

impl Failure for SearchToolError {}
