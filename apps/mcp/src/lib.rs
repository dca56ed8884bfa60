//! An MCP server: Everfold's memories for any agent that speaks the Model
//! Context Protocol (X3).
//!
//! Six tools, and every memory as a resource. Over standard input and output,
//! or as streamable HTTP on loopback; both protocol revisions, the one with a
//! handshake and the one without. What is written goes the way of everything
//! else: gate, review, journal.
//!
//! - [`serve_stdio`], [`serve_http`]: the two ways in.
//! - [`Server`]: what answers.

mod arguments;
mod catalogue;
mod lines;
mod operations;
mod refusal;
mod resources;
mod server;
mod transport;

pub use catalogue::{INSTRUCTIONS, tools};
pub use refusal::CallRefusal;
pub use server::{ProjectOpener, Server};
pub use transport::{Error, Listening, serve_http, serve_pipes, serve_stdio};
