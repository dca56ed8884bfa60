//! All lines of a transcript, one conversation.
//!
//! Lines are pushed one by one; [`Rebuild::finish`] gives the conversation
//! that a model should see next. It starts at the newest boundary, follows the
//! branch that was spoken last, and leaves sidechains and branches that were
//! left aside. At a boundary the records before it are let go, so that memory
//! is bounded by what follows the newest boundary and an index of ids.
//!
//! Invariants: every line that is not blank is counted exactly once in
//! [`LineTally`]; a record appears at most once; whatever the lines are, nothing
//! panics and every walk ends.

mod boundary;
mod conversation;
mod index;
mod order;
mod point;
mod shortcut;
mod unpack;
mod walk;

use crate::bookkeeping::Sidelines;
use crate::envelope::Side;
use crate::line::{Decoded, Facts, Gap, Line, LineError, Link, decode, decode_shown};
use boundary::{Bound, Pending};
pub use conversation::{Conversation, LineTally, SkipReason, Skipped};
use everfold_kernel::ports::LineSpan;
use everfold_kernel::{Decision, Entry, Record, RecordId};
use index::{Body, Form, Index, Node};
use jiff::Timestamp;
pub use point::{RESUME_POINT, ResumePoint};
use shortcut::Shortcut;
use std::collections::{BTreeMap, BTreeSet};
use walk::Trunk;

/// Which bodies are held.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Retention {
    /// Those after the newest boundary.
    SinceBoundary,
    Everything,
}

/// Takes in lines and rebuilds the conversation.
#[derive(Debug)]
pub struct Rebuild {
    retention: Retention,
    /// The fields of a result's structured form that are kept; none is all.
    result_fields: Vec<&'static str>,
    index: Index,
    /// Boundaries that a summary follows.
    bounds: BTreeMap<usize, Bound>,
    /// The last boundary, while no summary follows it.
    pending: Option<Pending>,
    notes: Sidelines,
    out: Conversation,
    /// Lines so far, blank ones included.
    number: u64,
    records: u64,
    /// Time for lines that have none.
    latest: Timestamp,
    /// Whether the main conversation has begun. Until then sidechains are
    /// held, because the file may be a sub-agent's own.
    begun: bool,
    /// The last node of each half.
    last: BTreeMap<Half, usize>,
    /// The last node of each half before lines that could not be read.
    gap: BTreeMap<Half, usize>,
    /// Where the line stands that is taken in.
    span: Option<LineSpan>,
    /// The point that it began at.
    shortcut: Option<Shortcut>,
}

impl Default for Rebuild {
    fn default() -> Self {
        Self::new()
    }
}

impl Rebuild {
    /// Starts, holding only what follows the newest boundary.
    #[must_use]
    pub fn new() -> Self {
        Self {
            retention: Retention::SinceBoundary,
            result_fields: Vec::new(),
            index: Index::default(),
            bounds: BTreeMap::new(),
            pending: None,
            notes: Sidelines::default(),
            out: Conversation::default(),
            number: 0,
            records: 0,
            latest: Timestamp::UNIX_EPOCH,
            begun: false,
            last: BTreeMap::new(),
            gap: BTreeMap::new(),
            span: None,
            shortcut: None,
        }
    }

    /// Starts at a resume point. It is to be given the lines of
    /// [`ResumePoint::part`], with their places.
    #[must_use]
    pub fn from_point(point: ResumePoint) -> Self {
        let (shortcut, ledger) = Shortcut::new(point);
        // A point is of a main conversation alone.
        let mut rebuild = Self { shortcut: Some(shortcut), begun: true, ..Self::new() };
        rebuild.out.ledger = ledger;
        rebuild
    }

    /// Starts, holding every record. This is for a conversation that was
    /// taken back to before its newest boundary.
    #[must_use]
    pub fn keeping_all() -> Self {
        Self { retention: Retention::Everything, ..Self::new() }
    }

    /// Keeps of the structured form of a tool's result only this field, and
    /// others that are named so. It often repeats the whole result, and a reader that does not copy the
    /// conversation has no use for it.
    #[must_use]
    pub fn with_only_result_field(mut self, name: &'static str) -> Self {
        self.result_fields.push(name);
        self
    }

    /// Takes in one line that begins at this byte of its file. The conversation
    /// can then say where it may be read from the next time.
    pub fn push_at(&mut self, start: u64, line: &[u8]) {
        self.span = Some(LineSpan { start, bytes: line.len() as u64 });
        if self.shortcut.as_ref().is_some_and(|shortcut| start < shortcut.from()) {
            self.push_before(line);
        } else {
            self.push(line);
        }
        self.span = None;
    }

    /// Takes in one line, with or without its line end.
    pub fn push(&mut self, line: &[u8]) {
        self.number += 1;
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        self.out.tally.lines += 1;
        match self.decoded(line) {
            Ok(Decoded::Record(line)) => self.push_record(*line),
            Ok(Decoded::Link(node)) => self.push_link(*node),
            Ok(Decoded::Bookkeeping(value)) => {
                self.out.tally.bookkeeping += 1;
                self.notes.note(&value);
            }
            Err(error) => {
                for (half, at) in &self.last {
                    self.gap.entry(*half).or_insert(*at);
                }
                self.skip(error.into());
            }
        }
    }

    #[must_use]
    pub fn finish(mut self) -> Conversation {
        let half = self.half();
        let rewound = self.notes.rewound_to.take();
        let start = walk::start(&self.index, half, rewound.as_ref());
        let trunk = walk::trunk(&self.index, &self.bounds, start);
        let resume_point = rewound.is_none().then(|| self.resume_point(&trunk)).flatten();
        let bound = trunk.boundary.and_then(|at| self.bounds.get_mut(&at));
        let carried = bound.map(|bound| std::mem::take(&mut bound.carried));
        let links = boundary::relinked(&self.index, &self.bounds, &trunk);
        let ordered = order::arrange(&mut self.index, &trunk.path, half);

        let mut out = self.out;
        out.resume_point = resume_point;
        out.records = ordered.records;
        out.tally.shown = ordered.lines;
        if let Some(mut carried) = carried {
            // In a damaged file a record can be both before the boundary and after it.
            let shown: BTreeSet<_> = out.records.iter().map(|record| &record.id).collect();
            carried.retain(|record| !shown.contains(&record.id));
            out.tally.shown += carried.len() as u64;
            // Into the one list: a second one would be as large.
            out.records.splice(0..0, carried);
        }
        unpack::restore(&mut out.records, &ordered.packed, &self.result_fields);
        for record in &mut out.records {
            if let Some(parent) = links.get(&record.id) {
                record.parent = Some(parent.clone());
            }
        }
        out.tally.aside = self.records.saturating_sub(out.tally.shown);
        out.tally.skipped = out.skipped.len() as u64;
        out.missing = ordered.missing + trunk.unknown;
        out.unanswered = conversation::unanswered(&out.records);
        out.title = self.notes.title();
        out.names = self.notes.names();
        out.replacements = self.notes.into_replacements();
        out
    }

    /// Where this conversation may be read from the next time.
    fn resume_point(&self, trunk: &Trunk) -> Option<ResumePoint> {
        let (at, bound) = self.bounds.last_key_value()?;
        let is_newest = trunk.boundary == Some(*at) && self.pending.is_none();
        let is_plain = self.begun && !self.notes.has_replacements();
        (is_newest && is_plain).then(|| ResumePoint::of(&self.index, trunk, bound)).flatten()
    }

    /// The half whose conversation this file is: a sub-agent's file has
    /// messages in no other.
    fn half(&self) -> Half {
        let spoke = |half| {
            let mut nodes = self.index.nodes();
            nodes.any(|(_, node)| node.half == half && node.form == Form::Message)
        };
        if !self.begun && spoke(Half::Aside) { Half::Aside } else { Half::Main }
    }

    fn push_link(&mut self, link: Link) {
        let half = Half::of(&link.facts.side);
        match self.insert(link.id.clone(), link.parent, half, Form::Link) {
            Some(_) => self.out.tally.links += 1,
            None => self.skip(SkipReason::Duplicate(link.id)),
        }
    }

    fn insert(
        &mut self,
        id: RecordId,
        parent: Option<RecordId>,
        half: Half,
        form: Form,
    ) -> Option<usize> {
        let at = self.index.insert(Node {
            id,
            parent,
            half,
            form,
            after_gap: self.gap.get(&half).copied(),
            span: self.span,
            body: None,
        })?;
        self.gap.remove(&half);
        self.last.insert(half, at);
        Some(at)
    }

    fn push_record(&mut self, line: Line) {
        let Line { mut record, rest, facts, packed } = line;
        if self.index.position(&record.id).is_some() {
            return self.skip(SkipReason::Duplicate(record.id));
        }
        self.records += 1;
        if facts.gaps.contains(&Gap::Time) {
            record.at = self.latest;
        }
        self.latest = record.at;
        record.parent = record.parent.map(|parent| self.index.shared(parent));
        self.slim(&mut record);
        let half = Half::of(&facts.side);
        if half == Half::Main {
            self.notes.note_record(&record);
        }
        self.note_facts(&facts);
        // What a fork copied was paid for in the session that it came from.
        if let Entry::Decision(Decision::Booked(booking)) = &record.entry
            && facts.forked_from.is_none()
        {
            self.out.ledger.book(booking);
        }
        self.out.went_back |= matches!(record.entry, Entry::Decision(Decision::Rewound(_)));
        let form = Form::of(&record.entry);
        if half == Half::Main && form == Form::Message && !self.begun {
            self.begun = true;
            self.index.release_half(Half::Aside);
        }
        let wanted = half == Half::Main || !self.begun;
        let inserted = self.insert(record.id.clone(), record.parent.clone(), half, form);
        if let (Some(at), true) = (inserted, wanted) {
            if let Entry::Boundary(boundary) = &mut record.entry {
                let ledger = &self.out.ledger;
                let mut pending =
                    Pending::new(&self.index, at, half, boundary, &self.bounds, ledger);
                let shortcut = self.shortcut.as_mut();
                let carried = shortcut.and_then(|own| own.carried_to(&record.id, self.span, at));
                if let Some(carried) = carried {
                    pending.bound.carried = carried;
                }
                boundary.preserved.clone_from(&pending.bound.preserved);
                self.pending = Some(pending);
            }
            let numbered = !facts.gaps.contains(&Gap::BlockIndex);
            let mut records = vec![record];
            records.extend(rest);
            self.index.hold(at, Body { records, numbered, packed });
            self.confirm_boundary(at);
        }
    }

    /// A boundary holds once its summary is there: the first message after it
    /// decides. Until then a crash may have come between them, and what the
    /// boundary would take away is all there is (S6).
    fn confirm_boundary(&mut self, at: usize) {
        let index = &self.index;
        let Some(pending) = self.pending.take_if(|it| it.is_decided_by(index, at)) else {
            return;
        };
        if !pending.is_confirmed_by(index, at) {
            return;
        }
        if self.retention == Retention::SinceBoundary {
            self.index.release_before(pending.at, pending.half, &pending.keep);
            for bound in self.bounds.values_mut() {
                bound.carried = Vec::new();
            }
        }
        self.bounds.insert(pending.at, pending.bound);
    }

    /// A reader that holds little of results takes those that went to disk as
    /// the model saw them.
    fn decoded(&self, line: &[u8]) -> Result<Decoded, LineError> {
        if self.result_fields.is_empty() { decode(line) } else { decode_shown(line) }
    }

    fn slim(&self, record: &mut Record) {
        if let Entry::User(user) = &mut record.entry {
            unpack::slim(user, &self.result_fields);
        }
    }

    fn note_facts(&mut self, facts: &Facts) {
        let out = &mut self.out;
        if out.cwd.is_none() {
            out.cwd.clone_from(&facts.cwd);
        }
        if facts.session.is_some() {
            out.session.clone_from(&facts.session);
        }
        if facts.version.is_some() {
            out.version.clone_from(&facts.version);
        }
    }

    fn skip(&mut self, reason: SkipReason) {
        let line = self.number;
        self.out.skipped.push(Skipped { line, reason });
    }
}

/// Which half of a file a line is in: the main conversation or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Half {
    Main,
    Aside,
}

impl Half {
    fn of(side: &Side) -> Self {
        match side {
            Side::Main => Self::Main,
            Side::Agent(_) => Self::Aside,
        }
    }
}
