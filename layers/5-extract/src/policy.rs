//! When the newest part of a conversation is reviewed.
//!
//! Every so many turns of the main thread, one review at a time. A turn that
//! ends while one runs leaves its context on the [`ReviewQueue`]; the newest one that
//! lies there is reviewed next, so that none is lost and none overlap (L5.12).

use crate::durability::could_last;
use crate::plan::ReviewSpan;
use everfold_economy::{CostTerms, Weighing};
use everfold_kernel::limits::{EconomyLimits, ExtractLimits};
use everfold_kernel::record::{ActSum, SumVerdict};
use everfold_kernel::settings::{Reviewer, Surface};
use everfold_kernel::{Prices, QuerySource, Tokens, Usd};

/// Where a session runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSetting {
    /// Whether a person sits in front of it.
    pub surface: Surface,
    /// Whether the setting for sessions without a person allows a review.
    pub headless: Allowed,
    /// Whether the machine goes away with the session.
    pub remote: Remote,
}

/// Whether a setting allows something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    Yes,
    /// It does not.
    No,
}

/// Whether a session runs on a machine that goes away with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remote {
    Yes,
    /// It does not.
    No,
}

/// Whether a turn that ended calls for a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    Now,
    /// It does not.
    Not(ReviewSkip),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewSkip {
    /// The machine goes away (L5.13).
    Remote,
    /// Nobody sits in front of it, and the setting says no (L5.13).
    Headless,
    /// Not enough turns went by (L5.13).
    Throttled,
}

/// Decides about a turn that ended, the `turns`-th since the last review (L5.13).
#[must_use]
pub fn due(setting: SessionSetting, turns: u64, limits: &ExtractLimits) -> Due {
    if setting.remote == Remote::Yes {
        return Due::Not(ReviewSkip::Remote);
    }
    if setting.surface == Surface::Headless && setting.headless == Allowed::No {
        return Due::Not(ReviewSkip::Headless);
    }
    if turns < limits.every_turns.max(1) {
        return Due::Not(ReviewSkip::Throttled);
    }
    Due::Now
}

/// What a review comes to before a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// There is something to look at.
    Asking,
    /// The main agent saved memories itself: the cursor moves on (L5.11).
    SavedAlready,
    /// The person said nothing since.
    Nothing,
    /// They said nothing that could last (E2).
    Passing,
}

/// Whether a review is worth a request.
#[must_use]
pub fn worth(review: &ReviewSpan) -> Worth {
    if review.saved_by_main() {
        Worth::SavedAlready
    } else if review.is_empty() {
        Worth::Nothing
    } else if !could_last(&review.testimony) {
        Worth::Passing
    } else {
        Worth::Asking
    }
}

/// Who reviews (E2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewWay {
    /// A fork of the conversation, which reads its cached prefix.
    Fork,
    /// The small model, on the new messages alone.
    Small,
}

/// What a review is about, in tokens and prices.
#[derive(Clone, Copy, Debug)]
pub struct ReviewCost<'a> {
    /// The terms of the conversation's own model.
    pub terms: &'a CostTerms,
    /// Tokens of the conversation.
    pub prefix: Tokens,
    /// Tokens that were said since the last review.
    pub new: Tokens,
    /// The small model's prices, if known.
    pub small: Option<&'a Prices>,
}

/// The way that costs least, and its sum. A fork asks twice: once to write,
/// once more where something was read first or refused. Where a price is not
/// known, the small model is taken to be cheaper: it is sent less.
#[must_use]
pub fn way(cost: &ReviewCost<'_>, wanted: Reviewer, limits: &EconomyLimits) -> (ReviewWay, ActSum) {
    const FORK_REQUESTS: u64 = 2;
    let (terms, written) = (cost.terms, Tokens(limits.review_output_tokens));
    let passes = Tokens(cost.prefix.0.saturating_mul(FORK_REQUESTS));
    let pass = terms.pass(passes).unwrap_or_default();
    let by_fork = Weighing::new(QuerySource::Extract, "review by a fork", terms)
        .costs("passes over the conversation", passes, pass)
        .costs("what it writes", written, terms.output(written));
    let small = CostTerms { prices: cost.small.copied(), ttl: None, ..*terms };
    let by_small = Weighing::new(QuerySource::Extract, "review by the small model", &small)
        .costs("the new messages", cost.new, small.input(cost.new))
        .costs("what it writes", written, small.output(written));
    let is_known = terms.prices.is_some() && cost.small.is_some();
    let is_cheaper = is_known && by_fork.cost() < by_small.cost();
    let by_sum = if is_cheaper { ReviewWay::Fork } else { ReviewWay::Small };
    let chosen = match wanted {
        Reviewer::Auto => by_sum,
        Reviewer::Small => ReviewWay::Small,
        Reviewer::Fork => ReviewWay::Fork,
    };
    let (taken, other) = match chosen {
        ReviewWay::Fork => (by_fork, by_small),
        ReviewWay::Small => (by_small, by_fork),
    };
    let spared = Usd((other.cost().0 - taken.cost().0).max(0.0));
    let taken = taken.saves("against the other way", Tokens(0), spared);
    (chosen, taken.as_decided(SumVerdict::Done))
}

/// One review at a time, and what waits for the next (L5.12).
#[derive(Clone, Debug)]
pub struct ReviewQueue<T> {
    state: State<T>,
}

#[derive(Clone, Debug)]
enum State<T> {
    Free,
    Busy { waiting: Option<T> },
}

impl<T> Default for ReviewQueue<T> {
    fn default() -> Self {
        Self { state: State::Free }
    }
}

impl<T> ReviewQueue<T> {
    /// A context comes in. It is given back if it is to be reviewed at once;
    /// else it waits, and takes the place of one that waited before.
    pub fn take(&mut self, context: T) -> Option<T> {
        match &mut self.state {
            State::Free => {
                self.state = State::Busy { waiting: None };
                Some(context)
            }
            State::Busy { waiting } => {
                *waiting = Some(context);
                None
            }
        }
    }

    /// A review ended. Gives what is to be reviewed next; with nothing
    /// waiting, the desk is free.
    pub fn done(&mut self) -> Option<T> {
        let next = match &mut self.state {
            State::Free => None,
            State::Busy { waiting } => waiting.take(),
        };
        if next.is_none() {
            self.state = State::Free;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const AT_HOME: SessionSetting = SessionSetting {
        surface: Surface::Interactive,
        headless: Allowed::Yes,
        remote: Remote::No,
    };

    #[test]
    fn l5_13_it_is_throttled_and_off_where_it_has_no_place() {
        let limits = ExtractLimits { every_turns: 3, ..ExtractLimits::default() };
        assert_eq!(due(AT_HOME, 2, &limits), Due::Not(ReviewSkip::Throttled));
        assert_eq!(due(AT_HOME, 3, &limits), Due::Now);
        let remote = SessionSetting { remote: Remote::Yes, ..AT_HOME };
        assert_eq!(due(remote, 3, &limits), Due::Not(ReviewSkip::Remote));
        let headless = SessionSetting { surface: Surface::Headless, ..AT_HOME };
        assert_eq!(due(headless, 3, &limits), Due::Now);
        let off = SessionSetting { headless: Allowed::No, ..headless };
        assert_eq!(due(off, 3, &limits), Due::Not(ReviewSkip::Headless));
    }

    proptest! {
        /// Whatever the order of turns and ends: never two at a time, none
        /// starts out of order, and the newest context is always reviewed.
        #[test]
        fn l5_12_none_overlap_and_the_newest_is_never_lost(turns in proptest::collection::vec(any::<bool>(), 0..60)) {
            let mut desk = ReviewQueue::default();
            let (mut running, mut last_started, mut newest) = (None, 0, 0);
            for ends in turns {
                let started = if ends && running.take().is_some() {
                    desk.done()
                } else {
                    newest += 1;
                    desk.take(newest)
                };
                if let Some(context) = started {
                    prop_assert!(running.is_none(), "two at a time");
                    prop_assert!(context > last_started);
                    running = Some(context);
                    last_started = context;
                }
            }
            while running.take().is_some() {
                if let Some(context) = desk.done() {
                    prop_assert!(context > last_started);
                    last_started = context;
                    running = Some(context);
                }
            }
            prop_assert_eq!(last_started, newest);
        }
    }
}
