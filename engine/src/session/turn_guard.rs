//! What keeps a turn from costing without end (L4.15, E7): how soon the view
//! was full again after a summary, and what summaries and repeated requests
//! have cost in this turn.

use everfold_kernel::Usd;
use everfold_kernel::limits::EconomyLimits;
use serde_json::Value;
use std::collections::BTreeSet;

/// The state of one turn. Requests since the last summary are counted over
/// turns.
#[derive(Default)]
pub(crate) struct TurnGuard {
    /// Answers since the last compaction; none before the first.
    since_compaction: Option<u32>,
    refills: u32,
    /// What summaries and repeated requests cost.
    extra: f64,
    /// What the person let it cost besides the ceiling.
    raised: f64,
    /// The calls of this turn, each by its tool and arguments.
    calls: BTreeSet<String>,
    /// Those that are made a second time.
    repeated: BTreeSet<String>,
}

impl TurnGuard {
    pub(crate) fn begin_turn(&mut self) {
        *self = Self { since_compaction: self.since_compaction, ..Self::default() };
    }

    pub(crate) fn answered(&mut self) {
        self.since_compaction = self.since_compaction.map(|count| count.saturating_add(1));
    }

    /// The conversation was compacted.
    pub(crate) fn compacted(&mut self) {
        self.since_compaction = Some(0);
    }

    /// The view is full. Says whether that makes a thrash of it, now.
    pub(crate) fn is_full(&mut self, limits: &EconomyLimits) -> bool {
        if self.since_compaction.is_some_and(|since| since <= limits.refill_rounds) {
            self.refills += 1;
            return self.refills == limits.refills;
        }
        false
    }

    /// Whether no more summaries are bought in this turn.
    pub(crate) fn is_thrashing(&self, limits: &EconomyLimits) -> bool {
        self.refills >= limits.refills
    }

    /// A summary or a repeated request was paid for.
    pub(crate) fn spend(&mut self, cost: Option<Usd>) {
        self.extra += cost.unwrap_or_default().0;
    }

    /// What they cost in this turn.
    pub(crate) fn spent(&self) -> Usd {
        Usd(self.extra)
    }

    /// Whether that is more than they may.
    pub(crate) fn is_over(&self, ceiling: f64) -> bool {
        ceiling > 0.0 && self.extra >= ceiling + self.raised
    }

    /// The person lets it go on, for as much again.
    pub(crate) fn raise(&mut self, by: f64) {
        self.raised = self.extra + by;
    }

    /// A call has its result. Says whether the same call was made before in
    /// this turn.
    pub(crate) fn called(&mut self, tool: &str, input: &Value) -> bool {
        let key = format!("{tool} {input}");
        if self.calls.contains(&key) {
            self.repeated.insert(key);
            return true;
        }
        self.calls.insert(key);
        false
    }

    /// How many calls were made more than once.
    pub(crate) fn repeats(&self) -> usize {
        self.repeated.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l4_15_a_view_that_refills_twice_within_three_rounds_is_a_thrash() {
        let limits = EconomyLimits::default();
        let mut guard = TurnGuard::default();
        assert!(!guard.is_full(&limits), "the first time it is just full");
        guard.compacted();
        for _ in 0..4 {
            guard.answered();
        }
        assert!(!guard.is_full(&limits), "after some work");
        guard.compacted();
        guard.answered();
        assert!(!guard.is_full(&limits), "once");
        guard.compacted();
        guard.answered();
        assert!(guard.is_full(&limits) && guard.is_thrashing(&limits));
        guard.begin_turn();
        assert!(!guard.is_thrashing(&limits));
    }

    #[test]
    fn e7_what_the_person_allows_is_as_much_again() {
        let mut guard = TurnGuard::default();
        guard.spend(Some(Usd(5.5)));
        assert!(guard.is_over(5.0) && !guard.is_over(0.0), "0 is no ceiling");
        guard.raise(5.0);
        assert!(!guard.is_over(5.0));
        guard.spend(Some(Usd(9.9)));
        assert!(!guard.is_over(5.0));
        guard.spend(Some(Usd(0.2)));
        assert!(guard.is_over(5.0));
    }
}
