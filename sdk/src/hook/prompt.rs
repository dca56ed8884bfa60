//! A message of the person's: the memories that it calls for (R1, R5 to R8).

use super::call::Call;
use super::notes::{Note, Notes};
use super::reply::{Reply, units};
use crate::beside::Beside;
use crate::error::Error;
use crate::memory_dirs::Recaller;
use everfold_foreign::without_hooks;
use everfold_kernel::{Flag, UserOrigin};
use everfold_recall::budget::{fits_session, has_room, is_worth_recalling};
use jiff::Timestamp;

/// Who can be behind a message, if the host says so.
const PERSONS: [&str; 3] = ["", "user", "sdk"];

impl Beside {
    pub(super) fn prompt(
        &self,
        call: &Call,
        notes: &mut Notes,
        now: Timestamp,
    ) -> Result<Reply, Error> {
        // Gemini CLI hands over what it was given at the start as well.
        let prompt = without_hooks(call.text("prompt"));
        let prompt = prompt.trim();
        let limits = self.memories.limits();
        let is_persons = PERSONS.contains(&call.text("source"));
        if !self.is_on(Flag::Recall)
            || !is_persons
            || !is_worth_recalling(prompt, UserOrigin::Human)
            || !has_room(notes.bytes, limits)
        {
            return Ok(Reply::nothing());
        }
        let found = Recaller::new(&self.memories).worth_showing(prompt, now)?;
        let mut context = String::new();
        for hit in found.hits {
            let Some(attachment) = hit.injected else { continue };
            let text = inner(&attachment.rendered);
            let fits = units(&context) + units(text) + 2 <= self.limits.beside.context_units
                && fits_session(notes.bytes, text.len(), limits);
            if !fits || notes.surfaced.contains(&hit.file) {
                continue;
            }
            if !context.is_empty() {
                context.push_str("\n\n");
            }
            context.push_str(text);
            notes.note(Note::Surfaced { path: hit.file, bytes: text.len() });
        }
        Ok(Reply::context(&context))
    }
}

/// A reminder without its envelope: the host puts its own around it.
fn inner(rendered: &str) -> &str {
    let inner = rendered.strip_prefix("<system-reminder>\n");
    inner.and_then(|text| text.strip_suffix("\n</system-reminder>")).unwrap_or(rendered)
}
