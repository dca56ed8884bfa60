//! Saving in two steps, as the main agent does it: first the memory, then its
//! line in the index, each by a tool of its own. Whoever forgets the second
//! step gets the line in the end.

use super::commit::Edit;
use super::indexes::{Indexes, Novelty};
use super::save::{Expect, Place, Save};
use super::{By, Store};
use crate::error::Error;
use crate::journal::{Action, EntryId};
use crate::path::TopicPath;
use everfold_memfile::Pointer;
use everfold_memfile::index::INDEX_FILE;

impl Store {
    /// Writes a memory and leaves the index alone.
    ///
    /// # Errors
    /// As [`Store::save`].
    pub fn write_topic(
        &self,
        path: &TopicPath,
        text: &str,
        expect: &Expect,
        by: &By,
    ) -> Result<Option<EntryId>, Error> {
        let save =
            Save { place: Place::At(path.clone()), text, expect: expect.clone(), line: None };
        self.screen(&save)?;
        let mut held = self.begin()?;
        self.notice_some(&mut held, &[path.as_str()], by)?;
        let before = self.state(path.as_str())?;
        expect.check(path.as_str(), before.content.as_ref())?;
        let action = if before.content.is_none() { Action::Add } else { Action::Update };
        let edit = Edit::write(path.as_str(), before, text.as_bytes().to_vec());
        self.commit(&mut held, action.into(), vec![edit], by)
    }

    /// Gives their lines to memories that are there and that no index points to.
    ///
    /// # Errors
    /// If the index would outgrow its caps or cannot be written.
    pub fn point_to(&self, paths: &[TopicPath], by: &By) -> Result<Option<EntryId>, Error> {
        let mut held = self.begin()?;
        self.notice_some(&mut held, &[INDEX_FILE], by)?;
        let mut indexes = Indexes::load(self)?;
        for path in paths {
            let Some(read) = self.read_text(path.as_str())? else { continue };
            if indexes.pointer(path.as_str())?.is_none() {
                indexes.set(&Pointer::of(path.as_str(), &read.text), Novelty::Known)?;
            }
        }
        indexes.fit()?;
        self.notice_some(&mut held, &indexes.changed(), by)?;
        self.commit(&mut held, Action::Index.into(), indexes.edits(), by)
    }
}
