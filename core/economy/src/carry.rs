//! Whether carrying the past costs more than summing it up (E4).
//!
//! Every request reads what is in view; after a pause in which the cache
//! expired, the next one writes all of it again. A summary is paid for once:
//! one pass over the conversation, what the model writes, and the new start of
//! the prefix. What turns out to be needed again comes back at the price of a
//! write; how much that is, the session itself tells.
//!
//! ```text
//! at the end of a turn    saves  p·n·(view − after)·R
//!                         costs  view·R + summary·O + p·after·(W − R) + p·again·W
//! before a long pause     saves  p·(view − after)·(W + (n − 1)·R)
//!                         costs  view·R + summary·O + p·again·W
//! after a long pause      saves  (view − after)·(W + (n − 1)·R)
//!                         costs  view·I + summary·O + again·W
//! ```
//!
//! where `n` requests follow, and `p` is how likely the person comes back; before
//! a pause, when the cache is cold.

use crate::act::Weighing;
use crate::point::CompactionPoint;
use crate::terms::CostTerms;
use everfold_kernel::{QuerySource, Tokens, Usd};
use serde::{Deserialize, Serialize};

/// A compaction that is thought of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carry {
    /// Tokens in view.
    pub view: Tokens,
    /// Tokens that would be in view after it.
    pub after: Tokens,
    /// Tokens that the model writes for it.
    pub summary: Tokens,
    /// Requests of the conversation that are expected to follow.
    pub requests: f64,
    /// Percentage of what goes that will be needed again.
    pub again_percent: f64,
}

impl Carry {
    /// Tokens that go.
    #[must_use]
    pub fn gone(&self) -> Tokens {
        self.view - self.after
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a token count, which is far below 2^52"
    )]
    fn again(&self) -> Tokens {
        Tokens((self.gone().0 as f64 * self.again_percent.clamp(0.0, 100.0) / 100.0) as u64)
    }

    /// The sum at the end of a turn, while the cache is warm. `goes_on` is how
    /// likely another turn follows.
    #[must_use]
    pub fn at_turn_end(&self, terms: &CostTerms, goes_on: f64) -> Weighing {
        let rewrite = Usd(goes_on * self.rewrite(terms).0);
        let again = Usd(goes_on * terms.write(self.again()).0);
        let reads = Usd(goes_on * terms.read(self.gone()).0 * self.requests.max(0.0));
        Weighing::new(QuerySource::Compact, "summarise at the end of a turn", terms)
            .costs("one pass over the conversation", self.view, terms.read(self.view))
            .costs("the summary", self.summary, terms.output(self.summary))
            .costs("the new start of the prefix", self.after, rewrite)
            .costs("what is needed again", self.again(), again)
            .saves("reads of the requests to come", self.gone(), reads)
    }

    /// The sum before the cache expires in a pause. `late` is how likely the
    /// person comes back only after that.
    #[must_use]
    pub fn at_pause(&self, terms: &CostTerms, late: f64) -> Weighing {
        let write = Usd(late * terms.write(self.gone()).0);
        let again = Usd(late * terms.write(self.again()).0);
        let reads = Usd(late * self.later_reads(terms).0);
        Weighing::new(QuerySource::Compact, "summarise before the cache expires", terms)
            .costs("one pass over the conversation", self.view, terms.read(self.view))
            .costs("the summary", self.summary, terms.output(self.summary))
            .costs("what is needed again", self.again(), again)
            .saves("writing the past once more", self.gone(), write)
            .saves("reads of the requests to come", self.gone(), reads)
    }

    /// The sum when the person is back and the cache is cold: the summary reads
    /// all of it at full price, and so would the next request, or dearer.
    #[must_use]
    pub fn when_cold(&self, terms: &CostTerms) -> Weighing {
        Weighing::new(QuerySource::Compact, "summarise after the cache expired", terms)
            .costs("one pass over the conversation", self.view, terms.input(self.view))
            .costs("the summary", self.summary, terms.output(self.summary))
            .costs("what is needed again", self.again(), terms.write(self.again()))
            .saves("writing the past once more", self.gone(), terms.write(self.gone()))
            .saves("reads of the requests to come", self.gone(), self.later_reads(terms))
    }

    /// What is lost if nothing more is asked; where the person is back already,
    /// if nothing is asked after the request that they came for.
    #[must_use]
    pub fn loss(&self, moment: CompactionPoint, terms: &CostTerms) -> Usd {
        let summary = terms.output(self.summary).0;
        let (warm, gone) = (terms.read(self.view).0 + summary, self.gone());
        Usd(match moment {
            CompactionPoint::TurnEnd | CompactionPoint::Expiry => warm,
            CompactionPoint::BackInTime => warm + self.rewrite(terms).0 - terms.read(gone).0,
            CompactionPoint::BackLate => terms.input(self.view).0 + summary - terms.write(gone).0,
        })
    }

    fn rewrite(&self, terms: &CostTerms) -> Usd {
        Usd((terms.write(self.after).0 - terms.read(self.after).0).max(0.0))
    }

    fn later_reads(&self, terms: &CostTerms) -> Usd {
        Usd(terms.read(self.gone()).0 * (self.requests - 1.0).max(0.0))
    }
}

/// What a session lost by compactions that only the sum called for: the more
/// of it is needed again, the dearer the next one is taken to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regrets {
    /// Tokens that went out of view.
    pub gone: Tokens,
    /// Tokens of it that were fetched again.
    pub again: Tokens,
}

impl Regrets {
    /// The percentage of what goes that is taken to be needed again. What is
    /// expected counts as much as `prior` tokens that went.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    pub fn percent(&self, expected: u64, prior: Tokens) -> f64 {
        let expected = prior.0 as f64 * expected as f64 / 100.0;
        let gone = (self.gone + prior).0.max(1) as f64;
        (self.again.0 as f64 + expected) * 100.0 / gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::ModelTable;
    use everfold_kernel::record::{CacheState, CacheTtl, SumVerdict};

    fn terms(ttl: CacheTtl) -> CostTerms {
        let prices = ModelTable::builtin().spec(&"claude-sonnet-5-5".into()).prices;
        CostTerms { prices, ttl: Some(ttl), cache: CacheState::Warm, rounds: 1.0 }
    }

    fn carry(view: u64, requests: f64) -> Carry {
        let (after, summary) = (Tokens(15_000), Tokens(4_000));
        Carry { view: Tokens(view), after, summary, requests, again_percent: 10.0 }
    }

    #[test]
    fn e4_a_long_past_is_summed_up_where_many_requests_follow() {
        let at = |view, requests| {
            carry(view, requests).at_turn_end(&terms(CacheTtl::OneHour), 1.0).decided(100).verdict
        };
        assert_eq!(at(300_000, 60.0), SumVerdict::Done);
        assert_eq!(at(300_000, 3.0), SumVerdict::Left, "the conversation is nearly over");
        assert_eq!(at(30_000, 60.0), SumVerdict::Left, "there is little to carry");
    }

    #[test]
    fn e4_a_pause_pays_sooner_than_a_turn_s_end() {
        let pause = |view, late: f64| {
            carry(view, 1.0).at_pause(&terms(CacheTtl::OneHour), late).decided(100).verdict
        };
        assert_eq!(pause(100_000, 0.5), SumVerdict::Done);
        assert_eq!(pause(100_000, 0.05), SumVerdict::Left, "they will be back in time");
        assert_eq!(pause(20_000, 0.5), SumVerdict::Left);
    }

    #[test]
    fn e4_regrets_make_the_policy_give_way() {
        let calm = Regrets { gone: Tokens(400_000), again: Tokens(10_000) };
        let sorry = Regrets { gone: Tokens(400_000), again: Tokens(200_000) };
        let prior = Tokens(100_000);
        assert!((Regrets::default().percent(10, prior) - 10.0).abs() < 1e-9);
        assert!((calm.percent(10, prior) - 4.0).abs() < 1e-9);
        assert!((sorry.percent(10, prior) - 42.0).abs() < 1e-9);
        let with = |regrets: Regrets| Carry {
            again_percent: regrets.percent(10, prior),
            ..carry(300_000, 20.0)
        };
        let decide =
            |regrets| with(regrets).at_turn_end(&terms(CacheTtl::OneHour), 1.0).decided(100);
        assert_eq!(decide(calm).verdict, SumVerdict::Done);
        assert_eq!(decide(sorry).verdict, SumVerdict::Left);
    }
}
