//! Servers of the Model Context Protocol, as their client: the port `Servers`.
//!
//! [`entries`] reads the `mcpServers` of a file; [`McpServers`] connects to
//! them, over the pipes of a process or over HTTP, keeps their tools listed,
//! calls them, and starts one again that died. Both revisions of the protocol
//! are spoken. What servers say (names, descriptions, instructions, results)
//! is the word of strangers: it is bounded here and marked by who shows it.

#[expect(deprecated, reason = "servers of the older revision ask for roots")]
mod client;
mod connection;
mod content;
mod elicitation;
mod entry;
mod error;
mod process;
mod servers;

pub use entry::{BrokenServer, ServerEntry, Transport, entries};
pub use error::EntryError;
pub use servers::McpServers;
