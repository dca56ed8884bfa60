//! Memories beside the conversation: brought in, reviewed, consolidated.

pub mod dream;
pub mod extraction;
pub(crate) mod failures;
pub mod recall;
pub mod uses;
