//! Layer 2: stale tool results are cleared, when it pays (L2).
//!
//! Three ways, from the cheapest for the cache on: the server edits its own
//! cache ([`plan()`] answers with the edit), the API clears on its side
//! ([`context_management`]), or we clear ([`plan()`] answers with the results
//! and their markers). The last rewrites a part of the prefix and is made
//! only where [`everfold_prefix::economy`] says that it pays. Nothing is lost:
//! the log keeps every result. Pure: the caller brings the time and the
//! model, and appends the decision.

mod again;
pub mod api;
pub mod apply;
pub mod plan;
pub mod policy;

pub use api::{applied_edits, context_management};
pub use apply::{CLEARED, marker};
pub use plan::plan;
pub use policy::{CacheEdits, Prefix, Situation, Thread, is_clearable};
