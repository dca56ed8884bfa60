//! The offline dream (L6.9): what needs no judgement, by rule. It also comes
//! before every agent's dream, so that an agent starts from a store that is
//! right and every fault after it is its own.

mod copies;
mod dates;

use crate::indexes::Indexes;
use crate::pairs::AkinPair;
use crate::report::Reasons;
use crate::{DreamRules, Texts, is_list, others, texts, topics};
use everfold_kernel::ports::Stored;
use everfold_memory_file::{Memory, Pointer};
use everfold_memory_judge::secrets;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// What became of a store by rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tidied {
    pub texts: Texts,
    /// Why they were changed.
    pub reasons: Reasons,
    /// What a person, or an agent, should look at.
    pub seen: Vec<String>,
    /// What may say the same, the most alike first.
    pub akin: Vec<AkinPair>,
}

/// Tidies a store: relative dates become absolute, copies become one, and the
/// index points to everything that is there and to nothing else.
#[must_use]
pub fn tidy(stored: &Stored, rules: DreamRules<'_>) -> Tidied {
    let mut done = Tidied { texts: texts(stored), ..Tidied::default() };
    let known = crate::indexes::pointers(&done.texts);
    dates::make_absolute(stored, &mut done);
    copies::join(stored, &mut done);
    mend(known, stored, rules, &mut done);
    look(stored, rules, &mut done);
    done
}

/// Joins pairs that somebody said to be the same, where that loses nothing.
#[must_use]
pub(crate) fn joined(
    mut done: Tidied,
    same: &[AkinPair],
    stored: &Stored,
    rules: DreamRules<'_>,
) -> Tidied {
    let known = crate::indexes::pointers(&done.texts);
    for pair in same {
        copies::join_told(pair, rules.limits.memory_bytes, &mut done);
    }
    mend(known, stored, rules, &mut done);
    done
}

fn mend(
    known: BTreeMap<String, Pointer>,
    stored: &Stored,
    rules: DreamRules<'_>,
    done: &mut Tidied,
) {
    let (texts, reasons) = (&mut done.texts, &mut done.reasons);
    Indexes { texts, others: others(stored), known, reasons }.mend(rules);
}

/// What only judgement can mend.
fn look(stored: &Stored, rules: DreamRules<'_>, done: &mut Tidied) {
    let mut seen = Vec::new();
    if let Some(over) = done
        .texts
        .get(everfold_memory_file::index::INDEX_FILE)
        .and_then(|text| everfold_memory_file::index::breach(text, rules.caps))
    {
        seen.push(over.to_string());
    }
    for (path, text) in topics(&done.texts) {
        let memory = Memory::parse(text);
        if let Some(fault) = &memory.fault {
            seen.push(format!("{path}: {fault}"));
        } else if memory.front.description.is_none() {
            seen.push(format!("{path} has no description, so it will not be recalled"));
        }
        seen.extend(secrets::find(text).iter().map(|found| format!("{path} holds {found}")));
    }
    for (path, _) in stored.files.iter().filter(|(_, file)| file.text.is_none()) {
        seen.push(format!("{path} is not text or is too large; it was left alone"));
    }
    done.seen.extend(seen);
}

/// Memories that were shown and never used (L5.29).
#[must_use]
pub fn never_used(stored: &Stored) -> Vec<String> {
    let unused = stored.files.iter().filter(|(_, file)| file.recalled > 0 && file.used == 0);
    unused.map(|(path, file)| format!("{path} (shown {} times)", file.recalled)).collect()
}

/// The day on which a memory was last written, where that is known.
pub(crate) fn day_of(path: &str, text: &str, stored: &Stored) -> Option<Date> {
    let front = Memory::parse(text).front;
    let modified = front.modified.map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).date());
    let known = stored.files.get(path).and_then(|file| file.day);
    modified.or(front.date).or(known)
}

/// Whether a file of the tree is a memory.
fn is_topic(path: &str, files: &BTreeMap<String, String>) -> bool {
    files.get(path).is_some_and(|text| !is_list(path, text))
}
