//! Contents, each once, by their hash.
//!
//! A content is a file of its own, `blobs/ab/cdef…`. Where many come at once
//! (a store that is seen for the first time), they go into one pack: lines of
//! JSON with hash and text. A thousand files would take a thousand syncs.

use super::ContentId;
use crate::error::Error;
use everfold_disk::{EntryKind, Root, jsonl};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// From how many contents on a pack is made.
const PACK_FROM: usize = 16;
/// Longest line of a pack that is read, in bytes.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;
const BLOBS: &str = "blobs";
const PACKS: &str = "packs";

/// The contents of a history.
#[derive(Debug)]
pub(crate) struct Blobs<'a> {
    pub(crate) own: &'a Root,
    /// The largest content that is kept.
    pub(crate) max_bytes: u64,
}

/// When new contents are brought to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Haste {
    /// At once.
    Now,
    /// When the file system sees fit: until then they are elsewhere too, in an
    /// intent or in the files that hold them.
    Later,
}

#[derive(Serialize, Deserialize)]
struct Packed<'a> {
    hash: ContentId,
    text: Cow<'a, str>,
}

impl Blobs<'_> {
    /// Keeps contents. A few of them wait for the disk only if that is asked
    /// for; a part of one is known by its size, and kept again.
    pub(crate) fn keep(&self, contents: &[&[u8]], haste: Haste) -> Result<(), Error> {
        let mut loose = contents.to_vec();
        if contents.len() >= PACK_FROM {
            let (texts, others): (Vec<&[u8]>, Vec<&[u8]>) =
                contents.iter().partition(|bytes| std::str::from_utf8(bytes).is_ok());
            self.pack(&texts)?;
            loose = others;
        }
        let mut written = Vec::new();
        for bytes in loose {
            let Some(path) = loose_path(&ContentId::of(bytes)) else { continue };
            match self.own.stat(&path)? {
                Some(there)
                    if there.kind == EntryKind::File && there.bytes == bytes.len() as u64 => {}
                _ if haste == Haste::Later => self.own.put(&path, bytes)?,
                _ => {
                    self.own.write_lazily(&path, bytes)?;
                    written.push(path);
                }
            }
        }
        self.own.settle(written.iter().map(PathBuf::as_path))?;
        Ok(())
    }

    fn pack(&self, texts: &[&[u8]]) -> Result<(), Error> {
        let mut lines = Vec::new();
        let mut done = BTreeSet::new();
        for bytes in texts {
            let hash = ContentId::of(bytes);
            if !done.insert(hash.clone()) {
                continue;
            }
            let packed = Packed { hash, text: String::from_utf8_lossy(bytes) };
            serde_json::to_writer(&mut lines, &packed)
                .map_err(|source| Error::Encode { source })?;
            lines.push(b'\n');
        }
        let name = format!("{}.jsonl", ContentId::of(&lines).as_str());
        Ok(self.own.write(&Path::new(PACKS).join(name), &lines)?)
    }

    /// A content, if it was kept.
    pub(crate) fn get(&self, id: &ContentId) -> Result<Option<Vec<u8>>, Error> {
        let Some(path) = loose_path(id) else { return Ok(None) };
        match self.own.read(&path, self.max_bytes) {
            Ok(bytes) if ContentId::of(&bytes) == *id => return Ok(Some(bytes)),
            // A damaged one is none.
            Ok(_) | Err(everfold_disk::Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        for pack in self.packs()? {
            let mut found = None;
            let mut look = |line: &[u8]| {
                let is_it = found.is_none() && contains(line, id.as_str().as_bytes());
                let packed =
                    is_it.then(|| serde_json::from_slice::<Packed<'_>>(line).ok()).flatten();
                found =
                    found.take().or(packed.filter(|p| p.hash == *id).map(|p| p.text.into_owned()));
            };
            jsonl::read(&self.own.path().join(&pack), MAX_LINE_BYTES, &mut look)?;
            if let Some(text) = found {
                return Ok(Some(text.into_bytes()));
            }
        }
        Ok(None)
    }

    /// Whether a content seems to be there, without reading it.
    pub(crate) fn seems_kept(&self, id: &ContentId, bytes: u64) -> Result<bool, Error> {
        let Some(path) = loose_path(id) else { return Ok(true) };
        Ok(self.own.stat(&path)?.is_some_and(|there| there.bytes == bytes))
    }

    fn packs(&self) -> Result<Vec<PathBuf>, Error> {
        match self.own.list(Path::new(PACKS)) {
            Ok(found) => {
                let files = found.into_iter().filter(|entry| entry.kind == EntryKind::File);
                Ok(files.map(|entry| entry.path).collect())
            }
            Err(everfold_disk::Error::NotFound { .. }) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes every content that is not wanted; says how many files went.
    pub(crate) fn retain(&self, wanted: &BTreeSet<ContentId>) -> Result<usize, Error> {
        let mut removed = 0;
        for pack in self.packs()? {
            let mut lines = Vec::new();
            let mut dropped = 0;
            jsonl::read(&self.own.path().join(&pack), MAX_LINE_BYTES, &mut |line| {
                let keep = serde_json::from_slice::<Packed<'_>>(line)
                    .is_ok_and(|p| wanted.contains(&p.hash));
                if keep {
                    lines.extend_from_slice(line);
                    lines.push(b'\n');
                } else {
                    dropped += 1;
                }
            })?;
            if lines.is_empty() {
                self.own.remove(&pack)?;
            } else if dropped > 0 {
                self.own.write(&pack, &lines)?;
            }
            removed += dropped;
        }
        let loose = match self.own.walk(Path::new(BLOBS), usize::MAX) {
            Ok(loose) => loose,
            Err(everfold_disk::Error::NotFound { .. }) => return Ok(removed),
            Err(error) => return Err(error.into()),
        };
        let wanted: BTreeSet<PathBuf> = wanted.iter().filter_map(loose_path).collect();
        for entry in loose.iter().filter(|entry| !wanted.contains(&entry.path)) {
            self.own.remove(&entry.path)?;
            removed += 1;
        }
        Ok(removed)
    }
}

fn loose_path(id: &ContentId) -> Option<PathBuf> {
    let (start, rest) = id.hash()?.split_at_checked(2)?;
    Some(Path::new(BLOBS).join(start).join(rest))
}

fn contains(line: &[u8], word: &[u8]) -> bool {
    line.windows(word.len()).any(|part| part == word)
}
