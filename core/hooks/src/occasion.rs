//! What happened, as handlers read it on standard input.

use crate::event::Event;
use serde_json::{Map, Value, json};
use std::path::Path;

/// What every handler is told.
#[derive(Clone, Debug)]
pub struct Base<'a> {
    /// The session.
    pub session_id: &'a str,
    /// Its transcript.
    pub transcript_path: &'a Path,
    /// The working directory.
    pub cwd: &'a Path,
    /// How permissions are decided.
    pub permission_mode: &'a str,
    /// The effort asked for.
    pub effort: Option<&'a str>,
    /// The sub-agent in which it happened: its id and its kind.
    pub agent: Option<(&'a str, &'a str)>,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Occasion<'a> {
    /// A conversation starts: `startup`, `resume`, `clear`, `compact` or `fork`.
    SessionStart {
        /// How.
        source: &'a str,
        /// The model that answers.
        model: &'a str,
    },
    /// The person said something.
    UserPromptSubmit {
        /// What.
        prompt: &'a str,
        /// `user`, or `sdk` where a program speaks.
        source: &'a str,
    },
    /// The person called a skill, or a prompt of a server.
    UserPromptExpansion {
        /// `slash_command` or `mcp_prompt`.
        kind: &'a str,
        /// Its name.
        name: &'a str,
        /// What followed.
        args: &'a str,
        /// Where it is from.
        source: &'a str,
        /// What was typed.
        prompt: &'a str,
    },
    /// A tool is about to run.
    PreToolUse(Call<'a>),
    /// A tool has run.
    PostToolUse {
        /// The call.
        call: Call<'a>,
        /// What it answered.
        response: &'a Value,
        /// How long it took.
        duration_ms: u64,
    },
    /// A tool has failed.
    PostToolUseFailure {
        /// The call.
        call: Call<'a>,
        /// What it answered.
        error: &'a str,
        /// How long it took.
        duration_ms: u64,
    },
    /// A call was refused.
    PermissionDenied {
        /// The call.
        call: Call<'a>,
        /// Why.
        reason: &'a str,
    },
    /// The person is asked for something.
    Notification {
        /// The words.
        message: &'a str,
        /// Such as `permission_prompt`.
        kind: &'a str,
    },
    /// A sub-agent starts.
    SubagentStart {
        /// Its id.
        id: &'a str,
        /// Its kind.
        kind: &'a str,
    },
    /// A sub-agent is done.
    SubagentStop {
        /// Its id.
        id: &'a str,
        /// Its kind.
        kind: &'a str,
        /// Its own transcript.
        transcript: &'a Path,
        /// Whether it goes on because a hook said so.
        again: bool,
        /// What it said last.
        last: &'a str,
    },
    /// The model is done.
    Stop {
        /// Whether it goes on because a hook said so.
        again: bool,
        /// What it said last.
        last: &'a str,
        /// What still runs beside it.
        tasks: &'a [Task],
    },
    /// The turn failed.
    StopFailure {
        /// Why.
        error: &'a str,
        /// What was said last.
        last: &'a str,
    },
    /// An instruction file was loaded.
    InstructionsLoaded {
        /// Which.
        path: &'a Path,
        /// `User`, `Project`, `Local` or `Managed`.
        kind: &'a str,
        /// Why, such as `session_start`.
        reason: &'a str,
    },
    /// A compaction is about to be made.
    PreCompact {
        /// `manual` or `auto`.
        trigger: &'a str,
        /// What the person wants kept in mind.
        instructions: Option<&'a str>,
    },
    /// A compaction was made.
    PostCompact {
        /// `manual` or `auto`.
        trigger: &'a str,
        /// The summary.
        summary: &'a str,
    },
    /// The conversation is left.
    SessionEnd {
        /// `clear`, `resume`, `logout`, `prompt_input_exit` or `other`.
        reason: &'a str,
    },
}

/// Something that runs beside the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// `agent`, `shell` or whatever else it is.
    pub kind: String,
    /// What it is about.
    pub description: String,
}

impl Task {
    fn fields(&self) -> Value {
        json!({ "id": self.id, "type": self.kind, "status": "running",
            "description": self.description })
    }
}

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its arguments.
    pub input: &'a Value,
    /// The call's id.
    pub id: &'a str,
}

impl Call<'_> {
    fn fields(self) -> Value {
        let mut fields = json!({
            "tool_name": self.tool, "tool_input": self.input, "tool_use_id": self.id,
        });
        let server = self.tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
        if let (Some((server, _)), Some(map)) = (server, fields.as_object_mut()) {
            map.insert("mcp_server".into(), server.into());
        }
        fields
    }

    fn and(self, more: Value) -> Value {
        joined(self.fields(), more)
    }
}

impl Occasion<'_> {
    /// The event that it is.
    #[must_use]
    pub fn event(&self) -> Event {
        match self {
            Self::SessionStart { .. } => Event::SessionStart,
            Self::UserPromptSubmit { .. } => Event::UserPromptSubmit,
            Self::UserPromptExpansion { .. } => Event::UserPromptExpansion,
            Self::PreToolUse(_) => Event::PreToolUse,
            Self::PostToolUse { .. } => Event::PostToolUse,
            Self::PostToolUseFailure { .. } => Event::PostToolUseFailure,
            Self::PermissionDenied { .. } => Event::PermissionDenied,
            Self::Notification { .. } => Event::Notification,
            Self::SubagentStart { .. } => Event::SubagentStart,
            Self::SubagentStop { .. } => Event::SubagentStop,
            Self::Stop { .. } => Event::Stop,
            Self::StopFailure { .. } => Event::StopFailure,
            Self::InstructionsLoaded { .. } => Event::InstructionsLoaded,
            Self::PreCompact { .. } => Event::PreCompact,
            Self::PostCompact { .. } => Event::PostCompact,
            Self::SessionEnd { .. } => Event::SessionEnd,
        }
    }

    /// The call that it is about, if it is about one.
    #[must_use]
    pub fn call(&self) -> Option<Call<'_>> {
        match self {
            Self::PreToolUse(call)
            | Self::PostToolUse { call, .. }
            | Self::PostToolUseFailure { call, .. }
            | Self::PermissionDenied { call, .. } => Some(*call),
            _ => None,
        }
    }

    /// What a matcher is held against; none where the event has no such thing.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        match self {
            Self::SessionStart { source, .. } => Some(source),
            Self::UserPromptExpansion { name, .. } => Some(name),
            Self::PreToolUse(call)
            | Self::PostToolUse { call, .. }
            | Self::PostToolUseFailure { call, .. }
            | Self::PermissionDenied { call, .. } => Some(call.tool),
            Self::Notification { kind, .. }
            | Self::SubagentStart { kind, .. }
            | Self::SubagentStop { kind, .. } => Some(kind),
            Self::StopFailure { error, .. } => Some(error),
            Self::InstructionsLoaded { reason, .. } | Self::SessionEnd { reason } => Some(reason),
            Self::PreCompact { trigger, .. } | Self::PostCompact { trigger, .. } => Some(trigger),
            Self::UserPromptSubmit { .. } | Self::Stop { .. } => None,
        }
    }

    /// What handlers read: the base, and what is the event's own.
    #[must_use]
    pub fn input(&self, base: &Base<'_>) -> Value {
        let mut input = json!({
            "session_id": base.session_id,
            "transcript_path": base.transcript_path,
            "cwd": base.cwd,
            "hook_event_name": self.event().name(),
            "permission_mode": base.permission_mode,
        });
        if let (Some(effort), Some(map)) = (base.effort, input.as_object_mut()) {
            map.insert("effort".into(), json!({ "level": effort }));
        }
        if let (Some((id, kind)), Some(map)) = (base.agent, input.as_object_mut()) {
            map.insert("agent_id".into(), id.into());
            map.insert("agent_type".into(), kind.into());
        }
        joined(input, self.fields())
    }

    fn fields(&self) -> Value {
        match self {
            Self::SessionStart { source, model } => json!({ "source": source, "model": model }),
            Self::UserPromptSubmit { prompt, source } => {
                json!({ "prompt": prompt, "source": source })
            }
            Self::UserPromptExpansion { kind, name, args, source, prompt } => json!({
                "expansion_type": kind, "command_name": name, "command_args": args,
                "command_source": source, "prompt": prompt,
            }),
            Self::PreToolUse(call) => call.fields(),
            Self::PostToolUse { call, response, duration_ms } => {
                call.and(json!({ "tool_response": response, "duration_ms": duration_ms }))
            }
            Self::PostToolUseFailure { call, error, duration_ms } => call.and(json!({
                "error": error, "is_interrupt": false, "duration_ms": duration_ms,
            })),
            Self::PermissionDenied { call, reason } => call.and(json!({ "reason": reason })),
            Self::Notification { message, kind } => {
                json!({ "message": message, "notification_type": kind })
            }
            Self::SubagentStart { id, kind } => json!({ "agent_id": id, "agent_type": kind }),
            Self::SubagentStop { id, kind, transcript, again, last } => json!({
                "stop_hook_active": again, "agent_id": id, "agent_type": kind,
                "agent_transcript_path": transcript, "last_assistant_message": last,
            }),
            Self::Stop { again, last, tasks } => json!({
                "stop_hook_active": again, "last_assistant_message": last,
                "background_tasks": tasks.iter().map(Task::fields).collect::<Vec<_>>(),
                "session_crons": [],
            }),
            Self::StopFailure { error, last } => {
                json!({ "error": error, "last_assistant_message": last })
            }
            Self::InstructionsLoaded { path, kind, reason } => {
                json!({ "file_path": path, "memory_type": kind, "load_reason": reason })
            }
            Self::PreCompact { trigger, instructions } => {
                json!({ "trigger": trigger, "custom_instructions": instructions })
            }
            Self::PostCompact { trigger, summary } => {
                json!({ "trigger": trigger, "compact_summary": summary })
            }
            Self::SessionEnd { reason } => json!({ "reason": reason }),
        }
    }
}

fn joined(one: Value, other: Value) -> Value {
    let fields = [one, other].into_iter().filter_map(|value| match value {
        Value::Object(map) => Some(map),
        _ => None,
    });
    Value::Object(fields.flatten().collect::<Map<_, _>>())
}
