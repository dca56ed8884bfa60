//! What transcripts tell of the layers.

use crate::record_filter::telling;
use everfold_kernel::record::FailedSummary;
use everfold_kernel::{Decision, Entry, Ledger, Limits, QuerySource, Record, Usage};
use everfold_memory_recall::inject::{self, KIND};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// What the lines have in them that matter here; others need not be read.
const TELLING: [&str; 6] = [
    "everfold_booked",
    "everfold_extracted",
    "everfold_compaction_failed",
    "everfold_break_seen",
    "compact_boundary",
    KIND,
];
/// The way of a summary that does not say.
const BY_MODEL: &str = "model";

/// Counts over sessions.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) sessions: u64,
    pub(super) ledger: Ledger,
    /// Summaries by their way: `notes`, `model`, `local`.
    pub(super) summaries: BTreeMap<String, u64>,
    pub(super) failures: u64,
    /// How often failures in a row ended automatic summaries (L4.2).
    pub(super) trips: u64,
    pub(super) breaks: u64,
    pub(super) recalled: u64,
    pub(super) saved: u64,
    pub(super) refused: Vec<String>,
    /// Sessions in which reviews were put off for want of budget (L5.42).
    pub(super) put_off: u64,
    in_a_row: u32,
}

impl Tally {
    /// The lines of another session follow.
    pub(super) fn begin_session(&mut self) {
        self.sessions += 1;
        self.in_a_row = 0;
    }

    /// Takes a line of a transcript.
    pub(super) fn note(&mut self, line: &[u8], since: Option<Timestamp>) {
        if let Some(line) = telling(line, &TELLING)
            && since.is_none_or(|since| line.record.at >= since)
        {
            self.take(&line.record);
        }
    }

    fn take(&mut self, record: &Record) {
        match &record.entry {
            Entry::Boundary(boundary) => {
                let way = boundary.metadata.get("way").and_then(Value::as_str).unwrap_or(BY_MODEL);
                *self.summaries.entry(way.to_owned()).or_default() += 1;
                // A summary that no model wrote says nothing of models (L4.2).
                if way == BY_MODEL {
                    self.in_a_row = 0;
                }
            }
            Entry::Attachment(attachment) if attachment.kind == KIND => {
                self.recalled += inject::each(&attachment.data).count() as u64;
            }
            Entry::Decision(Decision::Booked(booking)) => self.ledger.book(booking),
            Entry::Decision(Decision::BreakSeen(_)) => self.breaks += 1,
            Entry::Decision(Decision::CompactionFailed { by, .. }) => {
                self.failures += 1;
                self.in_a_row += u32::from(*by == FailedSummary::Model);
                let opens = Limits::default().compact.breaker_failures;
                self.trips += u64::from(self.in_a_row == opens);
            }
            Entry::Decision(Decision::Extracted(extracted)) => {
                self.put_off += u64::from(extracted.put_off.is_some());
                self.saved += extracted.saved.len() as u64;
                self.refused.extend(extracted.refused.iter().cloned());
            }
            _ => {}
        }
    }

    /// What the main thread used.
    pub(super) fn main(&self) -> Usage {
        let main = QuerySource::Main.to_string();
        let lines = self.ledger.lines().filter(|(source, ..)| *source == main);
        lines.fold(Usage::default(), |mut usage, (_, _, line)| {
            usage.add(&line.usage);
            usage
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q10_three_failures_in_a_row_are_a_trip_and_a_summary_ends_the_row() {
        let mut tally = Tally::default();
        let failed = Entry::Decision(Decision::CompactionFailed {
            reason: "too long".into(),
            by: FailedSummary::Model,
        });
        let record = |entry| Record { id: "r".into(), parent: None, at: Timestamp::now(), entry };
        tally.begin_session();
        for _ in 0..4 {
            tally.take(&record(failed.clone()));
        }
        tally.begin_session();
        tally.take(&record(failed));
        assert_eq!((tally.failures, tally.trips, tally.sessions), (5, 1, 2));
    }
}
