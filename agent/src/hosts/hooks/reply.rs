//! What a host gets: text for its model, or nothing (CONTRACTS 2.7).

use super::call::HostCall;
use everfold_kernel::record::neutralise;
use serde_json::{Map, Value, json};

/// An answer to a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostReply {
    context: Option<String>,
    /// What the host's model is to do before it stops.
    task: Option<String>,
    /// What the person is told.
    notice: Option<String>,
    work: Work,
}

/// Whether there is something left to do when the host goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Work {
    #[default]
    None,
    Left,
}

impl HostReply {
    /// Nothing.
    pub(super) fn nothing() -> Self {
        Self::default()
    }

    /// Nothing for the host, and something for a worker.
    pub(super) fn hand_over() -> Self {
        Self { work: Work::Left, ..Self::default() }
    }

    /// The host's model goes on, with this to do.
    pub(super) fn go_on(task: &str) -> Self {
        Self { task: Some(task.to_owned()), ..Self::default() }
    }

    /// Text for the model. It cannot close the envelope that the host puts
    /// around it (S4).
    pub(super) fn context(text: &str) -> Self {
        Self::nothing().with_context(text)
    }

    /// The same, with this text.
    pub(super) fn with_context(self, text: &str) -> Self {
        let text = text.trim();
        let context = (!text.is_empty()).then(|| neutralise(text));
        Self { context, ..self }
    }

    /// Both, this one first.
    pub(super) fn and(self, other: Self) -> Self {
        let texts = [self.context, other.context];
        let context: Vec<String> = texts.into_iter().flatten().collect();
        Self {
            context: (!context.is_empty()).then(|| context.join("\n\n")),
            task: self.task.or(other.task),
            notice: self.notice.or(other.notice),
            work: if self.work == Work::Left { Work::Left } else { other.work },
        }
    }

    /// The same, and the person is told something.
    pub(super) fn with_notice(self, notice: Option<String>) -> Self {
        Self { notice, ..self }
    }

    /// Whether a worker is to be started ([`super::HostService::work`]).
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.work == Work::Left
    }

    /// What goes to standard output: JSON for events that take text, and
    /// nothing at all otherwise, as plain text could be taken for context.
    #[must_use]
    pub fn output(&self, call: &HostCall) -> Option<String> {
        let mut output = Map::new();
        if let Some(notice) = &self.notice {
            output.insert("systemMessage".to_owned(), json!(notice));
        }
        let context = self.context.as_ref().filter(|_| call.event.takes_context());
        if let Some(task) = &self.task {
            output.insert("decision".to_owned(), json!("block"));
            output.insert("reason".to_owned(), json!(task));
        } else if let Some(context) = context {
            let told = json!({"hookEventName": call.name, "additionalContext": context});
            output.insert("hookSpecificOutput".to_owned(), told);
        }
        (!output.is_empty()).then(|| Value::Object(output).to_string())
    }
}

/// How much a host counts a text as.
pub(super) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}
