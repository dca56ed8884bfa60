//! Layer 4, by its promises.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::missing_panics_doc,
    reason = "tests"
)]

mod asking;
mod chance;
mod checking;
mod logs;
mod properties;
mod scopes;
mod spans;
mod story;
mod validity;
mod when;
