//! Where a conversation can be read from without what stands before (E11).
//!
//! A long transcript is mostly what was compacted away. A resume point is a
//! line of our own behind a boundary: it says where that boundary's line
//! begins, which single lines from before it are still needed, and what had
//! been spent by then. With those lines and all from the boundary on, a
//! rebuild comes to the same conversation as with the whole file.
//!
//! A point is a shortcut and never the truth: a place that holds another line
//! than it says, or lines after it that lead to what it left out, make it
//! void, and the file is read whole.

use super::boundary::{Bound, Draft};
use super::index::Index;
use super::walk::Trunk;
use everfold_kernel::ports::{LineSpan, TranscriptPart};
use everfold_kernel::{Ledger, Record, RecordId, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How the line of a resume point begins.
pub const RESUME_POINT: &str = "{\"type\":\"everfold-resume-point\"";
const KIND: &str = "everfold-resume-point";

/// A place in a transcript to begin at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResumePoint {
    /// The boundary that the conversation starts at.
    pub(super) boundary: RecordId,
    /// Where its line begins.
    pub(super) from: u64,
    /// Records from before it that are still shown, with what belongs to
    /// them, in the order of the file.
    pub(super) kept: Vec<Place>,
    /// Decisions from before it that still hold, in the order of the log.
    pub(super) carried: Vec<Place>,
    /// What was spent before it.
    pub(super) ledger: Ledger,
}

/// Where the line of a record stands: start, bytes, uuid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Place(u64, u64, pub(super) RecordId);

impl Place {
    pub(super) fn new(span: LineSpan, id: &RecordId) -> Self {
        Self(span.start, span.bytes, id.clone())
    }

    pub(super) fn span(&self) -> LineSpan {
        LineSpan { start: self.0, bytes: self.1 }
    }
}

impl ResumePoint {
    /// Reads a line; none where it is no point.
    #[must_use]
    pub fn decode(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// The line, without its newline.
    #[must_use]
    pub fn encode(&self, session: &SessionId) -> String {
        let mut line = json!({"type": KIND, "sessionId": session});
        if let (Some(line), Ok(Value::Object(own))) =
            (line.as_object_mut(), serde_json::to_value(self))
        {
            line.extend(own);
        }
        line.to_string()
    }

    /// What has to be read.
    #[must_use]
    pub fn part(&self) -> TranscriptPart {
        let mut lines: Vec<LineSpan> =
            self.kept.iter().chain(&self.carried).map(Place::span).collect();
        lines.sort_unstable();
        lines.dedup();
        TranscriptPart { lines, from: self.from }
    }

    /// The point of the boundary that a conversation starts at. None where a
    /// line that it needs has no place, or says less than the rebuild knows.
    pub(super) fn of(index: &Index, trunk: &Trunk, bound: &Bound) -> Option<Self> {
        let Draft { span, ledger, keep } = bound.draft.as_ref()?;
        let at = trunk.boundary.filter(|_| trunk.unknown == 0)?;
        let place =
            |at: usize| index.get(at).and_then(|node| Some(Place::new(node.span?, &node.id)));
        let kept: Option<Vec<Place>> = keep.iter().map(|at| place(*at)).collect();
        let decided = |record: &Record| index.position(&record.id).and_then(place);
        let carried: Option<Vec<Place>> = bound.carried.iter().map(decided).collect();
        Some(Self {
            boundary: index.get(at)?.id.clone(),
            from: span.start,
            kept: kept?,
            carried: carried?,
            ledger: ledger.clone(),
        })
    }
}
