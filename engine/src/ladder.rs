//! What happens before each request, cheapest first (Q1).
//!
//! A rung that fails lets the next one catch (Q2); only the last may say that
//! no request can be made.

use crate::session::Session;
use mnemon_kernel::Flag;
use mnemon_kernel::window::{AutoCompact, WindowState};

/// One step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// Refuse a request that would not leave room for an answer (T4).
    Window,
}

impl Rung {
    /// The order in which they are climbed.
    pub const ORDER: &'static [Self] = &[Self::Window];
}

/// What a rung came to.
pub(crate) enum Climbed {
    /// Go on.
    Done,
    /// No request can be made; the person is told why.
    Blocked(String),
}

impl Session {
    /// Runs one rung.
    pub(crate) fn climb(&mut self, rung: Rung) -> Climbed {
        match rung {
            Rung::Window => self.check_window(),
        }
    }

    fn check_window(&self) -> Climbed {
        let auto = if self.config.flags.is_on(Flag::AutoCompact) {
            AutoCompact::On
        } else {
            AutoCompact::Off
        };
        let (count, window) = (self.fold.count(), self.window());
        match window.state(count, auto) {
            WindowState::Blocked => Climbed::Blocked(format!(
                "the conversation has {} tokens, and requests are refused over {} with auto-compact off; \
                 start a new session, or turn auto-compact on (autoCompactEnabled)",
                count.0, window.refuse.0
            )),
            _ => Climbed::Done,
        }
    }
}
