//! The whole course of a conversation, across every boundary: where the person
//! said something or went back, and which files changed in between (Q12).
//!
//! Lines are pushed one by one. Of each only its place is held; of what the
//! person said, the text.

use crate::checkpoint::Checkpoint;
use crate::line::{Decoded, decode_shown};
use everfold_kernel::record::Rewound;
use everfold_kernel::{Decision, Entry, Record, RecordId, UserOrigin};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The places of all lines of a transcript.
#[derive(Debug, Default)]
pub struct Trace {
    nodes: Vec<Node>,
    by_id: BTreeMap<RecordId, usize>,
    stops: BTreeMap<usize, Stop>,
    checkpoints: Vec<(u64, Checkpoint)>,
    lines: u64,
}

#[derive(Debug)]
struct Node {
    parent: Option<RecordId>,
    line: u64,
}

/// A place that one can go back to.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    pub id: RecordId,
    /// The record before it in the conversation.
    pub before: Option<RecordId>,
    /// Its line in the file, from 1.
    pub line: u64,
    pub at: Timestamp,
    pub kind: StopKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StopKind {
    /// The person said this.
    Said(String),
    /// The person went back.
    WentBack(Rewound),
}

/// What is read of every line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    subtype: Option<Cow<'a, str>>,
    uuid: Option<RecordId>,
    parent_uuid: Option<RecordId>,
    logical_parent_uuid: Option<RecordId>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_compact_summary: bool,
}

impl Trace {
    /// Takes in the next line.
    pub fn push(&mut self, line: &[u8]) {
        self.lines += 1;
        let Ok(head) = serde_json::from_slice::<Head<'_>>(line) else { return };
        let kind = head.kind.as_deref().unwrap_or_default();
        if kind.starts_with("file-history-") {
            let found = serde_json::from_slice::<Value>(line).unwrap_or_default();
            let found = Checkpoint::read(&found).into_iter();
            self.checkpoints.extend(found.map(|checkpoint| (self.lines, checkpoint)));
            return;
        }
        let Some(id) = head.uuid.filter(|_| !head.is_sidechain) else { return };
        let at = self.nodes.len();
        let parent = head.parent_uuid.or(head.logical_parent_uuid);
        if self.by_id.contains_key(&id) {
            return;
        }
        self.by_id.insert(id, at);
        self.nodes.push(Node { parent, line: self.lines });
        let spoken = kind == "user" && !head.is_meta && !head.is_compact_summary;
        if spoken || head.subtype.as_deref() == Some("everfold_rewound") {
            self.stop(at, line);
        }
    }

    fn stop(&mut self, at: usize, line: &[u8]) {
        let Ok(Decoded::Record(decoded)) = decode_shown(line) else { return };
        let Record { id, parent: before, at: when, entry } = decoded.record;
        let kind = match entry {
            Entry::User(user) if user.origin == UserOrigin::Human => {
                let texts: Vec<String> = user
                    .content
                    .iter()
                    .filter(|block| block.kind() == "text")
                    .map(everfold_kernel::Block::plain_text)
                    .collect();
                StopKind::Said(texts.join("\n"))
            }
            Entry::Decision(Decision::Rewound(rewound)) => StopKind::WentBack(rewound),
            _ => return,
        };
        self.stops.insert(at, Stop { id, before, line: self.lines, at: when, kind });
    }

    /// The stops on the way to a record, oldest first.
    #[must_use]
    pub fn stops(&self, leaf: &RecordId) -> Vec<&Stop> {
        let mut stops: Vec<&Stop> =
            self.way(leaf).iter().filter_map(|at| self.stops.get(at)).collect();
        stops.reverse();
        stops
    }

    /// The lines of all records on the way to a record, oldest first.
    #[must_use]
    pub fn lines(&self, leaf: &RecordId) -> Vec<u64> {
        let way = self.way(leaf).into_iter();
        let mut lines: Vec<u64> =
            way.filter_map(|at| self.nodes.get(at)).map(|node| node.line).collect();
        lines.reverse();
        lines
    }

    /// Whether the file has a record.
    #[must_use]
    pub fn has(&self, id: &RecordId) -> bool {
        self.by_id.contains_key(id)
    }

    /// The nodes from a record back to the start.
    fn way(&self, leaf: &RecordId) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        let mut way = Vec::new();
        let mut next = self.by_id.get(leaf).copied();
        while let Some(at) = next.filter(|at| seen.insert(*at)) {
            way.push(at);
            let parent = self.nodes.get(at).and_then(|node| node.parent.as_ref());
            next = parent.and_then(|parent| self.by_id.get(parent).copied());
        }
        way
    }

    /// Every checkpoint with the newest of these records before it: where a
    /// copy of the conversation has to have it. What was before all of them is
    /// left out.
    #[must_use]
    pub fn checkpoints_after(&self, records: &BTreeSet<RecordId>) -> Vec<(RecordId, Checkpoint)> {
        let places: BTreeMap<u64, &RecordId> = records
            .iter()
            .filter_map(|id| Some((self.nodes.get(*self.by_id.get(id)?)?.line, id)))
            .collect();
        let found = self.checkpoints.iter().filter_map(|(line, checkpoint)| {
            let (_, id) = places.range(..line).next_back()?;
            Some(((*id).clone(), checkpoint.clone()))
        });
        found.collect()
    }

    /// For each file that changed after a line, what it was there and what
    /// was written last.
    #[must_use]
    pub fn changed_since(&self, line: u64) -> Vec<Checkpoint> {
        let mut found: BTreeMap<_, Checkpoint> = BTreeMap::new();
        for (_, checkpoint) in self.checkpoints.iter().filter(|(at, _)| *at > line) {
            found
                .entry(&checkpoint.path)
                .and_modify(|first| first.wrote.clone_from(&checkpoint.wrote))
                .or_insert_with(|| checkpoint.clone());
        }
        found.into_values().collect()
    }
}
