//! What the model can do.
//!
//! A tool says what it is ([`ToolSpec`]), what a call would touch
//! ([`Access`], which permissions are decided by), and does it. Its definition
//! is part of the cached prefix: it must not depend on anything that changes
//! within a session.

mod agent;
mod bash;
mod built_in;
mod checkpoints;
mod confined;
mod context;
mod delegation;
mod directories;
mod edit;
mod exit_plan_mode;
mod failure;
mod file_error;
pub mod foreground;
mod glob;
mod grep;
mod hooks;
mod input;
mod lines;
mod lookup;
mod memory_search;
mod near;
mod origin;
mod outcome;
mod patch;
pub mod read;
mod resources;
mod result_read;
mod schema;
mod search_error;
mod send_message;
mod server_tools;
pub mod servers;
mod skill;
mod snip;
mod todo_write;
mod web_fetch;
mod write;

pub use agent::{AgentTool, AgentWish};
pub use checkpoints::FileCheckpoints;
pub use context::{SEEN_FIELD, ToolContext};
pub use delegation::{AgentDesk, AgentIdentity, Finished, MAIN, Order, StartError, Started};
pub use hooks::{ENV_FILE, ToolHooks};
pub use lookup::{Lookup, RecallError, Recalled, RecalledKind};
pub use memory_search::NAME as MEMORY_SEARCH;
pub use outcome::{BackgroundWork, ToolOutcome};
pub use send_message::NAME as SEND_MESSAGE;
pub use skill::SkillRequest;
pub use snip::{SnipRequest, Snipping};
pub use todo_write::{Todo, TodoStatus};

use everfold_kernel::ports::{Asks, BoxFuture, ModelError, Reads};
use everfold_kernel::provenance::{Provenance, Source};
use everfold_kernel::{Class, Classify, ToolUseId};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// The tools that every session has, in the order in which the model is shown
/// them. The order is part of the cached prefix.
#[must_use]
pub fn standard_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(read::Read),
        Arc::new(write::Write),
        Arc::new(edit::Edit),
        Arc::new(glob::Glob),
        Arc::new(grep::Grep),
        Arc::new(bash::Bash),
        Arc::new(web_fetch::WebFetch),
        Arc::new(todo_write::TodoWrite),
        Arc::new(result_read::ResultRead),
        Arc::new(snip::Snip),
        Arc::new(memory_search::MemorySearch),
        Arc::new(send_message::SendMessage),
        Arc::new(exit_plan_mode::ExitPlanMode),
    ]
}

/// The tool by which skills are taken up, for sessions that have some.
#[must_use]
pub fn skill_tool() -> Arc<dyn Tool> {
    Arc::new(skill::Skill)
}

/// The tools by which those of servers are reached, for sessions that have some.
#[must_use]
pub fn server_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(server_tools::ToolSearch),
        Arc::new(server_tools::ServerCall),
        Arc::new(resources::ListResources),
        Arc::new(resources::ReadResource),
    ]
}

/// One thing that the model can do.
pub trait Tool: Send + Sync {
    /// Name, description and arguments.
    fn spec(&self) -> ToolSpec;

    /// Its name alone, for who looks a tool up: a schema takes longer to make.
    fn name(&self) -> Cow<'static, str> {
        self.spec().name
    }

    /// What a call with these arguments would touch.
    fn access(&self, input: &Value, context: &ToolContext) -> Access;

    /// In which order calls of one answer run.
    fn order(&self) -> CallOrder {
        CallOrder::Any
    }

    /// Does it. A failure is an output with an error, for the model to read.
    fn run<'a>(&'a self, call: &'a ToolCall, context: &'a ToolContext)
    -> BoxFuture<'a, ToolOutput>;
}

/// In which order calls of one answer run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOrder {
    /// Those that only read, side by side.
    Any,
    /// After the calls before it, and before those after it: others see what
    /// it does, in the order in which it was done (S17).
    AsCalled,
}

/// How a tool presents itself to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: Cow<'static, str>,
    /// What it does and when to use it.
    pub description: Cow<'static, str>,
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
    Edit(PathBuf),
    /// Runs a command.
    Execute(String),
    /// Reads a page of this host.
    Fetch {
        url: String,
        host: String,
    },
    /// Calls a tool of a server, which may do anything.
    Server {
        /// Whether it says that it only reads.
        reads: Reads,
        /// Whether the person is to be asked about every call.
        asks: Asks,
    },
}

impl Access {
    /// Whether nothing is changed by such a call.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        let server_reads = matches!(self, Self::Server { reads: Reads::Only, .. });
        server_reads || matches!(self, Self::Nothing | Self::Read(_) | Self::Fetch { .. })
    }
}

/// A call by the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    pub id: ToolUseId,
    pub name: String,
    /// The arguments, as the model gave them.
    pub input: Value,
}

/// What a call answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// For the model: a string or a list of blocks.
    pub content: Value,
    /// What became of it.
    pub outcome: ToolOutcome,
    /// For programs that read the transcript (`toolUseResult`).
    pub structured: Option<Value>,
    /// Whose words the content holds (L5.33).
    pub provenance: Provenance,
}

impl ToolOutput {
    /// A text for the model, and whose words it is.
    pub fn text(provenance: impl Into<Provenance>, text: impl Into<String>) -> Self {
        let (content, provenance) = (Value::String(text.into()), provenance.into());
        Self { content, outcome: ToolOutcome::Done, structured: None, provenance }
    }

    /// A failure for the model to read: what happened, and what to do instead.
    /// The words are a program's; [`Self::by`] says otherwise.
    pub fn error(text: impl Into<String>) -> Self {
        Self { outcome: ToolOutcome::Failed, ..Self::text(Source::Command, text) }
    }

    /// The same output in somebody else's words.
    #[must_use]
    pub fn by(self, provenance: impl Into<Provenance>) -> Self {
        Self { provenance: provenance.into(), ..self }
    }

    /// The same output with its structured form.
    #[must_use]
    pub fn with_structured(mut self, value: Value) -> Self {
        self.structured = Some(value);
        self
    }

    /// The same output of a call whose work goes on; its structured form says so.
    #[must_use]
    pub fn in_background(mut self, work: BackgroundWork) -> Self {
        let mut fields = match self.structured.take() {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        work.write(&mut fields);
        self.structured = Some(Value::Object(fields));
        self.outcome = ToolOutcome::Background(work);
        self
    }

    /// Whether the call failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.outcome == ToolOutcome::Failed
    }
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nothing could be made of it that a model is sent.
    #[error("no request could be made")]
    NoRequest,
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Classify for AskError {
    fn class(&self) -> Class {
        match self {
            Self::NoRequest => Class::Bug,
            Self::Model(error) => error.class(),
        }
    }
}

/// Somebody who answers a question aside from the conversation: a small
/// model, asked by a tool and not seen in the transcript.
pub trait Asker: Send + Sync {
    /// Asks, and gives the answer's text. An error says why there is none.
    fn ask(
        &self,
        system: String,
        prompt: String,
        max_tokens: u64,
    ) -> BoxFuture<'_, Result<String, AskError>>;
}
