//! Where the memories of a session are, and whether there are any (L5.1, L5.7).

use crate::error::Error;
use crate::memory_location::Named;
use crate::repo::Repo;
use crate::team::{BackgroundSync, ProjectTeam, TeamDreams, TeamGround};
use everfold_kernel::Flag;
use everfold_kernel::ports::{Clock, Dreams, Files, Memories, MemoryPlace, MemoryScope};
use everfold_memory_service::{Here, Notice, Service, ServiceConfig};
use everfold_memory_store::DirDreams;
use everfold_memory_store::location::{global_dir, team_dir};
use everfold_settings::Resolved;
use std::path::Path;
use std::sync::Arc;

/// Where catalogues are kept of directories that we do not write (R16).
const CATALOGUES: &str = "cache/catalogues";

/// What the place of memories depends on besides settings.
pub(crate) struct Ground<'a> {
    pub(crate) home: &'a Path,
    pub(crate) user_home: Option<&'a Path>,
    pub(crate) cwd: &'a Path,
    pub(crate) repo: Option<&'a Repo>,
    pub(crate) files: &'a dyn Files,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) sync: StartSync,
}

/// Whether the team's memories are brought up to date (F1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartSync {
    /// For a conversation.
    Wanted,
    /// Somebody only looks at what is there.
    Left,
}

/// The memories of a session; none where they are switched off.
///
/// # Errors
/// If settings or environment name a place where they cannot be.
pub(crate) async fn open(
    ground: &Ground<'_>,
    resolved: &Resolved,
) -> Result<Option<Arc<dyn Memories>>, Error> {
    let named = Named::by(resolved);
    if resolved.settings.auto_memory_enabled == Some(false) || named.is_nowhere() {
        return Ok(None);
    }
    let location = named.resolve(ground.home, ground.user_home, ground.cwd)?;
    let project = ground.files.resolve(&location.dir).await;
    let global = ground.files.resolve(&global_dir(ground.home)).await;
    let mut places = Vec::new();
    // What is on a machine that goes away is not worth a tier of its own.
    if global != project && !named.is_remote() {
        places.push(MemoryPlace { scope: MemoryScope::Global, dir: global });
    }
    places.push(MemoryPlace { scope: MemoryScope::Project, dir: project.clone() });
    let team = TeamGround::of(ground.home, ground.cwd, resolved, ground.clock);
    let bound = ProjectTeam::usable(&team);
    let mut terms = terms(resolved, ground.home);
    if uses_team(resolved, bound.as_ref()) {
        places.extend(team_place(bound.as_ref(), &project, ground.files).await);
        if let Some(team) = bound.filter(|_| ground.sync == StartSync::Wanted) {
            let beside = BackgroundSync::new(team);
            // It goes on while the session starts.
            beside.start();
            terms.team = Some(Arc::new(beside));
        }
    }
    let here = Here {
        branch: ground.repo.and_then(|repo| repo.branch.clone()),
        worktree: ground.repo.map(|repo| repo.root.clone()),
    };
    Ok(Some(Arc::new(Service::new(places, here, terms, ground.clock))))
}

/// Whether sessions read a team's memories: where the project is bound to one
/// unless that was switched off, else where it was switched on (L5.21, F1).
pub(crate) fn uses_team(resolved: &Resolved, bound: Option<&ProjectTeam>) -> bool {
    let said = resolved.settings.everfold.flags.said(Flag::TeamMemory);
    said.unwrap_or(bound.is_some())
}

/// Where a team's memories are.
async fn team_place(
    bound: Option<&ProjectTeam>,
    project: &Path,
    files: &dyn Files,
) -> Option<MemoryPlace> {
    let scope = MemoryScope::Team;
    if let Some(team) = bound {
        return Some(MemoryPlace { scope, dir: files.resolve(&team.memories()).await });
    }
    let dir = team_dir(project);
    // A link there could lead anywhere: a team's memories are inside (L5.21).
    if files.resolve(&dir).await == dir {
        return Some(MemoryPlace { scope, dir });
    }
    let team = dir.display();
    tracing::warn!(%team, "the team's memories are skipped: their directory is a link");
    None
}

/// What bounds memories, and when a person is asked about them.
pub(crate) fn terms(resolved: &Resolved, home: &Path) -> ServiceConfig {
    let own = &resolved.settings.everfold;
    ServiceConfig {
        extract: own.limits.extract.clone(),
        recall: own.limits.recall.clone(),
        review: own.memory,
        notice: Notice::All,
        cache: Some(home.join(CATALOGUES)),
        embedders: everfold_memory_embed::installed_embedders(home),
        team: None,
    }
}

/// Consolidating the memories of the project (L6), and of its team (F2).
pub(crate) fn dreams(
    memories: &dyn Memories,
    team: Option<ProjectTeam>,
    clock: &Arc<dyn Clock>,
) -> Vec<Arc<dyn Dreams>> {
    let dir = |scope| {
        let place = memories.places().iter().find(|place| place.scope == scope)?;
        Some(place.dir.clone())
    };
    let mut all: Vec<Arc<dyn Dreams>> = Vec::new();
    if let Some(dir) = dir(MemoryScope::Project) {
        all.push(Arc::new(DirDreams::new(dir, MemoryScope::Project, clock)));
    }
    if let Some((team, dir)) = team.zip(dir(MemoryScope::Team)) {
        all.push(Arc::new(TeamDreams::new(team, dir, clock)));
    }
    all
}
