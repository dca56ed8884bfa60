//! What calls have to know of a conversation that tell others of it: whose words
//! it has, and which keys were said in it.

use super::ToolContext;
use everfold_kernel::provenance::Source;
use everfold_memory_judge::secrets::KnownSecrets;

impl ToolContext {
    /// Says which keys were said, before a call that tells others of it.
    pub fn knows_secrets(&self, secrets: KnownSecrets) {
        self.state().secrets = secrets;
    }

    /// A text without them.
    pub(crate) fn masked(&self, text: &str) -> String {
        self.state().secrets.mask(text)
    }

    /// Whose words the model's own are, as another agent is to take them.
    pub(crate) fn spoken(&self) -> Source {
        self.state().heard.map_or(Source::Model, |heard| heard.max(Source::Model))
    }
}
