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
//! - `mcp` (on): tools of MCP servers, for the agent
//! - `embed`: sentence models that were installed, for recall by meaning
//! - `fleet`: teams that meet in NATS
//!
//! # What is promised
//!
//! - *Stable*, by semantic versioning: [`context`], and of the agent what is
//!   listed below by name.
//! - *Settling*: [`memory_tool`] and [`replay_file`] may change with a minor
//!   version, and the changelog says how.
//! - *Not promised*: the crates below this one, which programs of this repository
//!   use directly. They may change with any version.
//!
//! Formats on disk have a promise of their own: what one version wrote, every
//! later one reads.

#![deny(missing_docs)]

pub mod context;

pub use everfold_clock::SystemClock;
pub use everfold_kernel::{Block, SessionId};

#[cfg(feature = "agent")]
#[doc(inline)]
pub use everfold_agent::{
    Access, Agent, AllowAll, Builder, CancellationToken, Config, EndReason, Error, Event, Pasted,
    Prompt, Queue, RefuseAll, Replayed, Session, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec,
    Toolbox, Turn, TurnEnd, World, memory_tool, replay_file,
};
