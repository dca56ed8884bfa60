//! Whether a compaction is worth having (L4.15).
//!
//! It is accepted only if it ends at or under the threshold, and if what it
//! puts there is smaller by a set share than what it takes away. So a
//! conversation is compacted again only after something new was said, and no
//! sequence of messages makes the loop compact without end. A local summary
//! is the last resort: for it, smaller is enough.

use crate::plan::Summariser;
use crate::policy::threshold;
use everfold_kernel::record::FailedSummary;
use everfold_kernel::{Class, Classify, Decision, Tokens, Window};
use everfold_kernel::{Limits, limits::CompactLimits};
use everfold_prefix::{Fold, Message};

/// Why a compaction was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The conversation would still be too long.
    #[error("{after} tokens would be left, still over the threshold of {threshold}")]
    StillOver {
        /// Tokens after it.
        after: u64,
        threshold: u64,
    },
    /// Too little would be gained.
    #[error("the summary of {replaced} tokens would take {replacement}: too little is gained")]
    NoGain {
        /// Tokens that would go.
        replaced: u64,
        /// Tokens that would come.
        replacement: u64,
    },
    /// The model gave no summary.
    #[error("the model gave no summary: {reason}")]
    NoSummary { reason: String },
}

impl Classify for Rejection {
    fn class(&self) -> Class {
        Class::Degrade
    }
}

impl Rejection {
    /// What goes into the log: it counts as a failure of whoever wrote the
    /// summary (L4.2).
    #[must_use]
    pub fn decision(&self, by: FailedSummary) -> Decision {
        Decision::CompactionFailed { reason: self.to_string(), by }
    }
}

/// What a compaction does to the size of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The canonical count after it.
    pub after: Tokens,
    /// Raw tokens that go.
    pub replaced: Tokens,
    /// Raw tokens that come.
    pub replacement: Tokens,
}

impl Sizes {
    /// Compares a conversation with itself after a compaction; `kept` are the
    /// raw tokens that stay.
    #[must_use]
    pub fn of(before: &Fold, after: &Fold, kept: Tokens) -> Self {
        let raw = |fold: &Fold| fold.messages().iter().map(Message::tokens).sum::<Tokens>();
        Self { after: after.count(), replaced: raw(before) - kept, replacement: raw(after) - kept }
    }

    /// Whether it is accepted.
    ///
    /// # Errors
    /// Why it is not.
    pub fn judge(
        &self,
        way: Summariser,
        window: &Window,
        limits: &Limits,
    ) -> Result<(), Rejection> {
        let threshold = threshold(window);
        if self.after > threshold {
            return Err(Rejection::StillOver { after: self.after.0, threshold: threshold.0 });
        }
        if !self.is_gain(way, &limits.compact) {
            return Err(Rejection::NoGain {
                replaced: self.replaced.0,
                replacement: self.replacement.0,
            });
        }
        Ok(())
    }

    fn is_gain(&self, way: Summariser, limits: &CompactLimits) -> bool {
        let left = 100_u64.saturating_sub(limits.least_gain_percent);
        match way {
            Summariser::Local => self.replacement < self.replaced,
            Summariser::Model | Summariser::Notes => {
                self.replacement.0.saturating_mul(100) <= self.replaced.0.saturating_mul(left)
            }
        }
    }
}
