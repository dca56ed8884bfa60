//! The process of a server: in a group of its own, which ends with it.

use crate::connect_error::{ConnectError, HelperError};
use crate::entry::Transport;
use everfold_kernel::limits::McpLimits;
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio_util::sync::CancellationToken;

/// How long a server has to end by itself once its input is closed.
const GRACE: Duration = Duration::from_secs(1);
/// How long its last words are waited for.
const HEARING: Duration = Duration::from_millis(500);
/// Characters of the last line of its complaints that are kept.
const COMPLAINT_CHARS: usize = 300;

/// What a server's process is started with.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub(crate) cwd: std::path::PathBuf,
    /// Variables that it must not see.
    pub(crate) scrub: Vec<String>,
    /// Variables that all servers see in addition.
    pub(crate) env: std::collections::BTreeMap<String, String>,
}

/// A running server. Dropping it kills the whole group.
#[derive(Debug)]
pub(crate) struct Process {
    group: Group,
    complaint: Arc<Mutex<String>>,
    /// Its complaints are read to the end.
    heard: CancellationToken,
    /// It has ended, and all that it left with it.
    gone: CancellationToken,
    /// It is to end.
    stop: CancellationToken,
}

/// Starts the process of a server, and gives its pipes.
pub(crate) fn start(
    transport: &Transport,
    around: &Surroundings,
) -> Result<(Process, ChildStdout, ChildStdin), ConnectError> {
    let Transport::Stdio { command: program, args, env } = transport else {
        return Err(ConnectError::NoProgram);
    };
    let mut command = Command::new(found(program, &around.cwd));
    command.args(args).current_dir(&around.cwd);
    for name in &around.scrub {
        command.env_remove(name);
    }
    command.envs(&around.env).envs(env);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut wrap = CommandWrap::from(command);
    #[cfg(unix)]
    wrap.wrap(process_wrap::tokio::ProcessSession);
    #[cfg(windows)]
    wrap.wrap(process_wrap::tokio::JobObject);
    wrap.wrap(KillOnDrop);
    let spawned = wrap.spawn();
    let mut child =
        spawned.map_err(|source| ConnectError::Start { program: program.clone(), source })?;
    let pipes = (child.stdout().take(), child.stdin().take(), child.stderr().take());
    let (Some(stdout), Some(stdin), Some(stderr)) = pipes else {
        return Err(ConnectError::NoPipes);
    };
    let process = Process {
        group: Group::of(&*child),
        complaint: Arc::default(),
        heard: CancellationToken::new(),
        gone: CancellationToken::new(),
        stop: CancellationToken::new(),
    };
    // Both end with the process, which ends with its owner.
    tokio::spawn(listen(stderr, Arc::clone(&process.complaint), process.heard.clone()));
    let (group, stop, gone) = (process.group, process.stop.clone(), process.gone.clone());
    tokio::spawn(async move {
        tokio::select! {
            _ = child.inner_mut().wait() => {}
            () = stop.cancelled() => {
                let _ = tokio::time::timeout(GRACE, child.inner_mut().wait()).await;
            }
        }
        // What it left running would hold the pipes.
        group.kill();
        let _ = tokio::time::timeout(GRACE, child.inner_mut().wait()).await;
        gone.cancel();
    });
    Ok((process, stdout, stdin))
}

/// What a command says about headers: a JSON object of texts.
pub(crate) async fn headers(
    command: &str,
    around: &Surroundings,
    limits: &McpLimits,
) -> Result<BTreeMap<String, String>, ConnectError> {
    let failed = ConnectError::Helper;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).current_dir(&around.cwd);
    for name in &around.scrub {
        shell.env_remove(name);
    }
    shell.envs(&around.env).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let most = Duration::from_millis(limits.headers_ms);
    let output = tokio::time::timeout(most, shell.output())
        .await
        .map_err(|_| failed(HelperError::Late))?
        .map_err(|error| failed(HelperError::Run(error)))?;
    if !output.status.success() {
        return Err(failed(HelperError::Failed(output.status)));
    }
    // What it printed is not told: it may be a key.
    serde_json::from_slice(&output.stdout).map_err(|_| failed(HelperError::NoObject))
}

/// Keeps the last line of what a server complains of.
async fn listen(stderr: ChildStderr, last: Arc<Mutex<String>>, heard: CancellationToken) {
    let mut lines = BufReader::new(stderr).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        tracing::debug!(line, "a server complains");
        if !line.trim().is_empty() {
            let line: String = line.trim().chars().take(COMPLAINT_CHARS).collect();
            *last.lock().unwrap_or_else(PoisonError::into_inner) = line;
        }
    }
    heard.cancel();
}

#[derive(Clone, Copy, Debug)]
struct Group(Option<u32>);

impl Group {
    fn of(child: &dyn ChildWrapper) -> Self {
        Self(child.id())
    }

    /// Ends everything in it. It fails if nothing is left, and that is the aim.
    fn kill(self) {
        #[cfg(unix)]
        if let Some(pid) =
            self.0.and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?))
        {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}

/// A program named by a relative path is that of the project.
fn found(program: &str, cwd: &Path) -> std::path::PathBuf {
    let path = Path::new(program);
    if path.components().count() > 1 { cwd.join(path) } else { path.to_owned() }
}

impl Process {
    /// The last thing that it complained of, once it has ended.
    pub(crate) async fn complaint(&self) -> Option<String> {
        let _ = tokio::time::timeout(HEARING, self.heard.cancelled()).await;
        let text = self.complaint.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (!text.is_empty()).then_some(text)
    }

    /// Tells when it has ended.
    pub(crate) fn gone(&self) -> CancellationToken {
        self.gone.clone()
    }

    /// Waits for its end, and brings it about where it must. Its input has to
    /// be closed before.
    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.gone.cancelled().await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop.cancel();
        if !self.gone.is_cancelled() {
            self.group.kill();
        }
    }
}
