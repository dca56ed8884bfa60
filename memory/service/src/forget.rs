//! Forgetting for an agent: what a person wrote waits for their word (L5.24).

use crate::Service;
use crate::keep::{author, handed};
use everfold_kernel::ports::{Kept, MemoryAuthor, MemoryError};
use everfold_kernel::settings::{Deed, ReviewMode};
use everfold_memory_store::store::inbox::ProposedChange;
use everfold_memory_store::{Author, By, TopicPath};
use std::path::Path;

impl Service {
    /// Forgets a memory for an agent, by its absolute path.
    ///
    /// # Errors
    /// If there is none, or it cannot be removed.
    pub fn forget(&self, path: &Path, by: &MemoryAuthor) -> Result<Kept, MemoryError> {
        let memory = self.locate(path)?;
        let missing =
            || MemoryError::Memory { path: path.to_owned(), message: "no such memory".to_owned() };
        let tier = self.tier(memory.scope).filter(|tier| tier.is_there()).ok_or_else(missing)?;
        let (store, by) = (tier.store()?, author(by, self.clock.now()));
        // What somebody changed by hand since is theirs.
        let foreign = By { author: Author::Foreign, ..by.clone() };
        store.notice(&foreign).map_err(|error| tier.failed(&error))?;
        let topic = TopicPath::new(&memory.file).map_err(|error| tier.failed(&error))?;
        store.read(&topic).map_err(|_| missing())?;
        let is_persons = store.is_persons(&topic).map_err(|error| tier.failed(&error))?;
        let deed = if is_persons { Deed::DeletesPersons } else { Deed::Usual };
        if self.terms.review.review_of(deed) == ReviewMode::Inbox {
            let wish = ProposedChange::forget(topic);
            let done = store.propose(&[wish], &by).map_err(|error| tier.failed(&error))?;
            return Ok(handed(done, memory));
        }
        let entry = store.forget(&topic, &by).map_err(|error| tier.failed(&error))?;
        let forgotten = Kept::Saved { memory, entry: entry.map(|entry| entry.0) };
        self.share(&forgotten);
        Ok(forgotten)
    }
}
