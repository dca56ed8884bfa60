//! The loop: a person's message goes in, requests and tool calls follow, the
//! log grows, the turn ends.
//!
//! [`Run`] says what comes next and does nothing; `turn` performs it. This is
//! the only place where layers meet, and where their effects are performed. It
//! reaches the outside world through the ports of `everfold-kernel` alone.

mod acting;
mod after;
pub mod agents;
mod answer;
mod ask;
pub mod background;
pub mod budget;
pub mod choosing;
pub mod compacting;
pub mod config;
pub mod context_view;
mod dating;
pub mod dreaming;
pub mod event;
mod extracting;
mod file_history;
pub mod fork;
pub mod history;
pub mod hooking;
pub mod in_view;
pub mod instructing;
pub mod ladder;
mod memory_files;
mod memory_switch;
pub mod mentions;
pub mod noting;
mod pasted;
pub mod permit;
mod planning;
mod prompt;
mod prompting;
mod queue;
pub mod recalled;
mod recalling;
mod remembering;
mod reminder;
pub mod rewinding;
pub mod run;
mod searching;
pub mod serving;
pub mod session;
pub mod skilled;
pub mod standing;
pub mod status;
mod toolbox;
mod turn;
mod watching;
pub mod world;

pub use agents::{Agents, KindDirs};
pub use background::{Background, TaskHandle, TaskStatus, TaskView};
pub use budget::{Budget, Denied};
pub use config::{AgentSetup, AutoDream, Config, Delegation, ModelChoice, Offers};
pub use dreaming::{DreamEnd, DreamWish, Dreaming, Dreamt};
pub use event::{Denial, EndReason, Event, TurnEnd};
pub use everfold_extract as extract;
pub use everfold_extract::{Allowed, Remote, Setting};
pub use everfold_tools as tools;
pub use extracting::elsewhere::Elsewhere;
pub use fork::{Errand, Fork, Ground, Report, Start, Until};
pub use memory_switch::MemorySwitch;
pub use pasted::Pasted;
pub use permit::{Remit, Room};
pub use prompt::Prompt;
pub use queue::{Queue, Waiting};
pub use run::{Run, Step};
pub use session::{Error, Resumed, Session};
pub use toolbox::Toolbox;
pub use tools::{Access, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec};
pub use world::World;
