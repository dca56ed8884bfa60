//! Sums that decided something go into the log (E1).

use crate::session::{Error, Session};
use everfold_economy::{CostTerms, PrefixCache};
use everfold_kernel::record::{ActSum, SumVerdict};
use everfold_kernel::{Decision, Entry, Window};
use everfold_prune::CacheEdits;
use everfold_window::LadderView;

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

/// The conversation as the rungs of the ladder look at it.
pub(crate) fn ladder_view<'a>(session: &'a Session, window: &'a Window) -> LadderView<'a> {
    let config = &session.config;
    LadderView {
        fold: &session.state.fold,
        window,
        model: config.models.table.spec(session.model()),
        now: session.world.clock.now(),
        last_fork: session.runtime.cache.last_fork,
        cache_edits: if config.models.offers.cache_edits {
            CacheEdits::Offered
        } else {
            CacheEdits::NotOffered
        },
        clearable: &[],
        flags: &config.flags,
        limits: &config.limits,
    }
}

/// What the server has of the conversation now.
pub(crate) fn prefix_cache(session: &Session) -> PrefixCache {
    ladder_view(session, &session.window()).cache()
}

/// What a sum about the conversation is made with.
pub(crate) fn cost_terms(session: &Session) -> CostTerms {
    ladder_view(session, &session.window()).terms()
}
