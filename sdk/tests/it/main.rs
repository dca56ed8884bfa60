//! The library as another program uses it: its examples, and a loop that takes
//! the context layers over.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::print_stdout,
    reason = "tests"
)]

mod adoption;
mod examples;
