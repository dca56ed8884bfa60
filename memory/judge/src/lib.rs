//! What is kept as a memory, and whose words it rests on (L5.32 to L5.42).
//!
//! One gate for every door: a session, a hook, a server, a command, an import
//! and a dream are judged by the same function, so that the same sentence with
//! the same provenance gives the same file, the same merge, the same refusal.
//!
//! - [`words`]: typed or pasted, told by the form of a prompt (L5.33).
//! - [`wish`]: what a person asked to keep, found by rule (L5.37).
//! - [`mod@gate`]: the judge: whether a proposal is kept, and what becomes of it.
//! - [`evidence`], [`orders`]: what it rests on, and what it tells people to do.
//! - [`merge`]: what it does to the memories that are there (L5.35, L5.36).
//! - [`mod@together`]: two versions of a memory that were made apart (F1).
//! - [`consolidation`]: what may be made of memories that are there (L6).
//! - [`stamp`]: what a memory says of itself.
//! - [`dates`]: which relative times become a day (L5.34).
//! - [`secrets`]: what must never be written (L5.18, S15).
//! - [`similar`], [`drift`]: near-copies, and what a memory refers to.
//!
//! Pure: texts, days and limits in; a verdict and a text out.

pub mod consolidation;
pub mod dates;
pub mod drift;
pub mod evidence;
mod folding;
pub mod gate;
pub mod merge;
pub mod orders;
mod pattern;
mod phrase;
pub mod secrets;
mod sentence;
pub mod similar;
pub mod stamp;
pub mod together;
pub mod wish;
pub mod words;

/// What is judged to have every table read.
const EXAMPLE: &str = "---\nname: an example\ndescription: we deploy on Thursdays\n\
                       type: project\n---\nWe deploy on Thursdays.\n";

/// Reads all tables, which takes some milliseconds the first time, in the order
/// in which the judge looks at them: it judges an example. Whoever has something
/// else to wait for does it meanwhile.
pub fn read_tables() {
    let known = Known {
        file: "there.md".to_owned(),
        name: "an example".to_owned(),
        description: "deploys happen on Tuesdays".to_owned(),
        body: "Deploys happen on Tuesdays.".to_owned(),
        basis: None,
    };
    let _ = judge(&Case {
        text: EXAMPLE,
        target: Target::New,
        known: &[known],
        testimony: &Testimony::typed("We deploy on Thursdays.", "".into()),
        today: jiff::civil::Date::constant(2000, 1, 1),
        limits: &everfold_kernel::limits::ExtractLimits::default(),
    });
}

pub use everfold_kernel::testimony::{self, Testimony, Utterance};
pub use evidence::{Grounds, MemoryStanding};
pub use gate::{Case, GateRefusal, Known, ProposalEffect, Ruling, Target, judge};
pub use wish::{Certainty, Tier, Wish, WishRules, wishes};
