//! Layer 2, by its promises.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod clearing;
mod economics;
mod logs;
mod properties;
