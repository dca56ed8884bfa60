//! The whole agent, wired: the engine with its tools, settings, providers and
//! memories, and what the program does beside other agents.
//!
//! [`Agent::builder`] takes a working directory and whatever somebody wants to
//! replace. Like the library, it reads no environment and no terminal. What
//! others may build on is chosen from here by the crate `everfold`; nothing else
//! of this one is promised.

mod agent;
mod approvers;
pub mod bills;
mod builder;
mod error;
pub mod health;
mod hook_registry;
pub mod hosts;
mod instructions;
mod memory;
pub mod memory_dirs;
mod memory_location;
pub mod memory_tool;
pub mod model_server;
pub mod observed;
pub mod past_sessions;
mod permission_rules;
mod plugins;
mod provider;
pub mod record_filter;
mod recorded_files;
mod redaction;
mod replay;
mod repo;
mod repository;
mod retention;
mod servers;
pub mod session_files;
mod shell;
mod skill_files;
mod styles;
pub mod team;
mod turn;
pub mod unsaved;

pub use agent::Agent;
pub use approvers::{AllowAll, RefuseAll};
pub use builder::Builder;
pub use error::Error;
pub use permission_rules::KeepRuleError;
pub use redaction::{Redaction, RedactionMode};
pub use replay::{Replayed, replay_file};
pub use repo::Repo;
pub use repository::{InstructionChain, Repository};
pub use servers::NamedServers;
pub use styles::{DEFAULT_STYLE, OutputStyle};
pub use turn::Turn;

// What programs reach of the rooms below, which they do not depend on themselves.
pub use everfold_clock::SystemClock;
pub use everfold_disk::{self as disk, retention::StoredSession};
pub use everfold_engine::{
    self as engine, Access, Background, Budget, Config, Denied, EndReason, Event, MemorySwitch,
    Pasted, Prompt, Queue, Session, TaskStatus, TaskView, Tool, ToolCall, ToolContext, ToolOutput,
    ToolSpec, Toolbox, TurnEnd, Waiting, World,
};
pub use everfold_kernel::{Block, SessionId};
pub use everfold_plugdir::{Found as Plugins, Plugin};
pub use everfold_process::sandbox_entered;
pub use everfold_settings as settings;
pub use tokio_util::sync::CancellationToken;
