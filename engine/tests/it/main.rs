//! Integration tests of the engine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    missing_docs,
    reason = "tests"
)]

mod bounded;
#[path = "../../../tools/tests/it/fakes.rs"]
mod fakes;
mod provenance;
mod result_read;
