//! Recall: which memories a message calls for, and how they are shown (R).
//!
//! With a model at hand, a side query picks from a manifest ([`manifest`],
//! [`side_query`]). Without one, or when it is late, the local ranker does
//! ([`rank()`], [`Ranking::of_tier`]). Either way [`budget`] says how
//! much of a file is shown and [`inject`] renders it.
//!
//! The crate is pure: files are read, times are taken and models are asked by
//! others. What was surfaced before is passed in; the messages are its source.

pub mod budget;
mod gate;
pub mod inject;
mod language;
mod lexicon;
pub mod manifest;
mod pasted;
mod query;
mod rank;
pub mod side_query;
mod table;
mod text;
mod tuning;
mod typos;
mod usefulness;
mod vectors;
mod words;

pub use gate::{Features, kind_marks, kind_vector};
pub use manifest::{Manifest, Topic};
pub use pasted::DistinctTokens;
pub use query::{PromptPart, RecallPrompt};
pub use rank::{Document, Hit, Ranking, rank, rank_known};
pub use table::WordTable;
pub use text::stems;
pub use tuning::{MODEL_WEIGHT, TABLE_WEIGHT, TABLE_WEIGHT_BESIDE_MODEL, Tuning};
pub use usefulness::was_used;
pub use vectors::{Embedder, PassageSum, QueryVector, Sense, Vectors, WordVector, passages};
pub use words::{Counter, WORDS_FORM, Words};
