//! The log of a conversation: what was said and decided, in order, on disk.
//!
//! It appends and does nothing else. A record is on disk before anybody acts on
//! it, so that whatever ends the process, a resumed session is the one that was
//! running. Lines that are no records go through it too: see [`LineWriter`].

use crate::session::Error;
use everfold_kernel::ports::{Clock, SessionClaim, TranscriptError, Transcripts};
use everfold_kernel::{Entry, Record, RecordId, SessionId};
use everfold_transcript::{Envelope, encode};
use serde_json::Value;
use std::sync::Arc;

/// Where a boundary says which messages it kept.
pub(crate) const KEPT_SEGMENT: &str = "preservedSegment";

/// The log of one session.
pub(crate) struct Log {
    pub(crate) id: SessionId,
    /// What every line says besides its record.
    pub(crate) envelope: Envelope,
    /// The newest record of the branch that is gone on with.
    pub(crate) last: Option<RecordId>,
    lines: LineWriter,
    clock: Arc<dyn Clock>,
    /// Ours alone, from before it was read (S13); of a new one, from its first
    /// record on.
    claim: Option<SessionClaim>,
}

/// Writes lines of a log that are no records of its conversation: titles, where
/// to resume from, what files were before they were changed, and what a fork
/// takes over. Clones write the same log.
#[derive(Clone)]
pub(crate) struct LineWriter {
    id: SessionId,
    transcripts: Arc<dyn Transcripts>,
}

impl LineWriter {
    pub(crate) async fn write(&self, line: &str) -> Result<(), TranscriptError> {
        self.transcripts.append(&self.id, line.as_bytes()).await
    }
}

impl Log {
    pub(crate) fn new(
        id: SessionId,
        envelope: Envelope,
        transcripts: Arc<dyn Transcripts>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let lines = LineWriter { id: id.clone(), transcripts };
        Self { id, envelope, last: None, lines, clock, claim: None }
    }

    /// A name for the next record.
    pub(crate) fn fresh_id(&self) -> RecordId {
        RecordId::from(self.clock.fresh_uuid())
    }

    /// Keeps other processes from writing it (S13).
    pub(crate) fn claim(&mut self) -> Result<(), TranscriptError> {
        if self.claim.is_none() {
            self.claim = Some(self.lines.transcripts.claim(&self.id)?);
        }
        Ok(())
    }

    /// Writes a record, and gives it to those who project it.
    pub(crate) async fn append(&mut self, id: RecordId, entry: Entry) -> Result<Record, Error> {
        let parent = match &entry {
            Entry::Boundary(_) => None,
            _ => self.last.clone(),
        };
        let record = Record { id, parent, at: self.clock.now(), entry };
        let line = encode(&record, &self.envelope);
        self.envelope.previews.clear();
        self.claim()?;
        self.lines.write(&line).await?;
        self.last = Some(record.id.clone());
        Ok(record)
    }

    /// Writes a line that changes nothing of the conversation.
    pub(crate) async fn note(&self, line: &str) -> Result<(), TranscriptError> {
        self.lines.write(line).await
    }

    /// For those that write such lines from tasks of their own.
    pub(crate) fn lines(&self) -> &LineWriter {
        &self.lines
    }

    /// Prepares a boundary: it names the record that follows it, by which other
    /// programs find its summary, and the one before it, from which decisions
    /// that outlive it are found: a pin may be newer than the last message.
    /// The name of what follows, where it is one.
    pub(crate) fn joined(&self, entry: &mut Entry) -> Option<RecordId> {
        let Entry::Boundary(boundary) = entry else { return None };
        let summary = self.clock.fresh_uuid();
        let key = everfold_transcript::line::ANCHOR;
        boundary.metadata.insert(key.into(), summary.clone().into());
        let segment = boundary.metadata.get_mut(KEPT_SEGMENT);
        if let Some(segment) = segment.and_then(Value::as_object_mut) {
            segment.insert(key.into(), summary.clone().into());
        }
        boundary.last_before.clone_from(&self.last);
        Some(summary.into())
    }
}
