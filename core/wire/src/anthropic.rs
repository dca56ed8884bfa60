//! Anthropic's Messages API, the response side.
//!
//! [`Assembler`] turns the events of a stream into whole blocks,
//! [`parse_message`] takes an answer that came in one piece. Blocks keep every
//! field that the server sent, known or not, because they go back unmodified.

mod assemble;
mod message;
mod usage;
mod version;

pub use assemble::Assembler;
pub use message::parse_message;
pub use usage::UsageTally;
pub use version::{Version, VersionRefusal};
