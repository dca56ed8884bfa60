//! Layer 4: summary, boundary, restoration.
//!
//! When a conversation no longer fits, what came before is replaced by a
//! summary (L4). This crate decides *when* ([`policy`]), *what* ([`plan`]) and
//! *how the log changes* ([`apply`]). It asks no model and reads no file: it
//! gives [`Effect`](everfold_kernel::Effect)s and turns their outcomes into
//! entries of the log.
//!
//! One compaction, as an engine runs it:
//!
//! 1. [`policy::due`] says whether, and whether a model may still be asked.
//! 2. [`plan::Plan::new`] says what goes and what stays.
//! 3. [`plan::Plan::ask`] asks for a summary by a fork; where the cache is cold
//!    or the fork was refused as too long, [`strip::Stripped::ask`] does, and
//!    [`strip::Stripped::shrink`] makes it smaller.
//! 4. [`parse::read`] takes it out of the answer, [`check::check`] looks for
//!    the facts that must survive and adds the missing ones.
//! 5. [`files::wanted`] asks for the files read last, [`files::attach`] makes
//!    attachments of them.
//! 6. [`apply::settle`] gives the entries, or a [`converge::Rejection`] whose
//!    decision goes into the log. After it, or with no model to be had,
//!    [`apply::settle_local`] writes a summary by itself.
//!
//! Beside it stand pins ([`pins`]), snips ([`snip`]), collapsing
//! ([`collapse`]) and the preview ([`preview`]).

pub mod apply;
pub mod check;
mod clip;
pub mod collapse;
pub mod converge;
mod error;
pub mod facts;
pub mod files;
mod frame;
pub mod lean;
pub mod local_summary;
mod pairs;
pub mod parse;
pub mod pins;
pub mod plan;
pub mod policy;
pub mod preview;
mod prompt;
mod quotes;
pub mod snip;
pub mod strip;
pub mod user_messages;

pub use apply::{AppliedCompaction, Summary};
pub use converge::Rejection;
pub use error::Error;
pub use facts::SpanFacts;
pub use plan::{CompactionScope, Guidance, Plan, Sending, Summariser, Trigger};
pub use policy::{ConversationKind, Due};

use everfold_kernel::record::RECALL_TOOL;
