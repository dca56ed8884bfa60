//! Everfold as a library: the engine of the `everfold` program, for programs of
//! your own.
//!
//! [`Agent::builder`] takes a working directory and whatever you want to
//! replace: the model, the tools, who approves calls, where things are kept.
//! The library reads no environment and no terminal; what it is not given, it
//! does not know.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let dir = tempfile::tempdir()?;
//! std::fs::write(dir.path().join("notes.txt"), "buy milk\n")?;
//! let agent = everfold::Agent::builder(dir.path()).home(dir.path().join("home")).build().await?;
//! let mut session = agent.start();
//! let end = everfold::Turn::new(&mut session, "read notes.txt").end().await?;
//! assert!(end.text.contains("buy milk"));
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//!
//! Parts that are useful alone are re-exported: [`prefix`] (the fold and the
//! cache simulator), [`transcript`], [`foreign`] (transcripts of other agents),
//! [`kernel`], [`engine`].

#![deny(missing_docs)]

mod agent;
mod approvers;
pub mod bills;
mod builder;
mod clock;
mod error;
pub mod health;
mod hook_registry;
pub mod hosts;
mod instructions;
mod memory;
pub mod memory_dirs;
mod memory_location;
pub mod memory_tool;
/// Sentence models that memories are found by (R14).
pub mod models {
    pub use everfold_memory_embed::{Error, InstalledModel, InstalledModels};
}
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

pub use agent::Agent;
pub use approvers::{AllowAll, RefuseAll};
pub use builder::Builder;
pub use clock::SystemClock;
pub use error::Error;
pub use redaction::{Redaction, RedactionMode};
pub use replay::{Replayed, replay_file};
pub use repo::Repo;
pub use repository::{InstructionChain, Repository};
pub use servers::NamedServers;
pub use styles::{DEFAULT_STYLE, OutputStyle};
pub use turn::Turn;

pub use everfold_disk as disk;
pub use everfold_disk::retention::StoredSession;
pub use everfold_engine as engine;
pub use everfold_engine::{
    Access, Background, Budget, Config, Denied, EndReason, Event, MemorySwitch, Pasted, Prompt,
    Queue, Session, TaskStatus, TaskView, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec,
    Toolbox, TurnEnd, Waiting, World,
};
pub use everfold_foreign as foreign;
pub use everfold_hooks as hooks;
pub use everfold_kernel as kernel;
pub use everfold_kernel::{Block, SessionId};
pub use everfold_plugdir::{Found as Plugins, Plugin};
pub use everfold_prefix as prefix;
pub use everfold_process::sandbox_entered;
pub use everfold_rules as rules;
pub use everfold_settings as settings;
pub use everfold_skills as skills;
pub use everfold_transcript as transcript;
pub use tokio_util::sync::CancellationToken;
