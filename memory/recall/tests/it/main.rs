//! The ranker on memories: what is found, and what is not.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod judged;
mod memories;
mod order;
