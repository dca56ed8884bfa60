//! The wire formats of models, without the wire.
//!
//! Bytes go in, events of the kernel come out: [`sse`] cuts a stream into
//! events, [`anthropic`] and [`openai`] assemble them into blocks, [`errors`]
//! says what a failure means and [`retry`] whether to try again. [`openai`]
//! also renders a conversation for chat completions; the Anthropic form is the
//! one the log is kept in, and `everfold-prefix` renders it.
//!
//! Nothing here reads a socket, a clock or the environment, and nothing a
//! server sends makes it panic.

pub mod anthropic;
pub mod errors;
pub mod openai;
pub mod reply;
pub mod retry;
pub mod sse;

mod count;
mod headroom;
mod input;

pub use errors::classify;
pub use headroom::headroom;
pub use input::INVALID_JSON;
pub use reply::{ReplyBuilder, read_reply, reply_events};
