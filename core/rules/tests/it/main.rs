//! Instruction files over a tree that is made up.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod imports;
mod later;
mod start;
mod tree;
