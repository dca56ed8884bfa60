//! What a screen shows of a session while a turn runs and has it: a small
//! snapshot, brought up to date with every record. And the one thing that is
//! changed from there: the permission mode.

use crate::event::Event;
use crate::session::Session;
use everfold_kernel::settings::PermissionMode;
use everfold_kernel::usage::Booking;
use everfold_kernel::{ModelId, QuerySource, Tokens, Window};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A session, in a few figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The model that answers.
    pub model: ModelId,
    /// The effort asked for; none is the model's own.
    pub effort: Option<String>,
    /// The permission mode, as it is or is about to be.
    pub mode: PermissionMode,
    /// Tokens of the conversation.
    pub used: Tokens,
    /// The window and its thresholds.
    pub window: Window,
    /// The share of the last prompt that came from the cache.
    pub hit_rate: Option<f64>,
    /// Rules that the person added by "always" in this session (U3).
    pub granted: Vec<String>,
}

/// A look at a session from outside. Clones look at the same one.
#[derive(Clone, Debug, Default)]
pub struct Live(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    status: Option<Status>,
    hit_rate: Option<f64>,
    wish: Option<PermissionMode>,
}

impl Live {
    /// How the session is now.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        let state = self.state();
        let mut status = state.status.clone()?;
        status.mode = state.wish.unwrap_or(status.mode);
        Some(status)
    }

    /// Changes the permission mode: from the next tool call on while a turn
    /// runs, else from the next turn on.
    pub fn set_mode(&self, mode: PermissionMode) {
        self.state().wish = Some(mode);
    }

    /// Remembers how much of a prompt came from the cache.
    pub(crate) fn note_hit_rate(&self, booking: &Booking) {
        if booking.source == QuerySource::Main {
            self.state().hit_rate = Some(booking.usage.hit_rate());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A look at this session that outlasts a turn's hold on it.
#[must_use]
pub fn live(session: &Session) -> Live {
    show_status(session);
    session.runtime.live.clone()
}

/// Takes over the mode that was chosen meanwhile.
pub(crate) fn follow_mode(session: &mut Session) {
    let wish = session.runtime.live.state().wish.take();
    if let Some(mode) = wish {
        session.permit.set_mode(mode);
        show_status(session);
    }
}

/// Brings the snapshot up to date.
pub(crate) fn show_status(session: &Session) {
    let effort = match session.state.fold.prelude() {
        Some(prelude) => prelude.params.effort.clone(),
        None => session.config.models.effort.clone(),
    };
    let mut state = session.runtime.live.state();
    let status = Status {
        model: session.model().clone(),
        effort,
        mode: session.permit.mode(),
        used: session.state.fold.count(),
        window: session.window(),
        hit_rate: state.hit_rate,
        granted: session.permit.granted().collect(),
    };
    state.status = Some(status);
}

/// Tells the person something that would be true again and again.
pub(crate) fn say_once(session: &mut Session, topic: &'static str, text: impl FnOnce() -> String) {
    if session.runtime.told.insert(topic) {
        let text = text();
        tracing::warn!(topic, "{text}");
        session.emit(|| Event::Notice(text));
    }
}
