//! Layer 5: durable memories after a turn (L5).
//!
//! The engine asks [`policy`] whether a turn that ended calls for a review,
//! lets [`plan`] say what is looked at and what the background agent is told,
//! and hands every file that the agent would write to the [`mod@gate`], which
//! accepts it, says which memory it is an update of, or refuses it with a
//! reason. [`apply`] gives an accepted text its dates and its provenance.
//! Without a model, [`capture`] finds by rule what a person asked to keep.
//! Pure: reading, asking and writing are the engine's.

pub mod apply;
pub mod capture;
mod error;
pub mod gate;
pub mod plan;
pub mod policy;

pub use apply::{Provenance, by_rule, finished, stamped};
pub use capture::{Captured, captured};
pub use error::Error;
pub use gate::{Grounds, Known, Proposal, Refusal, Verdict, gate};
pub use plan::{Directive, Ground, Review, Said, Who, directive, review};
pub use policy::{Allowed, Desk, Due, Remote, Setting, Skip, Worth, due, worth};
