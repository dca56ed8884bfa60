//! Layer 2: stale tool results are cleared, when it pays (L2).
//!
//! Three ways, from the cheapest for the cache on: the server edits its own
//! cache ([`plan()`] answers with the edit), the API clears on its side
//! ([`context_management`]), or we clear ([`plan()`] answers with the results
//! and their markers). The last rewrites a part of the prefix and is made
//! only where [`everfold_economy`] says that it pays. Nothing is lost:
//! the log keeps every result. Pure: the caller brings the time and the
//! model, and appends the decision.

pub mod api;
pub mod apply;
pub mod plan;
pub mod policy;
mod refetch;

pub use api::{applied_edits, context_management};
pub use apply::{CLEARED, marker};
pub use plan::plan;
pub use policy::{CacheEdits, Prefix, RequestThread, Situation, is_clearable};
