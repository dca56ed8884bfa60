//! The log of a conversation: what was said and decided, in order, on disk.
//!
//! It appends and does nothing else. A record is on disk before anybody acts on
//! it, so that whatever ends the process, a resumed session is the one that was
//! running.

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
    transcripts: Arc<dyn Transcripts>,
    clock: Arc<dyn Clock>,
    /// Ours alone, from before it was read (S13); of a new one, from its first
    /// record on.
    claim: Option<SessionClaim>,
}

impl Log {
    pub(crate) fn new(
        id: SessionId,
        envelope: Envelope,
        transcripts: Arc<dyn Transcripts>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { id, envelope, last: None, transcripts, clock, claim: None }
    }

    /// A name for the next record.
    pub(crate) fn fresh_id(&self) -> RecordId {
        RecordId::from(self.clock.fresh_uuid())
    }

    /// Keeps other processes from writing it (S13).
    pub(crate) fn claim(&mut self) -> Result<(), TranscriptError> {
        if self.claim.is_none() {
            self.claim = Some(self.transcripts.claim(&self.id)?);
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
        self.transcripts.append(&self.id, line.as_bytes()).await?;
        self.last = Some(record.id.clone());
        Ok(record)
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
