//! A fleet against real servers on loopback. Where there is no nats-server
//! (`cargo xtask soak fleet` fetches one), the tests say so and pass over.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "tests"
)]

mod crowd;
mod disk;
mod doctor;
mod servers;
mod small;
