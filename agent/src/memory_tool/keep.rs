//! Reading and writing as the model sees it: memories, and what it proposed.

use super::error::Refused;
use super::path::Target;
use super::{SOURCE, Tool};
use everfold_kernel::ports::{
    Haste, Kept, MemoryAuthor, MemoryBefore, MemoryPlacement, MemoryProposal, MemoryWriter,
};
use everfold_kernel::{Provenance, RecordId, Utterance};
use everfold_memory_file::index::INDEX_FILE;
use everfold_memory_store::store::inbox::ProposalId;
use everfold_memory_store::{Author, Error, TopicPath};
use std::collections::BTreeSet;

/// A file that was read to be changed.
#[derive(Clone)]
pub(super) struct Open {
    pub(super) text: String,
    before: MemoryBefore,
    /// The proposal that it is, where it waits.
    waiting: Option<ProposalId>,
}

impl Open {
    /// A file that is not there.
    pub(super) fn nothing() -> Self {
        Self { text: String::new(), before: MemoryBefore::Absent, waiting: None }
    }
}

impl Tool<'_> {
    /// What a file holds, or would hold; none where there is none.
    pub(super) fn read(&self, target: &Target) -> Result<Option<Open>, Refused> {
        let read = match target {
            Target::Top => return Ok(None),
            Target::Index => self.store.read_index(),
            Target::Topic(topic) => match self.waiting(topic)? {
                Some((id, Some(text))) => {
                    let before = MemoryBefore::Anything;
                    return Ok(Some(Open { text, before, waiting: Some(id) }));
                }
                Some((_, None)) => return Ok(None),
                None => match self.store.read(topic) {
                    Ok(read) => Ok(Some(read)),
                    Err(Error::NotFound { .. }) => Ok(None),
                    Err(error) => Err(error),
                },
            },
        };
        Ok(read?.map(|read| {
            let before = MemoryBefore::Text(read.text.clone());
            Open { text: read.text, before, waiting: None }
        }))
    }

    /// What this tool proposed for a memory: its new text, or that it goes.
    fn waiting(&self, topic: &TopicPath) -> Result<Option<(ProposalId, Option<String>)>, Refused> {
        Ok(self
            .proposed()?
            .into_iter()
            .rfind(|(_, path, _)| path == topic)
            .map(|(id, _, text)| (id, text)))
    }

    /// All that it proposed, the newest last.
    pub(super) fn proposed(&self) -> Result<Vec<(ProposalId, TopicPath, Option<String>)>, Refused> {
        let own = Author::Agent { source: SOURCE.to_owned() };
        let waiting = self.store.inbox()?;
        let own = waiting.into_iter().filter(|proposal| proposal.author == own);
        Ok(own
            .flat_map(|proposal| {
                let id = proposal.id;
                proposal.changes.into_iter().map(move |change| {
                    let text = change.text();
                    (id, change.path, text)
                })
            })
            .collect())
    }

    pub(super) fn write(&self, target: &Target, text: &str, open: &Open) -> Result<(), Refused> {
        let Target::Topic(topic) = target else {
            return refused(self.keep(INDEX_FILE, text, open)?);
        };
        let overtaken = self.waiting(topic)?;
        if let Some((id, _)) = &overtaken {
            self.store.overtaken(*id, self.by)?;
        }
        let before = match &overtaken {
            // It was to go, and is still there; now it comes again.
            Some(_) => MemoryBefore::Anything,
            None => open.before.clone(),
        };
        let kept = self.keep(topic.as_str(), text, &Open { before, ..open.clone() })?;
        let done = match &kept {
            // A near-copy joins what waits under another name. The model would
            // look for its file in vain.
            Kept::Proposed { .. } if self.waiting(topic)?.is_none() => Err(Refused::WaitsElsewhere),
            _ => refused(kept),
        };
        if done.is_err() && open.waiting.is_some() {
            // What waited before waits on.
            self.keep(topic.as_str(), &open.text, open)?;
        }
        done
    }

    fn keep(&self, file: &str, text: &str, open: &Open) -> Result<Kept, Refused> {
        let mut testimony = self.desk.testimony.clone();
        if !self.is_known(text, open) {
            let (record, by) = (RecordId::from(""), Provenance::MODEL);
            testimony.said.push(Utterance { record, by, text: text.to_owned() });
        }
        let path = self.store.dir().join(file);
        let proposal = MemoryProposal {
            text: text.to_owned(),
            place: MemoryPlacement::Exactly { path, before: open.before.clone() },
            testimony,
            by: author(),
            haste: Haste::AtOnce,
        };
        Ok(self.desk.service.keep(&proposal)?)
    }

    /// Whether a text is nothing but lines that the person typed, or that are
    /// in force: it may be too short to be compared by its words.
    fn is_known(&self, text: &str, open: &Open) -> bool {
        let active = open.waiting.is_none().then_some(open.text.as_str());
        let typed = self.desk.testimony.by_person().map(|said| said.text.as_str());
        let known: BTreeSet<&str> =
            typed.chain(active).flat_map(str::lines).map(str::trim).collect();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.all(|line| known.contains(line))
    }

    pub(super) fn forget(&self, topic: &TopicPath) -> Result<(), Refused> {
        if let Some((id, _)) = self.waiting(topic)? {
            self.store.overtaken(id, self.by)?;
        }
        let path = self.store.dir().join(topic.as_path());
        if path.exists() {
            self.desk.service.forget(&path, &author())?;
        }
        Ok(())
    }

    pub(super) fn move_to(&self, topic: &TopicPath, new: TopicPath) -> Result<(), Refused> {
        let open = self.read(&Target::Topic(topic.clone()))?;
        match open {
            Some(open) if open.waiting.is_some() => {
                self.forget(topic)?;
                self.write(&Target::Topic(new), &open.text, &Open::nothing())
            }
            _ => {
                self.store.rename(topic, &new, self.by)?;
                Ok(())
            }
        }
    }
}

fn author() -> MemoryAuthor {
    MemoryAuthor {
        who: MemoryWriter::Agent(SOURCE.to_owned()),
        reason: String::new(),
        session: None,
        messages: Vec::new(),
    }
}

fn refused(kept: Kept) -> Result<(), Refused> {
    match kept {
        Kept::Refused { reason } => Err(Refused::Gate(reason)),
        _ => Ok(()),
    }
}
