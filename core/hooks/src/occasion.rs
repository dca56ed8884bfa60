//! What happened, and whom it concerns.

use crate::event::HookEvent;
use serde_json::{Map, Value, json};
use std::path::Path;

mod fields;

pub use fields::{CallFields, Elicited, Switch, Task};

/// What every handler is told.
#[derive(Clone, Debug)]
pub struct CommonFields<'a> {
    pub session_id: &'a str,
    pub transcript_path: &'a Path,
    pub cwd: &'a Path,
    /// How permissions are decided.
    pub permission_mode: &'a str,
    /// The effort asked for.
    pub effort: Option<&'a str>,
    /// The sub-agent in which it happened: its id and its kind.
    pub agent: Option<(&'a str, &'a str)>,
}

#[derive(Clone, Debug)]
pub enum Occasion<'a> {
    /// A conversation starts: `startup`, `resume`, `clear`, `compact` or `fork`.
    SessionStart {
        source: &'a str,
        /// The model that answers.
        model: &'a str,
    },
    /// The person said something.
    UserPromptSubmit {
        prompt: &'a str,
        /// `user`, or `sdk` where a program speaks.
        source: &'a str,
    },
    /// The person called a skill, or a prompt of a server.
    UserPromptExpansion {
        /// `slash_command` or `mcp_prompt`.
        kind: &'a str,
        name: &'a str,
        args: &'a str,
        source: &'a str,
        prompt: &'a str,
    },
    /// A tool is about to run.
    PreToolUse(CallFields<'a>),
    /// The person would be asked about a call.
    PermissionRequest {
        call: CallFields<'a>,
        /// What "always" would change, as permissions are changed.
        suggestions: &'a Value,
    },
    /// A tool has run.
    PostToolUse {
        call: CallFields<'a>,
        response: &'a Value,
        /// How long it took.
        duration_ms: u64,
    },
    /// A tool has failed.
    PostToolUseFailure {
        call: CallFields<'a>,
        error: &'a str,
        /// How long it took.
        duration_ms: u64,
    },
    /// A call was refused.
    PermissionDenied {
        call: CallFields<'a>,
        reason: &'a str,
    },
    /// All calls of an answer are done: each with what it answered.
    PostToolBatch {
        calls: &'a [Value],
    },
    /// The person is asked for something.
    Notification {
        message: &'a str,
        /// Such as `permission_prompt`.
        kind: &'a str,
    },
    SubagentStart {
        id: &'a str,
        kind: &'a str,
    },
    /// A sub-agent is done.
    SubagentStop {
        id: &'a str,
        kind: &'a str,
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
    StopFailure {
        error: &'a str,
        /// What was said last.
        last: &'a str,
    },
    /// An instruction file was loaded.
    InstructionsLoaded {
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
        summary: &'a str,
    },
    /// Another model is about to answer.
    PreModelSwitch(Switch<'a>),
    /// Another model answers from here on.
    PostModelSwitch(Switch<'a>),
    /// A settings file was changed.
    ConfigChange {
        /// Whose: `user_settings`, `project_settings`, `local_settings` or
        /// `policy_settings`.
        source: &'a str,
        path: &'a Path,
    },
    /// Commands run in another directory from here on.
    CwdChanged {
        old: &'a Path,
        new: &'a Path,
    },
    /// A file that is watched was changed.
    FileChanged {
        path: &'a Path,
        /// `change`, `add` or `unlink`.
        change: &'a str,
    },
    /// A checkout for an agent is about to be made.
    WorktreeCreate {
        name: &'a str,
    },
    /// The checkout of an agent is gone.
    WorktreeRemove {
        path: &'a Path,
    },
    /// A server wants to know something of the person.
    Elicitation(Elicited<'a>),
    /// There is an answer for the server.
    ElicitationResult {
        asked: Elicited<'a>,
        /// `accept`, `decline` or `cancel`.
        action: &'a str,
        /// What was filled in.
        content: Option<&'a Value>,
    },
    /// The conversation is left.
    SessionEnd {
        /// `clear`, `resume`, `logout`, `prompt_input_exit` or `other`.
        reason: &'a str,
    },
}

impl Occasion<'_> {
    #[must_use]
    pub fn event(&self) -> HookEvent {
        match self {
            Self::SessionStart { .. } => HookEvent::SessionStart,
            Self::UserPromptSubmit { .. } => HookEvent::UserPromptSubmit,
            Self::UserPromptExpansion { .. } => HookEvent::UserPromptExpansion,
            Self::PreToolUse(_) => HookEvent::PreToolUse,
            Self::PermissionRequest { .. } => HookEvent::PermissionRequest,
            Self::PostToolUse { .. } => HookEvent::PostToolUse,
            Self::PostToolUseFailure { .. } => HookEvent::PostToolUseFailure,
            Self::PermissionDenied { .. } => HookEvent::PermissionDenied,
            Self::PostToolBatch { .. } => HookEvent::PostToolBatch,
            Self::Notification { .. } => HookEvent::Notification,
            Self::SubagentStart { .. } => HookEvent::SubagentStart,
            Self::SubagentStop { .. } => HookEvent::SubagentStop,
            Self::Stop { .. } => HookEvent::Stop,
            Self::StopFailure { .. } => HookEvent::StopFailure,
            Self::InstructionsLoaded { .. } => HookEvent::InstructionsLoaded,
            Self::PreCompact { .. } => HookEvent::PreCompact,
            Self::PostCompact { .. } => HookEvent::PostCompact,
            Self::PreModelSwitch(_) => HookEvent::PreModelSwitch,
            Self::PostModelSwitch(_) => HookEvent::PostModelSwitch,
            Self::ConfigChange { .. } => HookEvent::ConfigChange,
            Self::CwdChanged { .. } => HookEvent::CwdChanged,
            Self::FileChanged { .. } => HookEvent::FileChanged,
            Self::WorktreeCreate { .. } => HookEvent::WorktreeCreate,
            Self::WorktreeRemove { .. } => HookEvent::WorktreeRemove,
            Self::Elicitation(_) => HookEvent::Elicitation,
            Self::ElicitationResult { .. } => HookEvent::ElicitationResult,
            Self::SessionEnd { .. } => HookEvent::SessionEnd,
        }
    }

    /// The call that it is about, if it is about one.
    #[must_use]
    pub fn call(&self) -> Option<CallFields<'_>> {
        match self {
            Self::PreToolUse(call)
            | Self::PermissionRequest { call, .. }
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
            Self::SessionStart { source, .. } | Self::ConfigChange { source, .. } => Some(source),
            Self::UserPromptExpansion { name, .. } => Some(name),
            Self::PreToolUse(call)
            | Self::PermissionRequest { call, .. }
            | Self::PostToolUse { call, .. }
            | Self::PostToolUseFailure { call, .. }
            | Self::PermissionDenied { call, .. } => Some(call.tool),
            Self::Notification { kind, .. }
            | Self::SubagentStart { kind, .. }
            | Self::SubagentStop { kind, .. } => Some(kind),
            Self::StopFailure { error, .. } => Some(error),
            Self::InstructionsLoaded { reason, .. } | Self::SessionEnd { reason } => Some(reason),
            Self::PreCompact { trigger, .. } | Self::PostCompact { trigger, .. } => Some(trigger),
            Self::PreModelSwitch(switch) | Self::PostModelSwitch(switch) => Some(switch.to),
            Self::FileChanged { path, .. } => path.file_name().and_then(|name| name.to_str()),
            Self::Elicitation(asked) | Self::ElicitationResult { asked, .. } => Some(asked.server),
            Self::UserPromptSubmit { .. }
            | Self::PostToolBatch { .. }
            | Self::CwdChanged { .. }
            | Self::WorktreeCreate { .. }
            | Self::WorktreeRemove { .. }
            | Self::Stop { .. } => None,
        }
    }

    /// What handlers read: the base, and what is the event's own.
    #[must_use]
    pub fn input(&self, base: &CommonFields<'_>) -> Value {
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
}

fn joined(one: Value, other: Value) -> Value {
    let fields = [one, other].into_iter().filter_map(|value| match value {
        Value::Object(map) => Some(map),
        _ => None,
    });
    Value::Object(fields.flatten().collect::<Map<_, _>>())
}
