//! What a run leaves where the server answers one request at a time: a process
//! of its own reviews what was said, and goes when the person comes back (Q17).

use crate::args::Choices;
use crate::hook::detached;
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::{Agent, Session};
use everfold_kernel::SessionId;
use everfold_kernel::ports::SessionHolder;
use std::path::{Path, PathBuf};

/// The file that names the worker, beside what the session spilled.
const WORKER: &str = "worker.pid";

/// Ends a run, and hands over what it leaves.
pub(crate) async fn leave(mut session: Session, choices: &Choices) -> Result<()> {
    everfold_agent::engine::setups::hooks::session_events::end_hooks(&mut session, "other").await?;
    let is_left = everfold_agent::engine::leave(&mut session).await?;
    let id = session.id().clone();
    // The worker takes the session over: it must not be open here any more.
    drop(session);
    if is_left {
        let mut worker = detached()?;
        worker.args(["sessions", "finish", id.as_str()]).args(choices.of_models()).spawn()?;
    }
    Ok(())
}

/// Does what was left, as the worker.
pub(super) async fn finish(env: &ProcessEnv, id: &SessionId, choices: &Choices) -> Result<()> {
    let agent = setup::for_work(env, choices).await?;
    // Somebody is at it already: they will review it themselves.
    let Ok((mut session, _)) = agent.resume(id.clone()).await else { return Ok(()) };
    let mark = Mark::set(place(&agent, id))?;
    let done = everfold_agent::engine::finish_later(&mut session).await;
    drop((session, mark));
    agent.shutdown().await;
    Ok(done?)
}

fn place(agent: &Agent, id: &SessionId) -> PathBuf {
    agent.world().transcripts.session_dir(id).join(WORKER)
}

/// The worker's name, while it works.
struct Mark(PathBuf);

impl Mark {
    fn set(path: PathBuf) -> std::io::Result<Self> {
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        std::fs::write(&path, std::process::id().to_string())?;
        Ok(Self(path))
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Sends a worker away that has the session open. Nothing is lost by it: what it
/// did not finish is looked at after the next turn. False where whoever has it
/// open is no worker.
pub(crate) fn gives_way(agent: &Agent, id: &SessionId, holder: &SessionHolder) -> bool {
    let path = place(agent, id);
    let Some(pid) = named(&path).filter(|pid| Some(*pid) == holder.pid) else { return false };
    let _ = std::fs::remove_file(&path);
    stop(pid)
}

fn named(path: &Path) -> Option<u32> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(unix)]
fn stop(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::kill_process(pid, rustix::process::Signal::TERM).is_ok())
}

#[cfg(not(unix))]
fn stop(_pid: u32) -> bool {
    false
}
