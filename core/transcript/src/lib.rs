//! The transcript format: records to lines, and lines back to a conversation.
//!
//! A transcript is a file of JSON lines that is only ever appended to. The
//! message lines have the form that Claude Code writes, so that tools for
//! those files work on ours, and its files can be resumed here. What we decide
//! about a conversation stands in `system` lines of our own.
//!
//! The crate is pure: bytes in, records out, and back. Finding, reading and
//! locking files is an adapter's business. Whatever the bytes are, nothing
//! here panics, and no whole line goes missing without being counted.
//!
//! - [`mod@line`]: one record, one line
//! - [`chain`]: all lines, one conversation
//! - [`listing`]: a transcript's entry in a list, from its head and tail
//! - [`bookkeeping`]: lines that are not part of the conversation
//! - [`find`]: words in what was said
//! - [`mod@fork`]: the same conversation under another name
//! - [`trace`]: the whole course of a conversation, and [`checkpoint`]: files on the way
//! - [`redaction`]: the texts of a line, changed
//! - [`mod@slug`]: the name of a project's directory

pub mod bookkeeping;
pub mod chain;
pub mod checkpoint;
pub mod envelope;
pub mod find;
pub mod fork;
pub mod line;
pub mod listing;
pub mod redaction;
pub mod slug;
pub mod trace;

pub use chain::{Conversation, RESUME_POINT, Rebuild, ResumePoint};
pub use checkpoint::Checkpoint;
pub use envelope::{Envelope, ForkedFrom, Side};
pub use fork::{ForkedTranscript, fork};
pub use line::{Decoded, Facts, Line, LineError, decode, decode_said, decode_shown, encode};
pub use listing::{Listed, list, matches};
pub use slug::{is_slug_of, slug};
pub use trace::Trace;
