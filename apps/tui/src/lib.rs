//! The terminal of Mnemon: the conversation, and what is behind it.

mod look;
mod page;

pub use look::Look;
pub use page::Page;
