//! Recall: which memories a message calls for, and how they are shown (R).
//!
//! With a model at hand, a side query picks from a manifest ([`manifest`],
//! [`side_query`]). Without one, or when it is late, the local ranker does
//! ([`rank()`], [`Ranking::worth_injecting`]). Either way [`budget`] says how
//! much of a file is shown and [`inject`] renders it.
//!
//! The crate is pure: files are read, times are taken and models are asked by
//! others. What was surfaced before is passed in; the messages are its source.

pub mod budget;
pub mod inject;
pub mod manifest;
mod pasted;
mod query;
mod rank;
mod scan;
pub mod side_query;
mod text;
mod tuning;
mod usefulness;
mod vectors;
mod words;

pub use manifest::{Manifest, Topic};
pub use pasted::DistinctTokens;
pub use rank::{Document, Hit, Ranking, rank};
pub use text::stems;
pub use tuning::Tuning;
pub use usefulness::was_used;
pub use vectors::{Embedder, QueryVector, Sense, Vectors, passages};
pub use words::{Counter, WORDS_FORM, Words, rank_known};
