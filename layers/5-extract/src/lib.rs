//! Layer 5: durable memories after a turn (L5).
//!
//! The engine asks [`policy`] whether a turn that ended calls for a review, and
//! lets [`plan`] say what is looked at and what the background agent is told.
//! Every file that the agent would write, and what rules find without a model,
//! is a proposal to the one gate (`memory/judge`); [`apply`] makes those of
//! rules, and the note that a review took place. Pure: reading, asking and
//! writing are the engine's.

pub mod apply;
mod durability;
mod error;
pub mod label;
pub mod plan;
pub mod policy;
pub mod small;

pub use apply::{extracted, proposal, put_off};
pub use durability::could_last;
pub use error::Error;
pub use plan::{ReviewContext, ReviewDirective, ReviewSpan, directive, review};
pub use policy::{
    Allowed, Due, Remote, ReviewCost, ReviewQueue, ReviewSkip, ReviewWay, SessionSetting, Worth,
    due, way, worth,
};
