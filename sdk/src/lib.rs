//! Everfold as a library: the context layers around a loop of your own, and the
//! whole agent for who has none.
//!
//! # A loop of your own
//!
//! [`context::Context`] takes the place of an agent's list of messages. It keeps
//! the conversation in the model's window at the lowest cost: large results go
//! to disk, stale ones are cleared where that pays, a summary takes the place of
//! what no longer fits, and memories come in where the person's words call for
//! them. It does no I/O by itself and needs no runtime. Begin with the module
//! [`context`].
//!
//! # The agent
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
//! # Features
//!
//! - `agent` (on): sessions, tools, settings and providers; without it, only
//!   [`context`] is here, and neither a runtime nor an HTTP client is built
//! - `embed`: sentence models that were installed, for recall by meaning
//! - `fleet`: teams that meet in NATS
//!
//! # What is promised
//!
//! - *Stable*, by semantic versioning: [`context`], and of the agent what is
//!   listed below by name.
//! - *Settling*: [`memory_tool`] and [`replay_file`] may change with a minor
//!   version, and the changelog says how.
//! - *Not promised*: what the documentation does not list. Programs of this
//!   repository reach some internals through this crate; they may go at any time.
//!
//! Formats on disk have a promise of their own: what one version wrote, every
//! later one reads.

#![deny(missing_docs)]

mod clock;
pub mod context;

pub use clock::SystemClock;
pub use everfold_kernel::{Block, SessionId};

#[cfg(feature = "agent")]
mod agent;
#[cfg(feature = "agent")]
mod approvers;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod bills;
#[cfg(feature = "agent")]
mod builder;
#[cfg(feature = "agent")]
mod error;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod health;
#[cfg(feature = "agent")]
mod hook_registry;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod hosts;
#[cfg(feature = "agent")]
mod instructions;
#[cfg(feature = "agent")]
mod memory;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod memory_dirs;
#[cfg(feature = "agent")]
mod memory_location;
#[cfg(feature = "agent")]
pub mod memory_tool;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod model_server;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod observed;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod past_sessions;
#[cfg(feature = "agent")]
mod permission_rules;
#[cfg(feature = "agent")]
mod plugins;
#[cfg(feature = "agent")]
mod provider;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod record_filter;
#[cfg(feature = "agent")]
mod recorded_files;
#[cfg(feature = "agent")]
mod redaction;
#[cfg(feature = "agent")]
mod replay;
#[cfg(feature = "agent")]
mod repo;
#[cfg(feature = "agent")]
mod repository;
#[cfg(feature = "agent")]
mod retention;
#[cfg(feature = "agent")]
mod servers;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod session_files;
#[cfg(feature = "agent")]
mod shell;
#[cfg(feature = "agent")]
mod skill_files;
#[cfg(feature = "agent")]
mod styles;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod team;
#[cfg(feature = "agent")]
mod turn;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod unsaved;

#[cfg(feature = "agent")]
pub use agent::Agent;
#[cfg(feature = "agent")]
pub use approvers::{AllowAll, RefuseAll};
#[cfg(feature = "agent")]
pub use builder::Builder;
#[cfg(feature = "agent")]
pub use error::Error;
#[cfg(feature = "agent")]
pub use replay::{Replayed, replay_file};
#[cfg(feature = "agent")]
pub use turn::Turn;

#[cfg(feature = "agent")]
pub use everfold_engine::{
    Access, Config, EndReason, Event, Pasted, Prompt, Queue, Session, Tool, ToolCall, ToolContext,
    ToolOutput, ToolSpec, Toolbox, TurnEnd, World,
};
#[cfg(feature = "agent")]
pub use tokio_util::sync::CancellationToken;

// What programs of this repository reach through the library. No promise goes
// with any of it (K2).
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use everfold_disk::{self as disk, retention::StoredSession};
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use everfold_engine::{
    self as engine, Background, Budget, Denied, MemorySwitch, TaskStatus, TaskView, Waiting,
};
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use everfold_foreign as foreign;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use everfold_hooks as hooks;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use everfold_kernel as kernel;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use everfold_memory_embed as models;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use everfold_plugdir::{Found as Plugins, Plugin};
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use everfold_prefix as prefix;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use everfold_process::sandbox_entered;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use everfold_rules as rules;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use everfold_settings as settings;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use everfold_skills as skills;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use everfold_transcript as transcript;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use permission_rules::KeepRuleError;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use redaction::{Redaction, RedactionMode};
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use repo::Repo;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use repository::{InstructionChain, Repository};
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use servers::NamedServers;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub use styles::{DEFAULT_STYLE, OutputStyle};
