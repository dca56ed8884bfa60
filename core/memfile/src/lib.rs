//! The memory file format: what one memory, and the index of many, looks like
//! as text (L5).
//!
//! - [`frontmatter`]: reading what people and models write between two `---`,
//!   and changing one key while every other byte stays.
//! - [`memory`]: one topic file as a whole, read or composed.
//! - [`index`]: `MEMORY.md`, its caps, sub-indexes and what is reachable.
//! - [`taxonomy`]: the four types and what each of them is for.
//! - [`secrets`]: keys and passwords that must not be written.
//! - [`dates`], [`drift`], [`similar`], [`slug`]: relative dates, what a memory
//!   refers to, near-copies, file names.
//!
//! Everything here takes text and gives text or data. No files, no clock; the
//! directory itself is `everfold-memdir`'s business.

pub mod dates;
pub mod drift;
mod error;
pub mod frontmatter;
pub mod index;
pub mod memory;
pub mod secrets;
pub mod similar;
pub mod slug;
pub mod taxonomy;

pub use error::Error;
pub use frontmatter::{Fault, Frontmatter};
pub use index::{Caps, Index, Pointer};
pub use memory::{Draft, Memory};
pub use taxonomy::MemoryType;
