//! The memory directory on disk: what is in it, how it changes, and how every
//! change can be seen and taken back (L5).
//!
//! - [`location`]: where the directory is.
//! - [`Store`]: opening, listing, reading, saving, forgetting, moving.
//! - [`journal`]: what an entry of the history is.
//! - [`store::inbox`]: changes that wait for a person's word.
//! - [`check`]: what is wrong with a store, and mending it.
//! - [`dream`]: consolidating: the lock, a working copy, swapping it in (L6).
//! - [`usage`]: which memories were of use.
//! - [`catalogue`], [`shelf`]: all memories at once, for recall.
//!
//! A change is one transaction: the file, its line in the index and its entry
//! in the history come together or not at all, whatever happens in between,
//! and however many processes do it at once. What somebody else wrote (a
//! person, Claude Code) is noticed and becomes an entry too.
//!
//! Everything here blocks: callers in async code move it to a thread.

pub mod catalogue;
pub mod check;
mod checksum;
pub mod dream;
mod error;
pub mod journal;
mod likeness;
pub mod location;
mod path;
pub mod shelf;
pub mod store;
pub mod usage;

pub use dream::DirDreams;
pub use error::Error;
pub use journal::{Action, Author, ContentId, EntryId, JournalEntry};
pub use path::TopicPath;
pub use store::{By, Notice, Store, StoreOptions, StoreScope};
