//! Changes that were made from outside: by a person in an editor, by Claude
//! Code, by git. They are found by comparing what files hold with what they
//! held when we last looked, and become an entry like any other.

use super::commit::{Edit, Held, State};
use super::{By, Store};
use crate::error::Error;
use crate::journal::{Action, Author, ContentId, EntryId, Haste, JournalEntry, Seen};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Entries whose contents may not have come to the disk when the power failed.
const RECENT: usize = 32;

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
        let known = held.known.all(self.own()?)?;
        let files = self.files()?;
        for file in &files {
            let Some(path) = super::read::text_path(&file.path) else { continue };
            there.insert(path.clone());
            let seen = known.get(&path);
            if seen.is_some_and(|seen| seen.is_surely(file)) {
                continue;
            }
            let state = self.state(&path)?;
            let Some(content) = state.content.clone() else { continue };
            if seen.and_then(|seen| seen.content.as_ref()) == Some(&content) {
                news.push(Seen::file(&path, content, file));
            } else {
                let before = State { content: seen.and_then(|s| s.content.clone()), bytes: None };
                edits.push((Edit { path, before, after: state }, file));
            }
        }
        let mut gone = Vec::new();
        for (path, seen) in known.iter().filter(|(path, _)| !there.contains(*path)) {
            if self.root.stat(Path::new(path))?.is_some() {
                // It is there but no longer ours to look at.
                news.push(Seen::gone(path));
                continue;
            }
            gone.push(Edit::remove(path, State { content: seen.content.clone(), bytes: None }));
        }
        let entry = if first_time {
            news.extend(self.adopt(&edits)?);
            held.known.learn(self.own()?, &news)?;
            (!edits.is_empty()).then(|| self.enter_adoption(edits.len(), by)).transpose()?
        } else {
            if edits.len() + gone.len() > 0 {
                news.extend(self.ours(&mut edits, &mut gone)?);
            }
            held.known.learn(self.own()?, &news)?;
            let edits = edits.into_iter().map(|(edit, _)| edit).chain(gone).collect();
            self.commit(held, Action::Foreign.into(), edits, by)?
        };
        self.make_likeness_good(&files);
        Ok(entry)
    }

    /// Takes out what the history says we did ourselves: what is known of files
    /// does not wait for the disk, and may be gone with the power.
    fn ours(
        &self,
        edits: &mut Vec<(Edit, &everfold_disk::RootEntry)>,
        gone: &mut Vec<Edit>,
    ) -> Result<Vec<Seen>, Error> {
        let entries = self.journal().entries()?;
        let changes = entries.iter().flat_map(|entry| &entry.changes);
        let last: BTreeMap<&str, Option<&ContentId>> =
            changes.map(|change| (change.path.as_str(), change.after.as_ref())).collect();
        let mut news = Vec::new();
        edits.retain(|(edit, file)| {
            let Some(content) = edit.after.content.as_ref() else { return true };
            let is_ours = last.get(edit.path.as_str()) == Some(&Some(content));
            news.extend(is_ours.then(|| Seen::file(&edit.path, content.clone(), file)));
            !is_ours
        });
        gone.retain(|edit| {
            let is_ours = last.get(edit.path.as_str()) == Some(&None);
            news.extend(is_ours.then(|| Seen::gone(&edit.path)));
            !is_ours
        });
        Ok(news)
    }

    /// Looks at some files only: those that are about to be changed.
    pub(super) fn notice_some(
        &self,
        held: &mut Held,
        paths: &[&str],
        by: &By,
    ) -> Result<(), Error> {
        let mut edits = Vec::new();
        for (path, seen) in paths.iter().zip(held.known.get(self.own()?, paths)?) {
            let before = State { content: seen.and_then(|seen| seen.content), bytes: None };
            edits.push(Edit { path: (*path).to_owned(), before, after: self.state(path)? });
        }
        self.commit(held, Action::Foreign.into(), edits, &foreign(by.at)).map(|_| ())
    }

    /// Keeps again what the newest entries say that files hold, where it got
    /// lost with the power before it came to the disk.
    pub(super) fn keep_again(&self) -> Result<(), Error> {
        for entry in self.journal().recent()?.iter().rev().take(RECENT) {
            for change in &entry.changes {
                let Some(after) = &change.after else { continue };
                let Some(there) = self.root.stat(Path::new(&change.path))? else { continue };
                if self.blobs()?.seems_kept(after, there.bytes)? {
                    continue;
                }
                let state = self.state(&change.path)?;
                if let Some(bytes) = state.bytes.filter(|_| state.content.as_ref() == Some(after)) {
                    self.blobs()?.keep(&[&bytes], Haste::Now)?;
                }
            }
        }
        Ok(())
    }

    /// Keeps what a store holds that is seen for the first time.
    fn adopt(&self, edits: &[(Edit, &everfold_disk::RootEntry)]) -> Result<Vec<Seen>, Error> {
        let contents: Vec<&[u8]> =
            edits.iter().filter_map(|(edit, _)| edit.after.bytes.as_deref()).collect();
        self.blobs()?.keep(&contents, Haste::Now)?;
        let seen = |(edit, file): &(Edit, &everfold_disk::RootEntry)| {
            edit.after.content.clone().map(|content| Seen::file(&edit.path, content, file))
        };
        Ok(edits.iter().filter_map(seen).collect())
    }

    fn enter_adoption(&self, files: usize, by: &By) -> Result<EntryId, Error> {
        let entry = JournalEntry {
            id: EntryId(1),
            at: by.at,
            author: Author::Foreign,
            action: Action::Adopt,
            reason: format!("{files} files were here before"),
            session: None,
            messages: Vec::new(),
            undoes: Vec::new(),
            ended: Vec::new(),
            changes: Vec::new(),
        };
        self.journal().append(&entry)?;
        Ok(entry.id)
    }
}
