//! Where the past is summed up although the window is not full (E4): which
//! moments there are, what a session tells about them, and the decision.
//!
//! Sessions and replays ask here alike, each at the moments that it comes by.
//! All moments are between two turns: a task is never interrupted.
//!
//! # However it ends
//!
//! A sum says what is likely. Nobody knows that a session goes on, and one that
//! ends right after a summary has paid for nothing. So what would be lost then,
//! with what work in the background took, is held to a small percentage of what
//! the session has cost, and to what earlier summaries and clearings have brought
//! in: no session is made noticeably dearer, however it ends.

use crate::carry::{Carry, Regrets};
use crate::pace::PersonPace;
use crate::terms::CostTerms;
use everfold_kernel::limits::EconomyLimits;
use everfold_kernel::record::{ActSum, CacheTtl, SumVerdict};
use everfold_kernel::settings::CompactEconomy;
use everfold_kernel::{Tokens, Usage, Usd};
use serde::{Deserialize, Serialize};

/// A moment between two turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionPoint {
    /// A turn has ended. Nobody knows whether another one follows.
    TurnEnd,
    /// The cache is about to expire, and the person is not back.
    Expiry,
    /// The person is back, and the cache still has the prefix.
    BackInTime,
    /// The person is back, and the cache has lost it.
    BackLate,
}

impl CompactionPoint {
    /// Whether a setting lets the past be summed up then, in a window of this size.
    #[must_use]
    pub fn is_allowed(self, economy: CompactEconomy, window: Tokens, own: &EconomyLimits) -> bool {
        match (economy, self) {
            (CompactEconomy::Off, _)
            | (CompactEconomy::ColdOnly, Self::TurnEnd | Self::BackInTime) => false,
            (_, Self::Expiry | Self::BackLate) => true,
            (CompactEconomy::Auto, Self::TurnEnd | Self::BackInTime) => {
                window.0 > own.large_window_tokens
            }
        }
    }
}

/// The conversation at such a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarriedView {
    /// Tokens in view.
    pub view: Tokens,
    /// Tokens of it that no summary takes away: system prompt, tools, and what
    /// stays word for word.
    pub kept: Tokens,
    /// Requests that a turn of it takes.
    pub rounds: f64,
    /// What the session has cost so far.
    pub spent: Usd,
    /// What of it was for work in the background.
    pub beside: Usd,
}

/// What a session has shown so far: how its person comes and goes, and what
/// became of earlier summaries of this kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CarryHistory {
    /// Pauses of the person.
    pub pace: PersonPace,
    /// Turns that were begun. Where something is weighed, all of them have ended.
    pub turns: u64,
    /// When the model last answered, in seconds since 1970.
    pub answered_s: Option<i64>,
    /// What was needed again.
    pub regrets: Regrets,
    /// Tokens that are out of view by them and by clearings, and would be in
    /// view otherwise.
    gone: Tokens,
    /// Tokens that requests did not read because of that, and those that they
    /// did not write, less what had to be fetched again.
    unread: f64,
    unwritten: f64,
    /// What it cost, in dollars.
    cost: f64,
}

impl CarryHistory {
    /// The person speaks, so many seconds after the last answer; none before
    /// the first one.
    pub fn prompted(&mut self, away_s: Option<i64>) {
        self.turns += 1;
        if let Some(away_s) = away_s {
            self.pace.add(away_s);
        }
    }

    /// The past was summed up because a sum said so: these tokens went, and so
    /// much is lost if nothing follows.
    pub fn summed_up(&mut self, gone: Tokens, loss: Usd) {
        self.regrets.gone += gone;
        self.gone += gone;
        self.cost += loss.0.max(0.0);
    }

    /// Results were cleared: these tokens went, at this cost.
    pub fn cleared(&mut self, gone: Tokens, cost: Usd) {
        self.gone += gone;
        self.cost += cost.0;
    }

    /// A request was made without what is gone. It would have been written
    /// where the request mostly wrote.
    pub fn asked(&mut self, usage: &Usage) {
        let spared = if usage.cache_write() > usage.cache_read {
            &mut self.unwritten
        } else {
            &mut self.unread
        };
        *spared += count(self.gone);
    }

    /// Something of so many tokens was fetched again that was gone.
    pub fn missed(&mut self, tokens: Tokens) {
        if self.regrets.gone > Tokens(0) {
            self.regrets.again += tokens;
            self.unwritten -= count(tokens);
        }
    }

    /// A summary for another reason: what is gone would be gone anyway.
    pub fn starts_over(&mut self) {
        self.gone = Tokens(0);
    }

    /// Whether the past is summed up now; with its sum, and what is lost where
    /// the session ends right after. None where there is nothing to weigh.
    #[must_use]
    pub fn weigh(
        &self,
        moment: CompactionPoint,
        at: &CarriedView,
        terms: &CostTerms,
        own: &EconomyLimits,
    ) -> Option<(ActSum, Usd)> {
        terms.prices?;
        let carry = self.carry(at, own);
        if carry.gone() == Tokens(0) {
            return None;
        }
        let weighing = match moment {
            CompactionPoint::TurnEnd => carry.at_turn_end(terms, self.goes_on()),
            CompactionPoint::BackInTime => carry.at_turn_end(terms, 1.0),
            CompactionPoint::Expiry => carry.at_pause(terms, self.comes_late(terms.ttl)),
            CompactionPoint::BackLate => carry.when_cold(terms),
        };
        let loss = carry.loss(moment, terms);
        let sum = weighing.decided(own.carry_gain_percent);
        #[expect(clippy::cast_precision_loss, reason = "a percentage is far below 2^52")]
        let may_lose = at.spent.0 * own.carry_loss_percent as f64 / 100.0;
        let most = may_lose - at.beside.0 + self.credit(terms);
        let verdict = if loss.0 <= most { sum.verdict } else { SumVerdict::Left };
        Some((ActSum { verdict, ..sum }, loss))
    }

    /// What summaries and clearings have brought so far, at these prices.
    fn credit(&self, terms: &CostTerms) -> f64 {
        let each = |usd: Usd| usd.0 / count(A_MILLION);
        let (read, write) = (each(terms.read(A_MILLION)), each(terms.write(A_MILLION)));
        self.unread * read + self.unwritten * write - self.cost
    }

    fn carry(&self, at: &CarriedView, own: &EconomyLimits) -> Carry {
        let after = at.kept + Tokens(own.summary_view_tokens);
        // A session goes on about as long as it has gone on.
        #[expect(clippy::cast_precision_loss, reason = "turns are far below 2^52")]
        let turns = self.turns.clamp(1, own.turns_ahead.max(1)) as f64;
        let prior = Tokens(own.regret_prior_tokens);
        Carry {
            view: at.view,
            after: after.min(at.view),
            summary: Tokens(own.summary_output_tokens),
            requests: at.rounds * turns,
            again_percent: self.regrets.percent(own.regret_percent, prior),
        }
    }

    /// How likely another turn follows one that ended: a session of so many
    /// turns has another one, by all that its length tells.
    #[expect(clippy::cast_precision_loss, reason = "turns are far below 2^52")]
    fn goes_on(&self) -> f64 {
        let turns = self.turns.max(1) as f64;
        turns / (turns + 1.0)
    }

    /// How likely somebody who stays away until the cache is about to expire
    /// comes back, and only after that: by how often they did, and before
    /// anything is known, every second time.
    #[expect(clippy::cast_precision_loss, reason = "counts of pauses are far below 2^52")]
    fn comes_late(&self, ttl: Option<CacheTtl>) -> f64 {
        let late = self.pace.longer_than(ttl.unwrap_or_default()) as f64;
        (late + 1.0) / (late + 2.0)
    }
}

const A_MILLION: Tokens = Tokens(1_000_000);

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn count(tokens: Tokens) -> f64 {
    tokens.0 as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::ModelTable;
    use everfold_kernel::record::CacheState;

    const LARGE: Tokens = Tokens(1_000_000);

    fn terms(cache: CacheState) -> CostTerms {
        let prices = ModelTable::builtin().spec(&"claude-sonnet-5-5".into()).prices;
        CostTerms { prices, ttl: Some(CacheTtl::OneHour), cache, rounds: 1.0 }
    }

    fn at(view: u64, spent: f64) -> CarriedView {
        let (kept, beside) = (Tokens(20_000), Usd(0.0));
        CarriedView { view: Tokens(view), kept, rounds: 10.0, spent: Usd(spent), beside }
    }

    fn turns(count: u64) -> CarryHistory {
        let mut own = CarryHistory::default();
        (0..count).for_each(|turn| own.prompted((turn > 0).then_some(60)));
        own
    }

    fn verdict(own: &CarryHistory, moment: CompactionPoint, view: &CarriedView) -> SumVerdict {
        let cache =
            if moment == CompactionPoint::BackLate { CacheState::Cold } else { CacheState::Warm };
        own.weigh(moment, view, &terms(cache), &EconomyLimits::default()).unwrap().0.verdict
    }

    #[test]
    fn e4_what_is_allowed_is_by_the_setting_and_the_window() {
        let own = EconomyLimits::default();
        let allowed = |economy, window| {
            let all = [
                CompactionPoint::TurnEnd,
                CompactionPoint::Expiry,
                CompactionPoint::BackInTime,
                CompactionPoint::BackLate,
            ];
            all.map(|moment| moment.is_allowed(economy, window, &own))
        };
        assert_eq!(allowed(CompactEconomy::Auto, LARGE), [true; 4]);
        assert_eq!(allowed(CompactEconomy::Auto, Tokens(200_000)), [false, true, false, true]);
        assert_eq!(allowed(CompactEconomy::ColdOnly, LARGE), [false, true, false, true]);
        assert_eq!(allowed(CompactEconomy::Off, LARGE), [false; 4]);
    }

    #[test]
    fn e4_a_session_that_has_cost_little_is_not_made_dearer() {
        let own = turns(10);
        assert_eq!(verdict(&own, CompactionPoint::TurnEnd, &at(300_000, 50.0)), SumVerdict::Done);
        assert_eq!(verdict(&own, CompactionPoint::TurnEnd, &at(300_000, 2.0)), SumVerdict::Left);
        let beside = CarriedView { beside: Usd(0.5), ..at(300_000, 50.0) };
        assert_eq!(
            verdict(&own, CompactionPoint::TurnEnd, &beside),
            SumVerdict::Left,
            "by what it has"
        );
        // What it saved so far may be lost again.
        let mut saved = own;
        saved.cleared(Tokens(50_000), Usd(0.0));
        (0..40).for_each(|_| saved.asked(&Usage { cache_read: 9, ..Usage::default() }));
        assert_eq!(verdict(&saved, CompactionPoint::TurnEnd, &at(300_000, 2.0)), SumVerdict::Done);
        saved.missed(Tokens(0));
        assert_eq!(saved.regrets.again, Tokens(0));
    }

    #[test]
    fn e4_when_the_cache_is_gone_a_summary_costs_less_than_writing_the_past_again() {
        let own = turns(1);
        assert_eq!(verdict(&own, CompactionPoint::BackLate, &at(200_000, 0.0)), SumVerdict::Done);
        assert_eq!(verdict(&own, CompactionPoint::BackLate, &at(40_000, 0.0)), SumVerdict::Left);
    }

    #[test]
    fn e4_what_was_needed_again_speaks_against_the_next_one() {
        let mut own = turns(3);
        own.summed_up(Tokens(200_000), Usd(0.0));
        assert_eq!(verdict(&own, CompactionPoint::Expiry, &at(100_000, 10.0)), SumVerdict::Done);
        own.missed(Tokens(190_000));
        assert_eq!(verdict(&own, CompactionPoint::Expiry, &at(100_000, 10.0)), SumVerdict::Left);
    }

    #[test]
    fn e4_a_history_is_read_back_as_it_was() {
        let mut own = turns(4);
        own.summed_up(Tokens(10), Usd(0.5));
        own.asked(&Usage { cache_read: 1, ..Usage::default() });
        let text = serde_json::to_string(&own).unwrap();
        assert_eq!(serde_json::from_str::<CarryHistory>(&text).unwrap(), own);
    }
}
