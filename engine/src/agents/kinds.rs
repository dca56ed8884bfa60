//! Kinds of agents from files, at the start and later (L7.4).

use super::Agents;
use crate::session::{Error, Session};
use everfold_kernel::limits::AgentLimits;
use everfold_kernel::ports::Files;
use everfold_kernel::provenance::Source;
use everfold_mail::{Definition, Roster};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kind of the attachment that names kinds which came later.
const LATE: &str = "agent_listing_delta";

/// Where kinds of agents are defined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KindDirs {
    /// The person's.
    pub person: Option<PathBuf>,
    /// The repository's.
    pub repository: Option<PathBuf>,
    /// Those of whoever manages the machine, which stand over all others.
    pub managed: Option<PathBuf>,
    /// Those that were given with the start.
    pub given: Vec<Definition>,
}

/// Reads all kinds; later ones stand over earlier ones of the same name. What
/// cannot be read is left out and named. `may_act` says which files of the
/// repository may run things.
pub async fn load(
    files: &dyn Files,
    dirs: &KindDirs,
    limits: &AgentLimits,
    may_act: &(dyn Fn(&Path) -> bool + Sync),
) -> Roster {
    let mut problems = Vec::new();
    let person = definitions(files, dirs.person.as_deref(), limits, &mut problems).await;
    let repository = definitions(files, dirs.repository.as_deref(), limits, &mut problems).await;
    let managed = definitions(files, dirs.managed.as_deref(), limits, &mut problems).await;
    let held = repository.into_iter().map(|(path, mut kind)| {
        if !may_act(&path) {
            kind.disarm();
        }
        kind
    });
    let held = held.collect();
    let plain = |found: Vec<(PathBuf, Definition)>| found.into_iter().map(|(_, kind)| kind);
    let roster = Roster::new(plain(person).collect(), held);
    let mut roster = roster.with(dirs.given.iter().cloned()).with(plain(managed));
    roster.problems = problems;
    roster
}

async fn definitions(
    files: &dyn Files,
    dir: Option<&Path>,
    limits: &AgentLimits,
    problems: &mut Vec<String>,
) -> Vec<(PathBuf, Definition)> {
    let Some(dir) = dir else { return Vec::new() };
    let Ok(paths) = files.list(dir, limits.definitions).await else { return Vec::new() };
    let mut found = Vec::new();
    for path in paths.into_iter().filter(|path| path.extension().is_some_and(|e| e == "md")) {
        let read =
            files.read(&path, limits.definition_bytes).await.map_err(|error| error.to_string());
        let parsed = read.and_then(|read| {
            let text = String::from_utf8_lossy(&read.bytes);
            Definition::parse(&text).map_err(|error| error.to_string())
        });
        let shown = path.display();
        match parsed {
            Ok(kind) => {
                problems.extend(kind.faults.iter().map(|fault| format!("{shown}: {fault}")));
                found.push((path, kind));
            }
            Err(error) => {
                tracing::warn!(path = %shown, error, "this file defines no agent");
                problems.push(format!("{shown} defines no agent: {error}"));
            }
        }
    }
    found
}

impl Agents {
    /// Takes over kinds that are new, and gives them as lines for the model.
    fn renew(&self, roster: Roster, limits: &AgentLimits) -> Vec<String> {
        let mut state = self.state();
        let fresh = roster.since(&state.roster, limits);
        state.roster = Arc::new(roster);
        state.late.extend(fresh.iter().cloned());
        fresh
    }
}

impl Session {
    /// Looks for kinds that came since the last turn, and tells the model of
    /// them: the tool's description stays as it is.
    pub(crate) async fn attach_late_kinds(&mut self) -> Result<(), Error> {
        let dirs = &self.config.agents.dirs;
        if *dirs == KindDirs::default() {
            return Ok(());
        }
        let limits = self.config.limits.agents.clone();
        let roster = load(&*self.world.files, dirs, &limits, &|_| true).await;
        let roster = roster.acting_as(&self.config.agents.roster);
        let fresh = self.crew.agents.renew(roster, &limits);
        self.attach_kinds(&fresh).await
    }

    /// What a compaction took away: kinds that came late, and who runs.
    pub(crate) async fn attach_agents_again(&mut self) -> Result<(), Error> {
        let late = self.crew.agents.state().late.clone();
        self.attach_kinds(&late).await?;
        let running = self.crew.agents.running();
        if running.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> =
            running.iter().map(|(id, kind, about)| format!("- {id} ({kind}): {about}")).collect();
        let text = format!(
            "These agents run in the background; you are told when they end:\n{}",
            lines.join("\n")
        );
        self.attach("task_status", &text, json!({})).await
    }

    async fn attach_kinds(&mut self, lines: &[String]) -> Result<(), Error> {
        if lines.is_empty() {
            return Ok(());
        }
        let text = format!("More kinds of agents can be started with Agent:\n{}", lines.join("\n"));
        self.attach_from(Source::Repository, LATE, &text, json!({})).await
    }
}
