//! An agent writes the index itself.
//!
//! Every session reads the index, so what an agent writes there has to rest on
//! what memories say: lines are taken over in its order, their words are those
//! of the memories that they lead to. What else people wrote between the lines
//! stays; nothing new comes in between but headings in words of the memories
//! that they stand over. A line that could not be taken over is told by its
//! number (L5.40), and nothing is written: whoever wrote it would
//! go on as if it were there.

use crate::Service;
use everfold_kernel::ports::{Kept, MemoryBefore, MemoryError, MemoryRef};
use everfold_memory_file::{Index, Pointer};
use everfold_memory_judge::gate;
use everfold_memory_store::store::ExpectedContent;
use everfold_memory_store::{By, Store, TopicPath};
use std::collections::BTreeSet;

/// Lines that are named where some are left out.
const NAMED_LINES: usize = 5;
/// Most words of a heading that an agent adds.
const HEADING_WORDS: usize = 4;
/// Words that any heading may have: they say nothing of their own.
const PLAIN_HEADING: [&str; 14] = [
    "memory",
    "memories",
    "index",
    "user",
    "feedback",
    "project",
    "reference",
    "team",
    "global",
    "general",
    "other",
    "about",
    "and",
    "the",
];

impl Service {
    pub(crate) fn keep_index(
        &self,
        index: &MemoryRef,
        before: &MemoryBefore,
        text: &str,
        by: &By,
    ) -> Result<Kept, MemoryError> {
        if let Err(refusal) = gate::clean(text) {
            return Ok(Kept::Refused { reason: refusal.to_string() });
        }
        let (tier, _) = self.tier_of(&index.path).ok_or_else(|| MemoryError::Refused {
            path: index.path.clone(),
            reason: "it is in no memory directory".to_owned(),
        })?;
        let store = tier.store()?;
        let now = store.read_index().map_err(|error| tier.failed(&error))?;
        let (old, expect) = match &now {
            Some(now) => (now.text.as_str(), ExpectedContent::Content(now.content.clone())),
            None => ("", ExpectedContent::Nothing),
        };
        let as_expected = match before {
            MemoryBefore::Anything => true,
            MemoryBefore::Absent => now.is_none(),
            MemoryBefore::Text(text) => text == old,
        };
        if !as_expected {
            let reason = "the index has changed since; read it again".to_owned();
            return Ok(Kept::Refused { reason });
        }
        let (text, unsaid) = grounded(text, old, &store);
        if let Some(reason) = left_out(&unsaid) {
            return Ok(Kept::Refused { reason });
        }
        let entry = store.write_index(&text, &expect, by).map_err(|error| tier.failed(&error))?;
        Ok(Kept::Saved { memory: index.clone(), entry: entry.map(|entry| entry.0) })
    }
}

/// Why an index is not written that has these lines.
fn left_out(lines: &[usize]) -> Option<String> {
    let named: Vec<String> = lines.iter().take(NAMED_LINES).map(ToString::to_string).collect();
    let (what, say) = match lines {
        [] => return None,
        [_] => ("line", "says"),
        _ => ("lines", "say"),
    };
    let more = lines.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "the index was not written: {what} {}{more} {say} what no memory says. The index only \
         leads to memories: leave that out, or save it as a memory, which brings its own line",
        named.join(", ")
    ))
}

/// The new index with nothing in it that neither the old one nor a memory
/// says, and the numbers of the lines that are not in it.
fn grounded(new: &str, old: &str, store: &Store) -> (String, Vec<usize>) {
    let known: BTreeSet<&str> = old.lines().map(str::trim).collect();
    let mut kept: Vec<&str> = Vec::new();
    let mut unsaid = Vec::new();
    for (number, line) in (1..).zip(new.lines()) {
        let plain = line.trim();
        let titles = || is_title(plain, new.lines().skip(number), store);
        if plain.is_empty() || known.contains(plain) || leads(plain, store) || titles() {
            kept.push(line);
        } else {
            unsaid.push(number);
        }
    }
    let mut index = Index::parse(&(kept.join("\n") + "\n"));
    let old = Index::parse(old);
    let pointers: Vec<Pointer> = index.pointers().cloned().collect();
    for pointer in pointers {
        if old.pointers().any(|known| *known == pointer) {
            continue;
        }
        match store.read(&TopicPath::found(pointer.target.clone())) {
            Ok(read) => index.set(&Pointer::of(&pointer.target, &read.text)),
            Err(_) => {
                index.remove(&pointer.target);
            }
        }
    }
    (index.to_string(), unsaid)
}

/// Whether a line leads to a memory that is there.
fn leads(line: &str, store: &Store) -> bool {
    led_to(line, store).is_some()
}

/// The memory that a line leads to.
fn led_to(line: &str, store: &Store) -> Option<String> {
    let index = Index::parse(line);
    let pointer = index.pointers().next()?;
    Some(store.read(&TopicPath::found(pointer.target.clone())).ok()?.text)
}

/// Whether a line is a heading of few words, each of them plain or said by the
/// memories that the lines below it lead to.
fn is_title<'a>(line: &str, below: impl Iterator<Item = &'a str>, store: &Store) -> bool {
    let Some(title) = line.strip_prefix('#') else { return false };
    let title = title.trim_start_matches('#');
    if title.split_whitespace().count() > HEADING_WORDS || !title.starts_with(' ') {
        return false;
    }
    let own: BTreeSet<String> =
        words(title).into_iter().filter(|word| !PLAIN_HEADING.contains(&word.as_str())).collect();
    let mut said = BTreeSet::new();
    for line in below.take_while(|line| !line.trim_start().starts_with('#')) {
        said.extend(led_to(line.trim(), store).map(|text| words(&text)).unwrap_or_default());
    }
    own.is_subset(&said)
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
