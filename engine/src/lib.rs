//! The loop: a person's message goes in, requests and tool calls follow, the
//! log grows, the turn ends.
//!
//! [`Run`] says what comes next and does nothing; `turn` performs it. This is
//! the only place where layers meet, and where their effects are performed. It
//! reaches the outside world through the ports of `everfold-kernel` alone.

pub mod agents;
pub mod background;
pub mod config;
pub mod event;
pub mod memory;
pub mod permit;
pub mod session;
pub mod setups;
pub mod turn;
pub mod window;

pub use agents::Agents;
pub use background::budget::{Budget, Denied};
pub use background::{Background, TaskHandle, TaskStatus, TaskView};
pub use config::{AgentSetup, AutoDream, Config, Delegation, KindDirs, ModelChoice, Offers};
pub use event::{Denial, EndReason, Event, TurnEnd};
pub use everfold_extract as extract;
pub use everfold_extract::{Allowed, Remote, SessionSetting};
pub use everfold_kernel::ports::World;
pub use everfold_tools as tools;
pub use memory::dream::{DreamEnd, DreamWish, Dreaming, Dreamt};
pub use memory::extraction::host_review::HostReview;
pub use permit::{Remit, Room};
pub use session::fork::{Errand, Fork, Ground, Report, Start, Until};
pub use session::memory_state::MemorySwitch;
pub use session::prompt::Prompt;
pub use session::queue::{Queue, Waiting};
pub use session::toolbox::Toolbox;
pub use session::{Error, Session};
pub use tools::{Access, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec};
pub use turn::driver::{go_on, turn};
pub use turn::mentions::say;
pub use turn::pasted::Pasted;
pub use turn::resume::{Resumed, claim, fork, resume};
pub use turn::run::{Run, Step};
pub use turn::turn_end::{finish, finish_later, leave};
