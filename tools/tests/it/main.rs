//! Integration tests of the tools.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "tests"
)]

mod bash;
mod edit;
mod fakes;
mod read;
mod search;
mod standard;
mod web;
mod write;
