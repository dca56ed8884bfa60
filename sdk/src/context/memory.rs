//! Memories for a loop of one's own.

use crate::SystemClock;
use everfold_kernel::ports::{
    Clock, Kept, MemoryAuthor, MemoryError, MemoryPlace, MemoryScope, MemoryWriter, RecallQuery,
};
use everfold_kernel::{Attachment, RecordId, Testimony};
use everfold_memory_judge::wish::{WishRules, stated, wishes};
use everfold_memory_service::{Here, HitFilter, Service, ServiceConfig};
use std::path::Path;
use std::sync::Arc;

/// Memories in a directory of Markdown files: what was kept in one conversation
/// is found in the next. Everything here blocks.
///
/// ```
/// use everfold::context::ContextMemory;
///
/// let dir = tempfile::tempdir()?;
/// let memory = ContextMemory::open(dir.path());
/// memory.listen("From now on, use pnpm instead of npm in this project.")?;
/// assert_eq!(std::fs::read_dir(dir.path())?.filter(|file| {
///     file.as_ref().is_ok_and(|file| file.file_name().to_string_lossy().contains("pnpm"))
/// }).count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ContextMemory {
    service: Service,
    terms: ServiceConfig,
}

impl ContextMemory {
    /// The memories of this directory. Nothing is made there before something
    /// is kept.
    #[must_use]
    pub fn open(dir: &Path) -> Self {
        let place = MemoryPlace { scope: MemoryScope::Project, dir: dir.to_owned() };
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let terms = ServiceConfig::default();
        let service = Service::new(vec![place], Here::default(), terms.clone(), &clock);
        Self { service, terms }
    }

    /// Keeps what the person states, in their words.
    ///
    /// # Errors
    /// If the directory cannot be used. That it is not worth keeping is a
    /// [`Kept::Refused`].
    pub fn remember(&self, statement: &str) -> Result<Kept, MemoryError> {
        let record = RecordId::from("");
        let Some(wish) = stated(statement, record.clone()) else {
            return Ok(Kept::Refused { reason: "it says nothing".to_owned() });
        };
        let testimony = Testimony::typed(statement, record);
        self.service.keep(&everfold_extract::proposal(
            &wish,
            &testimony,
            by("stated by the person"),
        ))
    }

    /// Keeps what a message of the person asks to be remembered, by rule and
    /// without a model: "remember that", "from now on", "always", "I am". Gives
    /// what became of each; nothing for most messages.
    ///
    /// # Errors
    /// If the directory cannot be used.
    pub fn listen(&self, message: &str) -> Result<Vec<Kept>, MemoryError> {
        let testimony = Testimony::typed(message, RecordId::from(""));
        let found = wishes(&testimony, WishRules::Standing, &self.terms.extract);
        let keep = |wish| {
            self.service.keep(&everfold_extract::proposal(
                wish,
                &testimony,
                by("said by the person"),
            ))
        };
        found.iter().map(keep).collect()
    }

    /// What a model is to be shown for a text; none where nothing is good enough.
    ///
    /// # Errors
    /// If the directory is there and cannot be listed.
    pub fn recall(&self, query: &RecallQuery) -> Result<Option<Attachment>, MemoryError> {
        Ok(self.service.recall(query, HitFilter::WorthShowing)?.shown)
    }
}

fn by(reason: &str) -> MemoryAuthor {
    MemoryAuthor {
        who: MemoryWriter::Person,
        reason: reason.to_owned(),
        session: None,
        messages: Vec::new(),
    }
}
