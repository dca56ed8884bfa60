//! Streams as servers send them, and as they break.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

mod anthropic;
mod openai;
mod render;
mod sse;

use everfold_wire::sse::{Decoder, SseEvent};

/// The events of some bytes.
fn events(bytes: &[u8]) -> Vec<SseEvent> {
    Decoder::new(1 << 20).push(bytes).unwrap()
}
