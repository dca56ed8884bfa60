//! The end of an update: it is judged, and written if it is taken.

use super::page::Page;
use super::{NotesError, PLACE};
use crate::config::Config;
use crate::event::EndReason;
use everfold_kernel::ports::{Expect, FileError, Transcripts};
use everfold_kernel::{Decision, RecordId, SessionId};
use everfold_memory_judge::secrets::KnownSecrets;
use everfold_notes::Template;
use everfold_notes::apply::judge;
use std::path::Path;
use std::sync::Arc;

/// An update on its way.
pub(super) struct Update {
    pub(super) template: Template,
    /// The notes that the fork was shown.
    pub(super) before: String,
    /// The page that it wrote on.
    pub(super) page: Arc<Page>,
    /// The last record that it saw.
    pub(super) through: RecordId,
    /// The file that it was shown.
    pub(super) expect: Expect,
    pub(super) session: SessionId,
    pub(super) transcripts: Arc<dyn Transcripts>,
    pub(super) config: Arc<Config>,
    /// What was said and is not written down (S15).
    pub(super) secrets: KnownSecrets,
}

impl Update {
    pub(super) fn path(&self) -> &Path {
        self.page.path()
    }

    /// Writes what the fork made of the notes, and gives what goes into the
    /// log; or says why it is thrown away.
    pub(super) async fn settle(&self, end: &EndReason) -> Result<Decision, NotesError> {
        match end {
            EndReason::Completed | EndReason::OutputLimit | EndReason::TooManyRequests(_) => {}
            EndReason::Refused => return Err(NotesError::NotUpdated("the model declined")),
            EndReason::Cancelled | EndReason::SpendingCeiling(_) => {
                return Err(NotesError::NotUpdated("it was stopped"));
            }
            EndReason::Failed(why) => return Err(NotesError::Model(why.clone())),
        }
        let after = self.secrets.mask(&self.config.redact(&self.page.text()));
        let taken = judge(&self.before, &after, &self.template, &self.config.limits)?;
        let (place, text) = (Path::new(PLACE), taken.text.as_bytes());
        let written =
            self.transcripts.replace(&self.session, place, text, self.expect.clone()).await;
        written.map_err(|error| match error {
            FileError::Changed { .. } => {
                NotesError::NotUpdated("they were edited in the meantime and stay unchanged")
            }
            error => error.into(),
        })?;
        Ok(taken.decision(self.through.clone()))
    }
}
