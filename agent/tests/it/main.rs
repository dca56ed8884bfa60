//! Whole conversations: the real engine and adapters against the test kit's server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::print_stdout,
    reason = "tests"
)]

mod crew;
mod elicitation;
mod faults;
mod hooks;
mod keeping;
mod memory;
mod memory_tool;
mod pauses;
mod permissions;
mod place;
mod plugins;
mod rule_fuzz;
mod safety;
mod servers;
mod surfaces;
mod switches;
mod waiting;
