//! A message of the person's: the memories that it calls for (R1, R5 to R8).

use super::call::HostCall;
use super::notes::{Note, Notes};
use super::reply::HostReply;
use crate::error::Error;
use crate::hosts::{HostKind, HostService};
use everfold_foreign::{without_hooks, without_shell_quotes};
use everfold_kernel::ports::{QueryKind, RecallQuery, Urgency};
use everfold_kernel::{Flag, RecordId, Testimony, UserOrigin};
use everfold_memory_judge::{secrets, words};
use everfold_memory_recall::budget::{has_room, is_worth_recalling};
use everfold_memory_recall::inject;
use everfold_memory_service::HitFilter;
use jiff::Timestamp;
use std::path::PathBuf;

/// Bytes that stand around what is shown.
const AROUND: usize = 400;
/// Who can be behind a message, if the host says so.
const PERSONS: [&str; 3] = ["", "user", "sdk"];

impl HostService {
    /// What the message calls for, after what the start of the session has still
    /// to say.
    pub(super) fn prompt(
        &self,
        call: &HostCall,
        notes: &mut Notes,
        now: Timestamp,
    ) -> Result<HostReply, Error> {
        let Some(source) = notes.begun.clone() else { return self.recalled(call, notes) };
        notes.note(Note::Told);
        let start = self.session_start(call, &source, notes, now)?;
        Ok(start.and(self.recalled(call, notes)?))
    }

    fn recalled(&self, call: &HostCall, notes: &mut Notes) -> Result<HostReply, Error> {
        // Gemini CLI hands over what it was given at the start as well.
        let prompt = without_hooks(call.text("prompt"));
        let prompt = match call.host(self.claude.as_ref()) {
            Some(HostKind::Opencode) => without_shell_quotes(&prompt),
            _ => prompt,
        };
        let prompt = prompt.trim();
        let limits = self.memories.limits();
        let is_persons = PERSONS.contains(&call.text("source"));
        if !is_persons {
            return Ok(HostReply::nothing());
        }
        self.note_prompt(prompt, notes);
        if !self.is_on(Flag::Recall)
            || !is_worth_recalling(prompt, UserOrigin::Human)
            || !has_room(notes.bytes, limits)
        {
            return Ok(HostReply::nothing());
        }
        self.context_for(prompt, QueryKind::Prompt, notes)
    }

    /// The memories that a text calls for, as a host takes them.
    pub(super) fn context_for(
        &self,
        text: &str,
        kind: QueryKind,
        notes: &mut Notes,
    ) -> Result<HostReply, Error> {
        let query = RecallQuery {
            text: text.to_owned(),
            kind,
            in_view: notes.surfaced.clone(),
            named: notes.named.clone(),
            injected: notes.bytes,
            // A unit is at least a byte; what stands around the memories is short.
            room: Some(self.limits.beside.context_units.saturating_sub(AROUND)),
            urgency: Urgency::Prompt,
        };
        let found = self.service().recall(&query, HitFilter::WorthShowing)?;
        // What nobody waits for is read on by a worker.
        let work = if found.unread > 0 { HostReply::hand_over() } else { HostReply::nothing() };
        let Some(attachment) = found.shown else { return Ok(work) };
        let text = inner(&attachment.rendered);
        for memory in inject::each(&attachment.data) {
            let (path, bytes) = (PathBuf::from(memory.path), memory.bytes);
            notes.note(Note::Surfaced { path, bytes });
        }
        for path in inject::named(&attachment.data) {
            notes.note(Note::Named { path: path.into() });
        }
        Ok(work.with_context(text))
    }

    /// Notes what the person typed, for a model of the host that saves a memory
    /// by a tool: what it rests on cannot be told otherwise (L5.33).
    fn note_prompt(&self, prompt: &str, notes: &mut Notes) {
        let mut heard = Testimony::default();
        heard.hear(&RecordId::from(""), &words::split(prompt, &[]), prompt);
        let typed: Vec<&str> = heard.by_person().map(|said| said.text.as_str()).collect();
        let typed = secrets::mask(typed.join("\n").trim());
        let end = typed.floor_char_boundary(typed.len().min(self.limits.beside.prompt_bytes));
        if let Some(text) = typed.get(..end).filter(|text| !text.is_empty()) {
            let project = self.memories.project().to_owned();
            notes.note(Note::Prompted { project, text: text.to_owned() });
        }
    }
}

/// A reminder without its envelope: the host puts its own around it.
fn inner(rendered: &str) -> &str {
    let inner = rendered.strip_prefix("<system-reminder>\n");
    inner.and_then(|text| text.strip_suffix("\n</system-reminder>")).unwrap_or(rendered)
}
