//! What a host says: an event and its fields (CONTRACTS 2.7). Unknown fields
//! are passed over, missing ones are as good as empty, and bytes that are no
//! text are replaced: a host's input is never a reason to fail.

use crate::hosts::HostKind;
use crate::session_files::is_there;
use everfold_kernel::{Class, Classify};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// What happened in the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostEvent {
    /// A session starts, or goes on after a summary.
    SessionStart,
    /// The person sent a message.
    UserPromptSubmit,
    /// A tool was used.
    PostToolUse,
    /// A tool failed.
    PostToolUseFailure,
    /// The conversation is about to be summarised.
    PreCompact,
    /// It was.
    PostCompact,
    /// The answer is complete.
    Stop,
    /// That of a sub-agent is.
    SubagentStop,
    /// The session ends.
    SessionEnd,
    /// Something that is not our business.
    Other,
}

impl HostEvent {
    /// The event of a name, as Claude Code, Codex or Gemini CLI write it.
    #[must_use]
    pub fn by_name(name: &str) -> Self {
        match name {
            "SessionStart" => Self::SessionStart,
            "UserPromptSubmit" | "BeforeAgent" => Self::UserPromptSubmit,
            "PostToolUse" | "AfterTool" => Self::PostToolUse,
            "PostToolUseFailure" => Self::PostToolUseFailure,
            "PreCompact" | "PreCompress" => Self::PreCompact,
            "PostCompact" => Self::PostCompact,
            "Stop" | "AfterAgent" => Self::Stop,
            "SubagentStop" => Self::SubagentStop,
            "SessionEnd" => Self::SessionEnd,
            _ => Self::Other,
        }
    }

    /// Whether the host takes text for the model at this event.
    pub(super) fn takes_context(self) -> bool {
        matches!(
            self,
            Self::SessionStart
                | Self::UserPromptSubmit
                | Self::PostToolUse
                | Self::PostToolUseFailure
        )
    }
}

/// Why the input of a hook is no call.
#[derive(Debug, thiserror::Error)]
pub enum HostCallError {
    /// It is JSON, but no object.
    #[error("the input of the hook is not a JSON object")]
    NoObject,
    /// It is not JSON.
    #[error("the input of the hook is not JSON: {0}")]
    NoJson(#[source] serde_json::Error),
    /// Nobody says what happened.
    #[error("neither the command nor the input names an event")]
    NoEvent,
}

impl Classify for HostCallError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

/// One call of a hook.
#[derive(Clone, Debug, PartialEq)]
pub struct HostCall {
    /// The event.
    pub event: HostEvent,
    /// The event as the host calls it.
    pub name: String,
    fields: Map<String, Value>,
    host: Option<HostKind>,
}

impl HostCall {
    /// Reads an input. The event is the one that was named, else the one that
    /// the input names.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(named: Option<&str>, input: &[u8]) -> Result<Self, HostCallError> {
        let text = String::from_utf8_lossy(input);
        let text = text.trim_start_matches('\u{feff}').trim();
        let fields = match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err(HostCallError::NoObject),
            Err(error) => return Err(HostCallError::NoJson(error)),
        };
        let said = fields.get("hook_event_name").and_then(Value::as_str);
        let Some(name) = named.or(said).filter(|name| !name.is_empty()) else {
            return Err(HostCallError::NoEvent);
        };
        let host = HostKind::of_event(name);
        Ok(Self { event: HostEvent::by_name(name), name: name.to_owned(), fields, host })
    }

    /// The same, from a host that said who it is.
    #[must_use]
    pub fn of_host(self, host: Option<HostKind>) -> Self {
        Self { host: host.or(self.host), ..self }
    }

    /// Who calls, as far as that can be told.
    pub(super) fn host(&self, claude: Option<&PathBuf>) -> Option<HostKind> {
        let by_transcript =
            || HostKind::of_transcript(Path::new(self.text("transcript_path")), claude);
        self.host.or_else(by_transcript)
    }

    /// A field that is text; one that is not there is empty.
    pub(super) fn text(&self, field: &str) -> &str {
        self.fields.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// A field inside of an object.
    pub(super) fn inner(&self, object: &str, field: &str) -> &str {
        let inner = self.fields.get(object).and_then(|object| object.get(field));
        inner.and_then(Value::as_str).unwrap_or_default()
    }

    /// A field, whatever it is.
    pub(super) fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &str {
        self.text("session_id")
    }

    /// The directory that the host works in, if it says so and it is there.
    #[must_use]
    pub fn cwd(&self) -> Option<PathBuf> {
        let cwd = Path::new(self.text("cwd"));
        (cwd.is_absolute() && cwd.is_dir()).then(|| cwd.to_owned())
    }

    /// The file that the host keeps the conversation in, or what stands for it.
    pub(super) fn transcript(&self) -> Option<PathBuf> {
        let path = Path::new(self.text("transcript_path"));
        (path.is_absolute() && is_there(path)).then(|| path.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x1_inputs_are_read_whatever_else_they_hold() {
        let call =
            HostCall::parse(None, b"{\"hook_event_name\":\"Stop\",\"new\":[1],\"session_id\":7}");
        let call = call.unwrap();
        assert_eq!((call.event, call.session()), (HostEvent::Stop, ""));
        let bytes = b"\xef\xbb\xbf{\"prompt\":\"a\xff b\"}";
        let call = HostCall::parse(Some("UserPromptSubmit"), bytes).unwrap();
        assert_eq!(call.text("prompt"), "a\u{fffd} b");
        assert_eq!(call.cwd(), None);
        assert_eq!(HostCall::parse(Some("Later"), b"{}").unwrap().event, HostEvent::Other);
    }

    #[test]
    fn x1_what_is_no_input_is_said() {
        for input in [&b""[..], b"null", b"[]", b"{", b"{}", b"\xff\xfe"] {
            assert!(HostCall::parse(None, input).is_err(), "{input:?}");
        }
    }
}
