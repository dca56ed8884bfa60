//! Many files at once, as one entry of the history: the result of a dream
//! (L6.7).

use super::commit::Edit;
use super::save::MemoryTarget;
use super::{By, Store, outside_changes};
use crate::error::Error;
use crate::journal::{Action, ContentId, EntryId};
use crate::path::TopicPath;
use everfold_memory_file::index::{INDEX_FILE, is_sub_index};
use everfold_memory_judge::secrets;

/// What one file is to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    pub path: String,
    /// The content that has to be there, by its name; none: nothing.
    pub expect: Option<String>,
    /// What it is to hold; none: it goes.
    pub text: Option<String>,
}

impl Store {
    /// Changes many files together. Killed at any step, all of them are old or
    /// all are new once the store is opened again.
    ///
    /// # Errors
    /// [`Error::Changed`] if a file is not what was expected; or if one holds a
    /// secret, is too long, or may not be there. Then nothing has changed.
    pub fn swap(&self, files: &[Replacement], by: &By) -> Result<Option<EntryId>, Error> {
        let mut held = self.begin()?;
        self.notice_all(&mut held, &outside_changes::foreign(by.at))?;
        let mut edits = Vec::new();
        for file in files {
            let before = self.state(&file.path)?;
            if before.content.as_ref().map(ContentId::as_str) != file.expect.as_deref() {
                return Err(Error::Changed { path: file.path.clone() });
            }
            if before.content.is_none() && file.path != INDEX_FILE {
                TopicPath::new(&file.path)?;
            }
            edits.push(match &file.text {
                Some(text) => {
                    self.may_hold(&file.path, text)?;
                    Edit::write(&file.path, before, text.clone().into_bytes())
                }
                None => Edit::remove(&file.path, before),
            });
        }
        // A pointer never leads nowhere: memories, then what points to them,
        // then what goes.
        edits.sort_by_key(|edit| match &edit.after.bytes {
            None => 3,
            Some(_) if edit.path == INDEX_FILE => 2,
            Some(bytes) => u8::from(is_sub_index(&String::from_utf8_lossy(bytes))),
        });
        self.commit(&mut held, Action::Dream.into(), edits, by)
    }

    fn may_hold(&self, path: &str, text: &str) -> Result<(), Error> {
        let (bytes, max) = (text.len() as u64, self.options.topic_bytes);
        let name = self.told_name(&MemoryTarget::At(TopicPath::found(path.to_owned())));
        if bytes > max {
            return Err(Error::TooLong { path: name, bytes, max });
        }
        match [text, path].iter().find_map(|text| secrets::find(text).into_iter().next()) {
            Some(finding) => Err(Error::Secret { path: name, finding: finding.to_string() }),
            None => Ok(()),
        }
    }
}
