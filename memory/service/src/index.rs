//! An agent writes the index itself.
//!
//! Every session reads the index, so what an agent writes there has to rest on
//! what memories say: lines are taken over in its order, their words are those
//! of the memories that they lead to. What else people wrote between the lines
//! stays; nothing new comes in between. A line that could not be taken over is
//! told by its number (L5.40), and nothing is written: whoever wrote it would
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
            let reason = "the index was changed meanwhile; read it again".to_owned();
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
        let leads = || leads(plain, store);
        if plain.is_empty() || known.contains(plain) || leads() {
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
    let index = Index::parse(line);
    let mut pointers = index.pointers();
    pointers
        .next()
        .is_some_and(|pointer| store.read(&TopicPath::found(pointer.target.clone())).is_ok())
}
