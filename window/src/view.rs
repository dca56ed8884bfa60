//! What a rung looks at, and what it decides by that.

use everfold_compact::{CompactionScope, ConversationKind, Due};
use everfold_economy::{CostTerms, PrefixCache, expected_rounds};
use everfold_kernel::record::CacheState;
use everfold_kernel::window::{AutoCompact, WindowState};
use everfold_kernel::{Decision, Flag, Flags, Limits, ModelSpec, Timestamp, Tokens, Window};
use everfold_prefix::Fold;
use everfold_prune::{CacheEdits, Prefix, RequestThread, Situation};

/// A conversation, and what its next request depends on besides.
#[derive(Clone, Copy)]
pub struct LadderView<'a> {
    pub fold: &'a Fold,
    pub window: &'a Window,
    /// The model of the conversation.
    pub model: &'a ModelSpec,
    pub now: Timestamp,
    /// When a fork last read the prefix, which kept it in the cache.
    pub last_fork: Option<Timestamp>,
    /// Whether the provider takes blocks that edit its cache.
    pub cache_edits: CacheEdits,
    /// Tools besides ours whose results can be had again (L2.1).
    pub clearable: &'a [String],
    pub flags: &'a Flags,
    pub limits: &'a Limits,
}

/// Who writes a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// A model, of all that goes.
    Model,
    /// A model, of what its cache has (E9).
    ModelOfCached,
    /// Nobody: the summary is our own.
    Nobody,
}

/// A request that would not leave room for its answer, with auto-compact off (T4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the conversation has {} tokens, and requests are refused over {} with auto-compact off; \
     start a new session, or turn auto-compact on (autoCompactEnabled)",
    .count.0, .most.0
)]
pub struct Refusal {
    pub count: Tokens,
    pub most: Tokens,
}

impl LadderView<'_> {
    /// What the server has of the conversation now.
    #[must_use]
    pub fn cache(&self) -> PrefixCache {
        PrefixCache::of(self.fold, self.now, self.last_fork, self.limits.prune.idle_minutes)
    }

    /// What a sum about the conversation is made with.
    #[must_use]
    pub fn terms(&self) -> CostTerms {
        let rounds = expected_rounds(self.fold, self.limits.prune.expected_rounds);
        self.cache().terms(self.model, self.fold.count(), rounds)
    }

    /// The stale results that pay for being cleared (L2).
    #[must_use]
    pub fn clearing(&self) -> Option<Decision> {
        let unanswered_break = self.fold.last_break() > self.fold.last_response();
        let situation = Situation {
            thread: RequestThread::Main,
            now: self.now,
            last_fork: self.last_fork,
            prefix: if unanswered_break { Prefix::Broken } else { Prefix::Kept },
            model: self.model,
            cache_edits: self.cache_edits,
            clearable: self.clearable,
            flags: self.flags,
            limits: self.limits,
        };
        everfold_prune::plan(self.fold, &situation)
    }

    /// Whether the conversation has to be compacted before the next request.
    #[must_use]
    pub fn due(&self) -> Due {
        let kind = ConversationKind::MainThread;
        everfold_compact::policy::due(self.fold, self.window, self.flags, self.limits, kind)
    }

    /// Who sums up, and what, where a model may be asked: where a batch of
    /// results jumped over the threshold, what the cache still has.
    #[must_use]
    pub fn writer(&self) -> (Writer, CompactionScope) {
        let cache = self.cache();
        let is_warm = cache.state == CacheState::Warm && cache.cached > Tokens(0);
        let uncached = cache.uncached(self.fold);
        let jump = || everfold_compact::plan::jump(self.fold, self.window, uncached, self.limits);
        match is_warm.then(jump).flatten() {
            Some(scope) => (Writer::ModelOfCached, scope),
            None => (Writer::Model, CompactionScope::All),
        }
    }

    /// Why no request can be made, where none can.
    ///
    /// # Errors
    /// If the conversation is over the last threshold, and nothing may be done
    /// about it.
    pub fn check_window(&self) -> Result<(), Refusal> {
        // Collapsing takes the place of compaction and refuses by itself.
        let on = self.flags.is_on(Flag::AutoCompact) || self.flags.is_on(Flag::Collapse);
        let auto = if on { AutoCompact::On } else { AutoCompact::Off };
        let count = self.fold.count();
        match self.window.state(count, auto) {
            WindowState::Blocked => Err(Refusal { count, most: self.window.refuse }),
            _ => Ok(()),
        }
    }
}
