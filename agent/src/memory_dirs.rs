//! Memories from outside of a conversation: where they are (L5.1, L5.25), and
//! opening them. What goes in and what comes out is [`MemoryDirs::service`]'s.
//!
//! [`crate::Builder::memory_dirs`] makes a [`MemoryDirs`]. Looking at memories
//! that are not there makes no directory; only [`MemoryDirs::open`] does.
//! Everything here blocks.

pub use everfold_memory_store::shelf::Shelved;

use crate::error::Error;
use crate::memory_location::{Named, SETTING};
use crate::repo::Repo;
use crate::team::{BackgroundSync, ProjectTeam, SyncReport, TeamGround, TeamStart};
use everfold_disk::Root;
use everfold_disk::atomic::{self, FileReaders};
use everfold_kernel::limits::RecallLimits;
use everfold_kernel::ports::{Clock, MemoryPlace, MemoryScope, Names};
use everfold_memory_file::index::INDEX_FILE;
use everfold_memory_service::{Here, Notice, Service, ServiceConfig, TeamLink};
use everfold_memory_store::location::{self, Location, LocationSource};
use everfold_memory_store::{Store, StoreOptions, StoreScope};
use everfold_settings::{Home, Resolved};
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where it is noted, under the home, on which day a notice was last given.
const TOLD_DIR: &str = ".told";

/// What the places follow from.
pub(crate) struct Ground<'a> {
    pub(crate) user_home: Option<&'a Path>,
    pub(crate) home: &'a Home,
    pub(crate) resolved: &'a Resolved,
    pub(crate) repo: Option<&'a Repo>,
    pub(crate) cwd: &'a Path,
    pub(crate) clock: &'a Arc<dyn Clock>,
}

/// The memory directories that belong to a working directory: the project's,
/// and the person's own.
#[derive(Clone)]
pub struct MemoryDirs {
    project: Location,
    global: PathBuf,
    root: PathBuf,
    named_after: PathBuf,
    branch: Option<String>,
    terms: ServiceConfig,
    clock: Arc<dyn Clock>,
    lookup_bytes: u64,
    refused: Option<String>,
    team: TeamUse,
    ground: TeamGround,
    /// The team that the project is bound to (F1).
    bound: Option<ProjectTeam>,
}

/// Whether a team's memories are part of sessions (L5.21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TeamUse {
    On,
    Off,
}

impl MemoryDirs {
    pub(crate) fn locate(ground: &Ground<'_>) -> Result<Self, Error> {
        let resolved = ground.resolved;
        let home = ground.home.root();
        let project = Named::by(resolved).resolve(home, ground.user_home, ground.cwd)?;
        // Settings of a repository lose the key before anybody sees it; who
        // looks for the directory should hear of it all the same.
        let refused = resolved.refused.iter().find(|refused| refused.pointer == SETTING);
        let team = TeamGround::of(home, ground.cwd, resolved, ground.clock);
        let bound = ProjectTeam::usable(&team);
        let is_used = crate::memory::uses_team(resolved, bound.as_ref());
        let beside = bound.clone().filter(|_| is_used).map(BackgroundSync::new);
        let link = beside.map(|beside| Arc::new(beside) as Arc<dyn TeamLink>);
        Ok(Self {
            global: location::global_dir(home),
            root: ground.repo.map_or(ground.cwd, |repo| &repo.root).to_owned(),
            named_after: team.project.clone(),
            branch: ground.repo.and_then(|repo| repo.branch.clone()),
            // A process that asks one thing and goes looks at what it touches.
            terms: ServiceConfig {
                notice: Notice::Touched,
                team: link,
                ..crate::memory::terms(resolved, home)
            },
            clock: Arc::clone(ground.clock),
            lookup_bytes: resolved.settings.everfold.limits.dream.lookup_bytes,
            team: if is_used { TeamUse::On } else { TeamUse::Off },
            refused: refused.map(|refused| format!("{} ({})", refused.reason, refused.origin)),
            project,
            ground: team,
            bound,
        })
    }

    /// The team that the project is bound to.
    #[must_use]
    pub fn team(&self) -> Option<&ProjectTeam> {
        self.bound.as_ref()
    }

    /// Brings in what the team has new, and waits for that only for a moment.
    pub(crate) fn pull_team(&self) {
        if let Some(team) = &self.terms.team {
            team.pull();
        }
    }

    /// Binds the project to a team that meets in a git repository, and takes
    /// over what it kept for a team before. Says what could not be.
    ///
    /// # Errors
    /// If the project has another team, the place cannot be reached, or is not
    /// what it is to be.
    pub fn start_team(
        &self,
        remote: &str,
        name: Option<&str>,
        how: TeamStart,
    ) -> Result<(ProjectTeam, SyncReport, Vec<String>), Error> {
        let (team, report) = ProjectTeam::start(&self.ground, remote, name, how)?;
        let left = team.adopt(&self.project.dir)?;
        Ok((team, report, left))
    }

    /// Binds the project to a team of a fleet, and takes over what it kept for a
    /// team before. Says what could not be.
    ///
    /// # Errors
    /// If the project has another team, no server can be reached, or none has
    /// such a team.
    #[cfg(feature = "fleet")]
    pub fn enlist(
        &self,
        start: &crate::team::FleetStart,
    ) -> Result<(ProjectTeam, SyncReport, Vec<String>), Error> {
        let (team, report) = ProjectTeam::enlist(&self.ground, start)?;
        let left = team.adopt(&self.project.dir)?;
        Ok((team, report, left))
    }

    /// Takes the project out of its team, and says where that one's memories
    /// stay.
    ///
    /// # Errors
    /// If it is in none, or that cannot be written.
    pub fn leave_team(&self) -> Result<PathBuf, Error> {
        Ok(ProjectTeam::leave(&self.ground)?.memories())
    }

    /// Where memories of a scope are. Those of a team that the project is bound
    /// to are with the team; else they are inside the project's.
    #[must_use]
    pub fn dir(&self, scope: StoreScope) -> PathBuf {
        match scope {
            StoreScope::Project => self.project.dir.clone(),
            StoreScope::Global => self.global.clone(),
            StoreScope::Team => match &self.bound {
                Some(team) => team.memories(),
                None => location::team_dir(&self.project.dir),
            },
        }
    }

    /// Whether memories of a scope are brought into sessions.
    #[must_use]
    pub fn is_used(&self, scope: StoreScope) -> bool {
        scope != StoreScope::Team || self.team == TeamUse::On
    }

    /// Who says that the project's are there.
    #[must_use]
    pub fn source(&self) -> LocationSource {
        self.project.source
    }

    /// A place that was not taken over because a repository named it (S2).
    #[must_use]
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// The root of the work tree, else the working directory: what paths in
    /// memories are seen from.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What the project's memories are named after: the root of the repository,
    /// shared by its work trees, else the working directory.
    #[must_use]
    pub fn project(&self) -> &Path {
        &self.named_after
    }

    /// The branch that is checked out.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// Those of some names that the project surely does not have (L6.8).
    #[must_use]
    pub fn missing(&self, names: Names) -> Names {
        everfold_search::missing(&self.root, names, self.lookup_bytes)
    }

    /// How much of memories is shown to a model.
    #[must_use]
    pub fn limits(&self) -> &RecallLimits {
        &self.terms.recall
    }

    /// The one way in and out of these memories (L5.32).
    #[must_use]
    pub fn service(&self) -> Service {
        self.service_with(StoreScope::Project)
    }

    /// The same, with the place of a scope that is named, also where sessions do
    /// not use it.
    #[must_use]
    pub fn service_with(&self, named: StoreScope) -> Service {
        let used = [StoreScope::Global, StoreScope::Project, StoreScope::Team].into_iter();
        let used = used.filter(|scope| match scope {
            // A link there could lead anywhere: a team's memories are inside (L5.21).
            StoreScope::Team => {
                (named == StoreScope::Team || self.is_used(StoreScope::Team))
                    && !self.dir(StoreScope::Team).is_symlink()
            }
            _ => true,
        });
        let place = |scope| MemoryPlace { scope: port_scope(scope), dir: self.dir(scope) };
        let here = Here { branch: self.branch.clone(), worktree: Some(self.root.clone()) };
        Service::new(used.map(place).collect(), here, self.terms.clone(), &self.clock)
    }

    /// The clock that days are read from.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Opens the memories of a scope, making their directory as needed.
    ///
    /// # Errors
    /// If it cannot be made or read, or leads elsewhere.
    pub fn open(&self, scope: StoreScope) -> Result<Store, Error> {
        if scope == StoreScope::Team && self.bound.is_none() {
            // Through the project's, which nothing done through it can leave (S1).
            Root::create(&self.dir(StoreScope::Project))
                .and_then(|project| project.sub(&location::team_dir(Path::new("."))))
                .map_err(everfold_memory_store::Error::from)?;
        }
        let head_lines = self.limits().head_lines;
        let options = StoreOptions { scope, head_lines, ..StoreOptions::default() };
        Ok(Store::open_with(&self.dir(scope), options, Timestamp::now())?)
    }

    /// Opens the memories of a scope, if there are any yet.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn existing(&self, scope: StoreScope) -> Result<Option<Store>, Error> {
        if self.is_there(scope) { self.open(scope).map(Some) } else { Ok(None) }
    }

    /// How many proposals wait in the inboxes, by their files alone.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let all = [StoreScope::Project, StoreScope::Global, StoreScope::Team].into_iter();
        let inboxes = all.filter(|scope| self.is_there(*scope)).map(|scope| self.dir(scope));
        let files = inboxes.flat_map(|dir| std::fs::read_dir(dir.join("inbox")).into_iter());
        let files = files.flatten().flatten().map(|entry| entry.path());
        files.filter(|path| path.extension().is_some_and(|ending| ending == "json")).count()
    }

    /// How many proposals wait, for a notice that comes once a day (L5.46): none
    /// where none do, or where that was said today.
    #[must_use]
    pub fn waiting_today(&self) -> Option<usize> {
        let waiting = Some(self.waiting()).filter(|waiting| *waiting > 0)?;
        let today = self.clock.today().to_string();
        let slug = location::project_slug(&self.named_after);
        let told = self.global.with_file_name(TOLD_DIR).join(slug);
        if std::fs::read_to_string(&told).is_ok_and(|day| day.trim() == today) {
            return None;
        }
        // Who cannot note it says it again.
        let _ = atomic::write(&told, today.as_bytes(), FileReaders::Private);
        Some(waiting)
    }

    /// Whether there is a directory of a scope. A folder of the project's own
    /// memories may be called as a team's is; it is none before it has an index.
    pub(crate) fn is_there(&self, scope: StoreScope) -> bool {
        let dir = self.dir(scope);
        let is_link = || dir.symlink_metadata().is_ok_and(|there| there.is_symlink());
        match scope {
            StoreScope::Team if self.bound.is_none() => dir.join(INDEX_FILE).exists() && !is_link(),
            _ => dir.is_dir(),
        }
    }
}

fn port_scope(scope: StoreScope) -> MemoryScope {
    match scope {
        StoreScope::Project => MemoryScope::Project,
        StoreScope::Global => MemoryScope::Global,
        StoreScope::Team => MemoryScope::Team,
    }
}

/// Reads every memory of a directory, by path.
///
/// # Errors
/// If it cannot be listed.
pub fn shelf(dir: &Path) -> Result<Vec<Shelved>, Error> {
    let failed = |error: std::io::Error| Error::Directory {
        path: dir.to_owned(),
        message: error.to_string(),
    };
    everfold_memory_store::shelf::shelf(dir).map_err(failed)
}
