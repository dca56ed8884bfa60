//! A compaction in which the running notes stand for the conversation (L3.6).

use crate::view::LadderView;
use everfold_compact::apply::{CompactionContext, Extras, settle};
use everfold_compact::{
    AppliedCompaction, CompactionScope, Plan, Rejection, Summariser, Summary, Trigger,
};
use everfold_kernel::{Class, Classify, RecordId};
use everfold_notes::{Notes, keep_from};

/// Why the notes are no summary this time.
#[derive(Debug, thiserror::Error)]
pub enum NotesUnfit {
    #[error("no notes yet")]
    None,
    #[error("they are empty")]
    Empty,
    #[error(transparent)]
    Uncovered(#[from] everfold_notes::plan::Nothing),
    #[error(transparent)]
    Layer(#[from] everfold_compact::Error),
    #[error(transparent)]
    Rejected(#[from] Rejection),
}

impl Classify for NotesUnfit {
    fn class(&self) -> Class {
        Class::Degrade
    }
}

/// What goes where the notes are the summary.
#[derive(Debug)]
pub struct NotesPlan {
    /// The first record that stays.
    pub first: RecordId,
    pub plan: Plan,
    text: String,
}

impl NotesPlan {
    /// Plans it: what the notes cover goes, as far as enough stays beside them.
    /// `path` is where the notes can be read in full.
    ///
    /// # Errors
    /// If they cover nothing, or not enough.
    pub fn new(view: LadderView<'_>, notes: &Notes<'_>, path: &str) -> Result<Self, NotesUnfit> {
        let through = view.fold.noted().ok_or(NotesUnfit::None)?;
        if notes.is_blank() {
            return Err(NotesUnfit::Empty);
        }
        let first = keep_from(view.fold, through, view.limits)?;
        let scope = CompactionScope::UpTo(first.clone());
        let plan = Plan::new(view.fold, scope, Trigger::Auto)?;
        Ok(Self { first, plan, text: notes.shortened(path, view.limits) })
    }

    /// Puts the notes in place.
    ///
    /// # Errors
    /// If the result would be too long or hardly smaller.
    pub fn settle(
        &self,
        view: LadderView<'_>,
        extras: &Extras,
    ) -> Result<AppliedCompaction, NotesUnfit> {
        let LadderView { fold, window, limits, .. } = view;
        let past = self.plan.past(fold, limits);
        let setting = CompactionContext { fold, window, limits };
        let summary = Summary::checked(setting, &past, &self.text, Summariser::Notes);
        Ok(settle(setting, &self.plan, &summary, extras)?)
    }
}
