//! Running the handlers of hooks.

use super::{BoxFuture, Exit};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Runs handlers of hooks. A handler and all it started end together: by
/// time-out, by dropping the future, by [`Hooks::shutdown`].
pub trait Hooks: Send + Sync {
    /// Runs one to its end. It never fails in another way than by its answer.
    fn run(&self, call: HookCall) -> BoxFuture<'_, HookRun>;

    /// Starts one that nobody waits for; it ends by its time limit at the latest.
    fn start(&self, call: HookCall);

    /// Ends everything that was started and still runs.
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}

/// One handler, and what it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    pub action: HookAction,
    /// What it reads: one JSON object.
    pub input: String,
    pub cwd: PathBuf,
    /// Variables that it sees in addition.
    pub env: BTreeMap<String, String>,
    /// How long it may take.
    pub timeout: Duration,
    /// Most bytes of each of its outputs that are kept.
    pub output_bytes: u64,
}

/// What a handler does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAction {
    /// A command line for a shell.
    Shell(String),
    /// A program with its arguments.
    Program { command: String, args: Vec<String> },
    /// A request by POST.
    Http {
        url: String,
        /// Headers; `$NAME` and `${NAME}` stand for variables that `allowed` names.
        headers: BTreeMap<String, String>,
        /// Variables that may be put into headers.
        allowed: Vec<String>,
    },
}

/// How a handler ended, or why it could not be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookExit {
    Ended(Exit),
    NotRun(String),
}

/// What became of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRun {
    pub exit: HookExit,
    /// What it printed, or the body of the server's answer.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

impl HookRun {
    /// One that could not be run.
    #[must_use]
    pub fn not_run(why: impl Into<String>) -> Self {
        Self { exit: HookExit::NotRun(why.into()), stdout: String::new(), stderr: String::new() }
    }
}
