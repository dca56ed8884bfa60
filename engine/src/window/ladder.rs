//! What happens before each request, cheapest first (Q1).
//!
//! A rung that fails lets the next one catch (Q2); only the last may say that
//! no request can be made.

use crate::session::{Error, Session, effects, quiet_lines, status, weighed};
use crate::window::compaction::{self, collapse, snip};
use everfold_kernel::{Decision, Entry, Usd};
use tokio_util::sync::CancellationToken;

pub use everfold_window::Rung;

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
    let decision = weighed::ladder_view(session, &session.window()).clearing();
    if let Some(decision) = decision {
        if let Decision::Cleared(cleared) = &decision {
            quiet_lines::cleared(session, cleared);
        }
        session.append(Entry::Decision(decision)).await?;
    }
    Ok(())
}

fn check_window(session: &Session) -> Climbed {
    match weighed::ladder_view(session, &session.window()).check_window() {
        Ok(()) => Climbed::Done,
        Err(refusal) => Climbed::Blocked(refusal.to_string()),
    }
}
