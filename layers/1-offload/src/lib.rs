//! Layer 1: big tool results go to disk, a frozen preview stays (L1).
//!
//! The engine asks [`plan()`] before a request, performs the effect of each
//! [`Spill`], and hands the outcome to [`apply()`], which answers with the
//! decision for the log. Only results that no request has carried are looked
//! at, so no byte that was sent is ever changed. Pure: the writing is the
//! engine's.

pub mod apply;
pub mod plan;
pub mod policy;
pub mod prompt;

pub use apply::{Applied, apply};
pub use plan::{Pending, Spill, plan, preview, stem};
pub use policy::{ResultCap, cap};
pub use prompt::{ShortPrompt, shorten};
