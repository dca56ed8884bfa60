//! `everfold team`: memories that a team shares, carried by git (F1).

use crate::args::Choices;
use crate::args::teams::{TeamArgs, TeamCommand};
use crate::failure::Refusal;
use crate::presenter::{Presenter, TextStyle, counted};
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::memory_dirs::MemoryDirs;
use everfold_agent::team::{HeldSide, ProjectTeam, Prompts, SyncReport, TeamStart, TeamStatus};
use serde_json::{Value, json};
use std::time::Duration;

/// Memories that a line names.
const NAMED: usize = 5;

pub(crate) fn run(env: &ProcessEnv, command: &TeamCommand, presenter: &Presenter) -> Result<()> {
    let dirs = setup::builder(env, &Choices::default())?.memory_dirs()?;
    match command {
        TeamCommand::Init(args) => start(&dirs, args, TeamStart::Made, presenter),
        TeamCommand::Join(args) => start(&dirs, args, TeamStart::Joined, presenter),
        TeamCommand::Sync { json } => sync(&dirs, NO_TEAM, *json, presenter),
        TeamCommand::Status { json } => status(bound(&dirs, NO_TEAM)?, *json, presenter),
        TeamCommand::Leave => {
            let memories = dirs.leave_team()?;
            presenter.line("left the team")?;
            let stay = format!("its memories stay at {}", memories.display());
            presenter.note(TextStyle::Dim, &stay);
            Ok(())
        }
    }
}

/// Syncs while somebody waits.
pub(crate) fn sync(dirs: &MemoryDirs, hint: &str, json: bool, presenter: &Presenter) -> Result<()> {
    let team = bound(dirs, hint)?;
    let report = team.sync(Prompts::Allowed, Duration::from_secs(team.limits().sync_s))?;
    told(&report, json, presenter)
}

const NO_TEAM: &str =
    "`everfold team join REMOTE` joins one, `everfold team init REMOTE` creates one";

/// The project's team; without one the hint says how to come by it.
pub(crate) fn bound<'a>(dirs: &'a MemoryDirs, hint: &str) -> Result<&'a ProjectTeam> {
    dirs.team().ok_or_else(|| Refusal::new("this project has no team", hint).into())
}

fn start(dirs: &MemoryDirs, args: &TeamArgs, how: TeamStart, presenter: &Presenter) -> Result<()> {
    let (team, report, left) = dirs.start_team(&args.remote, args.name.as_deref(), how)?;
    let what = match how {
        TeamStart::Made => "created",
        TeamStart::Joined => "joined",
    };
    started(what, &team, report, &left, args.json, presenter)
}

/// Tells of a team that the project is in now, and shares what it kept before.
pub(crate) fn started(
    what: &str,
    team: &ProjectTeam,
    mut report: SyncReport,
    left: &[String],
    json: bool,
    presenter: &Presenter,
) -> Result<()> {
    if team.unshared()? > 0 {
        let more = team.sync(Prompts::Allowed, Duration::from_secs(team.limits().sync_s))?;
        report.shared.extend(more.shared);
    }
    for path in left {
        let note = format!("{path} was not moved to the team: it has another of that name");
        presenter.note(TextStyle::Yellow, &note);
    }
    let binding = team.binding();
    if !json {
        presenter.line(&format!("{what} team {} at {}", binding.name, binding.address))?;
    }
    told(&report, json, presenter)?;
    if !json {
        let hint = "what is kept with `--scope team` is shared; `everfold memory add --help`";
        presenter.note(TextStyle::Dim, hint);
    }
    Ok(())
}

/// What a sync did.
fn told(report: &SyncReport, json: bool, presenter: &Presenter) -> Result<()> {
    if json {
        let held = |side: HeldSide| -> Vec<Value> {
            let held = report.held.iter().filter(|held| held.side == side);
            held.map(|held| json!({"path": held.path, "why": held.why})).collect()
        };
        return Ok(Presenter::json(&json!({
            "revision": report.revision,
            "pulled": report.taken_in,
            "pushed": report.shared,
            "waiting_for_review": report.waits,
            "not_pulled": held(HeldSide::There),
            "not_pushed": held(HeldSide::Here),
        }))?);
    }
    let parts = [("pulled", &report.taken_in), ("pushed", &report.shared)];
    let mut is_quiet = true;
    for (what, paths) in parts.into_iter().filter(|(_, paths)| !paths.is_empty()) {
        is_quiet = false;
        presenter.line(&format!("{what}: {}", listed(paths.iter())))?;
    }
    if !report.waits.is_empty() {
        is_quiet = false;
        presenter.line(&format!("waiting for review: {}", listed(report.waits.iter())))?;
        let hint = "another member changed the same memory; `everfold memory inbox` shows both \
                    versions";
        presenter.note(TextStyle::Dim, hint);
    }
    if is_quiet {
        presenter.line("up to date")?;
    }
    for held in &report.held {
        let what = match held.side {
            HeldSide::Here => "not pushed",
            HeldSide::There => "not pulled",
        };
        presenter.note(TextStyle::Yellow, &format!("{what}: {}: {}", held.path, held.why));
    }
    Ok(())
}

fn listed<'a>(paths: impl ExactSizeIterator<Item = &'a String>) -> String {
    let all = paths.len();
    let names: Vec<&str> =
        paths.take(NAMED).map(|path| path.strip_suffix(".md").unwrap_or(path)).collect();
    match all.saturating_sub(names.len()) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

pub(crate) fn status(team: &ProjectTeam, json: bool, presenter: &Presenter) -> Result<()> {
    let TeamStatus {
        binding,
        memories,
        count,
        unshared,
        letters,
        waiting,
        held,
        revision,
        consolidated,
        last,
    } = team.status()?;
    if json {
        let held: Vec<Value> =
            held.iter().map(|(path, why)| json!({"path": path, "why": why})).collect();
        return Ok(Presenter::json(&json!({
            "team": binding.name,
            "address": binding.address,
            "memories": memories,
            "count": count,
            "unpushed": unshared,
            "unsent_letters": letters,
            "waiting_for_review": waiting,
            "not_pulled": held,
            "revision": revision,
            "consolidated": consolidated,
            "last_sync": last.as_ref().map(|last| last.at),
            "problem": last.as_ref().and_then(|last| last.problem.as_deref()),
        }))?);
    }
    presenter.line(&format!("team {} at {}", binding.name, binding.address))?;
    presenter.line(&format!("{} in {}", counted(count as u64, "memory"), memories.display()))?;
    if unshared > 0 {
        let changes = counted(unshared as u64, "change");
        presenter.line(&format!("{changes} not pushed yet"))?;
    }
    if letters > 0 {
        let letters = counted(letters as u64, "letter");
        presenter.line(&format!("{letters} not sent yet"))?;
    }
    if waiting > 0 {
        presenter.line(&format!("{waiting} waiting for review: `everfold memory inbox`"))?;
    }
    for (path, why) in held {
        presenter.note(TextStyle::Yellow, &format!("not pulled: {path}: {why}"));
    }
    if let Some(at) = consolidated {
        presenter.line(&format!("consolidated at {at:.0}"))?;
    }
    match last {
        None => presenter.line("never synced")?,
        Some(last) => match last.problem {
            None => presenter.line(&format!("synced at {:.0}", last.at))?,
            Some(problem) => {
                let note = format!("the sync at {:.0} failed: {problem}", last.at);
                presenter.note(TextStyle::Yellow, &note);
            }
        },
    }
    Ok(())
}

/// Shares what a command changed. What cannot be shared now is one line, and
/// goes with the next sync.
pub(crate) fn share(dirs: &MemoryDirs, presenter: &Presenter) {
    let Some(team) = dirs.team() else { return };
    if !team.unshared().is_ok_and(|unshared| unshared > 0) {
        return;
    }
    let patience = Duration::from_millis(team.limits().close_ms);
    if let Err(error) = team.sync(Prompts::Never, patience) {
        let note = format!("not pushed to the team yet, the next sync will: {error}");
        presenter.note(TextStyle::Dim, &note);
    }
}
