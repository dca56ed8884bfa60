//! What a review would write, handed to the memories with what it can rest on;
//! and what became of each.

use everfold_kernel::ports::{
    Haste, Kept, Memories, MemoryAuthor, MemoryBefore, MemoryError, MemoryPlacement,
    MemoryProposal, MemoryWriter,
};
use everfold_kernel::testimony::Testimony;
use everfold_kernel::{QuerySource, SessionId};
use everfold_memory_file::index::INDEX_FILE;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps what earns its place.
pub(crate) struct Keeper {
    session: SessionId,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    testimony: Arc<Testimony>,
    kept: Vec<Kept>,
}

impl Keeper {
    pub(crate) fn new(session: SessionId) -> Self {
        Self { session, state: Mutex::default() }
    }

    /// Says what the review is about, before it starts.
    pub(crate) fn begin(&self, testimony: Testimony) {
        self.state().testimony = Arc::new(testimony);
    }

    /// What became of what was proposed so far.
    pub(crate) fn kept(&self) -> Vec<Kept> {
        self.state().kept.clone()
    }

    /// Proposes a file that the reviewer would write.
    pub(crate) async fn write(
        &self,
        memories: &dyn Memories,
        path: &Path,
        text: &str,
        before: MemoryBefore,
    ) -> Result<Kept, MemoryError> {
        if path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(INDEX_FILE)) {
            let reason = "the index is kept by the program, from names and descriptions; leave it";
            return Ok(Kept::Refused { reason: reason.to_owned() });
        }
        let proposal = MemoryProposal {
            text: text.to_owned(),
            place: MemoryPlacement::At { path: path.to_owned(), before },
            testimony: Testimony::clone(&self.state().testimony),
            by: self.author(),
            haste: Haste::AtOnce,
        };
        self.propose(memories, proposal).await
    }

    pub(crate) async fn propose(
        &self,
        memories: &dyn Memories,
        proposal: MemoryProposal,
    ) -> Result<Kept, MemoryError> {
        let kept = memories.keep(proposal).await?;
        self.state().kept.push(kept.clone());
        Ok(kept)
    }

    /// The reviewer, as the history names it.
    pub(crate) fn author(&self) -> MemoryAuthor {
        MemoryAuthor {
            who: MemoryWriter::Agent(QuerySource::Extract.to_string()),
            reason: "kept from the conversation".to_owned(),
            session: Some(self.session.clone()),
            messages: Vec::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
