//! Keeping the index right while memories come and go (L5.3, L5.28).

use super::commit::{Edit, State};
use super::{Store, StoreOptions};
use crate::error::Error;
use everfold_memory_file::index::{INDEX_FILE, breach, is_sub_index, relative, resolve, split};
use everfold_memory_file::{Index, Pointer};
use std::collections::{BTreeMap, BTreeSet};

/// The index files of a store as they are to be; what changed becomes edits.
#[derive(Debug)]
pub(super) struct Indexes<'a> {
    store: &'a Store,
    options: &'a StoreOptions,
    files: BTreeMap<String, File>,
}

/// Whether a pointer may be in an index already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    /// No: its memory is new.
    New,
    /// It may be in any of them.
    Known,
}

#[derive(Debug)]
struct File {
    before: State,
    text: String,
    is_changed: bool,
}

impl<'a> Indexes<'a> {
    /// Starts from what is there.
    pub(super) fn load(store: &'a Store) -> Result<Self, Error> {
        let mut indexes = Self { store, options: &store.options, files: BTreeMap::new() };
        indexes.open(INDEX_FILE)?;
        Ok(indexes)
    }

    fn open(&mut self, path: &str) -> Result<(), Error> {
        if self.files.contains_key(path) {
            return Ok(());
        }
        let before = self.store.state(path)?;
        if before.content.is_some() && before.bytes.is_none() {
            let max = self.options.topic_bytes;
            let bytes = self.store.root.stat(path.as_ref())?.map_or(0, |there| there.bytes);
            return Err(Error::TooLong { path: path.to_owned(), bytes, max });
        }
        let bytes = before.bytes.clone().unwrap_or_default();
        let text =
            String::from_utf8(bytes).map_err(|_| Error::NotText { path: path.to_owned() })?;
        self.files.insert(path.to_owned(), File { before, text, is_changed: false });
        Ok(())
    }

    fn text(&self, path: &str) -> &str {
        self.files.get(path).map_or("", |file| file.text.as_str())
    }

    fn set_text(&mut self, path: &str, text: String) {
        if let Some(file) = self.files.get_mut(path).filter(|file| file.text != text) {
            file.text = text;
            file.is_changed = true;
        }
    }

    /// The index files that point to a memory.
    fn holders(&mut self, target: &str) -> Result<Vec<String>, Error> {
        let main = Index::parse(self.text(INDEX_FILE));
        if main.points_to(target) {
            return Ok(vec![INDEX_FILE.to_owned()]);
        }
        let opened = self.files.iter().filter(|(path, file)| {
            *path != INDEX_FILE && Index::parse(&file.text).points_to(&relative(path, target))
        });
        let opened: Vec<String> = opened.map(|(path, _)| path.clone()).collect();
        if !opened.is_empty() {
            return Ok(opened);
        }
        // Ours are told by their names; only then is a list looked for among
        // the files that the index itself points to. Never among all: there
        // may be ten thousand, and a second pointer does no harm.
        let ours =
            |path: &str| path.rsplit('/').next().is_some_and(|name| name.starts_with("index"));
        let found = self.subs_with(target, &ours)?;
        if !found.is_empty() {
            return Ok(found);
        }
        let near: BTreeSet<String> =
            main.pointers().filter_map(|pointer| resolve(INDEX_FILE, &pointer.target)).collect();
        self.subs_with(target, &|path| near.contains(path))
    }

    /// The sub-indexes that point to a memory, among those that the index leads
    /// to through wanted ones. A text that does not even hold the memory's name
    /// is not looked at more closely.
    fn subs_with(
        &mut self,
        target: &str,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<String>, Error> {
        let ends = |sign: char| matches!(sign, ' ' | '(' | ')' | '#' | '%');
        let name = target.rsplit('/').next().unwrap_or_default();
        let name = name.split(ends).next().unwrap_or_default();
        let mut ahead = followed(INDEX_FILE, self.text(INDEX_FILE), wanted);
        let mut seen: BTreeSet<String> = ahead.iter().cloned().collect();
        let mut found = Vec::new();
        while let Some(sub) = ahead.pop() {
            let text = match self.files.get(&sub) {
                Some(file) => Some(file.text.clone()),
                None => self.store.read_text(&sub).ok().flatten().map(|read| read.text),
            };
            let Some(text) = text else { continue };
            let may_lead_on = text.contains("(index") || text.contains("/index");
            if !(may_lead_on || text.contains(name)) || !is_sub_index(&text) {
                continue;
            }
            if Index::parse(&text).points_to(&relative(&sub, target)) {
                self.open(&sub)?;
                found.push(sub.clone());
            }
            if may_lead_on {
                let more = followed(&sub, &text, wanted).into_iter();
                ahead.extend(more.filter(|path| seen.insert(path.clone())));
            }
        }
        found.sort();
        Ok(found)
    }

    /// The pointer to a memory, if there is one.
    pub(super) fn pointer(&mut self, target: &str) -> Result<Option<Pointer>, Error> {
        let Some(holder) = self.holders(target)?.into_iter().next() else { return Ok(None) };
        let index = Index::parse(self.text(&holder));
        let written = relative(&holder, target);
        Ok(index.pointers().find(|pointer| pointer.target == written).cloned())
    }

    /// Adds a pointer, or changes the one that is there.
    pub(super) fn set(&mut self, pointer: &Pointer, novelty: Novelty) -> Result<(), Error> {
        let holders = match novelty {
            Novelty::New => Vec::new(),
            Novelty::Known => self.holders(&pointer.target)?,
        };
        let holder = holders.first().cloned().unwrap_or_else(|| INDEX_FILE.to_owned());
        let mut index = Index::parse(self.text(&holder));
        index.set(&Pointer { target: relative(&holder, &pointer.target), ..pointer.clone() });
        self.set_text(&holder, index.to_string());
        Ok(())
    }

    /// Removes every pointer to a memory.
    pub(super) fn remove(&mut self, target: &str) -> Result<(), Error> {
        for holder in self.holders(target)? {
            let mut index = Index::parse(self.text(&holder));
            index.remove(&relative(&holder, target));
            self.set_text(&holder, index.to_string());
        }
        Ok(())
    }

    /// Lets the pointers to one memory lead to another.
    pub(super) fn retarget(&mut self, from: &str, to: &str) -> Result<(), Error> {
        for holder in self.holders(from)? {
            let mut index = Index::parse(self.text(&holder));
            index.retarget(&relative(&holder, from), &relative(&holder, to));
            self.set_text(&holder, index.to_string());
        }
        Ok(())
    }

    /// Removes a pointer just where it is.
    pub(super) fn remove_in(&mut self, holder: &str, target: &str) -> Result<(), Error> {
        self.open(holder)?;
        let mut index = Index::parse(self.text(holder));
        index.remove(target);
        self.set_text(holder, index.to_string());
        Ok(())
    }

    /// Replaces the index, if that does not break its caps.
    pub(super) fn replace(&mut self, text: &str) -> Result<(), Error> {
        let caps = self.options.caps;
        let grew = text.len() > self.text(INDEX_FILE).len();
        if let Some(over) =
            breach(text, caps).filter(|_| grew || breach(self.text(INDEX_FILE), caps).is_none())
        {
            return Err(Error::IndexOver { reason: over.to_string() });
        }
        self.set_text(INDEX_FILE, text.to_owned());
        Ok(())
    }

    /// Brings the index within its caps: lines of one theme move to a
    /// sub-index. Says which sub-indexes were written.
    pub(super) fn fit(&mut self) -> Result<Vec<String>, Error> {
        let text = self.text(INDEX_FILE).to_owned();
        if breach(&text, self.options.caps).is_none() {
            return Ok(Vec::new());
        }
        let mut taken = Vec::new();
        let store = self.store;
        let read = |path: &str| {
            let text = store.read_text(path).ok().flatten().map(|read| read.text)?;
            // Somebody's memory of that name must not become an index.
            if !is_sub_index(&text) {
                taken.push(path.to_owned());
            }
            Some(text)
        };
        let format = |source| Error::Format { path: INDEX_FILE.to_owned(), source };
        let done = split(&Index::parse(&text), self.options.caps, read).map_err(format)?;
        if let Some(path) = taken.into_iter().next() {
            return Err(Error::Exists { path });
        }
        let mut moved = Vec::new();
        for sub in done.moved {
            self.open(&sub.path)?;
            self.set_text(&sub.path, sub.text);
            moved.push(sub.path);
        }
        self.set_text(INDEX_FILE, done.index.to_string());
        Ok(moved)
    }

    /// The paths of the index files that are to change.
    pub(super) fn changed(&self) -> Vec<&str> {
        let changed = self.files.iter().filter(|(_, file)| file.is_changed);
        changed.map(|(path, _)| path.as_str()).collect()
    }

    /// The edits: sub-indexes first, so that a pointer never leads nowhere.
    pub(super) fn edits(self) -> Vec<Edit> {
        let mut edits: Vec<Edit> = self
            .files
            .into_iter()
            .filter(|(_, file)| file.is_changed)
            .map(|(path, file)| Edit::write(&path, file.before, file.text.into_bytes()))
            .collect();
        edits.sort_by_key(|edit| edit.path == INDEX_FILE);
        edits
    }
}

/// The files that an index points to and that are wanted.
fn followed(from: &str, text: &str, wanted: &dyn Fn(&str) -> bool) -> Vec<String> {
    let index = Index::parse(text);
    let paths = index.pointers().filter_map(|pointer| resolve(from, &pointer.target));
    paths.filter(|path| path != INDEX_FILE && wanted(path)).collect()
}
