//! What is kept and what is not, seen from outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

mod dates;
mod gate;
mod honest;
mod keep;
mod merge;
mod orders;
mod paste;
mod poison;
mod secrets;
mod together;
mod wish;
