//! Saving in two steps, as the main agent does it: first the memory, then its
//! line in the index, each by a tool of its own. The store writes the line with
//! the memory, so that one change is one entry of the history (L5.41); what the
//! agent writes of it afterwards is there already.

use super::save::ExpectedContent;
use super::{By, Store};
use crate::error::Error;
use crate::journal::{Action, Author};
use everfold_memory_file::Index;
use everfold_memory_file::index::INDEX_FILE;
use std::collections::BTreeSet;

impl Store {
    /// What the index is to hold where somebody asks for this text; none if
    /// that is no change. Lines of memories that were saved in the same session
    /// are not waited for, and not lost, if the index was read before them.
    pub(super) fn index_as_meant(
        &self,
        text: &str,
        expect: &ExpectedContent,
        by: &By,
    ) -> Result<Option<String>, Error> {
        let now = self.state(INDEX_FILE)?;
        let checked = expect.check(INDEX_FILE, now.content.as_ref());
        let own = self.saved_in_session(by)?;
        if own.is_empty() {
            return checked.map(|()| Some(text.to_owned()));
        }
        let there = String::from_utf8_lossy(now.bytes.as_deref().unwrap_or_default());
        if without(&there, &own) == without(text, &own) {
            return Ok(None);
        }
        let Err(error) = checked else { return Ok(Some(text.to_owned())) };
        let base = match expect {
            ExpectedContent::Content(id) => self.blobs()?.get(id)?,
            _ => Some(Vec::new()),
        };
        let Some(base) = base else { return Err(error) };
        if without(&String::from_utf8_lossy(&base), &own) != without(&there, &own) {
            return Err(error);
        }
        let mut merged = Index::parse(text);
        for pointer in Index::parse(&there).pointers() {
            if own.contains(&pointer.target) && !merged.points_to(&pointer.target) {
                merged.set(pointer);
            }
        }
        Ok(Some(merged.to_string()))
    }

    /// The memories that the same agent has lately saved in the same session.
    fn saved_in_session(&self, by: &By) -> Result<BTreeSet<String>, Error> {
        if by.session.is_none() || !matches!(by.author, Author::Agent { .. }) {
            return Ok(BTreeSet::new());
        }
        let is_own = |entry: &crate::journal::JournalEntry| {
            entry.session == by.session
                && entry.author == by.author
                && matches!(entry.action, Action::Add | Action::Update)
        };
        let own = self.journal().recent()?.into_iter().filter(is_own);
        let paths = own.flat_map(|entry| entry.changes).filter(|change| change.after.is_some());
        Ok(paths.map(|change| change.path).collect())
    }
}

/// An index without the lines of some memories.
fn without(text: &str, targets: &BTreeSet<String>) -> String {
    let mut index = Index::parse(text);
    for target in targets {
        index.remove(target);
    }
    index.to_string().trim_end().to_owned()
}
