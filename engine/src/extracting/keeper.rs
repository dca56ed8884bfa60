//! The gate at work: every file that a review would write goes through it, and
//! what passes goes into the store.

use crate::recalling::listed_as;
use everfold_extract::{Grounds, Known, Proposal, Provenance, Review, Verdict, finished, gate};
use everfold_kernel::limits::{ExtractLimits, Limits};
use everfold_kernel::ports::{
    Bodies, Memories, MemoryAuthor, MemoryBefore, MemoryError, MemoryHead, MemoryLine, MemoryScope,
    MemoryWrite, MemoryWritten,
};
use everfold_kernel::{QuerySource, settings};
use everfold_memfile::frontmatter::Basis;
use everfold_memfile::index::INDEX_FILE;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps what earns its place.
pub(crate) struct Keeper {
    pub(crate) limits: Arc<Limits>,
    /// Whether a person is asked first.
    pub(crate) mode: settings::Review,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    review: Arc<Review>,
    from: Option<Provenance>,
    kept: Kept,
}

/// What came of a review.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    /// Memories that were written.
    pub(crate) saved: Vec<PathBuf>,
    /// Memories that wait for a person's word.
    pub(crate) proposed: Vec<PathBuf>,
    /// What was refused, and why.
    pub(crate) refused: Vec<(PathBuf, String)>,
}

impl Keeper {
    pub(crate) fn new(limits: Arc<Limits>, mode: settings::Review) -> Self {
        Self { limits, mode, state: Mutex::default() }
    }

    /// Says what the review is about, before it starts.
    pub(crate) fn begin(&self, review: Review, from: Provenance) {
        let mut state = self.state();
        state.review = Arc::new(review);
        state.from = Some(from);
    }

    /// What was kept and refused so far.
    pub(crate) fn kept(&self) -> Kept {
        self.state().kept.clone()
    }

    /// Writes what passes the gate.
    pub(crate) async fn write(
        &self,
        memories: &dyn Memories,
        path: &Path,
        text: &str,
        before: MemoryBefore,
    ) -> Result<MemoryWritten, MemoryError> {
        let written = self.write_if_worth(memories, path, text, before).await;
        let mut state = self.state();
        let kept = &mut state.kept;
        match &written {
            Ok((MemoryWritten::Added | MemoryWritten::Updated, path)) => {
                note(&mut kept.saved, path);
            }
            Ok((MemoryWritten::Proposed, path)) => note(&mut kept.proposed, path),
            Ok((MemoryWritten::Unchanged, _)) => {}
            Err(error) => {
                tracing::info!(path = %path.display(), reason = %error, "a memory was refused");
                kept.refused.push((path.to_owned(), error.to_string()));
            }
        }
        drop(state);
        written.map(|(written, _)| written)
    }

    async fn write_if_worth(
        &self,
        memories: &dyn Memories,
        path: &Path,
        text: &str,
        before: MemoryBefore,
    ) -> Result<(MemoryWritten, PathBuf), MemoryError> {
        let refused = |reason: String| MemoryError::Refused { path: path.to_owned(), reason };
        if path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(INDEX_FILE)) {
            let reason = "the index is kept by the program, from names and descriptions; leave it";
            return Err(refused(reason.to_owned()));
        }
        let (review, from) = {
            let state = self.state();
            (Arc::clone(&state.review), state.from.clone())
        };
        let Some(from) = from else {
            return Err(refused("there is nothing under review".to_owned()));
        };
        let heads = memories.scan(self.limits.recall.scan_files, Bodies::Read).await?;
        let known: Vec<Known> = heads.iter().map(known).collect();
        let file = heads.iter().find(|head| head.path == path);
        let file = file.map_or_else(|| path.display().to_string(), listed_as);
        let proposal = Proposal { file: &file, text };
        match gate(proposal, &known, &review, self.limit()) {
            Verdict::Refuse(refusal) => Err(refused(refusal.to_string())),
            Verdict::Accept(grounds) => {
                let path = path.to_owned();
                let write = self.approved(path.clone(), text, before, grounds, &from);
                Ok((memories.write(write).await?, path))
            }
            Verdict::Update { of, grounds } => {
                let target = heads.iter().find(|head| listed_as(head) == of);
                if target.is_some_and(|head| head.scope == MemoryScope::Team) {
                    return Err(refused(format!("{of} says it already, for the whole team")));
                }
                let target = target.map_or_else(|| path.to_owned(), |head| head.path.clone());
                let before = MemoryBefore::Anything;
                let write = self.approved(target.clone(), text, before, grounds, &from);
                Ok((memories.write(write).await?, target))
            }
        }
    }

    fn approved(
        &self,
        path: PathBuf,
        text: &str,
        before: MemoryBefore,
        grounds: Grounds,
        from: &Provenance,
    ) -> MemoryWrite {
        let text = finished(text, &grounds, from);
        let by = MemoryAuthor {
            source: QuerySource::Extract,
            reason: format!("{} in the conversation", grounds.basis.as_str()),
            session: from.session.clone(),
            messages: grounds.messages,
        };
        let line = MemoryLine::Written;
        MemoryWrite { path, text, before, by, review: self.mode, line }
    }

    fn limit(&self) -> &ExtractLimits {
        &self.limits.extract
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn note(paths: &mut Vec<PathBuf>, path: &Path) {
    if !paths.iter().any(|known| known == path) {
        paths.push(path.to_owned());
    }
}

fn known(head: &MemoryHead) -> Known {
    Known {
        file: listed_as(head),
        description: head.description.clone(),
        body: head.body.clone(),
        basis: head.basis.as_deref().and_then(Basis::by_name),
    }
}
