//! Consolidating a memory directory (L6): who may, on what, and how the result
//! comes in. What a dream decides is not this crate's business.
//!
//! - [`lock`]: one dreamer among any number of processes.
//! - [`consolidation`]: the working copy, reading it back, and the swap.
//! - [`DirDreams`]: both as a session uses them.

pub mod consolidation;
pub mod lock;
mod port;

pub use lock::{LOCK_FILE, Taken};
pub use port::DirDreams;
