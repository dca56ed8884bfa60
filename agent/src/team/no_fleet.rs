//! A build without fleets.

use super::{ProjectTeam, TeamGround};
use crate::error::Error;
use everfold_kernel::ports::{AgentName, MailCarrier, TeamError, TeamRemote};
use std::sync::Arc;
use std::time::Duration;

/// There is none in this build.
pub(super) fn remote(
    _team: &ProjectTeam,
    _patience: Duration,
) -> Result<Box<dyn TeamRemote>, Error> {
    let message = "this build does not support fleets; build everfold with the feature \
                   `fleet`"
        .to_owned();
    let error = TeamError::Program { program: "the fleet", message };
    Err(everfold_memory_team::Error::from(error).into())
}

/// What came of asking for a team's dream.
#[expect(dead_code, reason = "a build without fleets")]
pub(super) enum Claim {
    Ours(Box<WorkHold>),
    Theirs,
    Done(jiff::Timestamp),
}

/// A piece of work; there is none in this build.
pub(super) enum WorkHold {}

impl WorkHold {
    pub(super) fn win(&self) -> Result<(), Error> {
        match *self {}
    }

    pub(super) fn give_back(&self) {
        match *self {}
    }
}

/// There is none in this build.
pub(super) fn claim(team: &ProjectTeam, patience: Duration) -> Result<Claim, Error> {
    remote(team, patience).map(|_| Claim::Theirs)
}

/// There is none in this build.
pub(crate) fn carrier(_ground: &TeamGround, _team: &AgentName) -> Option<Arc<dyn MailCarrier>> {
    None
}
