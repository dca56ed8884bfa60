//! Transcripts of several agents, read line by line into the kernel's records
//! (PC7, C3).
//!
//! Ours, Claude Code's (all generations), Codex rollouts, sessions of pi, of
//! Gemini CLI and of opencode. What a [`Reader`] tells is the conversation *as it went*: every
//! response once, its blocks together and in order, its usage once, results
//! after their calls; sidechains as threads of their own; boundaries where they
//! were; branches that were left taken back where that happened. Unlike a
//! resume (`everfold-transcript`'s rebuild) nothing before a boundary is left
//! out: this is for those who ask what a session did and cost.
//!
//! Lines go in one at a time, and what is held is one open response for each
//! thread and an index of ids. Whatever the lines are, nothing panics, and
//! what could not be taken in is counted and named ([`ImportTally`]).
//!
//! Tools of other agents get our names, and the one argument that tells what
//! they touched gets our name for it, so that layers know them; see [`tools`].
//!
//! ```
//! use everfold_foreign::{Format, Reader, What};
//!
//! let lines = [
//!     r#"{"type":"session","id":"s","cwd":"/p","timestamp":"2026-01-01T10:00:00Z"}"#,
//!     r#"{"type":"message","timestamp":"2026-01-01T10:00:01Z","message":{"role":"user","content":"hi"}}"#,
//! ];
//! let mut told = Vec::new();
//! let mut reader = Reader::new();
//! for line in lines {
//!     reader.push(line.as_bytes(), &mut |one| told.push(one));
//! }
//! let about = reader.finish(&mut |one| told.push(one));
//! assert_eq!(about.format, Some(Format::Pi));
//! assert!(matches!(told[0].what, What::Record(_)));
//! ```

mod claude;
mod codex;
mod fields;
mod gemini;
mod opencode;
mod origin;
mod pi;
mod reader;
mod response;
mod tally;
pub mod tools;
mod trail;

pub use gemini::without_hooks;
pub use opencode::without_shell_quotes;
pub use reader::{About, Format, Reader, Sink, Thread, TranscriptEvent, What};
pub use tally::{ImportTally, SkippedParts};
