//! Shell commands for tools and hooks: the port `Shell` on a real system.
//!
//! Every command runs in a session of its own, away from the terminal, and
//! everything it starts is in its process group. The group ends with the
//! command: when it exits, when its time is up, when its future is dropped,
//! when the shell is shut down or dropped. Only a process that left the group
//! on purpose (`setsid`) goes on.
//!
//! The shell decides nothing about what may run: that is asked before. What
//! can be said about a command without running it is in [`analysis`].

use std::collections::BTreeMap;
use std::time::Duration;

pub mod analysis;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod unsupported;

#[cfg(unix)]
pub use unix::BashShell;
#[cfg(unix)]
pub use unix::hook::run_hook;
#[cfg(unix)]
pub use unix::sandbox_entered;
#[cfg(not(unix))]
pub use unsupported::{BashShell, run_hook, sandbox_entered};

/// Sees the first line of a handler while it runs. It has this long from its
/// start where a time is given back, whatever it had before.
pub type FirstLine = Box<dyn FnOnce(&str) -> Option<Duration> + Send>;

/// What commands see of our environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellConfig {
    /// Names of variables that commands must not see: keys of the provider.
    pub scrub: Vec<String>,
    /// Variables that commands see in addition.
    pub env: BTreeMap<String, String>,
}
