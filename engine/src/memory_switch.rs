//! Memory off and on within a session (L5.31).
//!
//! What was sent stays as it is: the memory section and the index are part of
//! the prefix. So the model is told by a reminder, which is in the log like all
//! else, and the program holds to it: nothing is looked for, brought in or
//! written while memory is off.

use crate::permit::Verdict;
use crate::session::{Error, Session};
use crate::tools::MEMORY_SEARCH as SEARCH;
use everfold_kernel::record::reminder;
use everfold_kernel::{Attachment, Entry};
use serde_json::{Value, json};

/// The kind of the attachment that says which.
pub(crate) const KIND: &str = "memory_switch";

const OFF: &str = "The person has switched memory off for this conversation. Go on as if \
                   MEMORY.md were empty: use, mention and save nothing of it until they \
                   switch it on.";
const ON: &str = "The person has switched memory on again.";

/// Whether a session uses memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemorySwitch {
    /// It does, where there is any.
    #[default]
    On,
    /// It does not.
    Off,
}

impl Session {
    /// Whether this session uses memory.
    #[must_use]
    pub fn memory_switch(&self) -> MemorySwitch {
        self.memory_switch
    }

    /// Switches memory off or on. The model is told with the next message.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn switch_memory(&mut self, to: MemorySwitch) -> Result<(), Error> {
        if to == self.memory_switch {
            return Ok(());
        }
        self.prefetch = None;
        self.memory_switch = to;
        self.open_memories();
        if self.fold.prelude().is_none() && to == MemorySwitch::On {
            return Ok(());
        }
        self.ensure_beginning().await?;
        self.attach_switch().await
    }

    /// Tells the model, unless it is as usual and was never otherwise.
    pub(crate) async fn attach_switch(&mut self) -> Result<(), Error> {
        let (text, on) = match self.memory_switch {
            MemorySwitch::On => (ON, true),
            MemorySwitch::Off => (OFF, false),
        };
        let last = self.shown_data(KIND).last().and_then(|data| data.get("on")?.as_bool());
        if last.unwrap_or(true) == on {
            return Ok(());
        }
        let rendered = reminder(text);
        let attachment = Attachment {
            kind: KIND.to_owned(),
            rendered,
            data: json!({"on": on}),
            provenance: None,
        };
        self.append(Entry::Attachment(attachment)).await?;
        Ok(())
    }

    /// Follows what the log says, when a session is resumed.
    pub(crate) fn follow_switch(&mut self, kind: &str, data: &Value) {
        if let (KIND, Some(on)) = (kind, data.get("on").and_then(Value::as_bool)) {
            self.memory_switch = if on { MemorySwitch::On } else { MemorySwitch::Off };
            self.open_memories();
        }
    }

    /// What is refused while memory is off.
    pub(crate) fn without_memory(&self, tool: &str) -> Option<Verdict> {
        let reason = "the person has switched memory off".to_owned();
        (self.memory_switch == MemorySwitch::Off && tool == SEARCH)
            .then_some(Verdict::Deny { reason })
    }

    /// Lets tools write memories without asking, or not.
    fn open_memories(&mut self) {
        let memories = self.world.memories.iter().flat_map(|memories| memories.places());
        let dirs = match self.memory_switch {
            MemorySwitch::On => memories.map(|place| place.dir.clone()).collect(),
            MemorySwitch::Off => Vec::new(),
        };
        self.permit.set_writable(dirs);
    }
}
