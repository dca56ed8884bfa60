//! The memory file format: what one memory, and the index of many, looks like
//! as text (L5).
//!
//! - [`frontmatter`]: reading what people and models write between two `---`,
//!   and changing one key while every other byte stays.
//! - [`memory`]: one topic file as a whole, read or composed.
//! - [`index`]: `MEMORY.md`, its caps, sub-indexes and what is reachable.
//! - [`taxonomy`]: the four types and what each of them is for.
//! - [`slug`]: file names.
//!
//! Everything here takes text and gives text or data. No files, no clock; the
//! directory itself is `memory/store`'s business, and what may be in it
//! `memory/judge`'s.

mod error;
pub mod frontmatter;
pub mod index;
pub mod memory;
pub mod slug;
pub mod taxonomy;

pub use error::Error;
pub use frontmatter::{Frontmatter, FrontmatterFault};
pub use index::{Caps, Index, Pointer};
pub use memory::{Memory, MemoryDraft};
pub use taxonomy::MemoryType;
