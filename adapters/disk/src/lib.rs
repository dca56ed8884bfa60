//! The disk: everything that touches files, in one place.
//!
//! - [`Root`]: a directory that nothing done through it can leave.
//! - [`atomic`]: a file written whole or not at all, at any path.
//! - [`Lock`]: one holder at a time, among processes.
//! - [`jsonl`]: lines that survive a crash, read without loading the file.
//! - [`read_regular`]: a file of bounded size, and nothing but a file.
//! - [`retention`]: sessions that nobody has touched for long.
//! - [`session_files`]: all that belongs to one.
//! - [`DirectoryWatch`]: whether anything changed in a directory.
//! - [`DiskFiles`], [`DiskTranscripts`] and [`DiskSpending`]: the ports of the kernel.
//!
//! What is ours (transcripts, memories, spills, locks) is made with 0600 in
//! directories with 0700; a person's own files keep their permissions.
//!
//! [`Root`], [`atomic`], [`Lock`] and [`jsonl`] block; callers in async code
//! move them to a thread where the work may be long.

pub mod atomic;
mod claims;
mod error;
mod files;
pub mod jsonl;
mod lock;
mod private;
mod regular;
pub mod retention;
mod root;
pub mod session_files;
mod spending;
mod transcripts;
mod watch;

pub use error::Error;
pub use files::DiskFiles;
pub use lock::Lock;
pub use private::PrivateTranscripts;
pub use regular::{open_regular, read_regular, read_regular_text};
pub use root::{EntryKind, HeldFile, Root, RootEntry};
pub use spending::DiskSpending;
pub use transcripts::DiskTranscripts;
pub use watch::DirectoryWatch;
