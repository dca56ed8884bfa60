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
    use everfold_kernel::Boundary;
    use everfold_kernel::record::Keeps;

    #[test]
    fn q10_three_failures_in_a_row_are_a_trip_and_a_model_s_summary_ends_the_row() {
        let failed = || {
            Entry::Decision(Decision::CompactionFailed {
                reason: "too long".into(),
                by: FailedSummary::Model,
            })
        };
        let summed = |way: &str| {
            Entry::Boundary(Boundary {
                trigger: "auto".into(),
                pre_tokens: 1,
                last_before: None,
                preserved: Vec::new(),
                keeps: Keeps::Suffix,
                metadata: serde_json::Map::from_iter([("way".to_owned(), way.into())]),
            })
        };
        let trips = |entries: Vec<Entry>| {
            let mut tally = Tally::default();
            tally.begin_session();
            for entry in entries {
                let at = Timestamp::now();
                tally.take(&Record { id: "r".into(), parent: None, at, entry });
            }
            (tally.failures, tally.trips)
        };
        assert_eq!(trips(vec![failed(), failed(), failed(), failed()]), (4, 1));
        let between = |way: &str| vec![failed(), failed(), summed(way), failed(), failed()];
        assert_eq!(trips(between("local")), (4, 1), "no word of a model");
        assert_eq!(trips(between(BY_MODEL)), (4, 0), "two and two");
        let mut again = between(BY_MODEL);
        again.push(failed());
        assert_eq!(trips(again), (5, 1));
    }

    #[test]
    fn q10_another_session_begins_a_row_of_its_own() {
        let failed = Entry::Decision(Decision::CompactionFailed {
            reason: "too long".into(),
            by: FailedSummary::Model,
        });
        let record =
            || Record { id: "r".into(), parent: None, at: Timestamp::now(), entry: failed.clone() };
        let mut tally = Tally::default();
        for _ in 0..2 {
            tally.begin_session();
            for _ in 0..2 {
                tally.take(&record());
            }
        }
        assert_eq!((tally.failures, tally.trips, tally.sessions), (4, 0, 2));
    }
}
