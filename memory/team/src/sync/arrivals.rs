//! What the others have, as far as it can be a memory here.
//!
//! Whoever can write to the shared place can put anything there. What is no
//! memory, or must not be one, stays there: it is passed over here and named.

use super::{FOLDER, HeldMemory, HeldSide, TeamSync, base_file};
use crate::ancestor::{AncestorHeld, BaseFile, TeamBase};
use crate::error::Error;
use everfold_kernel::ports::{TeamFile, TeamFileKind, TeamHead};
use everfold_memory_file::index::{INDEX_FILE, is_sub_index};
use everfold_memory_file::{Memory, MemoryType};
use everfold_memory_judge::gate;
use everfold_memory_store::TopicPath;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Arrivals {
    /// What is new or changed since the base.
    texts: BTreeMap<String, (String, String)>,
    /// All memories that they have.
    there: BTreeSet<String>,
    held: BTreeMap<String, AncestorHeld>,
}

impl Arrivals {
    pub(super) fn read(
        sync: &TeamSync<'_>,
        base: &TeamBase,
        head: &TeamHead,
    ) -> Result<Self, Error> {
        let mut news =
            Self { texts: BTreeMap::new(), there: BTreeSet::new(), held: BTreeMap::new() };
        let mut wanted: Vec<(&str, &TeamFile)> = Vec::new();
        for (name, file) in &head.files {
            // All else in the shared place is somebody's own.
            let Some(path) = name.strip_prefix(FOLDER) else { continue };
            if path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(INDEX_FILE)) {
                continue;
            }
            news.there.insert(path.to_owned());
            if base.files.get(path).is_some_and(|known| known.version == file.version) {
                continue;
            }
            match base.held.get(path).filter(|held| held.version == file.version) {
                Some(known) => {
                    news.held.insert(path.to_owned(), known.clone());
                }
                None => match fault(path, file, sync.limits.file_bytes) {
                    Some(why) => news.hold(path, file, why),
                    None => wanted.push((path, file)),
                },
            }
        }
        let versions: Vec<String> = wanted.iter().map(|(_, file)| file.version.clone()).collect();
        let contents = sync.remote.contents(&versions)?;
        for ((path, file), bytes) in wanted.into_iter().zip(contents) {
            match memory_text(path, bytes) {
                Ok(text) => {
                    news.texts.insert(path.to_owned(), (file.version.clone(), text));
                }
                Err(why) => news.hold(path, file, why.to_string()),
            }
        }
        Ok(news)
    }

    fn hold(&mut self, path: &str, file: &TeamFile, why: String) {
        let version = file.version.clone();
        self.held.insert(path.to_owned(), AncestorHeld { version, why });
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    pub(super) fn is_held(&self, path: &str) -> bool {
        self.held.contains_key(path)
    }

    /// What they made of a memory since the base; outer none: nothing.
    #[expect(clippy::option_option, reason = "no change, or a change to nothing")]
    pub(super) fn change(&self, path: &str, base: Option<&BaseFile>) -> Option<Option<String>> {
        match self.texts.get(path) {
            Some((_, text)) => Some(Some(text.clone())),
            None if base.is_some() && !self.there.contains(path) => Some(None),
            None => None,
        }
    }

    /// What is not taken in.
    pub(super) fn held(&self) -> Vec<HeldMemory> {
        let named = |(path, held): (&String, &AncestorHeld)| HeldMemory {
            path: path.clone(),
            why: held.why.clone(),
            side: HeldSide::There,
        };
        self.held.iter().map(named).collect()
    }

    /// The state in common once all of this is taken in.
    pub(super) fn common(&self, base: &TeamBase, head: &TeamHead) -> TeamBase {
        let mut files = BTreeMap::new();
        for path in self.there.iter().filter(|path| !self.is_held(path)) {
            let file = match self.texts.get(path) {
                Some((version, text)) => Some(base_file(version, text)),
                None => base.files.get(path).cloned(),
            };
            files.extend(file.map(|file| (path.clone(), file)));
        }
        TeamBase { revision: head.revision.clone(), files, held: self.held.clone() }
    }
}

/// What is wrong with a file before it is looked into.
fn fault(path: &str, file: &TeamFile, most: u64) -> Option<String> {
    if file.kind == TeamFileKind::Other {
        return Some("it is a link or something else that is not a file".to_owned());
    }
    if file.bytes > most {
        return Some(format!("it has {} bytes; at most {most} are accepted", file.bytes));
    }
    TopicPath::new(path).err().map(|error| error.to_string())
}

/// Why a memory is not shared, or not taken in.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unshared {
    #[error("it is not UTF-8")]
    NoText,
    #[error("it is a list of memories; each member has their own")]
    Index,
    #[error("it has {bytes} bytes; at most {most} are shared")]
    TooLong { bytes: u64, most: u64 },
    #[error("it holds {0}; whoever put it there must revoke and remove it")]
    Secret(String),
    #[error("it is about a person, and stays private")]
    Private,
    #[error(transparent)]
    Gate(gate::GateRefusal),
}

/// The text of a memory that may be taken in.
fn memory_text(path: &str, bytes: Vec<u8>) -> Result<String, Unshared> {
    let text = String::from_utf8(bytes).map_err(|_| Unshared::NoText)?;
    if is_sub_index(&text) {
        return Err(Unshared::Index);
    }
    sharable(path, &text)?;
    Ok(text)
}

/// Whether a memory may be shared, in either direction.
pub(super) fn sharable(path: &str, text: &str) -> Result<(), Unshared> {
    match gate::clean(text).and_then(|()| gate::clean(path)) {
        Err(gate::GateRefusal::Secret(kind)) => return Err(Unshared::Secret(kind.to_string())),
        Err(refusal) => return Err(Unshared::Gate(refusal)),
        Ok(()) => {}
    }
    match Memory::parse(text).front.kind {
        Some(MemoryType::User) => Err(Unshared::Private),
        _ => Ok(()),
    }
}
