//! What a team shares: told of each change, asked before an index is read.

use crate::Service;
use everfold_kernel::ports::{Kept, MemoryScope};

/// What keeps a team's memories in step with what the others have (F1).
pub trait TeamLink: Send + Sync {
    /// An index is about to be read: brings in what is new, and waits for that
    /// only for a moment.
    fn pull(&self);

    /// A memory of the team was changed here.
    fn changed(&self);
}

impl Service {
    /// What was changed in the team's place goes to the others (F1).
    pub(crate) fn share(&self, kept: &Kept) {
        let is_teams = kept.memory().is_some_and(|memory| memory.scope == MemoryScope::Team);
        if let Some(team) = self.terms.team.as_ref().filter(|_| is_teams && kept.entry().is_some())
        {
            team.changed();
        }
    }
}
