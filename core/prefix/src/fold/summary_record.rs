//! What became of the summaries of a conversation (L4.2).

use everfold_kernel::Boundary;
use everfold_kernel::record::FailedSummary;
use serde_json::Value;

/// The key of a boundary under which it says who wrote its summary.
pub(crate) const WAY: &str = "way";
/// The key under which a boundary carries the failures that it did not mend.
pub const MODEL_FAILURES: &str = "modelFailures";

/// How often summaries failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SummaryRecord {
    /// Models that were asked and failed, since one of them succeeded.
    pub model_failures: u32,
    /// Summaries of our own that were rejected since the last boundary.
    pub local_failures: u32,
}

impl SummaryRecord {
    pub(super) fn fail(&mut self, by: FailedSummary) {
        match by {
            FailedSummary::Model => self.model_failures += 1,
            FailedSummary::Local => self.local_failures += 1,
        }
    }

    /// A compaction went through. Only a model's success says anything about
    /// models: a summary that none wrote leaves their failures as they are,
    /// and the boundary carries them for whoever resumes there.
    pub(super) fn follow(&mut self, boundary: &Boundary) {
        self.local_failures = 0;
        self.model_failures = match boundary.metadata.get(WAY).and_then(Value::as_str) {
            Some("local" | "notes") => {
                let carried = boundary.metadata.get(MODEL_FAILURES).and_then(Value::as_u64);
                let carried = carried.and_then(|count| u32::try_from(count).ok());
                carried.unwrap_or(self.model_failures)
            }
            _ => 0,
        };
    }
}
