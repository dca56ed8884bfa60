//! Settings as a whole: files, environment, flags, provider, live values.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "tests"
)]

mod docs;
mod fuzz;
mod hostile;
mod house;
mod live;
mod loading;
mod named_scripts;
mod provider;
mod smoke;
