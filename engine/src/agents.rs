//! The agents of a session: how they are started, work and end (L7.4, L7.5).
//!
//! An agent is a session of its own with its own log, window and permissions.
//! All of them are tasks of the parent's [`Background`](crate::Background), in the
//! foreground too: they are seen, stopped and drained in one place, and none of
//! them runs inside of the parent's turn, so neither can wait for the other's lock.

use crate::session::Session;
pub use crate::session::agent_context::{Agents, Crew};
pub(crate) use crate::session::agent_context::{Me, Member, Parent, SharedInbox, locked};
use crate::tools::{AgentWish, ToolCall};
use std::sync::Arc;

pub(crate) mod build;
pub(crate) mod checkout;
pub(crate) mod chosen;
pub(crate) mod kinds;
pub mod letters;
pub(crate) mod life;
pub(crate) mod outfit;
pub(crate) mod summary;
pub(crate) mod tool_port;

pub(crate) use crate::tools::Started;
pub use crate::tools::{Finished, MAIN, Order};
pub use everfold_mail::memory::MemoryPlaces;
pub use everfold_mail::plan::coordinator;
pub use everfold_mail::{Definition, DefinitionError, Roster};
pub use kinds::load;
pub(crate) use outfit::model_of;

/// Before calls run: what agents among them take over. Nothing is cloned
/// where no agent is asked for.
pub(crate) fn brief_agents(session: &mut Session, calls: &[ToolCall]) {
    let asked: Vec<AgentWish> = calls.iter().filter_map(AgentWish::of).collect();
    if asked.is_empty() || !session.is_main() {
        return;
    }
    let forks = asked.contains(&AgentWish::Fork);
    let fold = (forks && !everfold_mail::plan::is_fork(&session.state.fold))
        .then(|| session.state.fold.clone());
    if fold.is_some() {
        session.runtime.cache.last_fork = Some(session.world.clock.now());
    }
    let parent = Parent { fold, ..as_parent(session) };
    session.crew.agents.brief(parent);
}

/// What an agent takes over that is no fork.
pub(crate) fn as_parent(session: &Session) -> Parent {
    Parent {
        fold: None,
        last: session.log.last.clone(),
        attached: session.state.attached.clone(),
        detector: session.runtime.cache.detector.clone(),
        context: Arc::new(
            session.context.cloned_for(session.world.clone(), session.permit.sandbox(Vec::new())),
        ),
        permit: session.permit.clone(),
        toolbox: session.toolbox.clone(),
        model: session.model().clone(),
    }
}

/// Whether the model agreed to come to an end when it was asked to.
#[must_use]
pub fn is_leaving(session: &Session) -> bool {
    session.crew.agents.is_leaving(MAIN)
}
