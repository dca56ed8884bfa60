//! A rebuild that begins at a resume point (E11).

use super::index::{Body, Form, Index, Node};
use super::point::{Place, ResumePoint};
use super::{Half, Rebuild};
use crate::line::{Decoded, Gap, Line};
use everfold_kernel::ports::LineSpan;
use everfold_kernel::{Ledger, Record, RecordId};
use std::collections::{BTreeMap, BTreeSet};

/// What a point promised, and what of it came.
#[derive(Debug)]
pub(super) struct Shortcut {
    boundary: RecordId,
    from: u64,
    carried_order: Vec<RecordId>,
    kept: BTreeSet<RecordId>,
    /// Lines that have not come yet.
    awaited: BTreeMap<u64, Place>,
    carried: BTreeMap<RecordId, Record>,
    /// Where the boundary is.
    begins_at: Option<usize>,
}

impl Shortcut {
    pub(super) fn new(point: ResumePoint) -> (Self, Ledger) {
        let ResumePoint { boundary, from, kept, carried, ledger } = point;
        let awaited = kept.iter().chain(&carried);
        let shortcut = Self {
            boundary,
            from,
            awaited: awaited.map(|place| (place.span().start, place.clone())).collect(),
            kept: kept.into_iter().map(|place| place.2).collect(),
            carried_order: carried.into_iter().map(|place| place.2).collect(),
            carried: BTreeMap::new(),
            begins_at: None,
        };
        (shortcut, ledger)
    }

    /// Where the boundary's line begins.
    pub(super) fn from(&self) -> u64 {
        self.from
    }

    /// Decisions that were carried to the boundary that the point is of, once
    /// that comes by; none for any other.
    pub(super) fn carried_to(
        &mut self,
        id: &RecordId,
        span: Option<LineSpan>,
        at: usize,
    ) -> Option<Vec<Record>> {
        let is_own = *id == self.boundary && span.is_some_and(|span| span.start == self.from);
        is_own.then(|| {
            self.begins_at = Some(at);
            let own = self.carried_order.iter().filter_map(|id| self.carried.remove(id));
            own.collect()
        })
    }

    /// Whether everything came that was promised, and whether what follows
    /// the boundary hangs together with it.
    pub(super) fn holds(&self, index: &Index) -> bool {
        let Some(boundary) = self.begins_at.filter(|_| self.awaited.is_empty()) else {
            return false;
        };
        let mut after = index.nodes().skip(boundary).filter(|(_, node)| node.half == Half::Main);
        after.all(|(at, node)| node.parent.is_none() || index.parent(at).is_some())
    }
}

impl Rebuild {
    /// Takes in a line from before the boundary, if it is what the point says.
    pub(super) fn push_before(&mut self, line: &[u8]) {
        let decoded = self.decoded(line.trim_ascii());
        let (Some(shortcut), Some(span)) = (&mut self.shortcut, self.span) else { return };
        let Some(place) = shortcut.awaited.get(&span.start).filter(|own| own.span() == span) else {
            return;
        };
        let Ok(Decoded::Record(line)) = decoded else { return };
        let Line { mut record, rest, facts, packed } = *line;
        if record.id != place.2 || Half::of(&facts.side) != Half::Main {
            return;
        }
        shortcut.awaited.remove(&span.start);
        let is_kept = shortcut.kept.contains(&record.id);
        if shortcut.carried_order.contains(&record.id) {
            shortcut.carried.insert(record.id.clone(), record.clone());
        }
        self.slim(&mut record);
        self.latest = record.at;
        let form = if is_kept { Form::of(&record.entry) } else { Form::Other };
        let inserted = self.index.insert(Node {
            id: record.id.clone(),
            parent: record.parent.clone(),
            half: Half::Main,
            form,
            after_gap: None,
            span: Some(span),
            body: None,
        });
        if let Some(at) = inserted.filter(|_| is_kept) {
            let numbered = !facts.gaps.contains(&Gap::BlockIndex);
            let records = std::iter::once(record).chain(rest).collect();
            self.index.hold(at, Body { records, numbered, packed });
        }
    }

    /// Whether the lines so far are enough: for a rebuild that began at a
    /// resume point, whether that point is good. Where it is not, the file has
    /// to be read whole.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        let Some(shortcut) = &self.shortcut else { return true };
        let is_confirmed = shortcut.begins_at.is_some_and(|at| self.bounds.contains_key(&at));
        is_confirmed
            && shortcut.holds(&self.index)
            && self.out.skipped.is_empty()
            && !self.out.went_back
            && self.notes.rewound_to.is_none()
    }
}
