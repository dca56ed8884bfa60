//! What happens before each request, cheapest first (Q1).
//!
//! A rung that fails lets the next one catch (Q2); only the last may say that
//! no request can be made.

use crate::session::{Error, Session, effects, quiet_lines, status};
use crate::window::compaction::{self, collapse, snip};
use everfold_kernel::window::{AutoCompact, WindowState};
use everfold_kernel::{Decision, Entry, Flag, Usd};
use everfold_prune::{CacheEdits, Prefix, RequestThread, Situation};
use tokio_util::sync::CancellationToken;

/// One step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// Layer 1: big fresh results go to disk.
    Offload,
    /// Ranges go out of view that the model asked for by its tool.
    Snip,
    /// Layer 2: stale results are cleared, when it pays.
    Prune,
    /// Finished spans are shown by their summaries, in place of layer 4.
    Collapse,
    /// Layer 4: a summary takes the place of what came before.
    Compact,
    /// Refuse a request that would not leave room for an answer (T4).
    Window,
}

impl Rung {
    /// The order in which they are climbed.
    pub const ORDER: &'static [Self] =
        &[Self::Offload, Self::Snip, Self::Prune, Self::Collapse, Self::Compact, Self::Window];

    /// Those of a background agent: nothing that asks a model or changes what
    /// its parent has cached (L4.9).
    pub const OF_FORKS: &'static [Self] = &[Self::Offload, Self::Window];
}

/// What a rung came to.
pub(crate) enum Climbed {
    Done,
    /// No request can be made; the person is told why.
    Blocked(String),
    /// Summaries and repeated requests of this turn cost what they may (E7).
    OverCeiling(Usd),
}

/// Runs one rung.
pub(crate) async fn climb(
    session: &mut Session,
    rung: Rung,
    cancel: &CancellationToken,
) -> Result<Climbed, Error> {
    match rung {
        Rung::Offload => offload(session, cancel).await?,
        Rung::Snip => snip::snip_as_asked(session).await?,
        Rung::Prune => prune(session).await?,
        Rung::Collapse => return collapse::collapse(session, cancel).await,
        Rung::Compact => return compaction::auto_compact(session, cancel).await,
        Rung::Window => return Ok(check_window(session)),
    }
    Ok(Climbed::Done)
}

/// Spills what is over its cap. A disk that refuses is said once; the
/// result is cut in place then (L1.7).
async fn offload(session: &mut Session, cancel: &CancellationToken) -> Result<(), Error> {
    let limits = session.config.limits.offload.clone();
    let (before, mut results) = (session.state.fold.count(), 0);
    for spill in everfold_offload::plan(&session.state.fold, &limits) {
        let outcome = effects::perform(session, spill.effect, cancel).await?;
        let applied = everfold_offload::apply(spill.pending, outcome);
        if let Some(reason) = applied.failure {
            status::say_once(session, "offload", || {
                format!("a tool result could not be written to disk: {reason}; it was cut")
            });
        }
        if let Some(decision) = applied.decision {
            session.append(Entry::Decision(decision)).await?;
            results += 1;
        }
    }
    quiet_lines::spilled(session, results, before);
    Ok(())
}

/// Clears stale results where it pays for itself (L2).
async fn prune(session: &mut Session) -> Result<(), Error> {
    let config = std::sync::Arc::clone(&session.config);
    let unanswered_break = session.state.fold.last_break() > session.state.fold.last_response();
    let decision = everfold_prune::plan(
        &session.state.fold,
        &Situation {
            thread: RequestThread::Main,
            now: session.world.clock.now(),
            last_fork: session.runtime.cache.last_fork,
            prefix: if unanswered_break { Prefix::Broken } else { Prefix::Kept },
            model: config.models.table.spec(session.model()),
            cache_edits: if config.models.offers.cache_edits {
                CacheEdits::Offered
            } else {
                CacheEdits::NotOffered
            },
            flags: &config.flags,
            limits: &config.limits,
        },
    );
    if let Some(decision) = decision {
        if let Decision::Cleared(cleared) = &decision {
            quiet_lines::cleared(session, cleared);
        }
        session.append(Entry::Decision(decision)).await?;
    }
    Ok(())
}

fn check_window(session: &Session) -> Climbed {
    // Collapsing takes its place and refuses by itself.
    let flags = &session.config.flags;
    let on = flags.is_on(Flag::AutoCompact) || flags.is_on(Flag::Collapse);
    let auto = if on { AutoCompact::On } else { AutoCompact::Off };
    let (count, window) = (session.state.fold.count(), session.window());
    match window.state(count, auto) {
        WindowState::Blocked => Climbed::Blocked(format!(
            "the conversation has {} tokens, and requests are refused over {} with auto-compact off; \
             start a new session, or turn auto-compact on (autoCompactEnabled)",
            count.0, window.refuse.0
        )),
        _ => Climbed::Done,
    }
}
