//! Memories beside the conversation: brought in, reviewed, consolidated.

pub mod dream;
pub mod extraction;
pub mod recall;
pub mod uses;
