//! What stands between the two `---` at the head of a memory, a skill, an
//! agent or a rule (CONTRACTS 3.6).
//!
//! Broken frontmatter is read as far as it goes and says so with a [`FrontmatterFault`];
//! it is never a reason to lose the body. Writing is by [`set`] and [`remove`],
//! which change one key and keep every other byte.

mod error;
mod fence;
mod lines;
mod repair;
mod splice;
mod values;

pub use error::Error;
pub use fence::{Fence, fence};
pub use splice::{Key, Value, newline_of, remove, set};
pub use values::{read, text, texts};

/// Something that was not as it should be; what could be read was read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontmatterFault {
    /// It is never closed, so all of the file is body.
    #[error("the frontmatter is not closed; end it with a line that is just `---`")]
    Unclosed,
    /// It is no YAML; values were put in quotes to read it.
    #[error(
        "the frontmatter is not valid YAML ({message}); put values with special characters in quotes"
    )]
    Repaired {
        /// What the YAML reader said.
        message: String,
    },
    /// It is no YAML and could not be made so; its lines were read one by one.
    #[error("the frontmatter cannot be read as YAML ({message}); only its plain lines were read")]
    Unreadable {
        /// What the YAML reader said.
        message: String,
    },
}
