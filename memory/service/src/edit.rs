//! A memory that a person changes by hand: what of their text is saved, and as
//! whose word.

use everfold_kernel::ports::{
    Haste, MemoryAuthor, MemoryBefore, MemoryPlacement, MemoryProposal, MemoryWriter,
};
use everfold_kernel::{RecordId, Testimony};
use everfold_memory_file::frontmatter::{Key, METADATA, Value, set};
use everfold_memory_file::{FrontmatterFault, Memory};
use everfold_memory_judge::dates;
use jiff::Zoned;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Why an edited text cannot be saved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditFault {
    /// Nothing is left of it.
    #[error("the text is empty")]
    Empty,
    /// What stands between the two `---` cannot be read.
    #[error("{0}")]
    Frontmatter(String),
}

/// An edited text as it is saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub text: String,
    /// What the person should know of it.
    pub notes: Vec<String>,
}

/// An edited text as it is saved: relative dates of new lines made absolute
/// (L5.6), and the time of the change in it where it has one.
///
/// # Errors
/// If it is empty, or its frontmatter is broken.
pub fn edited(old: &str, new: &str, now: &Zoned) -> Result<Edited, EditFault> {
    let (before, after) = (Memory::parse(old), Memory::parse(new));
    let mut notes = Vec::new();
    match &after.fault {
        // Read, after some quotes were added: nothing is lost.
        Some(fault @ FrontmatterFault::Repaired { .. }) => notes.push(fault.to_string()),
        Some(fault) => return Err(EditFault::Frontmatter(fault.to_string())),
        None => {}
    }
    if new.trim().is_empty() {
        return Err(EditFault::Empty);
    }
    if after.front.description.is_none() {
        notes.push("it has no description, so it will hardly be recalled".to_owned());
    }
    let head = new.strip_suffix(after.body).unwrap_or_default();
    let text = format!("{head}{}", dated(before.body, after.body, now.date()));
    Ok(Edited { text: stamped(text, &after, now), notes })
}

/// The change of a memory that a person made by hand, for [`crate::Service::keep`].
#[must_use]
pub fn proposal(path: PathBuf, old: &str, text: String, reason: &str) -> MemoryProposal {
    MemoryProposal {
        testimony: Testimony::typed(text.as_str(), RecordId::from("")),
        text,
        place: MemoryPlacement::Exactly { path, before: MemoryBefore::Text(old.to_owned()) },
        by: MemoryAuthor {
            who: MemoryWriter::Person,
            reason: reason.to_owned(),
            session: None,
            messages: Vec::new(),
        },
        haste: Haste::AtOnce,
    }
}

/// The text with the time of this change, where it has one.
fn stamped(text: String, memory: &Memory<'_>, now: &Zoned) -> String {
    let metadata = memory.front.all.get(METADATA);
    let key = if metadata.is_some_and(|metadata| metadata.get("modified").is_some()) {
        Key::Under(METADATA, "modified")
    } else if memory.front.all.contains_key("modified") {
        Key::Top("modified")
    } else {
        return text;
    };
    set(&text, key, &Value::Text(now.timestamp().to_string())).unwrap_or(text)
}

/// A changed body with relative dates made absolute in the lines that are new
/// (L5.6); those that were there were written on another day.
fn dated(old: &str, new: &str, today: jiff::civil::Date) -> String {
    let there: BTreeSet<&str> = old.split('\n').collect();
    let absolute = dates::absolute(new, today);
    let lines = new.split('\n').zip(absolute.split('\n'));
    let lines: Vec<&str> =
        lines.map(|(line, dated)| if there.contains(line) { line } else { dated }).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn l5_6_only_new_lines_are_dated_anew() {
        let old = "ships next week (week of 2026-11-02)\nkeep";
        let new = "ships next week (week of 2026-11-02)\nbroke yesterday\n```\ntomorrow\n```\n";
        let wanted = "ships next week (week of 2026-11-02)\nbroke 2026-11-10\n```\ntomorrow\n```\n";
        assert_eq!(dated(old, new, date(2026, 11, 11)), wanted);
    }
}
