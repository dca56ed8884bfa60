//! Servers of the Model Context Protocol, as their client: the port `Servers`.
//!
//! [`entries`] reads the `mcpServers` of a file; [`McpServers`] connects to
//! them, over the pipes of a process or over HTTP, keeps their tools listed,
//! calls them, and starts one again that died. Both revisions of the protocol
//! are spoken. What servers say (names, descriptions, instructions, results)
//! is the word of strangers: it is bounded here and marked by who shows it.
//!
//! Without the feature `client` entries are read, and each server is listed as
//! down with the reason.

#[cfg(feature = "client")]
#[expect(deprecated, reason = "servers of the older revision ask for roots")]
mod client;
#[cfg(feature = "client")]
mod connect_error;
#[cfg(feature = "client")]
mod connection;
#[cfg(feature = "client")]
mod content;
#[cfg(feature = "client")]
mod elicitation;
mod entry;
mod error;
#[cfg(feature = "client")]
mod process;
#[cfg(feature = "client")]
mod servers;
#[cfg(not(feature = "client"))]
mod unconnected;

pub use entry::{BrokenServer, ServerEntry, Transport, entries};
pub use error::EntryError;
#[cfg(feature = "client")]
pub use servers::McpServers;
#[cfg(not(feature = "client"))]
pub use unconnected::UnconnectedServers as McpServers;
