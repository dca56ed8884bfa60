//! The ranker on memories: what is found, and what is not.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs, reason = "tests")]

mod judged;
mod memories;
mod order;
