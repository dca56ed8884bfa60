//! What is wrong with a store, and mending what can be mended without
//! judgement: the index.

use crate::error::Error;
use crate::journal::EntryId;
use crate::path::TopicPath;
use crate::store::{By, Note, Store, TopicHead};
use everfold_kernel::ports::Names;
use everfold_memory_file::Memory;
use everfold_memory_file::index::{INDEX_FILE, breach, reach};
use everfold_memory_judge::drift::{Reference, references};
use everfold_memory_judge::secrets;
use everfold_memory_judge::similar::{NEAR, pairs};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Issue {
    /// A line of an index points to nothing.
    BrokenPointer {
        index: String,
        /// Where the line leads.
        target: String,
    },
    /// No line of an index leads to a memory.
    Orphan(TopicPath),
    /// The index is over its caps.
    OverCaps(String),
    /// A memory's frontmatter, or its encoding, is not right.
    Faulty(TopicPath, String),
    /// A memory has no description: recall will not find it.
    NoDescription(TopicPath),
    /// A memory is too large; only its start is read.
    TooLarge(TopicPath, u64),
    /// Two memories say nearly the same.
    NearCopy(TopicPath, TopicPath),
    /// A memory names something that is no longer there.
    Drift(TopicPath, Reference),
    /// A memory holds a secret.
    Secret(TopicPath, String),
}

impl Issue {
    /// Whether [`Store::fix`] mends it.
    #[must_use]
    pub fn is_mendable(&self) -> bool {
        matches!(self, Self::BrokenPointer { .. } | Self::Orphan(_) | Self::OverCaps(_))
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BrokenPointer { index, target } => {
                write!(f, "{index} points to {target}, which does not exist")
            }
            Self::Orphan(path) => write!(f, "{path} is not in the index"),
            Self::OverCaps(reason) => f.write_str(reason),
            Self::Faulty(path, fault) => write!(f, "{path}: {fault}"),
            Self::NoDescription(path) => {
                write!(f, "{path} has no description, so it will not be recalled")
            }
            Self::TooLarge(path, bytes) => {
                write!(f, "{path} has {bytes} bytes; only its start is read")
            }
            Self::NearCopy(one, other) => write!(f, "{one} and {other} say nearly the same"),
            Self::Drift(path, gone) => write!(f, "{path} {gone}"),
            Self::Secret(path, finding) => write!(f, "{path} holds {finding}"),
        }
    }
}

impl Store {
    /// What memories name that could be looked for (L6.8).
    ///
    /// # Errors
    /// If the store cannot be listed.
    pub fn names(&self) -> Result<Names, Error> {
        let mut names = Names::default();
        for topic in self.scan(usize::MAX)? {
            let Ok(read) = self.read(&topic.path) else { continue };
            for found in references(Memory::parse(&read.text).body) {
                found.collect(&mut names);
            }
        }
        Ok(names)
    }

    /// Looks for everything that is wrong. `is_gone` says whether something
    /// that a memory names is no longer there, given the day it was written.
    ///
    /// # Errors
    /// If the store cannot be listed.
    pub fn check(
        &self,
        mut is_gone: impl FnMut(&Reference, Date) -> bool,
    ) -> Result<Vec<Issue>, Error> {
        let topics = self.scan(usize::MAX)?;
        let mut texts = BTreeMap::new();
        let mut issues = Vec::new();
        for topic in &topics {
            let Some(text) = self.check_topic(topic, &mut issues) else { continue };
            let written = topic.front.modified.unwrap_or(topic.modified);
            let day = written.to_zoned(TimeZone::system()).date();
            let drifted = references(Memory::parse(&text).body)
                .into_iter()
                .filter(|found| is_gone(found, day));
            issues.extend(drifted.map(|found| Issue::Drift(topic.path.clone(), found)));
            texts.insert(topic.path.as_str(), text);
        }
        issues.extend(near_copies(&texts));
        let mut found = self.check_index(&topics, &texts)?;
        found.append(&mut issues);
        Ok(found)
    }

    /// Mends the index: pointers that lead nowhere go, memories without one
    /// get one, and too many of them move to sub-indexes. One entry in the
    /// history; none if nothing had to be done.
    ///
    /// # Errors
    /// If the index cannot be read or written.
    pub fn fix(&self, by: &By) -> Result<Option<EntryId>, Error> {
        let topics = self.scan(usize::MAX)?;
        let issues = self.check_index(&topics, &BTreeMap::new())?;
        let orphans: Vec<&TopicHead> = topics
            .iter()
            .rev()
            .filter(|topic| issues.contains(&Issue::Orphan(topic.path.clone())))
            .collect();
        let broken: Vec<(&str, &str)> = issues
            .iter()
            .filter_map(|issue| match issue {
                Issue::BrokenPointer { index, target } => Some((index.as_str(), target.as_str())),
                _ => None,
            })
            .collect();
        self.mend_index(&broken, &orphans, by)
    }

    fn check_topic(&self, topic: &TopicHead, issues: &mut Vec<Issue>) -> Option<String> {
        let path = || topic.path.clone();
        if let Some(fault) = &topic.fault {
            issues.push(Issue::Faulty(path(), fault.clone()));
        }
        let read = match self.read(&topic.path) {
            Ok(read) => read,
            Err(error) => {
                issues.push(Issue::Faulty(path(), error.to_string()));
                return None;
            }
        };
        if let Some(Note::Cut { bytes }) = read.note {
            issues.push(Issue::TooLarge(path(), bytes));
            return None;
        }
        if topic.front.description.is_none() && topic.fault.is_none() {
            issues.push(Issue::NoDescription(path()));
        }
        let secrets = secrets::find(&read.text);
        issues.extend(secrets.iter().map(|finding| Issue::Secret(path(), finding.to_string())));
        Some(read.text)
    }

    fn check_index(
        &self,
        topics: &[TopicHead],
        texts: &BTreeMap<&str, String>,
    ) -> Result<Vec<Issue>, Error> {
        let index = self.read_text(INDEX_FILE)?.map(|read| read.text).unwrap_or_default();
        let there: BTreeSet<&str> = topics.iter().map(|topic| topic.path.as_str()).collect();
        let read = |path: &str| {
            let text = || self.read_text(path).ok().flatten().map(|read| read.text);
            texts.get(path).cloned().or_else(text)
        };
        let found = reach(&index, read);
        let mut issues = Vec::new();
        for broken in found.broken {
            issues.push(Issue::BrokenPointer { index: broken.from, target: broken.target });
        }
        let orphans = there.iter().filter(|path| !found.reached.contains(**path));
        issues.extend(orphans.map(|path| Issue::Orphan(TopicPath::found((*path).to_owned()))));
        issues.extend(breach(&index, self.caps()).map(|over| Issue::OverCaps(over.to_string())));
        Ok(issues)
    }
}

fn near_copies(texts: &BTreeMap<&str, String>) -> Vec<Issue> {
    let named = |path: &str| TopicPath::found(path.to_owned());
    let pairs = pairs(texts.iter().map(|(path, text)| (*path, text.as_str())), NEAR);
    pairs.into_iter().map(|pair| Issue::NearCopy(named(pair.one), named(pair.other))).collect()
}
