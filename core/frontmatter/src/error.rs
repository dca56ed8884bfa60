//! Why a frontmatter cannot be changed as asked.

use everfold_kernel::error::{Class, Classify};

/// What stands in the way, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file starts a frontmatter and never ends it.
    #[error("the frontmatter is not closed; end it with a line that is just `---`")]
    FrontmatterUnclosed,
    /// A key that should hold others holds a plain value.
    #[error(
        "`{key}` in the frontmatter is not a block of keys; write its keys on lines of their own below it"
    )]
    NotABlock { key: String },
}

impl Classify for Error {
    fn class(&self) -> Class {
        Class::Refuse
    }
}
