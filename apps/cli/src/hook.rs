//! `everfold hook`: what another agent's hooks run (X1).
//!
//! It never breaks its host. Whatever goes wrong, the exit code is 0, standard
//! output has the JSON that the host expects or nothing, and the log has a
//! line. It is started at every message, so it starts little: no argument
//! parser, no runtime, no agent.

mod worker;

pub(crate) use worker::detached;

use crate::log::{self, Verbosity};
use crate::setup::ProcessEnv;
use anyhow::{Context, Result, bail};
use everfold_agent::Agent;
use everfold_agent::hosts::hooks::HostCall;
use everfold_agent::hosts::{HostKind, HostService};
use everfold_kernel::{Limits, env};
use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What the command line says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    event: Option<String>,
    home: Option<PathBuf>,
    /// The host, where it cannot be told otherwise.
    host: Option<HostKind>,
    /// Whether the plugin of Claude Code calls, rather than what `install` wrote.
    plugin: bool,
    /// A worker, and its session.
    worker: Option<String>,
}

/// Answers a hook, if the program was started for one.
pub(crate) fn answered() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != "hook" {
        return None;
    }
    // A host's own program, run to review what was said: there is nothing to add.
    if std::env::var_os(env::INSIDE).is_some() {
        return Some(ExitCode::SUCCESS);
    }
    let rest: Vec<OsString> = args.collect();
    if rest.iter().any(|word| word == "--help" || word == "-h") {
        return None;
    }
    let said = Said::of(rest.into_iter());
    let mut env = ProcessEnv::of_process();
    if let Some(home) = &said.home {
        env.variables.insert(env::HOME.to_owned(), home.to_string_lossy().into_owned());
    }
    log::start(&env, Verbosity::Normal);
    // A bug of ours is no reason for the host to show a stack trace.
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a hook failed")));
    let work = || match &said.worker {
        Some(session) => worker::work(&env, session),
        None => answer(&env, &said),
    };
    if let Ok(Err(error)) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        tracing::warn!(event = said.event, error = format!("{error:#}"), "a hook did nothing");
    }
    Some(ExitCode::SUCCESS)
}

impl Said {
    /// Words that mean nothing here are passed over.
    fn of(mut words: impl Iterator<Item = OsString>) -> Self {
        let mut said = Self::default();
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("--home") => said.home = words.next().map(PathBuf::from),
                Some("--plugin") => said.plugin = true,
                Some("--host") => {
                    said.host = words.next().and_then(|word| HostKind::by_name(word.to_str()?));
                }
                Some("--worker") => {
                    said.worker = words.next().map(|word| word.to_string_lossy().into_owned());
                }
                Some(word) if !word.starts_with('-') && said.event.is_none() => {
                    said.event = Some(word.to_owned());
                }
                _ => {}
            }
        }
        said
    }
}

fn answer(env: &ProcessEnv, said: &Said) -> Result<()> {
    if said.plugin && crate::install::is_installed(env, HostKind::Claude) {
        // What `install` wrote does the same.
        return Ok(());
    }
    let call = HostCall::parse(said.event.as_deref(), &input()?)?.of_host(said.host);
    let cwd = call.cwd().map_or_else(std::env::current_dir, Ok);
    let cwd = cwd.context("there is no directory to work in")?;
    let Some(host) = host_service(env, &cwd)? else { return Ok(()) };
    let now = jiff::Timestamp::now();
    let reply = host.answer(&call, now)?;
    if let Some(output) = reply.output(&call) {
        let mut out = std::io::stdout().lock();
        let written = out.write_all(output.as_bytes()).and_then(|()| out.flush());
        written.context("the host did not take the answer")?;
    }
    worker::hand_over(&host, &reply, &call, said.home.as_deref(), &cwd)
}

fn host_service(env: &ProcessEnv, cwd: &Path) -> Result<Option<HostService>> {
    let builder = Agent::builder(cwd).environment(env.variables.clone(), env.user_home.clone());
    Ok(builder.host_service()?)
}

/// What the host says.
fn input() -> Result<Vec<u8>> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        bail!("a hook is called by another agent; see docs/guide/claude-code.md");
    }
    let most = Limits::default().beside.input_bytes;
    let mut bytes = Vec::new();
    let read = stdin.lock().take(most + 1).read_to_end(&mut bytes);
    read.context("the input cannot be read")?;
    if bytes.len() as u64 > most {
        bail!("the input has more than {most} bytes");
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x1_no_command_line_is_wrong() {
        let said = |words: &[&str]| Said::of(words.iter().map(OsString::from));
        assert_eq!(said(&["Stop"]).event.as_deref(), Some("Stop"));
        let full = said(&["--home", "/x y", "--new", "Stop", "more"]);
        assert_eq!((full.event.as_deref(), full.home), (Some("Stop"), Some("/x y".into())));
        assert_eq!(said(&["--home"]), Said::default());
    }
}
