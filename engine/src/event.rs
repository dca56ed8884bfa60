//! What a surface is told while a turn runs.

use everfold_compact::preview::CompactionReport;
use everfold_kernel::ports::{Kept, WaitingMemory};
use everfold_kernel::usage::Booking;
use everfold_kernel::{ModelId, QuerySource, Record, Timestamp, ToolUseId, Usage, Usd};
use serde_json::Value;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;

/// Something happened. Events are for people and programs that watch; nothing
/// that a request depends on travels by them.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// More of the answer's text.
    Text(String),
    /// More of the model's thinking.
    Thinking(String),
    /// A record was written to the log.
    Recorded(Box<Record>),
    ToolStarted {
        id: ToolUseId,
        name: String,
        input: Value,
    },
    /// A call was refused, and did not run (U4). Its end is told as that of any
    /// other.
    ToolRefused {
        id: ToolUseId,
        name: String,
        input: Value,
        reason: String,
    },
    /// A tool is done.
    ToolEnded {
        id: ToolUseId,
        is_error: bool,
        /// What it answered, in its first characters.
        preview: String,
        /// How long it took.
        duration: Duration,
    },
    /// Nothing has come from the server for a while (S16).
    Waiting {
        waited: Duration,
        /// What is waited for, and which try it is.
        reason: String,
    },
    /// The provider waits before it tries again.
    Retrying {
        /// Which try failed, from 1.
        attempt: u32,
        /// How many there are at most.
        most: u32,
        /// How long it waits.
        wait: Duration,
        reason: String,
    },
    /// What was shown of the answer is void; it starts again.
    Restarted {
        reason: String,
    },
    /// Another model answers from here on.
    ModelSwitched {
        /// The model before.
        from: ModelId,
        to: ModelId,
        reason: String,
    },
    /// The conversation was compacted.
    Compacted {
        report: Box<CompactionReport>,
        /// The quiet line about it, with tokens and money (E10).
        line: String,
    },
    /// Memories were brought in.
    Recalled {
        paths: Vec<PathBuf>,
    },
    /// A memory that waits for the person's word would have helped (L5.46).
    Offered(WaitingMemory),
    /// Something changed about a task in the background.
    Task(Box<TaskView>),
    /// Memories were kept from what was said (L5.15).
    Remembered {
        /// What became of each; what was refused is left out.
        kept: Vec<Kept>,
        how: Finder,
    },
    /// A request was paid for.
    Booked(Booking),
    /// One quiet line on what else was done to spend less, or not done for want
    /// of budget, with tokens and money (E10).
    Housekeeping(String),
    /// Something that a person should know.
    Notice(String),
}

/// Who found what was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finder {
    /// A model, or the person themselves.
    Model,
    /// A rule, without a model (L5.19).
    Rule,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnEnd {
    pub reason: EndReason,
    /// The text of the last answer.
    pub text: String,
    /// How many requests it took.
    pub requests: u32,
    /// What the main thread used.
    pub usage: Usage,
    /// Calls that were refused.
    pub denials: Vec<Denial>,
}

/// A call that was refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Denial {
    pub id: ToolUseId,
    pub name: String,
    pub input: Value,
}

/// Why a turn ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum EndReason {
    /// The model was done.
    #[default]
    Completed,
    /// The answer was cut at its limit of tokens.
    OutputLimit,
    /// The model declined to answer.
    Refused,
    /// The turn made as many requests as it may.
    TooManyRequests(u32),
    /// The person stopped it.
    Cancelled,
    /// Summaries and repeated requests cost this much, which is over the
    /// ceiling of a turn (E7).
    SpendingCeiling(Usd),
    /// Something failed that only a person can mend.
    Failed(String),
}

impl EndReason {
    /// Whether the person got what they asked for.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Completed | Self::OutputLimit)
    }
}

/// A task, as a person sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskView {
    /// Its name in commands, such as `t3`.
    pub id: String,
    /// What it is, such as `notes` or `dream`.
    pub name: String,
    /// Under which source its requests are booked.
    pub source: QuerySource,
    pub status: TaskStatus,
    /// What it is about to do, in a word.
    pub phase: String,
    /// What it said, the newest lines.
    pub lines: VecDeque<String>,
    pub started: Timestamp,
    pub ended: Option<Timestamp>,
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    Running,
    /// It came to its end.
    Completed,
    Failed {
        reason: String,
    },
    Killed,
}

/// Where events go. A watcher that went away is no reason to stop.
pub type Events = mpsc::UnboundedSender<Event>;
