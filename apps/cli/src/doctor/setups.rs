//! What people set up around the agent: hooks that do nothing or fail (Q7),
//! skills, servers, and what commands are held to (S8).

use super::{AREA as PLATFORM, Finding, Severity};
use crate::presenter::counted;
use everfold_agent::Agent;
use everfold_agent::record_filter::telling;
use everfold_hooks::Act;
use everfold_kernel::ports::{SandboxState, ServerState};
use everfold_kernel::{Decision, Entry};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const HOOKS: &str = "hooks";
const SERVERS: &str = "servers";
const PLUGINS: &str = "plugins";

/// Looks through the set-up.
pub(super) async fn look(agent: &Agent) -> Vec<Finding> {
    let mut findings = sandbox(agent);
    findings.extend(hooks(agent));
    findings.extend(agent.config().setups.skills.problems.iter().map(|problem| {
        Finding::new(Severity::Warning, "skills", problem).fix("fix the file, or remove it")
    }));
    findings.extend(agent.config().agents.roster.problems.iter().map(|problem| {
        Finding::new(Severity::Warning, "agents", problem).fix("fix the file, or remove it")
    }));
    findings.extend(plugins(agent));
    findings.extend(failed_hooks(agent).await);
    findings.extend(servers(agent).await);
    findings
}

/// The plugins that are on, and what is wrong with any.
fn plugins(agent: &Agent) -> Vec<Finding> {
    let found = agent.plugins();
    let there = found.plugins.iter().map(|plugin| {
        let message = format!("{} is on: {}", plugin.id, plugin.root.display());
        Finding::new(Severity::Info, PLUGINS, message)
    });
    let broken = found.problems.iter().map(|problem| {
        let fix = "fix it, or turn it off in enabledPlugins";
        Finding::new(Severity::Warning, PLUGINS, problem).fix(fix)
    });
    there.chain(broken).collect()
}

/// Servers that cannot be used, and whether the others come up.
async fn servers(agent: &Agent) -> Vec<Finding> {
    let named = agent.named_servers();
    let mut findings = Vec::new();
    for broken in &named.broken {
        let message = format!("{} is not used ({}): {}", broken.name, broken.origin, broken.reason);
        findings.push(Finding::new(Severity::Warning, SERVERS, message).fix("fix its entry"));
    }
    if !named.untrusted.is_empty() {
        let message = format!(
            "servers of this repository are off until you trust it: {}",
            named.untrusted.join(", ")
        );
        findings.push(Finding::new(Severity::Warning, SERVERS, message).fix("everfold trust"));
    }
    let Some(servers) = &agent.world().servers else { return findings };
    servers.connect();
    servers.settled(Duration::from_millis(agent.config().limits.mcp.start_ms)).await;
    for view in servers.list() {
        let (name, tools) = (&view.name, counted(view.tools.len() as u64, "tool"));
        findings.push(match &view.state {
            ServerState::Up(revision) => {
                let message = format!("{name} is connected: {tools}, protocol {revision}");
                Finding::new(Severity::Info, SERVERS, message)
            }
            ServerState::Down(why) => {
                let message = format!("{name} is not available ({}): {why}", view.origin);
                let fix = "run its command by hand, or remove it from mcpServers";
                Finding::new(Severity::Warning, SERVERS, message).fix(fix)
            }
            ServerState::Idle | ServerState::Connecting => {
                let message = format!("{name} has not answered yet ({})", view.origin);
                Finding::new(Severity::Warning, SERVERS, message).fix("try again")
            }
        });
    }
    findings
}

fn sandbox(agent: &Agent) -> Vec<Finding> {
    let SandboxState::Missing(why) = agent.world().shell.sandbox() else {
        let message = "shell commands of background agents run in a sandbox: no network, writing \
                       only where they work, credentials hidden";
        return vec![Finding::new(Severity::Info, PLATFORM, message)];
    };
    let message = format!(
        "no sandbox available ({why}); background agents cannot run shell commands, and yours are \
         limited by permissions alone"
    );
    let mut findings = vec![Finding::new(Severity::Info, PLATFORM, message)];
    if agent.settings().settings.everfold.sandbox.enabled {
        let message = "everfold.sandbox is on but not available: every shell command asks first";
        let fix = "install bubblewrap or allow user namespaces (Linux 6.2 or newer with Landlock), \
                   or set everfold.sandbox.enabled to false";
        findings.push(Finding::new(Severity::Warning, PLATFORM, message).fix(fix));
    }
    findings
}

/// Handlers that cannot be read, or whose program is not there.
fn hooks(agent: &Agent) -> Vec<Finding> {
    let registry = agent.config().setups.hooks;
    let broken = registry.problems.iter().map(|problem| {
        let key = problem.pointer.trim_start_matches('/').replace('/', ".");
        let message = format!("{key} does nothing ({}): {}", problem.origin, problem.reason);
        Finding::new(Severity::Warning, HOOKS, message).fix("fix it or remove it")
    });
    let missing = registry.handlers().filter_map(|(event, handler)| {
        let program = match &handler.act {
            Act::Program { command, .. } => command.as_str(),
            // Only what is plainly a path: the rest is for the shell to find.
            Act::Shell(command) => command.split_whitespace().next()?,
            Act::Http { .. } | Act::Server { .. } | Act::Judge { .. } => return None,
        };
        let mend = "fix its path or remove it".to_owned();
        let (wrong, fix) = match unfit(Path::new(program))? {
            Unfit::Gone => ("does not exist", mend),
            Unfit::Directory => ("is a directory", mend),
            Unfit::NotExecutable => ("is not executable", format!("chmod +x '{program}'")),
        };
        let (event, origin) = (event.name(), &handler.origin);
        let message = format!("the {event} hook starts {program}, which {wrong} ({origin})");
        Some(Finding::new(Severity::Warning, HOOKS, message).fix(fix))
    });
    broken.chain(missing).collect()
}

/// Why a program cannot be started.
enum Unfit {
    Gone,
    Directory,
    NotExecutable,
}

/// What keeps a program that is named by its whole path from being started.
/// It is looked at, and not run.
fn unfit(program: &Path) -> Option<Unfit> {
    if !program.is_absolute() {
        return None;
    }
    match program.metadata() {
        Err(_) => Some(Unfit::Gone),
        Ok(found) if found.is_dir() => Some(Unfit::Directory),
        Ok(found) => (!is_executable(&found)).then_some(Unfit::NotExecutable),
    }
}

#[cfg(unix)]
fn is_executable(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    true
}

/// Handlers that failed in the newest session.
async fn failed_hooks(agent: &Agent) -> Vec<Finding> {
    let Ok(sessions) = agent.sessions().await else { return Vec::new() };
    let Some(newest) = sessions.into_iter().next() else { return Vec::new() };
    let mut failed: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut sink = |line: &[u8]| {
        if let Some(line) = telling(line, &["everfold_hook_failed"])
            && let Entry::Decision(Decision::HookFailed { event, handler, reason }) =
                line.record.entry
        {
            failed.insert((event, handler), reason);
        }
    };
    if agent.world().transcripts.load(&newest.session, &mut sink).await.is_err() {
        return Vec::new();
    }
    let told = failed.into_iter().map(|((event, handler), reason)| {
        let message =
            format!("the {event} hook {handler:?} failed in the newest session: {reason}");
        let fix = "run it by hand with a JSON object on its standard input";
        Finding::new(Severity::Warning, HOOKS, message).fix(fix)
    });
    told.collect()
}
