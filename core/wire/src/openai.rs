//! OpenAI's chat completions, as local servers speak it.
//!
//! The log is kept in Anthropic's shapes; this renders it for chat completions
//! and turns the answers back. Rendering goes message by message and depends
//! on nothing else, so that what was sent once is sent the same again (PC1).

mod assemble;
mod inventory;
mod message;
mod render;
pub mod text_calls;

pub use assemble::{AnswerIds, Assembler, PromptProgress};
pub use inventory::{Inventory, ServedModel, ServerKind};
pub use message::parse_message;
pub use render::{Head, body, head_json, message_json};
