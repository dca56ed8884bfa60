//! What a team shares of a store, and taking in what others changed (F1).
//!
//! The index is not shared: each store keeps its own from the memories that are
//! there, so that nobody has to merge it.

use super::commit::Edit;
use super::save::{ExpectedContent, MemoryTarget, Save, Written};
use super::{By, Store, StoredText, outside_changes, read};
use crate::error::Error;
use crate::journal::{Action, ContentId, EntryId};
use crate::path::{TopicPath, is_index_name};
use everfold_memory_file::index::is_sub_index;
use std::collections::BTreeMap;

/// What one memory is to hold, by the word of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenIn {
    pub path: TopicPath,
    /// The content that has to be there; none: nothing.
    pub expect: Option<ContentId>,
    /// What it is to hold; none: it goes.
    pub text: Option<String>,
}

impl Store {
    /// The memories with their texts. What is too large or no text is left out,
    /// and so are indexes.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn texts(&self) -> Result<BTreeMap<TopicPath, StoredText>, Error> {
        let mut texts = BTreeMap::new();
        for file in self.files()? {
            let Some(path) = read::text_path(&file.path) else { continue };
            if path.rsplit('/').next().is_some_and(is_index_name) {
                continue;
            }
            // Gone since it was listed.
            let Some(text) = self.read_text(&path)? else { continue };
            if text.note.is_none() && !is_sub_index(&text.text) {
                texts.insert(TopicPath::found(path), text);
            }
        }
        Ok(texts)
    }

    /// Takes in what others changed, with the lines of the index, as one entry
    /// of the history.
    ///
    /// # Errors
    /// [`Error::Changed`] if a memory is not what was expected; or if one holds a
    /// secret, is too long, or may not be there. Then nothing has changed.
    pub fn take_in(&self, files: &[TakenIn], by: &By) -> Result<Option<EntryId>, Error> {
        let mut held = self.begin()?;
        self.notice_all(&mut held, &outside_changes::foreign(by.at))?;
        let mut written = Written::start(self)?;
        let mut removed = Vec::new();
        for file in files {
            let now = self.state(file.path.as_str())?;
            if now.content != file.expect {
                return Err(Error::Changed { path: file.path.to_string() });
            }
            if let Some(text) = &file.text {
                let place = MemoryTarget::At(TopicPath::new(file.path.as_str())?);
                let expect = ExpectedContent::Anything;
                let save = Save { place, text, expect, line: None, ended: &[] };
                self.screen(&save)?;
                written.put(&file.path, &save, now)?;
            } else if now.content.is_some() {
                written.indexes.remove(file.path.as_str())?;
                removed.push(Edit::remove(file.path.as_str(), now));
            }
        }
        let (edits, _) = written.finish(&mut held, removed, by)?;
        self.commit(&mut held, Action::Team.into(), edits, by)
    }
}
