//! What outlives a boundary: preserved records, and decisions that still hold.

use super::Half;
use super::index::{Form, Index, MessageKey, Node};
use super::walk::Trunk;
use crate::line::ANCHOR;
use everfold_kernel::ports::LineSpan;
use everfold_kernel::record::Keeps;
use everfold_kernel::{
    Boundary, Decision, Entry, Ledger, MessageId, Record, RecordId, ToolUseId, UserOrigin,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a boundary once its line was read.
#[derive(Debug)]
pub(super) struct Bound {
    /// Records that are still shown, in order.
    pub(super) preserved: Vec<RecordId>,
    /// Their places in that order.
    pub(super) places: BTreeMap<RecordId, usize>,
    keeps: Keeps,
    anchor: Option<RecordId>,
    /// Decisions from before it that still hold.
    pub(super) carried: Vec<Record>,
    /// What a resume point says of it; none where it could not say enough.
    pub(super) draft: Option<Draft>,
}

/// What is to be known of a boundary's line for a resume point (E11).
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) span: LineSpan,
    /// What was spent before it.
    pub(super) ledger: Ledger,
    /// Positions before it whose bodies are still needed.
    pub(super) keep: BTreeSet<usize>,
}

/// A boundary that no summary follows yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) at: usize,
    pub(super) half: Half,
    pub(super) bound: Bound,
    /// Positions before it whose bodies are still needed.
    pub(super) keep: BTreeSet<usize>,
}

impl Pending {
    pub(super) fn new(
        index: &Index,
        at: usize,
        half: Half,
        boundary: &Boundary,
        bounds: &BTreeMap<usize, Bound>,
        ledger: &Ledger,
    ) -> Self {
        let mut preserved = boundary.preserved.clone();
        if preserved.is_empty() {
            preserved = segment(index, boundary.metadata.get("preservedSegment"));
        }
        let keep = with_siblings(index, &preserved);
        // A segment is found by the lines between its ends, which are not kept.
        let is_named = preserved.len() == boundary.preserved.len();
        let span = index.get(at).and_then(|node| node.span).filter(|_| is_named);
        let places = preserved.iter().cloned().zip(0..).collect();
        let anchor = boundary.metadata.get(ANCHOR).and_then(Value::as_str);
        let bound = Bound {
            carried: carried(index, at, boundary, &keep, bounds),
            preserved,
            places,
            keeps: boundary.keeps,
            anchor: anchor.map(RecordId::new),
            draft: span.map(|span| Draft { span, ledger: ledger.clone(), keep: keep.clone() }),
        };
        Self { at, half, bound, keep }
    }

    /// Whether a line shows if the compaction was completed.
    pub(super) fn is_decided_by(&self, index: &Index, at: usize) -> bool {
        let node = index.get(at);
        node.is_some_and(|node| node.form == Form::Message && node.half == self.half)
    }

    /// Whether a message shows that it was: by hanging off the boundary, or
    /// as a summary that hangs off what it preserved.
    pub(super) fn is_confirmed_by(&self, index: &Index, message: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut next = Some(message);
        while let Some(at) = next.filter(|at| *at > self.at && seen.insert(*at)) {
            next = index.parent(at);
        }
        match next {
            Some(at) if at == self.at => true,
            Some(at) => {
                let id = index.get(at).map(|node| &node.id);
                let entry = index.get(message).and_then(|node| node.entry());
                is_summary(entry) && id.is_some_and(|id| self.bound.places.contains_key(id))
            }
            None => false,
        }
    }
}

fn is_summary(entry: Option<&Entry>) -> bool {
    matches!(entry, Some(Entry::User(user)) if user.origin == UserOrigin::CompactSummary)
}

impl Bound {
    /// The position that the preserved records follow: the boundary itself, or
    /// the summary. `after` are positions that follow the boundary, in order.
    pub(super) fn anchor(&self, index: &Index, at: usize, after: &[usize]) -> usize {
        if self.keeps == Keeps::Prefix {
            return at;
        }
        let named = self.anchor.as_ref().and_then(|id| index.position(id));
        let summary =
            after.iter().find(|at| is_summary(index.get(**at).and_then(|node| node.entry())));
        named.or_else(|| summary.copied()).unwrap_or(at)
    }
}

/// The records from a head to a tail, which is how older files name them.
fn segment(index: &Index, segment: Option<&Value>) -> Vec<RecordId> {
    let end = |key| {
        let id = segment?.get(key)?.as_str()?;
        index.position(&RecordId::new(id))
    };
    let (Some(head), Some(tail)) = (end("headUuid"), end("tailUuid")) else {
        return Vec::new();
    };
    let mut ids = Vec::new();
    let mut seen = BTreeSet::new();
    let mut next = Some(tail);
    while let Some(at) = next {
        let Some(node) = index.get(at).filter(|_| seen.insert(at)) else {
            break;
        };
        if node.form != Form::Link {
            ids.push(node.id.clone());
        }
        next = if at == head { None } else { index.parent(at) };
    }
    // Without its head the segment is not what was meant.
    if !seen.contains(&head) {
        return Vec::new();
    }
    ids.reverse();
    ids
}

/// Records, the other blocks of their responses, and the results of their calls.
fn with_siblings(index: &Index, ids: &[RecordId]) -> BTreeSet<usize> {
    let mut kept: BTreeSet<usize> = ids.iter().filter_map(|id| index.position(id)).collect();
    let messages: BTreeSet<MessageKey> =
        kept.iter().filter_map(|at| index.get(*at)?.message()).collect();
    let mut calls = BTreeSet::new();
    for (at, node) in index.held() {
        if node.message().is_some_and(|key| messages.contains(&key)) {
            kept.insert(at);
            calls.extend(node.calls());
        }
        if node.answers().any(|id| calls.contains(id)) {
            kept.insert(at);
        }
    }
    kept
}

/// What of the kept lines decisions can be about.
struct Kept<'a> {
    messages: BTreeSet<MessageId>,
    results: BTreeSet<&'a str>,
}

impl<'a> Kept<'a> {
    fn new(index: &'a Index, kept: &BTreeSet<usize>) -> Self {
        let nodes = || kept.iter().filter_map(|at| index.get(*at));
        Self {
            messages: nodes().filter_map(|node| Some(node.message()?.0)).collect(),
            results: nodes().flat_map(Node::answers).collect(),
        }
    }

    /// Whether a decision holds after a boundary; `newer` are those that do.
    fn is_still_meant(&self, decision: &Decision, newer: &[Record]) -> bool {
        let is_kept = |id: &ToolUseId| self.results.contains(id.as_str());
        match decision {
            Decision::Prelude(_) => !newer.iter().any(is_prelude),
            Decision::Retracted { message_id, .. } => self.messages.contains(message_id),
            Decision::Spilled(spilled) => is_kept(&spilled.tool_use_id),
            Decision::Cleared(cleared) => {
                cleared.results.iter().any(|result| is_kept(&result.tool_use_id))
            }
            Decision::Noted { .. } => !newer.iter().any(is_noted),
            // How far memories were looked for does not change with the view.
            Decision::Extracted(review) if review.put_off.is_none() => {
                !newer.iter().any(is_reviewed)
            }
            Decision::Pinned { .. } | Decision::Unpinned { .. } => true,
            // Ranges are not kept through a boundary, failures are over with it,
            // and money that was spent is in the ledger.
            Decision::CacheEdited { .. }
            | Decision::ServerCleared { .. }
            | Decision::Snipped { .. }
            | Decision::Collapsed { .. }
            | Decision::Voided { .. }
            | Decision::CompactionFailed { .. }
            | Decision::BreakSeen(_)
            | Decision::Extracted(_)
            | Decision::HookFailed { .. }
            | Decision::NotesTried { .. }
            | Decision::Weighed(_)
            | Decision::Rewound(_)
            | Decision::Booked(_) => false,
        }
    }
}

/// Decisions on the branch before a boundary that still hold after it, in order.
fn carried(
    index: &Index,
    boundary_at: usize,
    boundary: &Boundary,
    kept: &BTreeSet<usize>,
    bounds: &BTreeMap<usize, Bound>,
) -> Vec<Record> {
    let kept = Kept::new(index, kept);
    let mut found: Vec<Record> = Vec::new();
    let mut add = |record: &Record| {
        let Entry::Decision(decision) = &record.entry else {
            return;
        };
        // One branch can come by what another carried.
        let is_new = !found.iter().any(|own| own.id == record.id);
        if is_new && kept.is_still_meant(decision, &found) {
            found.push(record.clone());
        }
    };
    let last = boundary.last_before.as_ref();
    let mut next = last.and_then(|id| index.position(id)).or_else(|| boundary_at.checked_sub(1));
    let mut seen = BTreeSet::new();
    let mut first = None;
    while let Some(at) = next.filter(|at| seen.insert(*at)) {
        let body = index.get(at).and_then(|node| node.body.as_ref());
        body.into_iter().flat_map(|body| &body.records).for_each(&mut add);
        first = Some(at);
        next = index.parent(at);
    }
    // The newest one can be on a branch that was left (Q12).
    let own = first.and_then(|at| bounds.get(&at));
    let earlier = own.or_else(|| bounds.values().next_back());
    earlier.into_iter().flat_map(|bound| bound.carried.iter().rev()).for_each(&mut add);
    found.reverse();
    found
}

fn is_prelude(record: &Record) -> bool {
    matches!(&record.entry, Entry::Decision(Decision::Prelude(_)))
}

fn is_reviewed(record: &Record) -> bool {
    matches!(&record.entry, Entry::Decision(Decision::Extracted(_)))
}

fn is_noted(record: &Record) -> bool {
    matches!(&record.entry, Entry::Decision(Decision::Noted { .. }))
}

/// New parents of the preserved records: the first follows the anchor, each
/// other the one before it.
pub(super) fn relinked(
    index: &Index,
    bounds: &BTreeMap<usize, Bound>,
    trunk: &Trunk,
) -> BTreeMap<RecordId, RecordId> {
    let Some((at, bound)) = trunk.boundary.and_then(|at| Some((at, bounds.get(&at)?))) else {
        return BTreeMap::new();
    };
    let anchor = bound.anchor(index, at, &trunk.path);
    let anchor = index.get(anchor).map(|node| node.id.clone());
    let parents = anchor.iter().chain(&bound.preserved);
    let pairs = bound.preserved.iter().cloned().zip(parents.cloned());
    pairs.collect()
}
