//! What happens around requests besides the conversation (Q1): after every
//! response, after the final message, and when a session ends.
//!
//! Nothing here may end a turn (Q2), and none of it happens in a background
//! agent (L4.9).

use crate::agents::letters;
use crate::event::TurnEnd;
use crate::memory::{dream, extraction, uses};
use crate::session::{Error, Session, effects};
use crate::window::compaction::collapse;
use crate::window::{notes, pause};
use everfold_kernel::QuerySource;
use everfold_kernel::settings::Surface;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// After a response, once its calls have their results (L3.8).
pub(crate) async fn after_response(session: &mut Session) -> Result<(), Error> {
    notes::look_at_notes(session).await
}

/// After the final message, or whatever ended the turn instead.
pub(crate) async fn after_turn(
    session: &mut Session,
    end: &TurnEnd,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    if session.is_main() && end.reason.is_success() {
        collapse::stage_spans(session, cancel).await?;
        after_response(session).await?;
        uses::count_uses(session).await;
        extraction::extract(session).await?;
        dream::consider_dream(session).await;
        pause::after_turn(session).await?;
    }
    extraction::note_reviews(session).await?;
    effects::book_side_queries(session).await
}

/// How long background work is waited for. A headless run that has come to
/// dream waits for its dream: its answer is printed, and what a later run
/// would do in its place costs the same again (L6.1).
fn last_wait(session: &Session) -> Duration {
    let limits = &session.config.limits;
    let headless = session.config.background.extraction.surface == Surface::Headless;
    if headless && session.runtime.background.is_running(&QuerySource::Dream) {
        return Duration::from_mins(limits.dream.minutes);
    }
    Duration::from_secs(limits.drain_s)
}

/// Ends the conversation for now: what runs in the background comes to its
/// end or is stopped, and what it cost is booked. To be called before the
/// process ends; a turn may follow all the same.
///
/// # Errors
/// If the log cannot be written.
pub async fn finish(session: &mut Session) -> Result<(), Error> {
    session.runtime.branch.prefetch = None;
    pause::stop_waiting(session);
    session.runtime.background.drain(last_wait(session)).await;
    extraction::catch_up(session).await?;
    session.runtime.background.drain(last_wait(session)).await;
    close_books(session).await
}

/// Writes down what background work came to, once none of it runs.
async fn close_books(session: &mut Session) -> Result<(), Error> {
    letters::join_ended(session).await?;
    extraction::note_reviews(session).await?;
    notes::take_notes(session).await?;
    pause::close(session).await?;
    effects::book_side_queries(session).await
}

/// Ends a conversation whose server answers one request at a time, without
/// waiting for reviews and dreams: whoever asks next is not kept waiting (Q17).
/// True where something is left that [`finish_later`] does.
///
/// # Errors
/// If the log cannot be written.
pub async fn leave(session: &mut Session) -> Result<bool, Error> {
    session.runtime.branch.prefetch = None;
    pause::stop_waiting(session);
    let background = session.runtime.background.clone();
    let is_left =
        background.is_running(&QuerySource::Extract) || session.memory.extraction.is_pending();
    for task in background.list() {
        let _ = background.stop(&task.id);
    }
    background.drain(Duration::from_secs(session.config.limits.drain_s)).await;
    close_books(session).await?;
    Ok(is_left)
}

/// Does what [`leave`] left, in a session that was resumed for it.
///
/// # Errors
/// If the log cannot be written.
pub async fn finish_later(session: &mut Session) -> Result<(), Error> {
    session.memory.extraction.owe();
    finish(session).await
}
