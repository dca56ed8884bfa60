//! The points of a conversation that another one was made from.

use crate::session::{Error, Session};
use everfold_kernel::ports::World;
use everfold_kernel::{Record, RecordId, SessionId};
use everfold_transcript::checkpoint::{CheckpointLine, FileBefore};
use everfold_transcript::{Checkpoint, Trace};
use std::collections::BTreeMap;

/// Changes of files that go along into a fork, by the record that they follow.
pub(crate) struct Changes {
    from: SessionId,
    after: BTreeMap<RecordId, Vec<Checkpoint>>,
}

impl Changes {
    /// Those of a session. The two lists have the same records in the same
    /// order, under the old names and the new ones.
    pub(crate) async fn of(
        world: &World,
        from: &SessionId,
        originals: &[Record],
        copies: &[Record],
    ) -> Result<Self, Error> {
        let mut trace = Trace::default();
        world.transcripts.load(from, &mut |line: &[u8]| trace.push(line)).await?;
        let names: BTreeMap<&RecordId, &RecordId> =
            originals.iter().map(|record| &record.id).zip(copies.iter().map(|it| &it.id)).collect();
        let known = names.keys().map(|id| (*id).clone()).collect();
        let mut after: BTreeMap<RecordId, Vec<Checkpoint>> = BTreeMap::new();
        for (record, mut checkpoint) in trace.checkpoints_after(&known) {
            if let Some(name) = names.get(&checkpoint.message) {
                checkpoint.message = (*name).clone();
            }
            after.entry(record).or_default().push(checkpoint);
        }
        Ok(Self { from: from.clone(), after })
    }

    /// Writes those that follow a record into the fork's log, with the copies
    /// that they name.
    pub(crate) async fn copy(&mut self, into: &Session, record: &RecordId) -> Result<(), Error> {
        for checkpoint in self.after.remove(record).into_iter().flatten() {
            if let FileBefore::Kept(name) = &checkpoint.before {
                into.crew.agents.seat().history.adopt(&self.from, name).await;
            }
            let line = checkpoint.line(CheckpointLine::Later, into.world.clock.now());
            into.log.note(&line).await?;
        }
        Ok(())
    }
}
