//! The transcript format from the outside: bytes in, conversations out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod encoding;
mod foreign;
mod forking;
mod packed;
mod rebuild;
mod resume_point;
mod robustness;
mod roundtrip;

use everfold_transcript::{Conversation, Rebuild};

/// The conversation in a text of lines.
pub(crate) fn read(text: &str) -> Conversation {
    let mut rebuild = Rebuild::new();
    for line in text.lines() {
        rebuild.push(line.as_bytes());
    }
    rebuild.finish()
}

/// The ids of its records, in order.
pub(crate) fn ids(conversation: &Conversation) -> Vec<&str> {
    let records = conversation.records.iter();
    records.map(|record| record.id.as_str()).collect()
}

/// Whether every line is accounted for.
pub(crate) fn adds_up(conversation: &Conversation) -> bool {
    let tally = conversation.tally;
    tally.lines == tally.shown + tally.aside + tally.links + tally.bookkeeping + tally.skipped
        && tally.skipped == conversation.skipped.len() as u64
}
