//! Work that is handed to other agents: what one is asked to do, what came of
//! it, and who starts them and carries their letters.

use everfold_kernel::ports::{AgentName, BoxFuture, LetterDraft, WorktreeError};
use everfold_kernel::provenance::{Provenance, Source};
use everfold_kernel::{Class, Classify, ToolUseId, Usage};
use everfold_mail::{Isolation, Running};
use std::path::PathBuf;

/// What the main thread is called in letters.
pub const MAIN: &str = "main";

/// The agents of a session, as one of them sees them.
pub trait AgentDesk: Send + Sync {
    fn who(&self) -> AgentIdentity;

    /// Starts an agent, and waits for its end unless it goes on by itself.
    fn start<'a>(
        &'a self,
        order: Order,
        call: &'a ToolUseId,
    ) -> BoxFuture<'a, Result<Started, StartError>>;

    /// Puts a letter into the inbox of somebody in this process, and gives what
    /// they are called. None where nobody of this name is.
    fn post(&self, to: &str, draft: &LetterDraft) -> Option<String>;

    /// Puts a letter into every inbox but one's own, and says whose.
    fn post_all(&self, draft: &LetterDraft) -> Vec<String>;

    /// Says that one comes to an end, as one was asked to.
    fn leave(&self);

    /// Who can be written to in this process.
    fn known(&self) -> Vec<String>;
}

/// Who one is among the agents of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentIdentity {
    /// The conversation with the person.
    Main,
    Agent {
        /// What it is called.
        label: String,
    },
}

impl AgentIdentity {
    /// What one is called in letters.
    #[must_use]
    pub fn label(&self) -> &str {
        match self {
            Self::Main => MAIN,
            Self::Agent { label } => label,
        }
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Started {
    Ended(Box<Finished>),
    Background { id: String, log: PathBuf },
}

/// Why an agent was not started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// Only the conversation starts agents.
    #[error("agents are started by the conversation, with Agent")]
    NotHere,
    #[error("unknown kind of agent {wanted:?}; the kinds are {known}")]
    UnknownKind {
        /// What was asked for.
        wanted: String,
        known: String,
    },
    /// As many run as may.
    #[error("{running} agents are already running, which is the limit; wait until one ends")]
    TooMany { running: usize },
    /// Two of one name.
    #[error("an agent called {0} is already running; choose another name")]
    NameTaken(AgentName),
    #[error("a fork works where you do; use another kind for a worktree")]
    ForkInWorktree,
    #[error("no conversation to fork yet")]
    NothingToFork,
    /// A hook made no worktree.
    #[error("a WorktreeCreate hook made no worktree: {0}")]
    Hook(String),
    /// A hook named a place that is none.
    #[error("the WorktreeCreate hook names {}, which is not a directory", .0.display())]
    NoDirectory(PathBuf),
    #[error("worktrees are not available here; use the agent without isolation")]
    NoWorktrees,
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// It broke off.
    #[error("the agent ended without an answer")]
    Vanished,
}

impl Classify for StartError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

/// A call of the Agent tool, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// What it is for, in a few words.
    pub description: String,
    pub prompt: String,
    /// Whose words the task is (L5.33).
    pub provenance: Provenance,
    /// Which kind; none is the one for everything.
    pub kind: Option<String>,
    /// Whether the conversation waits; none is as the kind says.
    pub running: Option<Running>,
    /// Where it works; none is as the kind says.
    pub isolation: Option<Isolation>,
    /// By what others write to it.
    pub name: Option<AgentName>,
}

/// What became of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    pub id: String,
    /// How it ended, such as `completed`.
    pub how: String,
    /// Whether it did what it was asked.
    pub success: bool,
    /// Its last message.
    pub text: String,
    /// What else there is to say: where its changes are.
    pub more: String,
    /// How many requests it made.
    pub requests: u32,
    /// How many tools it called.
    pub tool_calls: u32,
    pub usage: Usage,
    /// Who wrote the least trusted of what it had in view (L5.33).
    pub source: Source,
}
