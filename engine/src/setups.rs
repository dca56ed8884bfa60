//! What people bring to their agents: hooks, skills, servers, instructions,
//! preferences.

pub mod directories;
pub mod hooks;
pub mod instructions;
pub mod mcp_prompts;
pub mod mcp_tools;
pub mod memory_switch;
pub mod plan_mode;
pub mod preferences;
pub mod session_head;
pub mod skills;
pub mod web_search;
