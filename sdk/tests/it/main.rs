//! Whole conversations: the real engine and adapters against the test kit's server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "tests"
)]

mod budget;
mod cache;
mod clearing;
mod collapse;
mod dates;
mod examples;
mod extract;
mod faults;
mod forks;
mod hooks;
mod instructions;
mod memory;
mod memory_tool;
mod notes;
mod notes_compaction;
mod place;
mod recall;
mod resume;
mod safety;
mod snip;
mod surfaces;
mod team;
mod turns;
mod window;
