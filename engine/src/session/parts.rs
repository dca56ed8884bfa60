//! What a new session is put together from.

use crate::background::Background;
use crate::config::Config;
use crate::permit::{Permit, Places};
use crate::session::agent_context::{Agents, Crew, Me, Seat};
use crate::session::effects::{SideAsker, SideBookings};
use crate::session::file_history::FileHistory;
use crate::session::log::Log;
use crate::session::lookup::LogLookup;
use crate::tools::{Snipping, ToolContext};
use everfold_kernel::ports::{Confinement, SandboxState, World};
use everfold_kernel::{Flag, SessionId};
use everfold_transcript::Envelope;
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
    let mut context =
        ToolContext::new(world.clone(), id.clone(), limits, config.workplace.roots.clone());
    context.ask = Some(Arc::new(asker));
    crew.seat_at(&mut context);
    context.lookup = Some(Arc::new(LogLookup));
    context.history = Some(Arc::new(crew.agents.seat().history.clone()));
    context.skills = Arc::clone(&config.setups.skills);
    if !config.flags.is_on(Flag::Snip) {
        context.snipping = Snipping::Off;
    }
    context
}

/// What it may do. Rules that cannot be read are kept, to be told.
pub(super) fn permit(id: &SessionId, world: &World, config: &Config) -> Permit {
    let places = places(id, world, config);
    Permit::new(config.permissions.mode, &config.permissions.rules, places)
}

/// What its commands are held to (S12): nothing where that is not available,
/// because then each of them is asked about.
pub(super) fn confinement(config: &Config, permit: &Permit) -> Confinement {
    match &config.permissions.confinement {
        Confinement::Sandbox(profile) if permit.is_held() => {
            Confinement::Sandbox(permit.sandbox(profile.writable.clone()))
        }
        _ => Confinement::Free,
    }
}

/// Its log, of which nothing is written yet.
pub(super) fn log(id: SessionId, world: &World, config: &Config) -> Log {
    let envelope = Envelope {
        git_branch: config.launch.git_branch.clone(),
        entrypoint: config.launch.entrypoint.clone(),
        ..Envelope::new(id.clone(), &config.surroundings.cwd, &config.launch.version)
    };
    Log::new(id, envelope, Arc::clone(&world.transcripts), Arc::clone(&world.clock))
}

/// Where the tools of a session may touch files.
fn places(id: &SessionId, world: &World, config: &Config) -> Places {
    let memories = world.memories.iter().flat_map(|memories| memories.places());
    let mut readable = vec![world.transcripts.session_dir(id)];
    if world.memories.is_some() && config.flags.is_on(Flag::PastSearch) {
        readable.extend(world.transcripts.path(id).parent().map(PathBuf::from));
    }
    Places {
        roots: config.workplace.roots.clone(),
        readable,
        writable: memories
            .map(|place| place.dir.clone())
            .chain(config.workplace.writable.clone())
            .collect(),
        home: config.workplace.user_home.clone(),
        own_home: config.workplace.own_home.clone(),
        walked_entries: config.limits.walked_entries,
        unheld: unheld(world, config),
    }
}

/// Why commands are not held to the sandbox that the person wants.
fn unheld(world: &World, config: &Config) -> Option<String> {
    if config.permissions.confinement == Confinement::Free {
        return None;
    }
    match world.shell.sandbox() {
        SandboxState::Missing(reason) => Some(reason),
        SandboxState::Ready => None,
    }
}

impl Crew {
    /// Lets the tools of a context reach the agents and the hooks.
    pub(crate) fn seat_at(&self, context: &mut ToolContext) {
        let own = Arc::new(self.clone());
        context.agents = Some(own.clone());
        context.hooks = Some(own);
    }
}
