//! An act, term by term.

use crate::terms::CostTerms;
use everfold_kernel::record::{ActSum, CacheState, SumTerm, SumVerdict};
use everfold_kernel::{QuerySource, Tokens, Usd};

/// The terms of an act as they are gathered.
///
/// ```
/// use everfold_economy::{CostTerms, Weighing};
/// use everfold_kernel::record::{CacheState, CacheTtl, SumVerdict};
/// use everfold_kernel::{ModelTable, QuerySource, Tokens};
///
/// let prices = ModelTable::builtin().spec(&"claude-sonnet-5-5".into()).prices;
/// let terms = CostTerms { prices, ttl: Some(CacheTtl::OneHour), cache: CacheState::Warm, rounds: 1.0 };
/// let sum = Weighing::new(QuerySource::SessionMemory, "notes", &terms)
///     .costs("one pass over the conversation", Tokens(100_000), terms.read(Tokens(100_000)))
///     .saves("a summary by a model", Tokens(4_000), terms.output(Tokens(4_000)))
///     .decided(100);
/// assert_eq!(sum.verdict, SumVerdict::Done);
/// ```
#[derive(Clone, Debug)]
pub struct Weighing {
    sum: ActSum,
    is_priced: bool,
}

impl Weighing {
    /// An act of a source, at the state of the cache that the terms tell.
    #[must_use]
    pub fn new(source: QuerySource, act: &str, terms: &CostTerms) -> Self {
        let sum = ActSum {
            source,
            act: act.to_owned(),
            cache: terms.cache,
            costs: Vec::new(),
            saves: Vec::new(),
            verdict: SumVerdict::Left,
        };
        Self { sum, is_priced: terms.prices.is_some() }
    }

    /// Something that it costs.
    #[must_use]
    pub fn costs(mut self, what: &str, tokens: Tokens, usd: Usd) -> Self {
        self.sum.costs.push(term(what, tokens, usd));
        self
    }

    /// Something that it saves or brings.
    #[must_use]
    pub fn saves(mut self, what: &str, tokens: Tokens, usd: Usd) -> Self {
        self.sum.saves.push(term(what, tokens, usd));
        self
    }

    /// What it costs so far.
    #[must_use]
    pub fn cost(&self) -> Usd {
        self.sum.cost()
    }

    /// Decides by the sum: done where it saves `gain_percent` of what it
    /// costs. Without a price nothing is known to pay, and it is left.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a percentage is far below 2^52")]
    pub fn decided(mut self, gain_percent: u64) -> ActSum {
        let pays = self.sum.saving().0 * 100.0 > self.sum.cost().0 * gain_percent as f64;
        self.sum.verdict = if self.is_priced && pays { SumVerdict::Done } else { SumVerdict::Left };
        self.sum
    }

    /// The sum of an act that something else decided: a person, a seed of the
    /// system, a budget.
    #[must_use]
    pub fn as_decided(mut self, verdict: SumVerdict) -> ActSum {
        self.sum.verdict = verdict;
        self.sum
    }

    /// Whether the cache is warm.
    #[must_use]
    pub fn is_warm(&self) -> bool {
        self.sum.cache == CacheState::Warm
    }
}

fn term(what: &str, tokens: Tokens, usd: Usd) -> SumTerm {
    SumTerm { what: what.to_owned(), tokens: tokens.0, usd }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::ModelTable;
    use everfold_kernel::record::CacheTtl;

    fn known() -> CostTerms {
        let prices = ModelTable::builtin().spec(&"claude-sonnet-5-5".into()).prices;
        let ttl = Some(CacheTtl::OneHour);
        CostTerms { prices, ttl, cache: CacheState::Warm, rounds: 1.0 }
    }

    #[test]
    fn e1_an_act_is_done_where_it_saves_more_than_it_costs() {
        let act = |cost: f64, gain| {
            Weighing::new(QuerySource::Compact, "a summary", &known())
                .costs("now", Tokens(1), Usd(cost))
                .costs("later", Tokens(2), Usd(0.5))
                .saves("reads", Tokens(3), Usd(2.0))
                .decided(gain)
        };
        assert_eq!(act(1.0, 100).verdict, SumVerdict::Done);
        assert_eq!(act(1.0, 150).verdict, SumVerdict::Left, "by too little");
        assert_eq!(act(2.0, 100).verdict, SumVerdict::Left);
        assert!((act(1.0, 100).cost().0 - 1.5).abs() < 1e-9);
    }

    #[test]
    fn e1_without_a_price_nothing_is_known_to_pay() {
        let sum =
            Weighing::new(QuerySource::Dream, "a dream", &CostTerms { prices: None, ..known() })
                .saves("time", Tokens(1), Usd(9.0));
        assert_eq!(sum.decided(100).verdict, SumVerdict::Left);
    }
}
