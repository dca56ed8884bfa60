//! What is an event's own among the fields that handlers read on standard input.

use super::{Occasion, joined};
use serde_json::{Value, json};

/// Something that runs beside the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
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
pub struct CallFields<'a> {
    pub tool: &'a str,
    pub input: &'a Value,
    pub id: &'a str,
}

impl CallFields<'_> {
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

/// Another model for the conversation.
#[derive(Clone, Copy, Debug)]
pub struct Switch<'a> {
    /// The one that answered.
    pub from: &'a str,
    /// The one that is to answer.
    pub to: &'a str,
    /// Who wants it: `command`, `skill` or `fallback`.
    pub source: &'a str,
    /// Tokens that it reads anew, because nothing of them is in its cache.
    pub context_tokens: u64,
    /// How long its cache lives, such as `5m`; none where nothing is cached.
    pub cache_ttl: Option<&'a str>,
    /// What reading them into its cache costs, where prices are known.
    pub write_usd: Option<f64>,
}

impl Switch<'_> {
    fn fields(self) -> Value {
        json!({
            "from_model": self.from, "to_model": self.to, "requested_model": self.to,
            "source": self.source, "context_tokens": self.context_tokens,
            "prompt_cache_warm": false, "cache_ttl": self.cache_ttl,
            "estimated_cache_write_usd": self.write_usd,
        })
    }
}

/// What a server wants to know.
#[derive(Clone, Copy, Debug)]
pub struct Elicited<'a> {
    pub server: &'a str,
    pub message: &'a str,
    /// The fields that are to be filled in; none where an address is to be opened.
    pub schema: Option<&'a Value>,
    pub url: Option<&'a str>,
    /// The server's name for the question.
    pub id: Option<&'a str>,
}

impl Elicited<'_> {
    fn names(self) -> Value {
        let mode = if self.url.is_some() { "url" } else { "form" };
        let mut names = json!({ "mcp_server_name": self.server, "mode": mode });
        if let (Some(id), Some(map)) = (self.id, names.as_object_mut()) {
            map.insert("elicitation_id".into(), id.into());
        }
        names
    }

    fn fields(self) -> Value {
        let own = match self.url {
            Some(url) => json!({ "message": self.message, "url": url }),
            None => json!({ "message": self.message, "requested_schema": self.schema }),
        };
        joined(self.names(), own)
    }
}

impl Occasion<'_> {
    pub(super) fn fields(&self) -> Value {
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
            Self::PermissionRequest { call, suggestions } => {
                call.and(json!({ "permission_suggestions": suggestions }))
            }
            Self::PostToolUse { call, response, duration_ms } => {
                call.and(json!({ "tool_response": response, "duration_ms": duration_ms }))
            }
            Self::PostToolUseFailure { call, error, duration_ms } => call.and(json!({
                "error": error, "is_interrupt": false, "duration_ms": duration_ms,
            })),
            Self::PermissionDenied { call, reason } => call.and(json!({ "reason": reason })),
            Self::PostToolBatch { calls } => json!({ "tool_calls": calls }),
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
            Self::PreModelSwitch(switch) | Self::PostModelSwitch(switch) => switch.fields(),
            Self::ConfigChange { source, path } => json!({ "source": source, "file_path": path }),
            Self::CwdChanged { old, new } => json!({ "old_cwd": old, "new_cwd": new }),
            Self::FileChanged { path, change } => json!({ "file_path": path, "event": change }),
            Self::WorktreeCreate { name } => json!({ "name": name }),
            Self::WorktreeRemove { path } => json!({ "worktree_path": path }),
            Self::Elicitation(asked) => asked.fields(),
            Self::ElicitationResult { asked, action, content } => {
                joined(asked.names(), json!({ "action": action, "content": content }))
            }
            Self::SessionEnd { reason } => json!({ "reason": reason }),
        }
    }
}
