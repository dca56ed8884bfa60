//! What an agent is asked to do, and what came of it.

use everfold_kernel::Usage;
use everfold_kernel::ports::AgentName;
use everfold_kernel::provenance::{Provenance, Source};
use everfold_mail::{Isolation, Running};

/// A call of the Agent tool, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// What it is for, in a few words.
    pub description: String,
    /// The task.
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
    /// Its id.
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
    /// What it used.
    pub usage: Usage,
    /// Who wrote the least trusted of what it had in view (L5.33).
    pub source: Source,
}
