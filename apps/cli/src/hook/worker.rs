//! The worker of a hook: what the host does not wait for.
//!
//! One for each session, which the owner of its lock is. What comes in while it
//! works is noted before anybody looks at the lock, and the worker looks at the
//! notes again after it let go of it: so nothing is left lying, and nobody
//! waits. It ends by itself, and by its deadline in any case.

use super::host_service;
use crate::setup::ProcessEnv;
use anyhow::{Context, Result};
use everfold_agent::Agent;
use everfold_agent::disk::Lock;
use everfold_agent::engine::HostReview;
use everfold_agent::hosts::HostService;
use everfold_agent::hosts::hooks::{HostCall, HostReply, Work};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time that a review leaves for writing down what it cost.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Starts a worker for what the host shall not wait for, unless one is at it.
pub(super) fn hand_over(
    host: &HostService,
    reply: &HostReply,
    call: &HostCall,
    home: Option<&Path>,
    cwd: &Path,
) -> Result<()> {
    let is_busy = || {
        let lock = host.worker_lock(call.session());
        matches!(Lock::try_acquire(&lock), Ok(None))
    };
    if !reply.has_work() || is_busy() {
        return Ok(());
    }
    let mut worker = detached()?;
    worker.arg("hook").arg("--worker").arg(call.session()).current_dir(cwd);
    if let Some(home) = home {
        worker.arg("--home").arg(home);
    }
    worker.spawn().context("no worker could be started")?;
    Ok(())
}

/// This program in a process of its own, in a group of its own: neither the end
/// of whoever starts it nor Ctrl-C in a terminal is its end.
pub(crate) fn detached() -> std::io::Result<Command> {
    let mut worker = Command::new(std::env::current_exe()?);
    worker.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut worker, 0);
    Ok(worker)
}

/// Does what is left for a session, until nothing is.
pub(super) fn work(env: &ProcessEnv, session: &str) -> Result<()> {
    let cwd = std::env::current_dir()?;
    let Some(host) = host_service(env, &cwd)? else { return Ok(()) };
    let deadline = host.worker_deadline();
    let until = Instant::now() + deadline;
    std::thread::spawn(move || {
        std::thread::sleep(deadline);
        tracing::warn!("a worker of a hook took too long, and was ended");
        #[expect(clippy::exit, reason = "the end of a worker that would not end by itself")]
        std::process::exit(0);
    });
    let lock = host.worker_lock(session);
    // Held meanwhile, so that no second one reads the same.
    match Lock::try_acquire(&lock)? {
        Some(_held) => {
            if let Err(error) = host.read_on() {
                tracing::warn!(%error, "a worker could not read memories");
            }
        }
        // Whoever holds it looks at the notes when it lets go.
        None => return Ok(()),
    }
    while host.left(session).is_some() {
        let Some(held) = Lock::try_acquire(&lock)? else {
            // Whoever holds it looks once more when it lets go.
            return Ok(());
        };
        // The last one may have done it in the meantime.
        let Some(left) = host.left(session) else { continue };
        one(env, &host, &left, &cwd, until);
        host.done(&left);
        drop(held);
    }
    Ok(())
}

fn one(env: &ProcessEnv, host: &HostService, work: &Work, cwd: &Path, until: Instant) {
    if let Err(error) = host.work(work, jiff::Timestamp::now()) {
        tracing::warn!(%error, "a worker could not count what was used");
    }
    if !host.has_reviewer(work) {
        return;
    }
    let at_most = until.saturating_duration_since(Instant::now()).saturating_sub(LAST_WORDS);
    match review(env, host, work, cwd, at_most) {
        Ok(HostReview::Denied(denied)) => tracing::info!(%denied, "no review by a model"),
        Ok(looked) => tracing::debug!(?looked, "a worker looked at what was said"),
        Err(error) => {
            tracing::warn!(error = format!("{error:#}"), "what was said was not reviewed");
        }
    }
}

fn review(
    env: &ProcessEnv,
    host: &HostService,
    work: &Work,
    cwd: &Path,
    at_most: Duration,
) -> Result<HostReview> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime could not be started")?;
    runtime.block_on(async {
        let builder = Agent::builder(cwd).environment(env.variables.clone(), env.user_home.clone());
        // Nothing of the repository acts or speaks here.
        let builder = builder.without_setups().without_instructions().entrypoint("hook");
        let agent = Box::pin(builder.build()).await?;
        let looked = Box::pin(agent.review_host(host, work, at_most)).await;
        agent.shutdown().await;
        Ok(looked?)
    })
}
