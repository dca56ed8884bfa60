//! The person's own status line: a command that is told where things stand,
//! and prints a line.

use crate::host::Host;
use crate::status::Status;
use everfold_kernel::ports::{Exit, HookAction, HookCall, HookExit, Hooks};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long the command may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of what it prints that are read.
const OUTPUT_BYTES: u64 = 4_096;

/// The command and what it reads; none where there is none.
pub(crate) fn call(host: &dyn Host, status: &Status) -> Option<(Arc<dyn Hooks>, HookCall)> {
    let agent = host.agent();
    let setting = agent.settings().settings.status_line.clone()?;
    let command = setting.get("command").and_then(Value::as_str)?.to_owned();
    let hooks = agent.world().hooks.clone()?;
    let call = HookCall {
        action: HookAction::Shell(command),
        input: told(host, status).to_string(),
        cwd: PathBuf::from(&status.cwd),
        env: BTreeMap::new(),
        timeout: TIMEOUT,
        output_bytes: OUTPUT_BYTES,
    };
    Some((hooks, call))
}

/// Runs it; the line that it printed.
pub(crate) async fn run(hooks: Arc<dyn Hooks>, call: HookCall) -> Option<String> {
    let done = hooks.run(call).await;
    let first = done.stdout.lines().next().unwrap_or_default();
    matches!(done.exit, HookExit::Ended(Exit::Code(0)))
        .then(|| plain(first))
        .filter(|line| !line.is_empty())
}

/// What it is told, in the words that such commands know.
fn told(host: &dyn Host, status: &Status) -> Value {
    let session = host.session();
    let size = status.window.size.0;
    let percent = status.used * 100 / size.max(1);
    json!({
        "session_id": status.session.as_str(),
        "transcript_path": host.agent().world().transcripts.path(&status.session),
        "cwd": status.cwd,
        "version": env!("CARGO_PKG_VERSION"),
        "model": {"id": session.model().as_str(), "display_name": status.model},
        "workspace": {
            "current_dir": status.cwd,
            "project_dir": host.agent().repo().map_or(status.cwd.clone(), |repo| {
                repo.root.to_string_lossy().into_owned()
            }),
            "added_dirs": session.config().workplace.roots.iter().skip(1).collect::<Vec<_>>(),
        },
        "cost": {"total_cost_usd": status.ledger.total().cost.0},
        "context_window": {
            "total_input_tokens": status.used,
            "context_window_size": size,
            "used_percentage": percent,
            "remaining_percentage": 100_u64.saturating_sub(percent),
        },
        "exceeds_200k_tokens": status.used > 200_000,
    })
}

/// A line without the sequences that steer a terminal.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            if letters.next() == Some('[') {
                let _ = letters.by_ref().find(char::is_ascii_alphabetic);
            }
        } else if !letter.is_control() {
            out.push(letter);
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q9_a_status_line_cannot_steer_the_terminal() {
        assert_eq!(plain("\u{1b}[1;32mmain\u{1b}[0m ok\u{7}"), "main ok");
        assert_eq!(plain("plain"), "plain");
    }
}
