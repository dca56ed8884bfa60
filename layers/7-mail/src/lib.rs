//! Layer 7: agents, forks and the letters between them (L7).
//!
//! - [`definition`] and [`roster`]: which kinds of agents there are, and which
//!   tools each of them has.
//! - [`plan`]: what a fork and a sub-agent are told.
//! - [`policy`]: when it is said what an agent does, and who is asked.
//! - [`inbox`]: what waits for an agent in this process; nothing is lost or
//!   comes twice.
//! - [`apply`]: how letters and ends of agents stand in the log.
//! - [`memory`]: where a kind of agent keeps what it learned (L5.20).
//!
//! Pure: agents are run, and letters carried, by the engine and its adapters.

pub mod apply;
pub mod definition;
pub mod inbox;
pub mod memory;
pub mod plan;
pub mod policy;
pub mod roster;

pub use definition::{AgentMemoryScope, Definition, DefinitionError, Isolation, Running};
pub use inbox::{Closed, Inbox};
pub use roster::Roster;
