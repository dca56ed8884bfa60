//! The fold: log → view → request bytes.
//!
//! A request is a pure function of the log (PC1). [`Fold`] takes records in
//! order and keeps what the model is to see; [`Fold::request`] writes the
//! bytes. What was sent once is sent the same again, until a record says
//! otherwise: a new prelude, a boundary. Work is in proportion to what is new.
//!
//! [`system`] composes the system prompt, [`sim`] models the server's cache,
//! [`measure`] shows it a request without writing one, [`breaks`] notices when
//! the cache was lost and nothing had announced it. What a change of the prefix
//! costs and saves is weighed in `everfold-economy`.

pub mod breaks;
pub mod fold;
pub mod measure;
pub mod message;
mod pictures;
pub mod plain;
pub mod request;
pub mod sim;
pub mod system;

pub use fold::{BreakCause, Fold, Freshness, ResultView, SummaryRecord};
pub use message::{Message, Piece, Showing};
pub use request::{AnswerForm, Directive, PrefixHash, Request};
