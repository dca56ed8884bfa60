//! What the footer says, as far as it is known: taken from the session when it
//! is at rest, and brought up to date by what the engine tells.

use crate::host::Host;
use crate::panel_data::PanelData;
use everfold_agent::engine::agents::Agents;
use everfold_agent::engine::agents::letters;
use everfold_agent::engine::session::status;
use everfold_agent::engine::session::status::Live;
use everfold_agent::engine::setups::memory_switch;
use everfold_agent::engine::tools::foreground::RunningCommands;
use everfold_agent::engine::window::context_view;
use everfold_agent::engine::window::context_view::ContextView;
use everfold_agent::{Background, MemorySwitch, Queue, SessionId};
use everfold_kernel::ports::Shell;
use everfold_kernel::settings::PermissionMode;
use everfold_kernel::usage::Booking;
use everfold_kernel::{Ledger, QuerySource, Window};
use std::sync::Arc;

/// The state of a session, without the session.
#[derive(Clone)]
pub(crate) struct Status {
    pub(crate) session: SessionId,
    pub(crate) model: String,
    pub(crate) cwd: String,
    pub(crate) branch: Option<String>,
    pub(crate) mode: PermissionMode,
    pub(crate) memory: MemorySwitch,
    pub(crate) window: Window,
    /// Tokens in the window.
    pub(crate) used: u64,
    /// The share of the last prompt that came from the cache.
    pub(crate) hit_rate: Option<f64>,
    pub(crate) context: ContextView,
    pub(crate) background: Background,
    pub(crate) agents: Agents,
    pub(crate) queue: Queue,
    /// The session, as far as it can be seen and steered while a turn runs.
    pub(crate) live: Live,
    /// Where commands run, those in the background too.
    pub(crate) shell: Arc<dyn Shell>,
    /// Commands that run in the foreground.
    pub(crate) running: RunningCommands,
    /// What was spent, by source and model.
    pub(crate) ledger: Ledger,
    /// What can be looked at while the worker has the session.
    pub(crate) side: Arc<dyn PanelData>,
}

impl Status {
    /// The state of a host's session now.
    pub(crate) fn of(host: &dyn Host) -> Self {
        let session = host.session();
        let context = context_view::context_view(session);
        let live = status::live(session);
        Self {
            session: session.id().clone(),
            model: host.model_name(),
            cwd: session.config().surroundings.cwd.clone(),
            branch: host.agent().repo().and_then(|repo| repo.branch.clone()),
            mode: session.mode(),
            memory: memory_switch::memory_switch(session),
            window: session.window(),
            used: context.used.0,
            hit_rate: live.status().and_then(|now| now.hit_rate),
            context,
            background: session.background().clone(),
            agents: letters::agents(session).clone(),
            queue: session.queue(),
            live,
            shell: Arc::clone(&host.agent().world().shell),
            running: session.context().running.clone(),
            ledger: session.ledger().clone(),
            side: host.side(),
        }
    }

    /// A request was paid for.
    pub(crate) fn booked(&mut self, booking: &Booking) {
        self.ledger.book(booking);
        if booking.source == QuerySource::Main {
            self.used = booking.usage.total().0;
            self.hit_rate = Some(booking.usage.hit_rate());
        }
    }
}
