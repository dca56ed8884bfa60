//! One file of a change takes its new content, though others write here
//! without asking (X5).
//!
//! What a file holds is looked at as late as can be. Then ours and the one
//! that has the name trade places in one step, and what was traded is looked at
//! once more: who replaced the file since, or wrote into it, is found there.
//! Their lines of an index are merged with ours, their memory comes back as
//! they left it; ours is in the history. What is left is a program that opens a
//! file, is overtaken by us, and writes after that second look: the same that
//! any editor does to another.

use super::Store;
use super::commit::{Contents, State};
use super::steps::ChangeStep;
use crate::error::Error;
use crate::journal::{ContentId, FileChange};
use crate::path::is_index_name;
use everfold_disk::HeldFile;
use everfold_memory_file::Index;
use everfold_memory_file::index::is_sub_index;
use std::path::Path;
use std::time::Duration;

/// How often a file is written for one change, where others go on
/// writing it.
const TRIES: usize = 4;
/// How long to wait for somebody who has emptied a file and not yet filled it.
const PAUSE: Duration = Duration::from_millis(2);
/// How often.
const PAUSES: usize = 10;

impl Store {
    /// Gives a file the content that a change says.
    pub(super) fn apply(&self, change: &FileChange, carried: &Contents) -> Result<(), Error> {
        if self.state(&change.path)?.content == change.after {
            return Ok(());
        }
        self.step(match &change.after {
            Some(_) => ChangeStep::Write(&change.path),
            None => ChangeStep::Remove(&change.path),
        })?;
        let now = self.state(&change.path)?;
        let wanted = match &change.after {
            None if now.content == change.before => None,
            None => return Ok(()),
            Some(after) => {
                // Kept before the intent was written; if it is lost all the
                // same, the file stays as it was.
                let Some(bytes) = self.content(after, carried)? else { return Ok(()) };
                if now.content == change.before {
                    Some(bytes)
                } else {
                    // Somebody wrote it in between. A memory is left to them;
                    // of an index both keep their lines.
                    let before = change.before.as_ref();
                    let before = before.map(|before| self.content(before, carried)).transpose()?;
                    let before = before.flatten().unwrap_or_default();
                    let there = now.bytes.as_deref().unwrap_or_default();
                    let Some(both) = merged(&change.path, &before, &bytes, there) else {
                        return Ok(());
                    };
                    Some(both)
                }
            }
        };
        self.replace(&change.path, now, wanted)
    }

    /// A content that an intent carries, or that was kept.
    fn content(&self, id: &ContentId, carried: &Contents) -> Result<Option<Vec<u8>>, Error> {
        match carried.get(id).filter(|text| ContentId::of(text.as_bytes()) == *id) {
            Some(text) => Ok(Some(text.clone().into_bytes())),
            None => self.blobs()?.get(id),
        }
    }

    /// Writes or removes a file, and brings back what came too late to be seen.
    fn replace(
        &self,
        path: &str,
        mut seen: State,
        mut wanted: Option<Vec<u8>>,
    ) -> Result<(), Error> {
        for _ in 0..TRIES {
            self.step(ChangeStep::Trade(path))?;
            let traded = match &wanted {
                Some(bytes) => self.root.exchange(Path::new(path), bytes)?,
                None => self.root.take(Path::new(path))?,
            };
            self.step(ChangeStep::LookBack(path))?;
            let Some(late) = self.late(traded, &seen)? else { return Ok(()) };
            let there = seen.bytes.take().unwrap_or_default();
            let ours = wanted.take().unwrap_or_default();
            wanted = Some(merged(path, &there, &ours, &late).unwrap_or(late));
            seen = self.state(path)?;
        }
        Ok(())
    }

    /// What a file that lost its name holds, if that is not what was seen.
    fn late(&self, traded: Option<HeldFile>, seen: &State) -> Result<Option<Vec<u8>>, Error> {
        let Some(mut traded) = traded else { return Ok(None) };
        for _ in 0..PAUSES {
            let Some(late) = traded.read(self.options.topic_bytes)? else { return Ok(None) };
            if seen.content.as_ref() == Some(&ContentId::of(&late)) {
                return Ok(None);
            }
            if !late.is_empty() {
                return Ok(Some(late));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(None)
    }
}

/// An index that somebody else wrote, with what we did to the one before it.
fn merged(path: &str, before: &[u8], after: &[u8], now: &[u8]) -> Option<Vec<u8>> {
    let [before, after, now] = [before, after, now].map(|bytes| std::str::from_utf8(bytes).ok());
    let (before, after, now) = (before?, after?, now?);
    if !is_index_name(path) && !is_sub_index(after) {
        return None;
    }
    let (old, new, mut both) = (Index::parse(before), Index::parse(after), Index::parse(now));
    for pointer in new.pointers().filter(|new| !old.pointers().any(|old| old == *new)) {
        both.set(pointer);
    }
    for pointer in old.pointers().filter(|old| !new.points_to(&old.target)) {
        both.remove(&pointer.target);
    }
    Some(both.to_string().into_bytes())
}
