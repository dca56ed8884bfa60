//! An agent writes the index itself.
//!
//! Every session reads the index, so what an agent writes there has to rest on
//! what memories say: lines are taken over in its order, their words are those
//! of the memories that they lead to. What else people wrote between the lines
//! stays; nothing new comes in between.

use crate::Service;
use everfold_kernel::ports::{Kept, MemoryBefore, MemoryError, MemoryRef};
use everfold_memory_file::{Index, Pointer};
use everfold_memory_judge::gate;
use everfold_memory_store::store::ExpectedContent;
use everfold_memory_store::{By, Store, TopicPath};
use std::collections::BTreeSet;

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
        let text = grounded(text, old, &store);
        let entry = store.write_index(&text, &expect, by).map_err(|error| tier.failed(&error))?;
        Ok(Kept::Saved { memory: index.clone(), entry: entry.map(|entry| entry.0) })
    }
}

/// The new index with nothing in it that neither the old one nor a memory says.
fn grounded(new: &str, old: &str, store: &Store) -> String {
    let known: BTreeSet<&str> = old.lines().map(str::trim).collect();
    let own = |line: &&str| {
        let plain = line.trim();
        plain.is_empty() || known.contains(plain) || is_pointer(plain)
    };
    let kept: Vec<&str> = new.lines().filter(own).collect();
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
    index.to_string()
}

fn is_pointer(line: &str) -> bool {
    Index::parse(line).pointers().next().is_some()
}
