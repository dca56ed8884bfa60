//! The one sum (E1): what an act costs now, against what it is expected to
//! save or bring, at the model's prices and the state of the prompt cache.
//!
//! Everybody who is about to spend asks here: a clearing ([`CostTerms::sum`]),
//! the point of a compaction ([`point`]), the time to live ([`pace`]), and
//! whoever wants to ask a model beside the conversation. [`Weighing`] gathers
//! the terms of such an act by name; what it comes to is an
//! [`ActSum`](everfold_kernel::record::ActSum), which goes into the log with
//! the decision and is what `everfold cost --why` shows.
//!
//! Prices are the kernel's (`everfold_kernel::models`); this crate owns what is
//! made of them.

mod act;
mod cache;
pub mod carry;
mod outlook;
pub mod pace;
pub mod point;
pub mod regret;
mod terms;

pub use act::Weighing;
pub use cache::PrefixCache;
pub use outlook::{expected_rounds, requests, spent};
pub use terms::{CostTerms, SECONDS_A_MINUTE, cache_state, pays};
