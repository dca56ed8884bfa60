//! Saving a memory: the file, its line in the index and its entry in the
//! history, as one change.

use super::commit::{Edit, Held, State, What};
use super::indexes::{Indexes, Novelty};
use super::{By, Store, StoreScope};
use crate::error::Error;
use crate::journal::{Action, ContentId, EntryId};
use crate::path::TopicPath;
use everfold_memory_file::index::INDEX_FILE;
use everfold_memory_file::slug::{free_slug, slugify};
use everfold_memory_file::{Memory, MemoryType, Pointer};
use everfold_memory_judge::secrets;
use std::path::Path;

/// Where a memory goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryTarget {
    At(TopicPath),
    /// To a new file, called after this title.
    Named(String),
}

impl MemoryTarget {
    fn name(&self) -> &str {
        match self {
            Self::At(path) => path.as_str(),
            Self::Named(title) => title,
        }
    }
}

/// What has to be there before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedContent {
    Anything,
    /// Nothing: it is a new memory.
    Nothing,
    /// This: it is a change of what was read.
    Content(ContentId),
}

impl ExpectedContent {
    /// Whether what is there is what has to be.
    pub(super) fn check(&self, path: &str, now: Option<&ContentId>) -> Result<(), Error> {
        let path = path.to_owned();
        match self {
            Self::Nothing if now.is_some() => Err(Error::Exists { path }),
            Self::Content(expected) if now != Some(expected) => Err(Error::Changed { path }),
            _ => Ok(()),
        }
    }
}

/// A memory to save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Save<'a> {
    pub place: MemoryTarget,
    /// The text of the file.
    pub text: &'a str,
    /// What has to be there before.
    pub expect: ExpectedContent,
    /// What the index says: title and hook. Unset, its name and description.
    pub line: Option<(&'a str, &'a str)>,
    /// What no longer holds since, in the words that it had (L5.36). It is
    /// written into the history, not into the memory.
    pub ended: &'a [String],
}

/// A memory that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    pub path: TopicPath,
    /// The entry in the history; none if nothing changed.
    pub entry: Option<EntryId>,
    /// Whether it is new.
    pub action: Action,
    /// Sub-indexes that lines of the index moved to, to stay within its caps.
    pub moved_to: Vec<String>,
}

impl Store {
    /// Saves a memory.
    ///
    /// # Errors
    /// If it holds a secret, is too long, may not be there, is not what was
    /// expected, or cannot be written. Then nothing has changed.
    pub fn save(&self, save: &Save<'_>, by: &By) -> Result<Saved, Error> {
        self.screen(save)?;
        let mut held = self.begin()?;
        let path = match &save.place {
            MemoryTarget::At(path) => path.clone(),
            MemoryTarget::Named(title) => self.free_path(title, |_| false)?,
        };
        self.notice_some(&mut held, &[path.as_str(), INDEX_FILE], by)?;
        let before = self.state(path.as_str())?;
        save.expect.check(path.as_str(), before.content.as_ref())?;
        let action = if before.content.is_none() { Action::Add } else { Action::Update };
        let mut written = Written::start(self)?;
        written.put(&path, save, before)?;
        let (edits, moved_to) = written.finish(&mut held, Vec::new(), by)?;
        let what = What { action, undoes: Vec::new(), ended: save.ended.to_vec() };
        let entry = self.commit(&mut held, what, edits, by)?;
        Ok(Saved { path, entry, action, moved_to })
    }

    /// What must not be written, whoever asks.
    pub(super) fn screen(&self, save: &Save<'_>) -> Result<(), Error> {
        let (path, name) = (self.told_name(&save.place), save.place.name());
        let bytes = save.text.len() as u64;
        if bytes > self.options.topic_bytes {
            return Err(Error::TooLong { path, bytes, max: self.options.topic_bytes });
        }
        let (title, hook) = save.line.unwrap_or_default();
        let mut texts = [save.text, name, title, hook].into_iter();
        let mut texts = texts.by_ref().chain(save.ended.iter().map(String::as_str));
        if let Some(finding) = texts.find_map(|text| secrets::find(text).into_iter().next()) {
            return Err(Error::Secret { path, finding: finding.to_string() });
        }
        let kind = Memory::parse(save.text).front.kind;
        if self.options.scope == StoreScope::Team && kind == Some(MemoryType::User) {
            return Err(Error::Private { path });
        }
        Ok(())
    }

    /// What a memory is called in a refusal: a new one has no name yet, and what
    /// it would have been called may hold what must not be said (L5.40).
    pub(super) fn told_name(&self, place: &MemoryTarget) -> String {
        match place {
            MemoryTarget::At(path) if matches!(self.root.stat(path.as_path()), Ok(Some(_))) => {
                path.to_string()
            }
            _ => "the memory".to_owned(),
        }
    }

    /// A path of that name that is free, and not promised to another. Called
    /// with the lock held, so it stays free.
    pub(super) fn free_path(
        &self,
        title: &str,
        is_promised: impl Fn(&str) -> bool,
    ) -> Result<TopicPath, Error> {
        let mut failed = None;
        let slug = free_slug(&slugify(title), |slug| {
            let name = format!("{slug}.md");
            match self.root.stat(Path::new(&name)) {
                Ok(there) => there.is_some() || slug == "memory" || is_promised(&name),
                Err(error) => {
                    failed = Some(error);
                    false
                }
            }
        });
        match failed {
            Some(error) => Err(error.into()),
            None => TopicPath::new(&format!("{slug}.md")),
        }
    }
}

/// Memories that are to be written, and the lines of the index that follow them.
#[derive(Debug)]
pub(super) struct Written<'a> {
    store: &'a Store,
    pub(super) indexes: Indexes<'a>,
    edits: Vec<Edit>,
}

impl<'a> Written<'a> {
    pub(super) fn start(store: &'a Store) -> Result<Self, Error> {
        Ok(Self { store, indexes: Indexes::load(store)?, edits: Vec::new() })
    }

    /// A memory that is to hold a text, where there is this now.
    pub(super) fn put(
        &mut self,
        path: &TopicPath,
        save: &Save<'_>,
        now: State,
    ) -> Result<(), Error> {
        let novelty = if now.content.is_none() { Novelty::New } else { Novelty::Known };
        let pointer = wanted_pointer(save, path, &now, &mut self.indexes)?;
        self.indexes.set(&pointer, novelty)?;
        self.edits.push(Edit::write(path.as_str(), now, save.text.as_bytes().to_vec()));
        Ok(())
    }

    /// The edits in their order: memories, what points to them, what goes. And
    /// the sub-indexes that lines had to move to.
    pub(super) fn finish(
        mut self,
        held: &mut Held,
        removed: Vec<Edit>,
        by: &By,
    ) -> Result<(Vec<Edit>, Vec<String>), Error> {
        let moved_to = self.indexes.fit()?;
        self.store.notice_some(held, &self.indexes.changed(), by)?;
        self.edits.extend(self.indexes.edits());
        self.edits.extend(removed);
        Ok((self.edits, moved_to))
    }
}

/// The line of the index for a memory. Words that somebody wrote there by hand
/// stay; words that came from the memory follow it.
fn wanted_pointer(
    save: &Save<'_>,
    path: &TopicPath,
    before: &State,
    indexes: &mut Indexes<'_>,
) -> Result<Pointer, Error> {
    if let Some((title, hook)) = save.line {
        return Ok(Pointer {
            title: title.to_owned(),
            target: path.to_string(),
            hook: hook.to_owned(),
        });
    }
    let new = Pointer::of(path.as_str(), save.text);
    let Some(bytes) = &before.bytes else { return Ok(new) };
    let Some(there) = indexes.pointer(path.as_str())? else { return Ok(new) };
    let old = Pointer::of(path.as_str(), &String::from_utf8_lossy(bytes));
    let follow = |there: String, old: &str, new: String| if there == old { new } else { there };
    Ok(Pointer {
        title: follow(there.title, &old.title, new.title),
        hook: follow(there.hook, &old.hook, new.hook),
        target: new.target,
    })
}
