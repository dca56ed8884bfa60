//! When results are cleared, and which tools' results may be.

use everfold_economy::{CostTerms, SECONDS_A_MINUTE, cache_state, expected_rounds};
use everfold_kernel::record::{CacheState, ClearTrigger};
use everfold_kernel::{Flag, Flags, Limits, ModelSpec, Timestamp};
use everfold_prefix::Fold;

/// Tools whose results can be had again, or are stale once acted on (L2.1).
const CLEARABLE: [&str; 8] =
    ["Read", "Bash", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write"];

/// Whether the results of a tool may be cleared on our side. A tool of an MCP
/// server never is: nobody knows whether it can be asked again.
#[must_use]
pub fn is_clearable(tool: &str) -> bool {
    CLEARABLE.contains(&tool)
}

/// How the names of tools begin that MCP servers bring.
pub(crate) const MCP_PREFIX: &str = "mcp__";

/// What a decision depends on besides the conversation.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// Whose request comes next.
    pub thread: RequestThread,
    pub now: Timestamp,
    /// When a fork last read the prefix of this conversation, which kept it
    /// in the cache.
    pub last_fork: Option<Timestamp>,
    /// Whether the next request starts as the last one did.
    pub prefix: Prefix,
    /// The model of the conversation.
    pub model: &'a ModelSpec,
    /// What the provider says of cache edits.
    pub cache_edits: CacheEdits,
    /// Tools besides those of L2.1 whose results can be had again, where the
    /// loop is somebody else's.
    pub clearable: &'a [String],
    pub flags: &'a Flags,
    pub limits: &'a Limits,
}

/// Whose request comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestThread {
    Main,
    /// A fork: it shows the parent's bytes, and decides nothing about them.
    Fork,
}

/// Whether the next request starts as the last one did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefix {
    #[default]
    Kept,
    /// It does not: another model or prelude, a boundary. The cache is of no
    /// use to it whatever the time.
    Broken,
}

/// Whether a provider takes blocks that edit its cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheEdits {
    /// Its settings say so.
    Offered,
    /// It does not.
    #[default]
    NotOffered,
}

impl Situation<'_> {
    /// Whether the results of a tool may be cleared here.
    #[must_use]
    pub fn may_clear(&self, tool: &str) -> bool {
        is_clearable(tool) || self.clearable.iter().any(|own| own == tool)
    }

    /// Whether cache edits may be sent (L2.3).
    #[must_use]
    pub fn edits_cache(&self) -> bool {
        self.flags.is_on(Flag::PruneCacheEdit) && self.cache_edits == CacheEdits::Offered
    }

    /// Whether results may be cleared on our side (L2.2, L2.7).
    #[must_use]
    pub fn clears(&self) -> bool {
        self.flags.is_on(Flag::PruneTime)
    }

    /// What would call for a clearing now: the time since the last answer, or
    /// else only the sum.
    #[must_use]
    pub fn trigger(&self, fold: &Fold) -> ClearTrigger {
        let most = i64::try_from(self.limits.prune.idle_minutes).unwrap_or(i64::MAX);
        let most = most.saturating_mul(SECONDS_A_MINUTE);
        let is_idle = fold
            .last_response()
            .is_some_and(|last| self.now.as_second().saturating_sub(last.as_second()) > most);
        if is_idle { ClearTrigger::Time } else { ClearTrigger::Economy }
    }

    /// Everything that the sum of a clearing needs but the tokens.
    #[must_use]
    pub fn terms(&self, fold: &Fold) -> CostTerms {
        let ttl = fold.cached_for();
        let last_use = fold.last_response().max(self.last_fork);
        let cache = match self.prefix {
            Prefix::Kept => cache_state(self.now, last_use, ttl, self.limits.prune.idle_minutes),
            Prefix::Broken => CacheState::Cold,
        };
        CostTerms {
            prices: self.model.prices_for(fold.count().0).copied(),
            ttl,
            cache,
            rounds: expected_rounds(fold, self.limits.prune.expected_rounds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l2_1_only_the_listed_tools_are_clearable() {
        for tool in CLEARABLE {
            assert!(is_clearable(tool));
            assert!(!is_clearable(&format!("{MCP_PREFIX}files__{tool}")));
            assert!(!is_clearable(&tool.to_lowercase()));
        }
        for tool in ["", "Task", "TodoWrite", "ResultRead", "mcp__Read", "NotebookEdit"] {
            assert!(!is_clearable(tool), "{tool}");
        }
    }
}
