//! The records of a path, with what hangs beside it put in place.
//!
//! A path has one line after the other. Tools that run at once make siblings
//! instead: a response's blocks and their results hang off one another in the
//! order in which they were written. Here blocks of one response are brought
//! together, and results that the path does not pass are added.

use super::Half;
use super::index::{Form, Index, MessageKey, Node};
use crate::line::Packed;
use everfold_kernel::{Entry, Record, RecordId, UserOrigin};
use std::collections::{BTreeMap, BTreeSet};

/// The records of a conversation.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    pub(super) records: Vec<Record>,
    /// The lines that they stood in.
    pub(super) lines: u64,
    /// Lines of the path whose records are no longer held.
    pub(super) missing: u64,
    /// All of what they have in short.
    pub(super) packed: BTreeMap<RecordId, Packed>,
}

/// One response: its blocks, and what was added behind them.
#[derive(Default)]
struct Group {
    blocks: BTreeSet<usize>,
    added: BTreeSet<usize>,
}

/// Takes the records of a path out of the index, in order.
pub(super) fn arrange(index: &mut Index, path: &[usize], half: Half) -> Ordered {
    let mut groups = groups(index, path, half);
    // At once: a list that grows step by step leaves its earlier sizes behind.
    let mut out = Ordered { records: Vec::with_capacity(path.len()), ..Ordered::default() };
    let mut done: BTreeSet<usize> = BTreeSet::new();
    let mut pending: BTreeSet<usize> = BTreeSet::new();
    for &at in path {
        let Some(node) = index.get(at).filter(|node| node.half == half) else {
            continue;
        };
        if node.form == Form::Link || done.contains(&at) {
            continue;
        }
        if let Some(group) = node.message().and_then(|key| groups.remove(&key)) {
            // The first block brings the whole response.
            out.emit_all(index, std::mem::take(&mut pending));
            done.extend(&group.blocks);
            out.emit_response(index, &group.blocks);
            pending = group.added;
            continue;
        }
        let later = if opens_a_turn(node) { BTreeSet::new() } else { pending.split_off(&at) };
        out.emit_all(index, std::mem::replace(&mut pending, later));
        out.emit_all(index, BTreeSet::from([at]));
    }
    out.emit_all(index, pending);
    out
}

impl Ordered {
    fn emit_all(&mut self, index: &mut Index, positions: BTreeSet<usize>) {
        for at in positions {
            match index.take(at) {
                Some(body) => {
                    self.lines += 1;
                    let first = body.records.first().map(|record| record.id.clone());
                    self.packed.extend(first.zip(body.packed));
                    self.records.extend(body.records);
                }
                None => self.missing += 1,
            }
        }
    }

    /// Blocks go by the position that their lines say. Where one of them says
    /// none, all go in file order and are numbered so.
    fn emit_response(&mut self, index: &mut Index, blocks: &BTreeSet<usize>) {
        let mut records = Vec::new();
        let mut numbered = true;
        for &at in blocks {
            if let Some(body) = index.take(at) {
                self.lines += 1;
                numbered &= body.numbered;
                records.extend(body.records);
            }
        }
        let mut next = 0_u32..;
        for record in &mut records {
            if let Entry::Assistant(entry) = &mut record.entry
                && !numbered
            {
                entry.index = next.next().unwrap_or(u32::MAX);
            }
        }
        records.sort_by_key(|record| match &record.entry {
            Entry::Assistant(entry) => entry.index,
            _ => u32::MAX,
        });
        self.records.extend(records);
    }
}

/// Whether results of an earlier response cannot come after this.
fn opens_a_turn(node: &Node) -> bool {
    match node.entry() {
        Some(Entry::User(user)) => {
            matches!(user.origin, UserOrigin::Human | UserOrigin::CompactSummary)
        }
        Some(Entry::Boundary(_)) => true,
        _ => false,
    }
}

/// The responses on a path, with blocks and results that are beside it.
fn groups(index: &Index, path: &[usize], half: Half) -> BTreeMap<MessageKey, Group> {
    let on_path: BTreeSet<usize> = path.iter().copied().collect();
    let on = |at: &usize| index.get(*at).filter(|node| node.half == half);
    let mut groups: BTreeMap<MessageKey, Group> =
        path.iter().filter_map(|at| Some((on(at)?.message()?, Group::default()))).collect();
    let mut callers: BTreeMap<&str, MessageKey> = BTreeMap::new();
    let mine = || index.held().filter(|(_, node)| node.half == half);
    for (at, node) in mine() {
        let Some(key) = node.message() else { continue };
        if let Some(group) = groups.get_mut(&key) {
            group.blocks.insert(at);
            callers.extend(node.calls().map(|id| (id, key.clone())));
        }
    }
    let answers = path.iter().filter_map(on).flat_map(Node::answers);
    let mut answered: BTreeSet<&str> = answers.collect();
    // What was added, with the response that it belongs to.
    let mut added: BTreeMap<usize, MessageKey> = BTreeMap::new();
    for (at, node) in mine().filter(|(at, _)| !on_path.contains(at)) {
        let open = node.answers().find(|id| !answered.contains(id));
        let caller = open.and_then(|id| callers.get(id));
        // Text that was injected behind an added result belongs to it.
        let behind = match node.entry() {
            Some(Entry::Attachment(_) | Entry::Opaque(_)) => {
                index.parent(at).and_then(|parent| added.get(&parent))
            }
            _ => None,
        };
        if let Some(key) = caller.or(behind).cloned() {
            answered.extend(node.answers());
            added.insert(at, key);
        }
    }
    for (at, key) in added {
        if let Some(group) = groups.get_mut(&key) {
            group.added.insert(at);
        }
    }
    groups
}
