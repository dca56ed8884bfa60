//! The team of a project: joining and leaving it, and keeping its memories in
//! step (F1).
//!
//! Which team that is stands under the person's home; nothing that a repository
//! brings can name one (S9). Everything here blocks.

mod background;
mod dreams;
#[cfg(feature = "fleet")]
mod fleet;
#[cfg(not(feature = "fleet"))]
#[path = "team/no_fleet.rs"]
mod fleet;

pub use everfold_memory_team::sync::HeldSide;
pub use everfold_memory_team::{
    Error as TeamSyncError, HeldMemory, SyncReport, TeamBinding, TeamTransport,
};
pub use everfold_teamgit::Prompts;

#[cfg(feature = "fleet")]
pub use everfold_nats::health::{FleetFinding, FleetFindingState};
#[cfg(feature = "fleet")]
pub use fleet::FleetStart;

pub(crate) use background::BackgroundSync;
pub(crate) use dreams::TeamDreams;
pub(crate) use fleet::carrier;

use crate::error::Error;
use everfold_kernel::limits::{FleetLimits, TeamLimits};
use everfold_kernel::ports::{Clock, TeamError, TeamRemote};
use everfold_kernel::settings::FleetSettings;
use everfold_memory_store::dream::lock;
use everfold_memory_store::location::{git_root, team_dir};
use everfold_memory_store::{By, Store, StoreOptions, StoreScope};
use everfold_memory_team::ancestor::TeamBase;
use everfold_memory_team::{TeamPlace, TeamSync};
use everfold_settings::Resolved;
use everfold_teamgit::{GitAddress, GitTeam, GitTeamOptions};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where it is noted how the last sync went.
const LAST: &str = "last-sync.json";

/// What a team follows from.
#[derive(Clone)]
#[cfg_attr(not(feature = "fleet"), expect(dead_code, reason = "a build without fleets"))]
pub(crate) struct TeamGround {
    pub(crate) home: PathBuf,
    /// What the project's memories are named after.
    pub(crate) project: PathBuf,
    pub(crate) limits: TeamLimits,
    pub(crate) fleet: FleetSettings,
    pub(crate) fleet_limits: FleetLimits,
    /// What others know us by.
    pub(crate) member: String,
    pub(crate) clock: Arc<dyn Clock>,
}

impl TeamGround {
    pub(crate) fn of(home: &Path, cwd: &Path, resolved: &Resolved, clock: &Arc<dyn Clock>) -> Self {
        Self {
            home: home.to_owned(),
            project: git_root(cwd).unwrap_or_else(|| cwd.to_owned()),
            limits: resolved.settings.everfold.limits.team.clone(),
            fleet: resolved.settings.everfold.fleet.clone(),
            fleet_limits: resolved.settings.everfold.limits.fleet.clone(),
            member: member(home),
            clock: Arc::clone(clock),
        }
    }
}

/// The team that a project is bound to.
#[derive(Clone)]
pub struct ProjectTeam {
    place: TeamPlace,
    binding: TeamBinding,
    ground: TeamGround,
}

/// How a team stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamStatus {
    /// Which team, and where it meets.
    pub binding: TeamBinding,
    /// Where its memories are here.
    pub memories: PathBuf,
    /// How many there are.
    pub count: usize,
    /// How many were changed here and are not with the others yet.
    pub unshared: usize,
    /// How many letters to other machines are still here.
    pub letters: usize,
    /// How many versions wait for the person's word.
    pub waiting: usize,
    /// What the others have and is not taken in, with the reason.
    pub held: Vec<(String, String)>,
    /// The last state in common.
    pub revision: String,
    /// When its memories were consolidated last, as far as it is known here.
    pub consolidated: Option<Timestamp>,
    /// The last sync, if there was one.
    pub last: Option<LastSync>,
}

/// How the last sync went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastSync {
    /// When it was.
    pub at: Timestamp,
    /// When one last went well.
    pub good: Option<Timestamp>,
    /// What went wrong, if something did.
    pub problem: Option<String>,
}

/// How a team is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeamStart {
    /// It is made: nobody has met there yet.
    Made,
    /// Others have met there before.
    Joined,
}

impl ProjectTeam {
    /// The team of a project, if it is bound to one.
    pub(crate) fn of(ground: &TeamGround) -> Result<Option<Self>, Error> {
        let Some(place) = TeamPlace::bound(&ground.home, &ground.project)? else {
            return Ok(None);
        };
        let binding = place.binding()?.ok_or_else(|| TeamError::Damaged {
            message: format!(
                "the team {} is unknown here; leave it and join it again",
                place.name()
            ),
        });
        let binding = binding.map_err(everfold_memory_team::Error::from)?;
        Ok(Some(Self { place, binding, ground: ground.clone() }))
    }

    /// The same; one whose files are damaged is told of and left out.
    pub(crate) fn usable(ground: &TeamGround) -> Option<Self> {
        Self::of(ground).unwrap_or_else(|error| {
            tracing::warn!(%error, "the project's team is left out");
            None
        })
    }

    /// Binds a project to a team that meets in a git repository.
    pub(crate) fn start(
        ground: &TeamGround,
        remote: &str,
        name: Option<&str>,
        how: TeamStart,
    ) -> Result<(Self, SyncReport), Error> {
        let from = std::path::absolute(&ground.project).unwrap_or_else(|_| ground.project.clone());
        let address =
            GitAddress::parse(remote, &from).map_err(everfold_memory_team::Error::from)?;
        let name = name.map_or_else(|| name_of(address.as_str()), str::to_owned);
        let place = TeamPlace::of(&ground.home, &name)?;
        let transport = TeamTransport::Git;
        let binding = TeamBinding { name, transport, address: address.as_str().to_owned() };
        place.may_bind(&ground.home, &ground.project, &binding)?;
        let team = Self { place, binding, ground: ground.clone() };
        let remote = team.remote(Prompts::Allowed, team.whole_patience())?;
        let is_empty =
            remote.newest().map_err(everfold_memory_team::Error::from)?.revision.is_empty();
        let refuse = |message: &str| TeamError::Denied {
            place: team.binding.address.clone(),
            message: message.to_owned(),
        };
        let mismatch = match how {
            TeamStart::Made if !is_empty => {
                Some(refuse("it is not empty; `everfold team join` joins an existing team"))
            }
            TeamStart::Joined if is_empty => {
                Some(refuse("it is empty; `everfold team init` creates a team"))
            }
            _ => None,
        };
        if let Some(refused) = mismatch {
            return Err(everfold_memory_team::Error::from(refused).into());
        }
        if how == TeamStart::Made {
            everfold_memory_team::sync::begin(&*remote).map_err(Error::from)?;
        }
        team.place.make(&team.binding)?;
        team.place.bind(&ground.home, &ground.project)?;
        let report = team.sync(Prompts::Allowed, team.whole_patience())?;
        Ok((team, report))
    }

    /// Takes a project out of its team; its memories stay where they are.
    pub(crate) fn leave(ground: &TeamGround) -> Result<TeamPlace, Error> {
        Ok(TeamPlace::unbind(&ground.home, &ground.project)?)
    }

    /// Takes over what a project kept for its team before it had one; says what
    /// could not be, because the team has another of that name.
    pub(crate) fn adopt(&self, project_memories: &Path) -> Result<Vec<String>, Error> {
        let old = team_dir(project_memories);
        if !old.join(everfold_memory_file::index::INDEX_FILE).is_file() || old.is_symlink() {
            return Ok(Vec::new());
        }
        let now = self.ground.clock.now();
        let options = StoreOptions { scope: StoreScope::Team, ..StoreOptions::default() };
        let (old, new) = (Store::open_with(&old, options, now)?, self.store()?);
        let by = By::person("moved to the team's own place", now);
        let mut left = Vec::new();
        for path in old.texts()?.into_keys() {
            if let Err(error) = old.move_to(&path, &new, &by) {
                tracing::info!(%error, %path, "a memory stays where it is");
                left.push(path.to_string());
            }
        }
        Ok(left)
    }

    /// Which team it is.
    #[must_use]
    pub fn binding(&self) -> &TeamBinding {
        &self.binding
    }

    /// Where its memories are.
    #[must_use]
    pub fn memories(&self) -> PathBuf {
        self.place.memories()
    }

    /// What bounds it.
    #[must_use]
    pub fn limits(&self) -> &TeamLimits {
        &self.ground.limits
    }

    fn whole_patience(&self) -> Duration {
        Duration::from_secs(self.ground.limits.sync_s)
    }

    fn store(&self) -> Result<Store, Error> {
        let options = StoreOptions { scope: StoreScope::Team, ..StoreOptions::default() };
        Ok(Store::open_with(&self.memories(), options, self.ground.clock.now())?)
    }

    fn remote(&self, prompts: Prompts, patience: Duration) -> Result<Box<dyn TeamRemote>, Error> {
        if self.binding.transport == TeamTransport::Fleet {
            return fleet::remote(self, patience);
        }
        let told = everfold_memory_team::Error::from;
        let remote =
            GitAddress::parse(&self.binding.address, &self.ground.project).map_err(told)?;
        let (dir, limits) = (self.place.repository(), self.ground.limits.clone());
        let options = GitTeamOptions { dir, remote, prompts, patience, limits };
        Ok(Box::new(GitTeam::open(options).map_err(told)?))
    }

    /// Takes in what is new, and publishes what is ours; how it went is noted.
    ///
    /// # Errors
    /// If the others cannot be reached in time, or something cannot be read or
    /// written. Nothing is lost then, and the next sync goes on.
    pub fn sync(&self, prompts: Prompts, patience: Duration) -> Result<SyncReport, Error> {
        let done = self.try_sync(prompts, patience);
        let at = self.ground.clock.now();
        let problem = done.as_ref().err().map(ToString::to_string);
        let good =
            if problem.is_none() { Some(at) } else { self.last().and_then(|last| last.good) };
        self.note(&LastSync { at, good, problem });
        done
    }

    fn try_sync(&self, prompts: Prompts, patience: Duration) -> Result<SyncReport, Error> {
        let remote = self.remote(prompts, patience)?;
        let store = self.store()?;
        let sync = TeamSync {
            name: &self.binding.name,
            member: &self.ground.member,
            dir: self.place.dir(),
            store: &store,
            remote: &*remote,
            limits: &self.ground.limits,
            now: self.ground.clock.now(),
            deadline: Instant::now() + patience,
        };
        Ok(sync.run()?)
    }

    fn last(&self) -> Option<LastSync> {
        let bytes = std::fs::read(self.place.dir().join(LAST)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Who cannot note it says nothing of it.
    fn note(&self, last: &LastSync) {
        use everfold_disk::atomic::{FileReaders, write};
        if let Ok(bytes) = serde_json::to_vec(last) {
            let _ = write(&self.place.dir().join(LAST), &bytes, FileReaders::Private);
        }
    }

    /// How many memories were changed here and are not with the others yet.
    ///
    /// # Errors
    /// If something cannot be read.
    pub fn unshared(&self) -> Result<usize, Error> {
        let base = TeamBase::load(self.place.dir())?;
        Ok(unshared(&base, &self.store()?)?)
    }

    /// How it stands, by what is here; nobody is asked.
    ///
    /// # Errors
    /// If something cannot be read.
    pub fn status(&self) -> Result<TeamStatus, Error> {
        let (base, store) = (TeamBase::load(self.place.dir())?, self.store()?);
        let held = base.held.iter().map(|(path, held)| (path.clone(), held.why.clone()));
        Ok(TeamStatus {
            binding: self.binding.clone(),
            memories: self.memories(),
            count: store.texts()?.len(),
            unshared: unshared(&base, &store)?,
            letters: everfold_mailbox::unsent(self.place.dir()),
            waiting: store.inbox()?.len(),
            held: held.collect(),
            revision: base.revision.clone(),
            consolidated: lock::last(&store)?,
            last: self.last(),
        })
    }

    /// One line for the person where something is not as it should be.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        let last = self.last()?;
        let problem = last.problem?;
        let since = last.good.map_or_else(String::new, |good| format!(" since {good:.0}"));
        Some(format!(
            "team {} is out of sync{since}: {problem}; changes are pushed later",
            self.binding.name
        ))
    }
}

/// Local changes that the others do not have.
fn unshared(base: &TeamBase, store: &Store) -> Result<usize, everfold_memory_store::Error> {
    let texts = store.texts()?;
    let known = |path: &str| base.files.get(path).map(|file| &file.content);
    let changed = texts.iter().filter(|(path, text)| known(path.as_str()) != Some(&text.content));
    let is_here = |path: &String| texts.keys().any(|own| own.as_str() == path);
    let gone = base.files.keys().filter(|path| !is_here(path));
    Ok(changed.count() + gone.count())
}

/// Whose home it is, on which machine.
fn member(home: &Path) -> String {
    let who = home.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}@{}", who.as_deref().unwrap_or("somebody"), host.trim())
}

/// What a team is called after its address: the last part of it.
fn name_of(address: &str) -> String {
    let path = address.trim_end_matches('/');
    let last = path.rsplit(['/', ':']).next().unwrap_or_default();
    let last = last.strip_suffix(".git").unwrap_or(last);
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = last.chars().map(plain).collect();
    let name = name.trim_matches('-').to_owned();
    if name.is_empty() { "team".to_owned() } else { name }
}
