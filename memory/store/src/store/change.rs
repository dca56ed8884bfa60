//! Forgetting, renaming, moving between stores, and changing the index.

use super::commit::Edit;
use super::indexes::{Indexes, Novelty};
use super::read::TopicHead;
use super::save::{ExpectedContent, MemoryTarget, Save, Saved};
use super::{By, Store};
use crate::error::Error;
use crate::journal::{Action, EntryId};
use crate::path::TopicPath;
use everfold_memory_file::Pointer;
use everfold_memory_file::index::INDEX_FILE;
use everfold_memory_judge::secrets;

impl Store {
    /// Removes a memory and its line in the index. The history keeps it.
    ///
    /// # Errors
    /// If there is none, or it cannot be removed.
    pub fn forget(&self, path: &TopicPath, by: &By) -> Result<Option<EntryId>, Error> {
        let mut held = self.begin()?;
        self.notice_some(&mut held, &[path.as_str(), INDEX_FILE], by)?;
        let before = self.state(path.as_str())?;
        if before.content.is_none() {
            return Err(Error::NotFound { path: path.to_string() });
        }
        let mut indexes = Indexes::load(self)?;
        indexes.remove(path.as_str())?;
        self.notice_some(&mut held, &indexes.changed(), by)?;
        // The pointer goes first, so that it never leads nowhere.
        let mut edits = indexes.edits();
        edits.push(Edit::remove(path.as_str(), before));
        self.commit(&mut held, Action::Forget.into(), edits, by)
    }

    /// Gives a memory another path; its line in the index follows.
    ///
    /// # Errors
    /// If there is none, the new path is taken, or it cannot be written.
    pub fn rename(
        &self,
        from: &TopicPath,
        to: &TopicPath,
        by: &By,
    ) -> Result<Option<EntryId>, Error> {
        if let Some(finding) = secrets::find(to.as_str()).first() {
            let path = self.told_name(&MemoryTarget::At(to.clone()));
            return Err(Error::Secret { path, finding: finding.to_string() });
        }
        let mut held = self.begin()?;
        self.notice_some(&mut held, &[from.as_str(), to.as_str(), INDEX_FILE], by)?;
        let before = self.state(from.as_str())?;
        let target = self.state(to.as_str())?;
        if before.content.is_none() {
            return Err(Error::NotFound { path: from.to_string() });
        }
        let Some(bytes) = before.bytes.clone() else {
            return Err(Error::NotKept { path: from.to_string() });
        };
        if target.content.is_some() {
            return Err(Error::Exists { path: to.to_string() });
        }
        let mut indexes = Indexes::load(self)?;
        indexes.retarget(from.as_str(), to.as_str())?;
        indexes.fit()?;
        self.notice_some(&mut held, &indexes.changed(), by)?;
        let mut edits = vec![Edit::write(to.as_str(), target, bytes)];
        edits.extend(indexes.edits());
        edits.push(Edit::remove(from.as_str(), before));
        let entry = self.commit(&mut held, Action::Rename.into(), edits, by)?;
        // Counting takes the same lock.
        drop(held);
        self.move_counts(from, to)?;
        Ok(entry)
    }

    /// Moves a memory to another store (L5.25). It is saved there before it is
    /// forgotten here: a crash in between leaves two, never none.
    ///
    /// # Errors
    /// If there is none, the path is taken there, the other store may not have
    /// it, or it cannot be written.
    pub fn move_to(&self, path: &TopicPath, other: &Self, by: &By) -> Result<Saved, Error> {
        let read = self.read(path)?;
        if read.note.is_some() {
            return Err(Error::NotText { path: path.to_string() });
        }
        let save = Save {
            place: MemoryTarget::At(path.clone()),
            text: &read.text,
            expect: ExpectedContent::Nothing,
            line: None,
            ended: &[],
        };
        let saved = other.save(&save, by)?;
        self.forget(path, by)?;
        Ok(saved)
    }

    /// Replaces the index. What an agent writes there of memories that it saved
    /// in the same session is there already, and no change (L5.41).
    ///
    /// # Errors
    /// If it holds a secret, would outgrow its caps (L5.28), is not what was
    /// expected, or cannot be written.
    pub fn write_index(
        &self,
        text: &str,
        expect: &ExpectedContent,
        by: &By,
    ) -> Result<Option<EntryId>, Error> {
        if let Some(finding) = secrets::find(text).first() {
            return Err(Error::Secret {
                path: INDEX_FILE.to_owned(),
                finding: finding.to_string(),
            });
        }
        let mut held = self.begin()?;
        self.notice_some(&mut held, &[INDEX_FILE], by)?;
        let Some(text) = self.index_as_meant(text, expect, by)? else { return Ok(None) };
        let mut indexes = Indexes::load(self)?;
        indexes.replace(&text)?;
        self.commit(&mut held, Action::Index.into(), indexes.edits(), by)
    }

    /// Mends the index; see [`Store::fix`].
    pub(crate) fn mend_index(
        &self,
        broken: &[(&str, &str)],
        orphans: &[&TopicHead],
        by: &By,
    ) -> Result<Option<EntryId>, Error> {
        let mut held = self.begin()?;
        self.notice_some(&mut held, &[INDEX_FILE], by)?;
        let mut indexes = Indexes::load(self)?;
        for (index, target) in broken {
            indexes.remove_in(index, target)?;
        }
        for topic in orphans {
            // It may have gone, or got its pointer, since it was looked for.
            let Some(read) = self.read_text(topic.path.as_str())? else { continue };
            indexes.set(&Pointer::of(topic.path.as_str(), &read.text), Novelty::Known)?;
        }
        indexes.fit()?;
        self.notice_some(&mut held, &indexes.changed(), by)?;
        self.commit(&mut held, Action::Index.into(), indexes.edits(), by)
    }
}
