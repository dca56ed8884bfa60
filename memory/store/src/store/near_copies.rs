//! Which memories are like a text, without reading them (R16).
//!
//! What is noted of them is a help and no more: whatever goes wrong with it,
//! memories are kept, and the next look at all files makes it good.

use super::Store;
use crate::error::Error;
use crate::journal::{FileChange, nanoseconds};
use crate::likeness::{self, FILE, Likeness, Note, file_of, sketch};
use crate::path::{TopicPath, is_index_name};
use everfold_disk::{EntryKind, RootEntry};
use std::path::Path;

impl Store {
    /// The memories that share the most with a text, best first, at most so
    /// many. No memory is read: one that another program has just written may
    /// be missing, or stand for what it said before.
    ///
    /// # Errors
    /// Where nothing is noted yet, or the note is damaged, all files are looked
    /// at once; if they cannot be listed.
    pub fn candidates(&self, text: &str, most: usize) -> Result<Vec<TopicPath>, Error> {
        let closest = |noted: &Likeness<'_>| -> Vec<TopicPath> {
            let found = noted.closest(text, most).into_iter();
            found.map(|path| TopicPath::found(path.to_owned())).collect()
        };
        let bytes = self.noted().unwrap_or_default();
        let noted = Likeness::read(&bytes);
        if !noted.is_damaged {
            return Ok(closest(&noted));
        }
        self.look_at_likeness()?;
        let again = self.noted();
        Ok(again.map_or_else(|| closest(&noted), |bytes| closest(&Likeness::read(&bytes))))
    }

    fn noted(&self) -> Option<Vec<u8>> {
        likeness::noted(self.own().ok()?)
    }

    fn look_at_likeness(&self) -> Result<(), Error> {
        let Ok(_lock) = self.lock() else { return Ok(()) };
        let files = self.files()?;
        self.make_likeness_good(&files);
        Ok(())
    }

    /// Notes what changed memories are about.
    pub(super) fn note_likeness(&self, changes: &[FileChange]) {
        let notes: Vec<Note> = changes.iter().filter_map(|change| self.note_of(change)).collect();
        if !notes.is_empty() {
            // Without it, the next look at all files notes it.
            let _ = self.own().and_then(|own| likeness::add(own, &notes));
        }
    }

    fn note_of(&self, change: &FileChange) -> Option<Note> {
        let path = change.path.as_str();
        let is_index = path.rsplit('/').next().is_some_and(is_index_name);
        if is_index {
            return None;
        }
        let there = self.root.stat(Path::new(path)).ok().flatten();
        match there.filter(|there| there.kind == EntryKind::File) {
            Some(there) => Some(self.note_file(path, &there)),
            None => Some(Note::gone(path)),
        }
    }

    fn note_file(&self, path: &str, there: &RootEntry) -> Note {
        // One that cannot be read is like none.
        let read = self.read_text(path).ok().flatten();
        let sketch = read.map(|read| sketch::of_memory(&read.text)).unwrap_or_default();
        Note { path: path.to_owned(), seen: seen(there), sketch: Some(sketch) }
    }

    /// Makes the notes say what these files, which are all, are about. Only
    /// those that are not as they were noted are read. Called with the lock
    /// held.
    pub(super) fn make_likeness_good(&self, files: &[RootEntry]) {
        let bytes = self.noted();
        let read = Likeness::read(bytes.as_deref().unwrap_or_default());
        let mut old = read.notes();
        let mut is_changed = read.is_damaged;
        let mut all = Vec::with_capacity(files.len());
        for file in files {
            let Some(path) = super::read::text_path(&file.path) else { continue };
            if path.rsplit('/').next().is_some_and(is_index_name) {
                continue;
            }
            let known = old.remove(&path).filter(|note| note.seen == seen(file));
            is_changed |= known.is_none();
            all.push(known.unwrap_or_else(|| self.note_file(&path, file)));
        }
        if (is_changed || !old.is_empty())
            && let Ok(own) = self.own()
        {
            let _ = own.write_lazily(Path::new(FILE), &file_of(&all));
        }
    }
}

/// By what a file is known again.
fn seen(there: &RootEntry) -> (u64, u64) {
    (there.bytes, nanoseconds(there.modified))
}
