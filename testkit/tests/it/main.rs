//! The server over real connections.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "tests"
)]

mod billing;
mod binary;
mod faults;
mod http;
mod prefix;
mod steps;
mod strict;
