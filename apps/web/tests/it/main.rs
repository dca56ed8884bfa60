//! The page, asked as a browser asks it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "tests"
)]

mod browser;
mod chromium;
mod demo;
mod guard;
mod memories;
mod sessions;
mod stage;
