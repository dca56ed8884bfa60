//! A team that meets in a fleet (F2).

use super::{ProjectTeam, SyncReport, TeamBinding, TeamGround, TeamTransport};
use crate::error::Error;
use everfold_kernel::ports::{AgentName, MailCarrier, TeamError, TeamRemote};
use everfold_memory_team::TeamPlace;
use everfold_memory_team::consolidation::TeamNights;
use everfold_nats::health::{FleetFinding, examine};
use everfold_nats::layout::FleetLayout;
use everfold_nats::work::{WorkLease, WorkOutcome, WorkPiece, WorkQueue};
use everfold_nats::{FleetConnection, FleetLogin, NatsMail, NatsTeam};
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::AbortHandle;

/// What a fleet is asked for when it is joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetStart {
    /// The servers, with commas between them.
    pub servers: String,
    /// The team.
    pub name: String,
    /// Replicas of what is made; none: the team is there already.
    pub replicas: Option<usize>,
}

/// What a team's dream is called among its work.
const DREAM: &str = "dream";
/// For how long a piece of work is waited for: who has it keeps it.
const TAKE: Duration = Duration::from_secs(2);
/// Words within one lease, so that one of them may be lost.
const WORDS: u32 = 3;

/// What came of asking for a team's dream.
pub(super) enum Claim {
    Ours(Box<WorkHold>),
    Theirs,
    Done(Timestamp),
}

/// A piece of work that is ours; it stays so for as long as this is there.
pub(super) struct WorkHold {
    fleet: NatsTeam,
    lease: Arc<WorkLease>,
    renewing: Option<AbortHandle>,
}

/// Offers the team's dream as one piece of work, the same for all that know of
/// the same last one, and takes it if nobody else has it.
pub(super) fn claim(team: &ProjectTeam, patience: Duration) -> Result<Claim, Error> {
    let fleet = connected(team, patience)?;
    let (own, name) = (fleet.fleet().clone(), team.binding.name.clone());
    let nights = fleet.newest().and_then(|head| TeamNights::read(&fleet, &head)).map_err(told)?;
    // The time as it is noted there, whatever our own clock says.
    let after = nights.last.map_or_else(|| "first".to_owned(), |last| format!("after-{}", last.at));
    let piece = WorkPiece { kind: DREAM.to_owned(), name: after };
    let taken = fleet.wait(async move { own.allowed(Box::pin(taken(&own, &name, &piece))).await });
    Ok(match taken.and_then(|taken| taken).map_err(told)? {
        Taken::Done(at) => Claim::Done(at),
        Taken::Theirs => Claim::Theirs,
        Taken::Ours(lease) => Claim::Ours(Box::new(WorkHold::new(fleet, Arc::from(lease)))),
    })
}

/// What became of a piece that was asked for.
enum Taken {
    Ours(Box<WorkLease>),
    Theirs,
    Done(Timestamp),
}

/// Takes a piece of work, or says when it was finished.
async fn taken(fleet: &FleetConnection, team: &str, piece: &WorkPiece) -> Result<Taken, TeamError> {
    let queue = WorkQueue::open(fleet, team).await?;
    if let Some(at) = queue.finished(piece).await? {
        return Ok(Taken::Done(at));
    }
    queue.offer(piece).await?;
    while let Some(lease) = queue.take(TAKE).await? {
        if lease.piece == *piece {
            return Ok(Taken::Ours(Box::new(lease)));
        }
        // It was offered before the last dream, and is done by that.
        lease.withdraw().await?;
    }
    Ok(Taken::Theirs)
}

impl WorkHold {
    fn new(fleet: NatsTeam, lease: Arc<WorkLease>) -> Self {
        let kept = Arc::clone(&lease);
        let renewing = fleet.beside(async move {
            loop {
                tokio::time::sleep(kept.length() / WORDS).await;
                if let Err(error) = kept.renew().await {
                    tracing::info!(%error, "a lease was not renewed");
                }
            }
        });
        Self { fleet, lease, renewing }
    }

    /// Finishes it, if nobody else has.
    pub(super) fn win(&self) -> Result<(), Error> {
        let lease = Arc::clone(&self.lease);
        let done = self.fleet.wait(async move { lease.finish().await });
        match done.and_then(|done| done).map_err(told)? {
            WorkOutcome::Won => Ok(()),
            WorkOutcome::DoneBefore => Err(told(TeamError::Denied {
                place: "the team".to_owned(),
                message: "another member dreamt it first".to_owned(),
            })),
        }
    }

    /// Another may have it at once.
    pub(super) fn give_back(&self) {
        let lease = Arc::clone(&self.lease);
        if let Err(error) = self.fleet.wait(async move { lease.give_back().await }) {
            tracing::info!(%error, "a piece of work is given back when its lease ends");
        }
    }
}

impl Drop for WorkHold {
    fn drop(&mut self) {
        if let Some(renewing) = &self.renewing {
            renewing.abort();
        }
    }
}

fn told(error: TeamError) -> Error {
    everfold_memory_team::Error::from(error).into()
}

/// Where the servers are and who we are to them, by settings.
fn login(ground: &TeamGround, servers: &str) -> FleetLogin {
    let own = |path: &Option<String>| path.as_deref().map(|path| expanded(path, &ground.home));
    let settings = &ground.fleet;
    FleetLogin {
        servers: servers.split(',').map(str::trim).map(str::to_owned).collect(),
        credentials: own(&settings.credentials),
        nkey: own(&settings.nkey),
        tls_ca: own(&settings.tls_ca),
        tls_own: own(&settings.tls_cert).zip(own(&settings.tls_key)),
    }
}

/// A path that may be seen from the home.
fn expanded(path: &str, home: &Path) -> PathBuf {
    match (path.strip_prefix("~/"), home.parent()) {
        (Some(rest), Some(above)) => above.join(rest),
        _ => home.join(path),
    }
}

/// The remote of a team that meets in a fleet.
pub(super) fn remote(team: &ProjectTeam, patience: Duration) -> Result<Box<dyn TeamRemote>, Error> {
    Ok(Box::new(connected(team, patience)?))
}

fn connected(team: &ProjectTeam, patience: Duration) -> Result<NatsTeam, Error> {
    let ground = &team.ground;
    let own = login(ground, &team.binding.address);
    let names = (team.binding.name.as_str(), ground.member.as_str());
    NatsTeam::open(&own, &ground.fleet_limits, names, team.place.dir(), patience).map_err(told)
}

/// What carries letters, where a session's team is the project's fleet.
pub(crate) fn carrier(ground: &TeamGround, team: &AgentName) -> Option<Arc<dyn MailCarrier>> {
    let bound = ProjectTeam::usable(ground)?;
    let binding = bound.binding();
    if binding.transport != TeamTransport::Fleet || binding.name != team.as_str() {
        return None;
    }
    let own = login(ground, &binding.address);
    Some(Arc::new(NatsMail::new(own, ground.fleet_limits.clone(), team.as_str())))
}

impl ProjectTeam {
    /// Binds a project to a team of a fleet.
    pub(crate) fn enlist(
        ground: &TeamGround,
        start: &FleetStart,
    ) -> Result<(Self, SyncReport), Error> {
        let place = TeamPlace::of(&ground.home, &start.name)?;
        if start.servers.contains('@') {
            let why = "the address contains a user name or a password, which would be kept in plain text; use \
                       everfold.fleet.credentials or everfold.fleet.nkey";
            return Err(told(TeamError::Address { why }));
        }
        let binding = TeamBinding {
            name: start.name.clone(),
            transport: TeamTransport::Fleet,
            address: start.servers.clone(),
        };
        place.may_bind(&ground.home, &ground.project, &binding)?;
        let team = Self { place, binding, ground: ground.clone() };
        let fleet = connected(&team, team.whole_patience())?;
        if let Some(replicas) = start.replicas {
            let (own, layout) = (fleet.fleet().clone(), FleetLayout::of(&start.name));
            let made = fleet.wait(async move { layout.make(&own, replicas).await });
            made.and_then(|made| made).map_err(told)?;
        }
        // A team that is not there is told of before anything is bound to it.
        fleet.newest().map_err(told)?;
        drop(fleet);
        team.place.make(&team.binding)?;
        team.place.bind(&ground.home, &ground.project)?;
        let report = team.sync(super::Prompts::Never, team.whole_patience())?;
        Ok((team, report))
    }

    /// What is wrong with the servers of a fleet.
    ///
    /// # Errors
    /// If the project's team is none of a fleet's, or no server can be reached.
    pub fn examine(&self, monitor: Option<&str>) -> Result<Vec<FleetFinding>, Error> {
        if self.binding.transport != TeamTransport::Fleet {
            return Err(everfold_memory_team::Error::Unbound.into());
        }
        let fleet = connected(self, self.whole_patience())?;
        let (own, name) = (fleet.fleet().clone(), self.binding.name.clone());
        let (monitor, clock) = (monitor.map(str::to_owned), Arc::clone(&self.ground.clock));
        let found =
            fleet.wait(async move { examine(&own, &name, monitor.as_deref(), &*clock).await });
        found.and_then(|found| found).map_err(told)
    }

    /// Which sessions are there now.
    ///
    /// # Errors
    /// If no server can be reached.
    pub fn present(&self) -> Result<Vec<AgentName>, Error> {
        let fleet = connected(self, Duration::from_secs(self.ground.fleet_limits.connect_s))?;
        let mail = NatsMail::over(fleet.fleet().clone(), &self.binding.name);
        Ok(fleet.wait(async move { mail.present().await }).map_err(told)??)
    }
}
