//! Layer 3, by its promises.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::string_slice,
    reason = "tests"
)]

mod keeping;
mod logs;
mod updating;
mod when;
