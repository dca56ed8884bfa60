//! A process and all it started, and how they end.

use super::sandbox::Placeholders;
use everfold_kernel::ports::Exit;
use process_wrap::tokio::ChildWrapper;
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::time::timeout;

/// How long a group has to end by itself once it was asked to.
const TERM_GRACE: Duration = Duration::from_secs(1);
/// How long we wait for the system to take away what was killed.
const KILL_WAIT: Duration = Duration::from_secs(1);

/// A running command. Dropping it kills the whole group.
#[derive(Debug)]
pub(super) struct Group {
    child: Box<dyn ChildWrapper>,
    id: GroupId,
    /// Taken away when it has ended.
    _placeholders: Placeholders,
}

/// The name of a process group, which outlives its leader as long as anything
/// in it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupId(Option<Pid>);

impl Group {
    pub(super) fn new(child: Box<dyn ChildWrapper>, placeholders: Placeholders) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let id = GroupId(id.and_then(Pid::from_raw));
        Self { child, id, _placeholders: placeholders }
    }

    pub(super) fn id(&self) -> GroupId {
        self.id
    }

    /// Waits for the command itself, not for what it left running.
    pub(super) async fn wait(&mut self) -> Exit {
        exit_of(self.child.inner_mut().wait().await.ok())
    }

    /// Asks the group to end, and makes it end if it does not.
    pub(super) async fn terminate(&mut self) -> Exit {
        self.id.signal(Signal::TERM);
        if let Ok(exit) = timeout(TERM_GRACE, self.wait()).await {
            return exit;
        }
        self.id.kill();
        timeout(KILL_WAIT, self.wait()).await.unwrap_or(Exit::Signal(Signal::KILL.as_raw()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.id.kill();
    }
}

impl GroupId {
    /// The number of the group, as people see it.
    pub(super) fn number(self) -> u32 {
        let raw = self.0.map_or(0, |pid| pid.as_raw_nonzero().get());
        u32::try_from(raw).unwrap_or_default()
    }

    /// Ends everything in the group at once.
    pub(super) fn kill(self) {
        self.signal(Signal::KILL);
    }

    fn signal(self, signal: Signal) {
        if let Some(pid) = self.0 {
            // It fails if nothing of the group is left, and that is the aim.
            let _ = kill_process_group(pid, signal);
        }
    }
}

fn exit_of(status: Option<ExitStatus>) -> Exit {
    let signal = status.and_then(|status| status.signal());
    match (status.and_then(|status| status.code()), signal) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        // Somebody else took the status; all that is known is that it ended.
        (None, None) => Exit::Code(-1),
    }
}
