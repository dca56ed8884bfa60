//! Placeholder.

pub mod sim;
