//! Layer 6: consolidation across sessions (L6).
//!
//! Many conversations leave copies, contradictions and pointers that lead
//! nowhere. Now and then a dream tidies up: an agent on a copy of the memory
//! directory, or, without a model, rules alone. This crate decides; it reads
//! no file and asks no model.
//!
//! One dream, as an engine runs it:
//!
//! 1. [`policy`]: the gates, cheapest first. Then the lock is taken.
//! 2. [`tidy::tidy`] does by rule what needs no judgement (L6.9). Without a
//!    model that is the result.
//!    A weak one is asked about pairs that may say the same ([`pairs`]).
//! 3. With one, [`plan::Material`] is handed to an agent that works on a copy
//!    of what rules left, and [`check::mend`] looks after its index.
//! 4. [`check::validate`] says whether the result may be (L6.7).
//! 5. [`apply::settle`] has every memory that it changes judged like any other
//!    (L5.32), merges it with what the store became meanwhile, and says what is
//!    written and what is laid before the person.
//! 6. [`report::DreamReport`] tells what was done, and why.

pub mod apply;
pub mod check;
pub mod drift;
mod error;
mod indexes;
mod lines;
mod novel;
pub mod pairs;
pub mod plan;
pub mod policy;
pub mod report;
pub mod tidy;

pub use apply::{Settled, settle};
pub use error::Error;
pub use plan::Material;
pub use policy::NoDreamReason;
pub use report::DreamReport;
pub use tidy::{Tidied, tidy};

use everfold_kernel::limits::{DreamLimits, ExtractLimits};
use everfold_kernel::ports::Stored;
use everfold_memory_file::index::{INDEX_FILE, is_sub_index};
use everfold_memory_file::{Caps, Memory};
use everfold_memory_judge::similar::ShingleSet;
use std::collections::{BTreeMap, BTreeSet};

/// The files of a memory directory as text, by their paths.
pub type Texts = BTreeMap<String, String>;

/// What a dream has to keep to.
#[derive(Clone, Copy, Debug)]
pub struct DreamRules<'a> {
    /// The caps of the index.
    pub caps: Caps,
    pub limits: &'a DreamLimits,
    /// What bounds a memory, whoever writes it.
    pub extract: &'a ExtractLimits,
}

/// The texts of a store. What is not text is left alone by every dream.
#[must_use]
pub fn texts(stored: &Stored) -> Texts {
    let text = |(path, file): (&String, &_)| Some((path.clone(), text_of(file)?.to_owned()));
    stored.files.iter().filter_map(text).collect()
}

fn text_of(file: &everfold_kernel::ports::StoredFile) -> Option<&str> {
    file.text.as_deref()
}

/// The files of a store that are no text.
fn others(stored: &Stored) -> BTreeSet<&str> {
    let no_text = stored.files.iter().filter(|(_, file)| file.text.is_none());
    no_text.map(|(path, _)| path.as_str()).collect()
}

/// Whether a file only points to others.
fn is_list(path: &str, text: &str) -> bool {
    path == INDEX_FILE || is_sub_index(text)
}

/// The memories among some files.
fn topics(texts: &Texts) -> impl Iterator<Item = (&str, &str)> {
    let all = texts.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    all.filter(|(path, text)| !is_list(path, text))
}

/// The words of a memory, to be looked for in others: what it is called there
/// does not matter.
fn said(text: &str) -> ShingleSet {
    ShingleSet::of(Memory::parse(text).body)
}
