//! Kinds of agents from files, at the start and later (L7.4).

use super::Agents;
use crate::config::KindDirs;
use crate::session::{Error, Session};
use everfold_kernel::TreeBounds;
use everfold_kernel::limits::AgentLimits;
use everfold_kernel::ports::Files;
use everfold_kernel::provenance::Source;
use everfold_mail::{Definition, Roster};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kind of the attachment that names kinds which came later.
const LATE: &str = "agent_listing_delta";

/// Reads all kinds; later ones stand over earlier ones of the same name. What
/// cannot be read is left out and named.
pub async fn load(files: &dyn Files, dirs: &KindDirs, limits: &AgentLimits) -> Roster {
    let mut problems = Vec::new();
    let own = |dir| Dir { dir, tree: None };
    let of_tree = Dir { dir: dirs.repository.as_deref(), tree: Some(&dirs.tree) };
    let person = definitions(files, own(dirs.person.as_deref()), limits, &mut problems).await;
    let repository = definitions(files, of_tree, limits, &mut problems).await;
    let managed = definitions(files, own(dirs.managed.as_deref()), limits, &mut problems).await;
    let held = repository.into_iter().map(|(path, mut kind)| {
        if !dirs.acting.contains(&path) {
            kind.disarm();
            kind.keep_out();
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

/// Where definitions are looked for.
#[derive(Clone, Copy)]
struct Dir<'a> {
    dir: Option<&'a Path>,
    /// The tree that they have to be in (S9); none where they are the person's.
    tree: Option<&'a TreeBounds>,
}

impl Dir<'_> {
    async fn holds(&self, files: &dyn Files, path: &Path) -> bool {
        match self.tree {
            Some(tree) => tree.holds(&files.resolve(path).await),
            None => true,
        }
    }
}

async fn definitions(
    files: &dyn Files,
    place: Dir<'_>,
    limits: &AgentLimits,
    problems: &mut Vec<String>,
) -> Vec<(PathBuf, Definition)> {
    let Some(dir) = place.dir else { return Vec::new() };
    if files.stat(dir).await.is_err() {
        return Vec::new();
    }
    if !place.holds(files, dir).await {
        problems.push(left_out(dir));
        return Vec::new();
    }
    let Ok(paths) = files.list(dir, limits.definitions).await else { return Vec::new() };
    let mut found = Vec::new();
    for path in paths.into_iter().filter(|path| path.extension().is_some_and(|e| e == "md")) {
        if !place.holds(files, &path).await {
            problems.push(left_out(&path));
            continue;
        }
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

fn left_out(path: &Path) -> String {
    format!(
        "{} is not used: it leads outside of the repository, which needs your approval (`everfold \
         trust`)",
        path.display()
    )
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

/// Looks for kinds that came since the last turn, and tells the model of
/// them: the tool's description stays as it is.
pub(crate) async fn attach_late_kinds(session: &mut Session) -> Result<(), Error> {
    let dirs = &session.config.agents.dirs;
    if *dirs == KindDirs::default() {
        return Ok(());
    }
    let limits = session.config.limits.agents.clone();
    let roster = load(&*session.world.files, dirs, &limits).await;
    let roster = roster.acting_as(&session.config.agents.roster);
    let fresh = session.crew.agents.renew(roster, &limits);
    attach_kinds(session, &fresh).await
}

/// What a compaction took away: kinds that came late, and who runs.
pub(crate) async fn attach_agents_again(session: &mut Session) -> Result<(), Error> {
    let late = session.crew.agents.state().late.clone();
    attach_kinds(session, &late).await?;
    let running = session.crew.agents.running();
    if running.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> =
        running.iter().map(|(id, kind, about)| format!("- {id} ({kind}): {about}")).collect();
    let text = format!(
        "These agents run in the background; you are told when they end:\n{}",
        lines.join("\n")
    );
    session.attach("task_status", &text, json!({})).await
}

async fn attach_kinds(session: &mut Session, lines: &[String]) -> Result<(), Error> {
    if lines.is_empty() {
        return Ok(());
    }
    let text = format!("More kinds of agents can be started with Agent:\n{}", lines.join("\n"));
    session.attach_from(Source::Repository, LATE, &text, json!({})).await
}
