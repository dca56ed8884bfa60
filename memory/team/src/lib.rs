//! A team's memories, kept in step with what the others have (F1, F2).
//!
//! - [`place`]: which team a project is bound to, and where its files are.
//! - [`mod@sync`]: takes in what is new, merges by memory, publishes what is ours.
//! - [`plan`]: what becomes of each memory; decides, and does nothing.
//! - [`ancestor`]: the state that we and the others had in common last.
//! - [`consolidation`]: when the memories were consolidated, and who is at it.
//!
//! The memories themselves are an ordinary store, so that everything that works
//! with memories works with a team's. What carries them is a port
//! ([`everfold_kernel::ports::TeamRemote`]): a git repository, or a fleet.
//!
//! Killed at any step, a sync is done again from the last state in common: what
//! was merged already merges to itself, and what was published already is
//! recognised. Everything here blocks.

pub mod ancestor;
pub mod consolidation;
mod error;
pub mod place;
pub mod plan;
pub mod sync;

pub use error::Error;
pub use place::{TeamBinding, TeamPlace, TeamTransport};
pub use sync::{HeldMemory, SyncReport, TeamSync};
