//! The inbox under every interleaving, and the order of letters.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod interleaving;
mod order;
