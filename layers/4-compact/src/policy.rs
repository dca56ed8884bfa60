//! When a conversation is compacted.
//!
//! A pure look at the fold: canonical count, switches, breaker. By hand
//! (`/compact`) a person decides, and nothing here is asked but
//! [`may_start`].

use everfold_kernel::{Flag, Flags, Limits, QuerySource, Tokens, Window};
use everfold_prefix::Fold;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationKind {
    /// The one with the person.
    MainThread,
    /// A sub-agent's: it compacts itself (L7.8).
    SubAgent,
    /// A fork that works in the background: never compacted (L4.9).
    BackgroundFork,
}

impl From<&QuerySource> for ConversationKind {
    fn from(source: &QuerySource) -> Self {
        match source {
            QuerySource::Main => Self::MainThread,
            QuerySource::Agent(_) => Self::SubAgent,
            _ => Self::BackgroundFork,
        }
    }
}

/// Whether a compaction is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// It is not.
    No,
    /// It is, and a model may be asked.
    Yes,
    /// It is, but too many tries failed in a row: only a local summary serves (L4.11).
    BreakerOpen,
}

/// The count over which a compaction is due. Where the buffer eats the whole
/// of a small window, the effective window itself is the threshold.
#[must_use]
pub fn threshold(window: &Window) -> Tokens {
    if window.auto_compact == Tokens(0) { window.effective } else { window.auto_compact }
}

/// Whether a compaction may be started at all from here (L4.9).
#[must_use]
pub fn may_start(origin: ConversationKind) -> bool {
    origin != ConversationKind::BackgroundFork
}

/// Whether the conversation has to be compacted before the next request.
///
/// Once even local summaries were rejected in a row, nothing more is tried
/// until a compaction by hand succeeds: trying again could not help (L4.15).
#[must_use]
pub fn due(
    fold: &Fold,
    window: &Window,
    flags: &Flags,
    limits: &Limits,
    origin: ConversationKind,
) -> Due {
    let on = flags.is_on(Flag::AutoCompact) && !flags.is_on(Flag::Collapse);
    if !on || !may_start(origin) || fold.count() <= threshold(window) {
        return Due::No;
    }
    if fold.summaries().local_failures >= limits.compact.breaker_failures {
        return Due::No;
    }
    if is_breaker_open(fold, limits) { Due::BreakerOpen } else { Due::Yes }
}

/// Whether models failed so often that none is asked again (L4.2). Summaries
/// of our own in between change nothing about that.
#[must_use]
pub fn is_breaker_open(fold: &Fold, limits: &Limits) -> bool {
    fold.summaries().model_failures >= limits.compact.breaker_failures
}
