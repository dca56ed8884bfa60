//! `everfold fleet`: a team that meets in NATS (F2).

use crate::args::Choices;
use crate::args::fleets::{FleetArgs, FleetCommand};
use crate::args::teams::TeamCommand;
use crate::failure::FAILED;
use crate::presenter::{Presenter, TextStyle, counted};
use crate::setup::{self, ProcessEnv};
use crate::team;
use anyhow::Result;
use everfold_agent::memory_dirs::MemoryDirs;
use everfold_agent::team::{FleetFindingState, FleetStart, ProjectTeam};
use everfold_kernel::ports::AgentName;
use std::process::ExitCode;

const NO_FLEET: &str =
    "`everfold fleet join SERVERS` joins one, `everfold fleet init SERVERS` creates one";

pub(crate) fn run(
    env: &ProcessEnv,
    command: &FleetCommand,
    presenter: &Presenter,
) -> Result<ExitCode> {
    let dirs = setup::builder(env, &Choices::default())?.memory_dirs()?;
    match command {
        FleetCommand::Init { fleet, replicas } => {
            enlist(&dirs, fleet, Some(usize::from(*replicas)), presenter)?;
        }
        FleetCommand::Join(fleet) => enlist(&dirs, fleet, None, presenter)?,
        FleetCommand::Sync { json } => team::sync(&dirs, NO_FLEET, *json, presenter)?,
        FleetCommand::Status { json } => {
            let team = team::bound(&dirs, NO_FLEET)?;
            team::status(team, *json, presenter)?;
            if !json {
                present(team, presenter)?;
            }
        }
        FleetCommand::Doctor { monitor } => {
            return doctor(team::bound(&dirs, NO_FLEET)?, monitor.as_deref(), presenter);
        }
        FleetCommand::Leave => team::run(env, &TeamCommand::Leave, presenter)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn enlist(
    dirs: &MemoryDirs,
    args: &FleetArgs,
    replicas: Option<usize>,
    presenter: &Presenter,
) -> Result<()> {
    let start = FleetStart { servers: args.servers.clone(), name: args.name.clone(), replicas };
    let (own, report, left) = dirs.enlist(&start)?;
    let what = if replicas.is_some() { "created" } else { "joined" };
    team::started(what, &own, report, &left, args.json, presenter)
}

/// Who is there; without the servers that is one line.
fn present(team: &ProjectTeam, presenter: &Presenter) -> Result<()> {
    match team.present() {
        Ok(names) if names.is_empty() => presenter.line("no sessions online")?,
        Ok(names) => {
            let listed: Vec<&str> = names.iter().map(AgentName::as_str).collect();
            let count = counted(names.len() as u64, "session");
            presenter.line(&format!("{count} online: {}", listed.join(", ")))?;
        }
        Err(error) => presenter.note(TextStyle::Yellow, &format!("offline: {error}")),
    }
    Ok(())
}

fn doctor(team: &ProjectTeam, monitor: Option<&str>, presenter: &Presenter) -> Result<ExitCode> {
    let found = team.examine(monitor)?;
    for finding in &found {
        let mark = match finding.state {
            FleetFindingState::Good => "ok  ",
            FleetFindingState::Bad => "FAIL",
            FleetFindingState::Unseen => "?   ",
        };
        presenter.line(&format!("{mark} {}", finding.text))?;
    }
    let is_bad = found.iter().any(|finding| finding.state == FleetFindingState::Bad);
    Ok(if is_bad { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}
