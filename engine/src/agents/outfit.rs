//! What the session of an agent is given: configuration, model, servers, and
//! its place among the others.

use super::build::{Plan, source};
use super::chosen::ChosenServers;
use super::{Crew, Parent};
use crate::config::Config;
use crate::permit::Watch;
use crate::session::Session;
use crate::session::fork::{Start, Thread};
use crate::tools::ENV_FILE;
use everfold_kernel::ports::{Confinement, Servers, World};
use everfold_kernel::{Flag, ModelId, SessionId};
use everfold_mail::{Definition, Running};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What an agent works on besides the conversation.
pub(crate) const NOT_FOR_AGENTS: &[Flag] =
    &[Flag::SessionMemory, Flag::Extract, Flag::Dream, Flag::Recall, Flag::AgentSummary];

/// The servers that a kind may use, and those of them that end with it: its
/// own, which work where it does.
pub(super) fn servers_of(
    kind: &Definition,
    world: &World,
    roots: &[PathBuf],
) -> (Option<Reached>, Option<Reached>) {
    let all = world.servers.clone();
    if kind.servers.is_none() && kind.tools.is_none() && kind.disallowed.is_empty() {
        return (all, None);
    }
    let maker = world.server_maker.as_ref().filter(|_| !kind.own_servers.is_empty());
    let origin = format!("the agent {}", kind.name);
    let own = maker.map(|maker| maker.make(&kind.own_servers, &origin, roots));
    let some = all.is_some() || own.is_some();
    let chosen = ChosenServers { all, kind: kind.clone(), own: own.clone() };
    (some.then(|| Arc::new(chosen) as Reached), own)
}

type Reached = Arc<dyn Servers>;

/// The parent's configuration without what only a conversation does.
pub(super) fn config_of(parent: &Config, requests: Option<u32>) -> Config {
    let mut config = parent.clone();
    let limits = &config.limits.agents;
    config.launch.max_turns = Some(requests.unwrap_or(limits.requests).min(limits.requests));
    for flag in NOT_FOR_AGENTS {
        config.flags.set(*flag, false);
    }
    config
}

/// The model that a definition names: an id, or a family such as `haiku`.
pub(crate) fn model_of(config: &Config, parent: &ModelId, named: Option<&str>) -> ModelId {
    let Some(named) = named else { return parent.clone() };
    if named.contains(['-', '/', '.']) {
        return ModelId::new(named);
    }
    if config.models.small.as_str().contains(named) {
        return config.models.small.clone();
    }
    let family = format!("-{named}-");
    let known = config.models.table.iter().map(|(id, _)| id).filter(|id| id.contains(&family));
    let newest = known.filter(|id| parent.as_str().split('-').next() == id.split('-').next()).max();
    newest.map_or_else(|| parent.clone(), ModelId::new)
}

/// Makes a new session an agent's: its log names its parent, and letters
/// reach it.
pub(super) fn become_agent(
    session: &mut Session,
    parent: &SessionId,
    plan: &Plan<'_>,
    crew: Crew,
    start: Start,
) {
    session.thread = Thread::Agent { source: source(plan), start };
    session.log.envelope.session = parent.clone();
    session.log.envelope.side = everfold_transcript::Side::Agent(Some(plan.id.clone()));
    let env_file = crew.agents.seat().world.transcripts.session_dir(parent).join(ENV_FILE);
    if let Some(context) = Arc::get_mut(&mut session.context) {
        crew.seat_at(context);
        context.env_file = env_file;
        context.history = crew.agents.seat().history.for_agent(plan.isolation);
    }
    session.crew = crew;
}

/// Takes over the conversation of a parent: what was said, read and decided.
pub(super) fn take_over(session: &mut Session, fold: everfold_prefix::Fold, parent: &Parent) {
    session.state.fold = fold;
    session.log.last.clone_from(&parent.last);
    session.state.attached = parent.attached.clone();
    session.runtime.cache.detector = parent.detector.clone();
    session.permit = parent.permit.clone();
    session.permit.set_watch(Watch::Nobody);
    let held = session.permit.sandbox(Vec::new());
    let mut context = parent.context.cloned_for(session.world.clone(), held);
    session.crew.seat_at(&mut context);
    context.history.clone_from(&session.context.history);
    session.context = Arc::new(context);
}

/// What git obeys of a `.git`.
const OBEYED: &[&str] = &["hooks", "config", "config.worktree", "info", "modules"];

/// Commands of an agent that nobody watches write where it works and
/// nowhere else, and reach no network (S8).
///
/// In a checkout of its own it may commit: of the repository's `.git` hooks
/// and configuration stay as they are, which git obeys outside of the sandbox
/// (S12).
pub(super) fn confine(session: &mut Session, running: Running, git_dir: Option<&Path>) {
    let confinement = match running {
        Running::Foreground => session.context.confinement.clone(),
        Running::Background => {
            let rooms =
                session.config.workplace.roots.iter().chain(&session.config.workplace.writable);
            let mut profile = session.permit.sandbox(rooms.cloned().collect());
            if let Some(git_dir) = git_dir {
                profile.writable.push(git_dir.to_owned());
                profile.read_only.extend(OBEYED.iter().map(|name| git_dir.join(name)));
            }
            session.permit.set_watch(Watch::Nobody);
            Confinement::Sandbox(profile)
        }
    };
    if let Some(context) = Arc::get_mut(&mut session.context) {
        context.confinement = confinement;
    }
}
