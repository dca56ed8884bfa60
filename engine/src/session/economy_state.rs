//! What a session holds between two turns to spend less (E1, E4).

use everfold_compact::CompactionScope;
use everfold_kernel::record::ActSum;
use everfold_kernel::{RecordId, Timestamp, Usd};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

/// Sums of a branch of the conversation, and what follows from them.
#[derive(Default)]
pub(crate) struct EconomyState {
    /// Acts that a sum spoke against, and that the log says so of.
    pub(crate) left_acts: BTreeSet<String>,
    /// A summary that is made beside the conversation.
    pub(crate) summary: Option<PendingSummary>,
}

/// A summary that is made, or will be before the cache expires.
pub(crate) struct PendingSummary {
    /// What it stands for.
    pub(crate) scope: CompactionScope,
    /// The last record that it was made of.
    pub(crate) through: RecordId,
    /// Why it is made.
    pub(crate) sum: ActSum,
    /// What is lost if nothing follows.
    pub(crate) loss: Usd,
    /// Whether a model was asked: until then it can be given up.
    pub(crate) asked: Arc<AtomicBool>,
    /// What came of it.
    pub(crate) answer: oneshot::Receiver<SummaryAnswer>,
    /// Waits until it is time. The task that asks is the background's.
    #[expect(dead_code, reason = "it is held, and ends with this")]
    pub(crate) timer: AbortOnDropHandle<()>,
}

/// What came of asking for a summary.
pub(crate) enum SummaryAnswer {
    /// What the model wrote, and when it was asked.
    Text {
        text: String,
        asked: Timestamp,
    },
    Failed(String),
}
