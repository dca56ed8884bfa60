//! What a rebuild gives.

use super::index;
use super::point::ResumePoint;
use crate::bookkeeping::SessionNames;
use crate::line::LineError;
use everfold_kernel::{BlockView, Decision, Entry, Ledger, Record, RecordId, SessionId, ToolUseId};
use std::collections::BTreeSet;

/// A conversation as its transcript has it.
#[derive(Debug, Default)]
pub struct Conversation {
    /// The records, in the order of the conversation: decisions from before
    /// the boundary that still hold, the boundary, and what follows it with
    /// the preserved records in their place. Blocks of one response stand
    /// together, in order.
    pub records: Vec<Record>,
    /// Calls that have no result.
    pub unanswered: Vec<ToolUseId>,
    /// Tool results that were shown to the model in another form (Claude Code).
    pub replacements: Vec<(ToolUseId, String)>,
    /// All requests that were ever booked in this file, shown or not, except
    /// for those that a fork copied.
    pub ledger: Ledger,
    /// The best title there is.
    pub title: Option<String>,
    /// How it was named, for whoever writes that again.
    pub names: SessionNames,
    /// The session that the lines name last.
    pub session: Option<SessionId>,
    /// The directory that the session was started in.
    pub cwd: Option<String>,
    /// Version of the program that wrote last.
    pub version: Option<String>,
    /// Lines that were not taken in, and why.
    pub skipped: Vec<Skipped>,
    /// Records that belong to the conversation but are not there: ids that
    /// the file does not have, or records that were let go at a boundary which
    /// a rewind then undid. Where it is not zero, [`keeping_all`](super::Rebuild::keeping_all)
    /// over the same lines gives all that the file has.
    pub missing: u64,
    /// Whether the person ever went back (Q12). What is shown may then need
    /// records that were let go at a boundary on a branch that was left.
    pub went_back: bool,
    /// What the lines were.
    pub tally: LineTally,
    /// Where it may be read from the next time (E11); none where it was not
    /// compacted, or the lines had no places.
    pub resume_point: Option<ResumePoint>,
}

/// A line that was not taken in.
#[derive(Debug)]
pub struct Skipped {
    /// Its number, from 1. Blank lines count here.
    pub line: u64,
    pub reason: SkipReason,
}

/// Why a line was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum SkipReason {
    /// It could not be read.
    #[error(transparent)]
    Unreadable(#[from] LineError),
    /// An earlier line has the same id; that one holds.
    #[error("an earlier line has the uuid {0}; this one was skipped")]
    Duplicate(RecordId),
}

/// What became of the lines. The last five add up to the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineTally {
    /// Lines that are not blank.
    pub lines: u64,
    /// Lines that are part of the conversation.
    pub shown: u64,
    /// Records of sidechains, of branches that were left, and from before the
    /// newest boundary.
    pub aside: u64,
    /// Links of the chain that say nothing.
    pub links: u64,
    /// Lines beside the conversation.
    pub bookkeeping: u64,
    /// Lines that were not taken in.
    pub skipped: u64,
}

/// Calls without a result, in order. A response that was taken back asks for none.
pub(super) fn unanswered(records: &[Record]) -> Vec<ToolUseId> {
    let mut retracted = BTreeSet::new();
    let mut answered = BTreeSet::new();
    for record in records {
        match &record.entry {
            Entry::Decision(Decision::Retracted { message_id, .. }) => {
                retracted.insert(message_id);
            }
            Entry::User(user) => answered.extend(user.content.iter().filter_map(index::answers)),
            _ => {}
        }
    }
    let calls = records.iter().filter_map(|record| match &record.entry {
        Entry::Assistant(entry) if !retracted.contains(&entry.message_id) => {
            match entry.block.view() {
                BlockView::ToolUse { id, .. } if !answered.contains(id) => Some(ToolUseId::new(id)),
                _ => None,
            }
        }
        _ => None,
    });
    calls.collect()
}
