//! Sums that decided something go into the log (E1).

use crate::session::{Error, Session};
use everfold_economy::{CostTerms, PrefixCache};
use everfold_kernel::record::{ActSum, SumVerdict};
use everfold_kernel::{Decision, Entry};

/// Writes a sum to the log. What is left again and again is said once, until
/// it is done.
pub(crate) async fn note_sum(session: &mut Session, sum: ActSum) -> Result<(), Error> {
    let left = &mut session.runtime.branch.economy.left_acts;
    let is_news = match sum.verdict {
        SumVerdict::Done => {
            left.remove(&sum.act);
            true
        }
        SumVerdict::Left => left.insert(sum.act.clone()),
    };
    if is_news {
        session.append(Entry::Decision(Decision::Weighed(sum))).await?;
    }
    Ok(())
}

/// What the server has of the conversation now.
pub(crate) fn prefix_cache(session: &Session) -> PrefixCache {
    let (fold, now) = (&session.state.fold, session.world.clock.now());
    let idle = session.config.limits.prune.idle_minutes;
    PrefixCache::of(fold, now, session.runtime.cache.last_fork, idle)
}

/// What a sum about the conversation is made with.
pub(crate) fn cost_terms(session: &Session) -> CostTerms {
    let spec = session.config.models.table.spec(session.model());
    let rounds = session.config.limits.prune.expected_rounds;
    let rounds = everfold_economy::expected_rounds(&session.state.fold, rounds);
    prefix_cache(session).terms(spec, session.state.fold.count(), rounds)
}
