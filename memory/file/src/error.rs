//! Why the index cannot be changed as asked.

use everfold_kernel::error::{Class, Classify};

/// What stands in the way, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The index stays over its caps whatever is moved.
    #[error(
        "the index is at {lines} lines and {bytes} bytes, over its caps, and has too few pointers to move into a sub-index; shorten it by hand"
    )]
    IndexFull {
        /// Its lines.
        lines: usize,
        /// Its bytes.
        bytes: usize,
    },
}

impl Classify for Error {
    fn class(&self) -> Class {
        Class::Refuse
    }
}
