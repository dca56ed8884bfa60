//! The dream of a team (L6.1, F2): one member consolidates what all share.
//!
//! On this machine the lock of the directory decides, as for every store. Among
//! the members it is a fleet's work queue, or in a git repository the note on
//! which they agree. What comes of it is shared like any other change.

use super::{ProjectTeam, Prompts, TeamTransport, fleet};
use crate::error::Error;
use everfold_kernel::ports::{
    Begun, BoxFuture, Clock, DreamError, DreamProposal, Dreams, Ending, Gathered, Holder,
    MemoryScope, Night, NightPurpose, NightWish, Stored, Swap, Swapped, TeamError,
};
use everfold_memory_store::DirDreams;
use everfold_memory_store::dream::lock;
use everfold_memory_team::consolidation::{self, NightClaim, TeamNight, TeamNightStart};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The memories of a team, to be consolidated.
pub(crate) struct TeamDreams {
    here: DirDreams,
    team: ProjectTeam,
}

/// What came of claiming a night from the others.
pub(super) enum Claimed {
    Ours(Arc<NightLease>),
    Theirs(Holder),
    /// It was done, and the time of that is noted here.
    Done(jiff::Timestamp),
}

/// A night that is ours among the members.
pub(super) struct NightLease {
    night: TeamNight,
    fleet: Option<Box<fleet::WorkHold>>,
}

impl TeamDreams {
    /// Those of a team, in its directory with links resolved.
    pub(crate) fn new(team: ProjectTeam, dir: PathBuf, clock: &Arc<dyn Clock>) -> Self {
        Self { here: DirDreams::new(dir, MemoryScope::Team, clock), team }
    }

    async fn asked<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ProjectTeam) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let team = self.team.clone();
        let done = tokio::task::spawn_blocking(move || work(&team)).await;
        done.unwrap_or_else(|error| Err(broken(&error)))
    }

    async fn start(&self, wish: NightWish) -> Result<Begun, DreamError> {
        if wish.purpose == NightPurpose::Look {
            return self.here.begin(wish).await;
        }
        // What the others did last is known here afterwards.
        if let Err(why) = self.asked(ProjectTeam::caught_up).await {
            return Ok(Begun::Waits(why.to_string()));
        }
        let held = match self.here.begin(wish).await? {
            Begun::Night(held) => held,
            other => return Ok(other),
        };
        let claimed = self.asked(move |team| team.claim_night(wish)).await;
        let refused = match claimed {
            Ok(Claimed::Ours(lease)) => {
                let (team, lease) = (self.team.clone(), lease);
                return Ok(Begun::Night(Box::new(SharedNight { held, team, lease })));
            }
            Ok(Claimed::Theirs(holder)) => Begun::Locked(holder),
            Ok(Claimed::Done(at)) => Begun::Recent(at),
            Err(why) => Begun::Waits(why.to_string()),
        };
        held.end(Ending::Undone).await?;
        if let Begun::Recent(at) = refused {
            let noted = self.asked(move |team| team.note_night(at)).await;
            let dir = || self.here.dir().to_owned();
            noted.map_err(|error| DreamError { dir: dir(), message: error.to_string() })?;
        }
        Ok(refused)
    }
}

impl Dreams for TeamDreams {
    fn scope(&self) -> MemoryScope {
        MemoryScope::Team
    }

    fn dir(&self) -> &Path {
        self.here.dir()
    }

    fn lock_file(&self) -> PathBuf {
        self.here.lock_file()
    }

    fn begin(&self, wish: NightWish) -> BoxFuture<'_, Result<Begun, DreamError>> {
        Box::pin(self.start(wish))
    }

    fn look(&self) -> BoxFuture<'_, Result<Stored, DreamError>> {
        self.here.look()
    }
}

/// A night that is ours here and among the members.
struct SharedNight {
    held: Box<dyn Night>,
    team: ProjectTeam,
    lease: Arc<NightLease>,
}

impl Night for SharedNight {
    fn copy(&self) -> &Path {
        self.held.copy()
    }

    fn look(&self) -> BoxFuture<'_, Result<Stored, DreamError>> {
        self.held.look()
    }

    fn lay_out(&self, files: BTreeMap<String, String>) -> BoxFuture<'_, Result<(), DreamError>> {
        self.held.lay_out(files)
    }

    fn gather(&self) -> BoxFuture<'_, Result<Gathered, DreamError>> {
        self.held.gather()
    }

    /// Only a winner writes: who stood still for too long may have been taken
    /// for dead, and another has dreamt.
    fn swap(&self, swap: Swap) -> BoxFuture<'_, Result<Swapped, DreamError>> {
        let (lease, dir) = (Arc::clone(&self.lease), self.team.memories());
        Box::pin(async move {
            let won = tokio::task::spawn_blocking(move || lease.win());
            let won = won.await.unwrap_or_else(|error| Err(broken(&error)));
            won.map_err(|error| DreamError { dir, message: error.to_string() })?;
            self.held.swap(swap).await
        })
    }

    fn propose(&self, proposal: DreamProposal) -> BoxFuture<'_, Result<bool, DreamError>> {
        self.held.propose(proposal)
    }

    fn end(self: Box<Self>, ending: Ending) -> BoxFuture<'static, Result<(), DreamError>> {
        let Self { held, team, lease } = *self;
        Box::pin(async move {
            held.end(ending).await?;
            let told = tokio::task::spawn_blocking(move || team.end_night(&lease, ending));
            match told.await {
                Ok(Ok(())) => {}
                // It is told by the next sync, or the others find out in time.
                Ok(Err(error)) => tracing::info!(%error, "the team does not know of a dream yet"),
                Err(error) => tracing::warn!(%error, "the team does not know of a dream yet"),
            }
            Ok(())
        })
    }
}

impl NightLease {
    /// Says that the night is ours and ends; no other member's then counts.
    fn win(&self) -> Result<(), Error> {
        self.fleet.as_ref().map_or(Ok(()), |hold| hold.win())
    }
}

impl ProjectTeam {
    fn background_patience(&self) -> Duration {
        Duration::from_secs(self.ground.limits.background_s)
    }

    /// Brings in what the others did.
    fn caught_up(&self) -> Result<(), Error> {
        self.sync(Prompts::Never, self.background_patience()).map(drop)
    }

    /// Claims the night from the others. They know of the last one what we know.
    fn claim_night(&self, wish: NightWish) -> Result<Claimed, Error> {
        let night = TeamNight { by: self.ground.member.clone(), at: wish.at };
        let mut lease = NightLease { night, fleet: None };
        let mut claim = NightClaim::ByNote;
        if self.binding.transport == TeamTransport::Fleet {
            match fleet::claim(self, self.background_patience())? {
                fleet::Claim::Ours(hold) => lease.fleet = Some(hold),
                fleet::Claim::Done(at) => return Ok(Claimed::Done(at.min(wish.at))),
                fleet::Claim::Theirs => return Ok(Claimed::Theirs(self.holder(wish))),
            }
            claim = NightClaim::ByLease;
        }
        let remote = self.remote(Prompts::Never, self.background_patience())?;
        let tries = self.ground.limits.tries;
        let terms = (claim, wish.unless_after);
        let begun = consolidation::begin(&*remote, &lease.night, terms, tries);
        match begun.map_err(everfold_memory_team::Error::from)? {
            TeamNightStart::Begun => Ok(Claimed::Ours(Arc::new(lease))),
            TeamNightStart::Held(night) => Ok(Claimed::Theirs(holder(night))),
            TeamNightStart::Done(at) => Ok(Claimed::Done(at)),
        }
    }

    /// Who is at it, as far as the note tells.
    fn holder(&self, wish: NightWish) -> Holder {
        let found = || {
            let remote = self.remote(Prompts::Never, self.background_patience()).ok()?;
            let head = remote.newest().ok()?;
            let nights = consolidation::TeamNights::read(&*remote, &head).ok()?;
            nights.holder(wish.at).cloned()
        };
        let nobody_knows = || Holder { member: Some("another member".into()), ..Holder::default() };
        found().map_or_else(nobody_knows, holder)
    }

    /// Notes here that the memories were consolidated by others.
    fn note_night(&self, at: jiff::Timestamp) -> Result<(), Error> {
        Ok(lock::adopt(&self.store()?, at)?)
    }

    /// Tells the others how a night has ended.
    fn end_night(&self, lease: &NightLease, ending: Ending) -> Result<(), Error> {
        if let Ending::Done { .. } = ending {
            return self.caught_up();
        }
        if let Some(hold) = &lease.fleet {
            hold.give_back();
        }
        let remote = self.remote(Prompts::Never, self.background_patience())?;
        let told = consolidation::give_up(&*remote, &lease.night, self.ground.limits.tries);
        Ok(told.map_err(everfold_memory_team::Error::from)?)
    }
}

/// What a thread says that came to no end.
fn broken(error: &tokio::task::JoinError) -> Error {
    let message = error.to_string();
    everfold_memory_team::Error::from(TeamError::Program { program: "the team", message }).into()
}

fn holder(night: TeamNight) -> Holder {
    Holder { pid: None, member: Some(night.by), since: Some(night.at) }
}
