//! What can be seen of a session from outside.

use super::Session;
use crate::background::Background;
use crate::background::budget::Budget;
use crate::config::Config;
use crate::event::Events;
use crate::permit::{Permit, RuleError};
use crate::session::queue::Queue;
use crate::tools::ToolContext;
use everfold_kernel::settings::PermissionMode;
use everfold_kernel::{Ledger, ModelId, SessionId, Window};
use everfold_prefix::Fold;

impl Session {
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.log.id
    }

    /// The conversation as the model sees it.
    #[must_use]
    pub fn fold(&self) -> &Fold {
        &self.state.fold
    }

    /// What it used so far.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.state.ledger
    }

    /// What it may still spend in the background.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What it was started with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The model that answers.
    #[must_use]
    pub fn model(&self) -> &ModelId {
        self.state.fold.prelude().map_or(&self.config.models.model, |prelude| &prelude.params.model)
    }

    /// Its window and thresholds.
    #[must_use]
    pub fn window(&self) -> Window {
        self.config.window(self.model())
    }

    /// Permission rules that could not be read.
    #[must_use]
    pub fn broken_rules(&self) -> &[RuleError] {
        self.permit.broken()
    }

    /// What tools may do without a word of the person.
    #[must_use]
    pub fn mode(&self) -> PermissionMode {
        self.permit.mode()
    }

    /// What tools may do.
    pub fn permit_mut(&mut self) -> &mut Permit {
        &mut self.permit
    }

    /// Where messages go that are typed while a turn runs.
    #[must_use]
    pub fn queue(&self) -> Queue {
        self.runtime.queue.clone()
    }

    /// What tools use and remember.
    #[must_use]
    pub fn context(&self) -> &ToolContext {
        &self.context
    }

    /// What goes on beside the conversation.
    #[must_use]
    pub fn background(&self) -> &Background {
        &self.runtime.background
    }

    /// Sends what happens from here on to a watcher.
    pub fn watch(&mut self, events: Events) {
        self.runtime.background.watch(events.clone());
        self.runtime.events = Some(events);
    }
}
