//! Whether the small model is asked for memories (R18): only where the local
//! ranking is unsure, and an answer can be worth its price.
//!
//! [`weigh`] is the only place that decides it. The sum is what a side query
//! costs against what it saves when it helps: a round in which the main model
//! would look the same thing up, its context read from the cache once more.
//! Without prices nothing is known to pay, and the local ranking serves.

use everfold_economy::{CostTerms, Weighing};
use everfold_kernel::limits::RecallLimits;
use everfold_kernel::models::ModelSpec;
use everfold_kernel::record::{ActSum, CacheState};
use everfold_kernel::{QuerySource, Tokens, Usage, Usd};

/// What a side query would cost, and what its answer could save.
pub(super) struct Stakes<'a> {
    /// What the small model would read.
    pub(super) asked: Tokens,
    /// What the main model reads in every round.
    pub(super) context: Tokens,
    pub(super) small: &'a ModelSpec,
    pub(super) main: &'a ModelSpec,
    pub(super) limits: &'a RecallLimits,
}

/// The sum of a side query, and whether it is asked.
pub(super) fn weigh(stakes: &Stakes<'_>) -> ActSum {
    let limits = stakes.limits;
    let query = Usage { input: stakes.asked.0, output: limits.answer_tokens, ..Usage::default() };
    let round =
        Usage { cache_read: stakes.context.0, output: limits.saved_tokens, ..Usage::default() };
    let (cost, saved) = (stakes.small.cost(&query), stakes.main.cost(&round));
    let prices = stakes.main.prices.filter(|_| cost.is_some());
    let terms = CostTerms { prices, ttl: None, cache: CacheState::Warm, rounds: 1.0 };
    let helps = f64::from(u32::try_from(limits.helps_percent).unwrap_or(u32::MAX)) / 100.0;
    Weighing::new(QuerySource::Recall, "ask the small model for memories", &terms)
        .costs("the list of memories and its answer", stakes.asked, cost.unwrap_or_default())
        .saves(
            "a round of looking it up, as often as an answer helps",
            stakes.context,
            Usd(saved.unwrap_or_default().0 * helps),
        )
        .decided(100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::models::ModelTable;
    use everfold_kernel::record::SumVerdict;

    fn verdict(main: &str, asked: u64, context: u64) -> SumVerdict {
        let table = ModelTable::builtin();
        let limits = RecallLimits::default();
        let stakes = Stakes {
            asked: Tokens(asked),
            context: Tokens(context),
            small: table.spec(&"claude-haiku-5-5".into()),
            main: table.spec(&main.into()),
            limits: &limits,
        };
        weigh(&stakes).verdict
    }

    #[test]
    fn r18_e1_a_side_query_is_asked_only_where_its_answer_can_pay() {
        let main = "claude-opus-5-5";
        assert_eq!(verdict(main, 400, 20_000), SumVerdict::Done, "a short list, a long talk");
        assert_eq!(verdict(main, 60_000, 2_000), SumVerdict::Left, "a long list, a short talk");
        assert_eq!(verdict("a model of ours", 400, 20_000), SumVerdict::Left, "no price, no sum");
    }
}
