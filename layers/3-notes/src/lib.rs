//! Layer 3: running notes, so that a summary is there before it is needed (L3).
//!
//! While a conversation grows, a fork of it keeps one Markdown file up to
//! date. When the conversation has to be compacted, that file is the summary,
//! and no model is asked. This crate decides *when* the notes are looked at
//! ([`policy`]), *what* is kept beside them ([`plan`]) and *what becomes of* an
//! update ([`apply`]). It reads no file and asks no model.
//!
//! - [`Template`]: the sections, ours or a person's.
//! - [`Notes`]: the file, section by section; reading is strict for what an
//!   agent wrote and lenient for what a person did.
//! - [`directive()`]: what the fork is told.
//! - [`lean`]: what a weak model is asked instead.
//! - [`fill()`]: `{{variable}}` in a person's texts, in a single pass.

pub mod apply;
mod clip;
mod directive;
pub mod lean;
mod notes;
pub mod plan;
pub mod policy;
mod template;
mod variables;

pub use apply::{Accepted, Rejected};
pub use directive::{Hints, directive};
pub use notes::{Flaw, Notes};
pub use plan::{Nothing, keep_from};
pub use policy::{Due, due};
pub use template::Template;
pub use variables::fill;
