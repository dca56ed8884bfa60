//! Whole conversations: the real engine and adapters against the test kit's server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::print_stdout,
    missing_docs,
    reason = "tests"
)]

mod agents;
mod budget;
mod cache;
mod choices;
mod clearing;
mod collapse;
mod crew;
mod dates;
mod dreams;
mod economy;
mod elicitation;
mod examples;
mod extract;
mod failures;
mod faults;
mod forks;
mod handlers;
mod hooks;
mod hooks_around;
mod hostile;
mod instructions;
mod keeping;
mod long_log;
mod many;
mod memory;
mod memory_tool;
mod mentions;
mod notes;
mod notes_compaction;
mod permissions;
mod place;
mod plugins;
mod provenance;
mod recall;
mod resume;
mod rewind;
mod safety;
mod searching;
mod servers;
mod skills;
mod snip;
mod spending;
mod surfaces;
mod switches;
mod team;
mod turns;
mod waiting;
mod window;
