//! The fold, by its promises.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "tests"
)]

mod breaks;
mod conversations;
mod counting;
mod measuring;
mod real_usage;
mod requests;
mod results;
mod stability;
