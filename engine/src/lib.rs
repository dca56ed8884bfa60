//! The loop: a person's message goes in, requests and tool calls follow, the
//! log grows, the turn ends.
//!
//! This is the only place where layers meet, and where their effects are
//! performed. It reaches the outside world through the ports of
//! `mnemon-kernel` alone.

pub mod tools;
pub mod world;

pub use tools::{Access, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec};
pub use world::World;
