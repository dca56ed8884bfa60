//! Changes that were made from outside: by a person in an editor, by Claude
//! Code, by git. They are found by comparing what files hold with what they
//! held when we last looked, and become an entry like any other.

use super::commit::{Edit, Held, State};
use super::{By, Store};
use crate::error::Error;
use crate::journal::{Action, Author, Entry, EntryId, Seen};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::path::Path;

/// Somebody outside, at this time.
pub(super) fn foreign(at: Timestamp) -> By {
    By { author: Author::Foreign, ..By::person("", at) }
}

impl Store {
    /// Enters what was written without the store's help since the last look,
    /// as the work of whoever did it: an agent that has just written files
    /// with its own tools, say.
    ///
    /// # Errors
    /// If files cannot be read or the history cannot be written.
    pub fn notice(&self, by: &By) -> Result<Option<EntryId>, Error> {
        let mut held = self.begin()?;
        self.notice_all(&mut held, by)
    }

    /// Looks at every file.
    pub(super) fn notice_all(&self, held: &mut Held, by: &By) -> Result<Option<EntryId>, Error> {
        let first_time = self.journal().last()? == EntryId(0);
        let mut edits = Vec::new();
        let mut news = Vec::new();
        let mut there = BTreeSet::new();
        for file in self.files()? {
            let Some(path) = super::read::text_path(&file.path) else { continue };
            there.insert(path.clone());
            let seen = held.known.get(&path);
            if seen.is_some_and(|seen| seen.is_surely(&file)) {
                continue;
            }
            let state = self.state(&path)?;
            let Some(content) = state.content.clone() else { continue };
            if seen.and_then(|seen| seen.content.as_ref()) == Some(&content) {
                news.push(Seen::file(&path, content, &file));
            } else {
                let before = State { content: seen.and_then(|s| s.content.clone()), bytes: None };
                edits.push((Edit { path, before, after: state }, file));
            }
        }
        let known: Vec<String> = held.known.paths().map(str::to_owned).collect();
        let mut gone = Vec::new();
        for path in known.into_iter().filter(|path| !there.contains(path)) {
            if self.root.stat(Path::new(&path))?.is_some() {
                // It is there but no longer ours to look at.
                news.push(Seen::gone(&path));
                continue;
            }
            let before = held.known.get(&path).and_then(|seen| seen.content.clone());
            gone.push(Edit::remove(&path, State { content: before, bytes: None }));
        }
        if first_time {
            news.extend(self.adopt(&edits)?);
            held.known.learn(self.own()?, news)?;
            return if edits.is_empty() {
                Ok(None)
            } else {
                self.enter_adoption(edits.len(), by).map(Some)
            };
        }
        held.known.learn(self.own()?, news)?;
        let edits = edits.into_iter().map(|(edit, _)| edit).chain(gone).collect();
        self.commit(held, Action::Foreign.into(), edits, by)
    }

    /// Looks at some files only: those that are about to be changed.
    pub(super) fn notice_some(
        &self,
        held: &mut Held,
        paths: &[&str],
        by: &By,
    ) -> Result<(), Error> {
        let mut edits = Vec::new();
        for path in paths {
            let before = held.known.get(path).and_then(|seen| seen.content.clone());
            let after = self.state(path)?;
            edits.push(Edit {
                path: (*path).to_owned(),
                before: State { content: before, bytes: None },
                after,
            });
        }
        self.commit(held, Action::Foreign.into(), edits, &foreign(by.at)).map(|_| ())
    }

    /// Keeps what a store holds that is seen for the first time.
    fn adopt(&self, edits: &[(Edit, everfold_disk::Entry)]) -> Result<Vec<Seen>, Error> {
        let contents: Vec<&[u8]> =
            edits.iter().filter_map(|(edit, _)| edit.after.bytes.as_deref()).collect();
        self.blobs()?.keep(&contents)?;
        let seen = |(edit, file): &(Edit, everfold_disk::Entry)| {
            edit.after.content.clone().map(|content| Seen::file(&edit.path, content, file))
        };
        Ok(edits.iter().filter_map(seen).collect())
    }

    fn enter_adoption(&self, files: usize, by: &By) -> Result<EntryId, Error> {
        let entry = Entry {
            id: EntryId(1),
            at: by.at,
            author: Author::Foreign,
            action: Action::Adopt,
            reason: format!("{files} files were here before"),
            session: None,
            messages: Vec::new(),
            undoes: Vec::new(),
            changes: Vec::new(),
        };
        self.journal().append(&entry)?;
        Ok(entry.id)
    }
}
