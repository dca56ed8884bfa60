//! Whether a dream's result may come in (L6.7): it is never worse than what
//! was there, or it is thrown away.

use crate::indexes::{self, Indexes};
use crate::report::{ABSORBED, Reasons};
use crate::{DreamRules, Texts, is_list, others, said, topics};
use everfold_kernel::ports::{Gathered, Stored};
use everfold_memory_file::Memory;
use everfold_memory_file::index::{INDEX_FILE, breach};
use everfold_memory_judge::secrets;
use everfold_memory_judge::similar::ShingleSet;
use std::fmt;

/// A memory with fewer words says nothing any more.
const HOLLOW_WORDS: usize = 3;
/// Folder of the daily logs.
const LOGS: &str = "logs/";

/// Something that a result must not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DreamFault {
    /// A file that has no place in the directory.
    Strange {
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// A daily log is not what it was.
    Log(String),
    /// A memory's frontmatter cannot be read, or is gone.
    Frontmatter {
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// A pointer leads nowhere.
    Dangling { index: String, target: String },
    /// Nothing points to a memory.
    Orphan(String),
    /// The index is over its caps.
    OverCaps(String),
    /// A file is too large.
    TooLarge { path: String, bytes: usize, max: usize },
    /// All files together grew too much.
    Grew {
        /// By how many bytes.
        bytes: usize,
        max: usize,
    },
    /// Too many memories are gone.
    Deleted {
        gone: usize,
        of: usize,
        /// How many may go.
        most: usize,
    },
    /// A secret stands in a file.
    Secret { path: String, finding: String },
}

impl fmt::Display for DreamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Strange { path, why } => write!(
                f,
                "{path} does not belong among memories: \
                                                      {why}"
            ),
            Self::Log(path) => write!(f, "the daily log {path} was changed"),
            Self::Frontmatter { path, why } => write!(f, "{path}: {why}"),
            Self::Dangling { index, target } => {
                write!(f, "{index} points to {target}, which does not exist")
            }
            Self::Orphan(path) => write!(f, "nothing points to {path}"),
            Self::OverCaps(why) => f.write_str(why),
            Self::TooLarge { path, bytes, max } => {
                write!(f, "{path} has {bytes} bytes, more than the {max} of a memory")
            }
            Self::Grew { bytes, max } => {
                write!(f, "memories grew by {bytes} bytes, more than the {max} of one dream")
            }
            Self::Deleted { gone, of, most } => {
                write!(
                    f,
                    "{gone} of {of} memories would be removed, and at most {most} may be at once"
                )
            }
            Self::Secret { path, finding } => write!(f, "{path} holds {finding}"),
        }
    }
}

/// What an agent left. None of its tools deletes: a file that it emptied is one
/// that is to go.
#[must_use]
pub fn left(mut gathered: Gathered) -> Gathered {
    gathered.files.retain(|_, text| !text.trim().is_empty());
    gathered
}

/// Looks after the index of what an agent left: a few pointers that lead
/// nowhere or are missing are the program's to mend. With more than that the
/// result is left as it is, and is found out by [`validate`].
pub fn mend(texts: &mut Texts, stored: &Stored, reasons: &mut Reasons, rules: DreamRules<'_>) {
    let found = indexes::faults(texts, &others(stored));
    if found.dangling.len() + found.orphans.len() > rules.limits.mend_lines {
        return;
    }
    let known = indexes::pointers(&crate::texts(stored));
    let mut index = Indexes { texts, others: others(stored), known, reasons };
    index.drop_dangling();
    index.add_orphans();
}

/// What is wrong with a result. `before` is what the agent was given.
#[must_use]
pub fn validate(
    before: &Texts,
    after: &Gathered,
    stored: &Stored,
    rules: DreamRules<'_>,
) -> Vec<DreamFault> {
    let mut faults: Vec<DreamFault> = after
        .strange
        .iter()
        .map(|(path, why)| DreamFault::Strange { path: path.clone(), why: why.clone() })
        .collect();
    let is_log = |path: &&String| path.starts_with(LOGS);
    let logs = after.files.iter().filter(|(path, _)| is_log(path));
    faults.extend(
        logs.filter(|(path, text)| stored.logs.get(*path) != Some(text))
            .map(|(path, _)| DreamFault::Log(path.clone())),
    );
    let lost = stored.logs.keys().filter(|path| !after.files.contains_key(*path));
    faults.extend(lost.map(|path| DreamFault::Log(path.clone())));
    let files: Texts = after
        .files
        .iter()
        .filter(|(path, _)| !is_log(path))
        .map(|(path, text)| (path.clone(), text.clone()))
        .collect();
    validate_texts(before, &files, stored, rules, &mut faults);
    faults
}

/// The same for files that are surely only memories and indexes.
pub(crate) fn validate_texts(
    before: &Texts,
    after: &Texts,
    stored: &Stored,
    rules: DreamRules<'_>,
    faults: &mut Vec<DreamFault>,
) {
    for (path, text) in after {
        let old = before.get(path);
        if old != Some(text) {
            faults.extend(changed(path, old.map(String::as_str), text, rules));
        }
    }
    let found = indexes::faults(after, &others(stored));
    let dangling = found.dangling.into_iter();
    faults.extend(dangling.map(|(index, target)| DreamFault::Dangling { index, target }));
    faults.extend(found.orphans.into_iter().map(DreamFault::Orphan));
    let index = after.get(INDEX_FILE).map(String::as_str).unwrap_or_default();
    let was = before.get(INDEX_FILE).map(String::as_str).unwrap_or_default();
    // An index that nobody could bring within its caps is not the dream's fault.
    if let Some(over) = breach(index, rules.caps).filter(|_| breach(was, rules.caps).is_none()) {
        faults.push(DreamFault::OverCaps(over.to_string()));
    }
    let size = |texts: &Texts| texts.values().map(String::len).sum::<usize>();
    let (grew, max) = (size(after).saturating_sub(size(before)), rules.limits.growth_bytes);
    if grew > max {
        faults.push(DreamFault::Grew { bytes: grew, max });
    }
    faults.extend(deleted(before, after, rules));
}

/// What is wrong with a file that is new or not what it was.
fn changed(path: &str, old: Option<&str>, text: &str, rules: DreamRules<'_>) -> Vec<DreamFault> {
    let mut faults = Vec::new();
    let named = || path.to_owned();
    let max = rules.limits.memory_bytes.max(old.map_or(0, str::len));
    if text.len() > max && path != INDEX_FILE {
        faults.push(DreamFault::TooLarge { path: named(), bytes: text.len(), max });
    }
    if let Some(found) = secrets::find(text).first() {
        faults.push(DreamFault::Secret { path: named(), finding: found.to_string() });
    }
    if path == INDEX_FILE {
        return faults;
    }
    let memory = Memory::parse(text);
    let was = old.map(Memory::parse);
    if let Some(fault) = &memory.fault
        && was.as_ref().is_none_or(|was| was.fault.is_none())
    {
        faults.push(DreamFault::Frontmatter { path: named(), why: fault.to_string() });
    }
    let had = |front: &everfold_memory_file::Frontmatter| front.description.is_some();
    if was.is_some_and(|was| had(&was.front)) && !had(&memory.front) && memory.fault.is_none() {
        let why = "its description is gone, and recall would not find it".to_owned();
        faults.push(DreamFault::Frontmatter { path: named(), why });
    }
    faults
}

/// Whether too many memories are gone. One whose words are in what remains is
/// not; one that was emptied is.
fn deleted(before: &Texts, after: &Texts, rules: DreamRules<'_>) -> Option<DreamFault> {
    let prints: Vec<ShingleSet> = topics(after).map(|(_, text)| ShingleSet::of(text)).collect();
    let is_gone = |path: &str, old: &str| match after.get(path) {
        Some(new) => is_hollow(new) && !is_hollow(old) && !is_list(path, new),
        None => !is_hollow(old) && said(old).share_in(&prints) < ABSORBED,
    };
    let of = indexes::count(before);
    let gone = topics(before).filter(|(path, old)| is_gone(path, old)).count();
    let percent = usize::try_from(rules.limits.delete_percent).unwrap_or(usize::MAX);
    let most = (of * percent).div_ceil(100).min(of.saturating_sub(1));
    (gone > most).then_some(DreamFault::Deleted { gone, of, most })
}

fn is_hollow(text: &str) -> bool {
    crate::lines::words(Memory::parse(text).body).take(HOLLOW_WORDS).count() < HOLLOW_WORDS
}
