//! What the benchmarks share: a long conversation, made by rule, and what
//! happens to it between a tool's result and the next request.
//!
//! The program `everfold-bench` measures and prints; `docs/BENCHMARKS.md` has
//! the figures. Nothing here asserts a time.

pub mod conversation;
pub mod step;
