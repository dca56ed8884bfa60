//! Integration tests of the engine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "tests"
)]

mod agents;
mod bounded;
mod budget;
mod cache;
mod choices;
mod clearing;
mod collapse;
mod dates;
mod dreams;
mod economy;
mod extract;
mod failures;
#[path = "../../../tools/tests/it/fakes.rs"]
mod fakes;
mod faults;
mod forks;
mod handlers;
mod hooks;
mod hooks_around;
mod hostile;
mod instructions;
mod long_log;
mod many;
mod memory;
mod mentions;
mod notes;
mod notes_compaction;
mod place;
mod plan_mode;
mod provenance;
mod recall;
mod result_read;
mod resume;
mod rewind;
mod safety;
mod searching;
mod skills;
mod snip;
mod spending;
mod strangers;
mod team;
mod turns;
mod window;
