//! What the model can do.
//!
//! A tool says what it is ([`ToolSpec`]), what a call would touch
//! ([`Access`], which permissions are decided by), and does it. Its definition
//! is part of the cached prefix: it must not depend on anything that changes
//! within a session.

use mnemon_kernel::ports::{BoxFuture, FileVersion};
use mnemon_kernel::{Limits, ToolUseId};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::world::World;

/// One thing that the model can do.
pub trait Tool: Send + Sync {
    /// Name, description and arguments.
    fn spec(&self) -> ToolSpec;

    /// What a call with these arguments would touch.
    fn access(&self, input: &Value, context: &ToolContext) -> Access;

    /// Does it. A failure is an output with an error, for the model to read.
    fn run<'a>(&'a self, call: &'a ToolCall, context: &'a ToolContext)
    -> BoxFuture<'a, ToolOutput>;
}

/// How a tool presents itself to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// What it does and when to use it.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub input_schema: Value,
}

/// What a call touches. Calls that only read run side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing outside the conversation.
    Nothing,
    /// Reads a file or a tree.
    Read(PathBuf),
    /// Changes a file.
    Edit(PathBuf),
    /// Runs a command.
    Execute(String),
    /// Reads a page of this host.
    Fetch {
        /// The page.
        url: String,
        /// Its host.
        host: String,
    },
}

impl Access {
    /// Whether nothing is changed by such a call.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        matches!(self, Self::Nothing | Self::Read(_) | Self::Fetch { .. })
    }
}

/// A call by the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Its id.
    pub id: ToolUseId,
    /// The tool's name.
    pub name: String,
    /// The arguments, as the model gave them.
    pub input: Value,
}

/// What a call answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// For the model: a string or a list of blocks.
    pub content: Value,
    /// Whether it failed.
    pub is_error: bool,
    /// For programs that read the transcript (`toolUseResult`).
    pub structured: Option<Value>,
}

impl ToolOutput {
    /// A text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: Value::String(text.into()), is_error: false, structured: None }
    }

    /// A failure for the model to read: what happened, and what to do instead.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// The same output with its structured form.
    #[must_use]
    pub fn with_structured(mut self, value: Value) -> Self {
        self.structured = Some(value);
        self
    }
}

/// What a tool may use while it runs.
pub struct ToolContext {
    /// The outside world.
    pub world: World,
    /// The limits of this session.
    pub limits: Arc<Limits>,
    /// Where the session keeps its own files (spills, job output).
    pub session_dir: PathBuf,
    /// Directories in which files may be touched; the first is where it started.
    pub roots: Vec<PathBuf>,
    state: Mutex<ToolState>,
}

/// What tools remember from call to call.
#[derive(Clone, Debug, Default)]
struct ToolState {
    cwd: PathBuf,
    reads: BTreeMap<PathBuf, FileVersion>,
}

impl ToolContext {
    /// A context whose working directory is the first root.
    #[must_use]
    pub fn new(
        world: World,
        limits: Arc<Limits>,
        session_dir: PathBuf,
        roots: Vec<PathBuf>,
    ) -> Self {
        let cwd = roots.first().cloned().unwrap_or_default();
        let state = Mutex::new(ToolState { cwd, reads: BTreeMap::new() });
        Self { world, limits, session_dir, roots, state }
    }

    /// The working directory of the shell.
    #[must_use]
    pub fn cwd(&self) -> PathBuf {
        self.state().cwd.clone()
    }

    /// Moves the working directory.
    pub fn set_cwd(&self, cwd: PathBuf) {
        self.state().cwd = cwd;
    }

    /// A path as the model gave it, made absolute by the working directory.
    #[must_use]
    pub fn absolute(&self, path: &str) -> PathBuf {
        let path = Path::new(path.trim());
        if path.is_absolute() { path.to_owned() } else { self.cwd().join(path) }
    }

    /// Remembers that the model has seen this version of a file.
    pub fn saw(&self, path: PathBuf, version: FileVersion) {
        self.state().reads.insert(path, version);
    }

    /// The version of a file that the model has seen.
    #[must_use]
    pub fn seen(&self, path: &Path) -> Option<FileVersion> {
        self.state().reads.get(path).cloned()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ToolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
