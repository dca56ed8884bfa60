//! What a new session is put together from.

use crate::agents::{Agents, Crew, Me, Seat};
use crate::ask::{SideAsker, SideBookings};
use crate::background::Background;
use crate::config::Config;
use crate::file_history::FileHistory;
use crate::permit::Places;
use crate::recalled::LogLookup;
use crate::tools::{Snipping, ToolContext};
use crate::world::World;
use everfold_kernel::{Flag, SessionId};
use std::path::PathBuf;
use std::sync::Arc;

/// The agents of a session, which is their main thread.
pub(super) fn crew(
    id: &SessionId,
    world: &World,
    config: &Arc<Config>,
    background: &Background,
    books: &SideBookings,
    history: &FileHistory,
) -> Crew {
    let agents = Agents::new(Seat {
        session: id.clone(),
        world: world.clone(),
        config: Arc::clone(config),
        background: background.clone(),
        books: books.clone(),
        history: history.clone(),
    });
    Crew { agents, me: Me::Main }
}

/// What its tools use.
pub(super) fn context(
    id: &SessionId,
    world: &World,
    config: &Arc<Config>,
    crew: &Crew,
    books: &SideBookings,
) -> ToolContext {
    let asker =
        SideAsker { world: world.clone(), config: Arc::clone(config), bookings: books.clone() };
    let limits = Arc::clone(&config.limits);
    let mut context = ToolContext::new(world.clone(), id.clone(), limits, config.roots.clone());
    context.ask = Some(Arc::new(asker));
    crew.seat_at(&mut context);
    context.lookup = Some(Arc::new(LogLookup));
    context.history = Some(Arc::new(crew.agents.seat().history.clone()));
    context.confinement = config.confinement.clone();
    context.skills = Arc::clone(&config.skills);
    if !config.flags.is_on(Flag::Snip) {
        context.snipping = Snipping::Off;
    }
    context
}

/// Where the tools of a session may touch files.
pub(super) fn places(id: &SessionId, world: &World, config: &Config) -> Places {
    let memories = world.memories.iter().flat_map(|memories| memories.places());
    let mut readable = vec![world.transcripts.session_dir(id)];
    if world.memories.is_some() && config.flags.is_on(Flag::PastSearch) {
        readable.extend(world.transcripts.path(id).parent().map(PathBuf::from));
    }
    Places {
        roots: config.roots.clone(),
        readable,
        writable: memories.map(|place| place.dir.clone()).chain(config.writable.clone()).collect(),
        home: config.user_home.clone(),
    }
}
