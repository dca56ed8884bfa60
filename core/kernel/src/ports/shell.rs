//! Running commands.

use super::{BoxFuture, CommandOutline, ShellPlace};
use crate::error::{Class, Classify};
use std::path::PathBuf;
use std::time::Duration;

/// A shell. Every process it starts is in a group of its own that ends with
/// it: by time-out, by dropping the future, by [`Shell::shutdown`].
pub trait Shell: Send + Sync {
    /// Runs a command to its end.
    fn run(&self, command: ShellCommand) -> BoxFuture<'_, Result<ShellOutput, ShellError>>;

    /// Runs a command while somebody watches, who may send it to the background
    /// (U5). A shell that cannot show what comes runs it to its end.
    fn run_watched<'a>(
        &'a self,
        command: ShellCommand,
        watch: &'a dyn CommandWatch,
    ) -> BoxFuture<'a, Result<RunEnd, ShellError>> {
        let _ = watch;
        Box::pin(async move { self.run(command).await.map(RunEnd::Ended) })
    }

    /// Starts a command that goes on in the background; its output goes to a
    /// file as it comes.
    fn start(
        &self,
        command: ShellCommand,
        output: PathBuf,
    ) -> BoxFuture<'_, Result<JobInfo, ShellError>>;

    /// What a command would run and touch, without running it (S3, S11).
    fn outline(&self, command: &str, place: &ShellPlace) -> CommandOutline;

    /// Whether commands can be held to a sandbox here.
    fn sandbox(&self) -> SandboxState {
        SandboxState::Missing("this shell has none".to_owned())
    }

    /// Every background command, in the order in which they were started.
    fn jobs(&self) -> Vec<JobInfo>;

    /// Ends a background command and all it started.
    fn stop<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<JobInfo, ShellError>>;

    /// Ends everything that still runs.
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}

/// Who watches a command while it runs.
pub trait CommandWatch: Send + Sync {
    /// More output came.
    fn printed(&self, bytes: &[u8]);

    /// Comes to its end when the command shall go on in the background: its
    /// output goes on in this file.
    fn sent_away(&self) -> BoxFuture<'_, PathBuf>;
}

/// How a command that was watched left the foreground.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    Ended(ShellOutput),
    /// It goes on in the background.
    WentOn(JobInfo),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// The text, as a shell reads it.
    pub command: String,
    pub cwd: PathBuf,
    /// How long it may run; none for a background command.
    pub timeout: Option<Duration>,
    /// Most bytes of output kept; what is over is dropped from the middle.
    pub output_bytes: u64,
    /// What it may touch, as the operating system holds it.
    pub confinement: Confinement,
}

/// What a command may touch, whatever it tries (S8). Where the operating
/// system cannot hold it to that, the command is not run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Confinement {
    /// All that the person may.
    #[default]
    Free,
    /// It reads what the person may read, writes nowhere but in these
    /// directories, and reaches no network.
    Sandbox(SandboxProfile),
}

/// Whether commands can be held to a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxState {
    Ready,
    /// They cannot; why, in words that end a sentence.
    Missing(String),
}

/// What a command in a sandbox may touch (S12).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxProfile {
    /// Directories in which it may write.
    pub writable: Vec<PathBuf>,
    /// Files and directories in them that stay as they are.
    pub read_only: Vec<PathBuf>,
    /// Files and directories that it sees as empty.
    pub masked: Vec<PathBuf>,
}

/// What a command did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellOutput {
    /// Standard output and standard error as they came; invalid UTF-8 replaced.
    pub text: String,
    /// Bytes that were dropped from the middle.
    pub dropped_bytes: u64,
    pub exit: Exit,
    /// The working directory at its end, where the shell could still tell.
    pub cwd: Option<PathBuf>,
    /// How long it ran.
    pub duration: Duration,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with a code.
    Code(i32),
    Signal(i32),
    /// It ran too long and was ended.
    TimedOut,
}

/// A background command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobInfo {
    /// Its name, such as `b1`.
    pub id: String,
    /// Its process group.
    pub pid: u32,
    pub command: String,
    /// Where its output goes.
    pub output: PathBuf,
    /// Whether it still runs.
    pub state: JobState,
}

/// The state of a background command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    Running,
    /// It ended by itself or was ended.
    Ended(Exit),
}

/// Why a command could not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShellError {
    /// No shell, or no such directory.
    #[error("the command could not be started in {cwd}: {message}")]
    Start { cwd: PathBuf, message: String },
    /// Its output file could not be made.
    #[error("the output file {path} could not be created: {message}")]
    Output { path: PathBuf, message: String },
    /// The sandbox that it asks for is not available here.
    #[error("the command was not run: it needs a sandbox, and {message}")]
    NoSandbox {
        /// Why not.
        message: String,
    },
    /// No background command has this name.
    #[error("no background command {id}")]
    NoSuchJob { id: String },
}

impl Classify for ShellError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}
