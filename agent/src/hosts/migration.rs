//! From a store of our own into the one that an agent shares with us (X6).
//!
//! What is copied stays where it was, so that nothing can be lost; what comes in
//! is in the history of the shared store and can be taken back there. Near-copies
//! of what is there already are merged by the judge, or left out.

use crate::error::Error;
use everfold_kernel::limits::ExtractLimits;
use everfold_kernel::ports::{
    Clock, Haste, MemoryAuthor, MemoryPlace, MemoryPlacement, MemoryProposal, MemoryScope,
    MemoryWriter,
};
use everfold_kernel::{Provenance, RecordId, Testimony, Utterance};
use everfold_memory_file::Memory;
use everfold_memory_file::index::is_sub_index;
use everfold_memory_judge::{Case, Known, Target};
use everfold_memory_service::{Foreseen, Here, Service, ServiceConfig, foreseen};
use everfold_memory_store::shelf::shelf;
use everfold_memory_store::store::{ExpectedContent, MemoryTarget, Save};
use everfold_memory_store::{By, Store, TopicPath};
use std::path::Path;
use std::sync::Arc;

/// What became of the memories of all projects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migration {
    /// Those that came in, as `<project>/<file>`.
    pub added: Vec<String>,
    /// Those that became part of another.
    pub merged: Vec<String>,
    /// Those that another says already.
    pub known: Vec<String>,
}

impl Migration {
    /// Whether there was nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.merged.is_empty()
    }
}

/// Brings the memories of every project under one home into another's. Says
/// what was done; without a pass, what would be.
///
/// # Errors
/// If a store cannot be read or written.
pub fn migrate(
    from: &Path,
    to: &Path,
    pass: Pass,
    clock: &Arc<dyn Clock>,
) -> Result<Migration, Error> {
    let mut done = Migration::default();
    let Ok(projects) = std::fs::read_dir(from.join("projects")) else { return Ok(done) };
    let mut slugs: Vec<String> =
        projects.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    slugs.sort();
    for slug in slugs {
        let place = |home: &Path| home.join("projects").join(&slug).join("memory");
        let (own, shared) = (place(from), place(to));
        let is_same =
            own.canonicalize().ok().is_some_and(|own| shared.canonicalize().ok() == Some(own));
        if own.is_dir() && !own.is_symlink() && !is_same {
            let mut moving = Moving { slug: &slug, to: &shared, pass, clock, done: &mut done };
            moving.project(&own)?;
        }
    }
    Ok(done)
}

/// Whether anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// It is.
    Write,
    /// It is only looked at.
    Look,
}

struct Moving<'a> {
    slug: &'a str,
    to: &'a Path,
    pass: Pass,
    clock: &'a Arc<dyn Clock>,
    done: &'a mut Migration,
}

impl Moving<'_> {
    fn project(&mut self, own: &Path) -> Result<(), Error> {
        let store = Store::open(own)?;
        let mut topics: Vec<TopicPath> =
            store.scan(usize::MAX)?.into_iter().map(|topic| topic.path).collect();
        topics.sort();
        if topics.is_empty() {
            return Ok(());
        }
        let place = MemoryPlace { scope: MemoryScope::Project, dir: self.to.to_owned() };
        let here = Here { branch: None, worktree: None };
        let service = Service::new(vec![place], here, ServiceConfig::default(), self.clock);
        for topic in topics {
            let text = store.read(&topic)?.text;
            if !is_sub_index(&text) {
                self.memory(&service, &topic, &text)?;
            }
        }
        Ok(())
    }

    fn memory(&mut self, service: &Service, topic: &TopicPath, text: &str) -> Result<(), Error> {
        let name = format!("{}/{topic}", self.slug);
        let proposal = proposal(text);
        let foreseen = match self.pass {
            Pass::Write => service.foresee(&proposal)?,
            Pass::Look => self.looked(&proposal),
        };
        match foreseen {
            Foreseen::Known(_) => self.done.known.push(name),
            Foreseen::Change(_) => {
                if self.pass == Pass::Write {
                    service.keep(&proposal)?;
                }
                self.done.merged.push(name);
            }
            // What would be refused today was taken once: it comes along as it is.
            Foreseen::News | Foreseen::Refused(_) => {
                let is_new = self.pass == Pass::Look || self.copy(topic, text)?;
                let list = if is_new { &mut self.done.added } else { &mut self.done.known };
                list.push(name);
            }
        }
        Ok(())
    }

    /// What would become of a memory, by a look at the files: opening the store
    /// would note what it holds.
    fn looked(&self, proposal: &MemoryProposal) -> Foreseen {
        let there = shelf(self.to).unwrap_or_default();
        let known: Vec<Known> = there
            .iter()
            .map(|memory| {
                let front = memory.front();
                Known {
                    file: memory.path.clone(),
                    name: front.name.clone().unwrap_or_default(),
                    description: front.description.clone().unwrap_or_default(),
                    body: memory.body().to_owned(),
                    basis: front.basis,
                }
            })
            .collect();
        foreseen(&Case {
            text: &proposal.text,
            target: Target::New,
            known: &known,
            testimony: &proposal.testimony,
            today: self.clock.today(),
            limits: &ExtractLimits::default(),
        })
    }

    /// Copies a memory, with all that it says of itself. Says whether it was new.
    fn copy(&self, topic: &TopicPath, text: &str) -> Result<bool, Error> {
        let store = Store::open(self.to)?;
        let there = self.to.join(topic.as_path());
        if std::fs::read_to_string(&there).is_ok_and(|there| there == text) {
            return Ok(false);
        }
        let named = || Memory::parse(text).front.name.unwrap_or_else(|| topic.to_string());
        let place = if there.exists() {
            MemoryTarget::Named(named())
        } else {
            MemoryTarget::At(topic.clone())
        };
        let by = By::person("imported from the separate store", self.clock.now());
        let expect = ExpectedContent::Nothing;
        store.save(&Save { place, text, expect, line: None, ended: &[] }, &by)?;
        Ok(true)
    }
}

/// A memory as the person's word: it was theirs to keep once.
fn proposal(text: &str) -> MemoryProposal {
    let said =
        Utterance { record: RecordId::from(""), by: Provenance::PERSON, text: text.to_owned() };
    MemoryProposal {
        text: text.to_owned(),
        place: MemoryPlacement::In { scope: MemoryScope::Project },
        testimony: Testimony { said: vec![said], ..Testimony::default() },
        by: MemoryAuthor {
            who: MemoryWriter::Person,
            reason: "imported from the separate store".to_owned(),
            session: None,
            messages: Vec::new(),
        },
        haste: Haste::AtOnce,
    }
}
