//! A turn on standard output, in one of three formats. Notices for people go
//! to standard error, so that the two never mix.

use super::is_text;
use super::outcome::{Outcome, usage};
use super::tally::Tally;
use crate::args::{OutputFormat, Talk};
use crate::log::Verbosity;
use crate::presenter::{Presenter, TextStyle, cut, names, offered, remembered};
use everfold_agent::engine::event::Finder;
use everfold_agent::settings::provider::KeySetting;
use everfold_agent::{Agent, EndReason, Event, Session, SessionId, TaskStatus, TaskView};
use everfold_kernel::ports::Kept;
use everfold_kernel::ports::ServerState;
use everfold_kernel::record::{AssistantEntry, Boundary, UserEntry};
use everfold_kernel::{Decision, Entry, Record, UserOrigin};
use everfold_skills::Skill;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;

/// Characters of a call's arguments in a notice.
const INPUT_CHARS: usize = 120;

pub(super) struct Printer {
    presenter: Presenter,
    format: OutputFormat,
    verbosity: Verbosity,
    session: SessionId,
    tally: Tally,
}

impl Printer {
    /// A printer for a turn of a session.
    pub(super) fn new(presenter: Presenter, talk: &Talk, session: &Session) -> Self {
        let verbosity =
            if is_text(talk) { Verbosity::of(talk.choices.verbose) } else { Verbosity::Normal };
        Self {
            presenter,
            format: talk.output_format,
            verbosity,
            session: session.id().clone(),
            tally: Tally::start(),
        }
    }

    /// Before the turn.
    pub(super) fn begin(&self, agent: &Agent, session: &Session) -> io::Result<()> {
        if self.format == OutputFormat::Text
            && let Some(notice) = crate::setup::offline_notice(agent)
        {
            self.presenter.note(TextStyle::Dim, &format!("note: {notice}"));
        }
        if self.format != OutputFormat::StreamJson {
            return Ok(());
        }
        let config = session.config();
        let key_source = match &agent.provider().key {
            KeySetting::None => "none",
            KeySetting::Variable { name, .. } => name,
            KeySetting::Command(_) => "apiKeyHelper",
        };
        self.emit(json!({
            "type": "system",
            "subtype": "init",
            "everfold_version": env!("CARGO_PKG_VERSION"),
            "cwd": config.surroundings.cwd,
            "model": crate::setup::model_name(agent, session),
            "provider": agent.provider().kind.as_str(),
            "tools": agent.toolbox().names().collect::<Vec<_>>(),
            "mcp_servers": servers(agent),
            "slash_commands": called(session, Skill::is_for_person),
            "skills": called(session, Skill::is_for_model),
            "plugins": plugins(agent),
            "plugin_errors": agent.plugins().problems,
            "permissionMode": config.permissions.mode.as_str(),
            "apiKeySource": key_source,
            "betas": config.models.betas,
            "output_style": config.surroundings.output_style.as_deref().unwrap_or("default"),
        }))
    }

    pub(super) fn event(&mut self, event: &Event) -> io::Result<()> {
        self.tally.observe(event);
        match self.format {
            OutputFormat::Text => self.notice(event),
            // One object is all that programs read; a person may still wait.
            OutputFormat::Json => {
                if matches!(event, Event::Retrying { .. } | Event::Waiting { .. }) {
                    self.notice(event);
                }
            }
            OutputFormat::StreamJson => {
                if let Some(value) = streamed(event) {
                    self.emit(value)?;
                }
            }
        }
        Ok(())
    }

    /// After the turn.
    pub(super) fn end(&self, outcome: &Outcome<'_>) -> io::Result<()> {
        match self.format {
            OutputFormat::Text => self.end_text(outcome),
            OutputFormat::Json | OutputFormat::StreamJson => {
                Presenter::json_line(&outcome.to_json(&self.tally))
            }
        }
    }

    fn end_text(&self, outcome: &Outcome<'_>) -> io::Result<()> {
        if !outcome.text().is_empty() {
            self.presenter.line(outcome.text().trim_end_matches('\n'))?;
        }
        if self.verbosity == Verbosity::Verbose {
            for denial in outcome.denials() {
                let input = cut(&denial.input.to_string(), INPUT_CHARS);
                self.presenter
                    .note(TextStyle::Yellow, &format!("refused: {} {input}", denial.name));
            }
        }
        if *outcome.reason() == EndReason::OutputLimit {
            let note = "note: the answer was cut off at the token limit; resume with --continue";
            self.presenter.note(TextStyle::Yellow, note);
        }
        if let Some(failure) = outcome.failure() {
            self.presenter.note(TextStyle::Red, &format!("error: {failure}"));
        }
        Ok(())
    }

    /// What happens after the turn. Programs have their result by then.
    pub(super) fn afterwards(&self, event: &Event) {
        if self.format == OutputFormat::Text {
            self.notice(event);
        }
    }

    /// Says why the program has not ended yet.
    pub(super) fn waits(&self, text: &str) {
        self.presenter.note(TextStyle::Dim, text);
    }

    fn notice(&self, event: &Event) {
        // What a person should know is said in any case, and what is written for
        // their later sessions (L5.15).
        // So is why nothing happens (S16, U10).
        let is_said = matches!(
            event,
            Event::Notice(_)
                | Event::Remembered { .. }
                | Event::Offered(_)
                | Event::Retrying { .. }
                | Event::Waiting { .. }
        );
        if self.verbosity == Verbosity::Normal && !is_said {
            return;
        }
        let (look, text) = match event {
            Event::ToolStarted { name, input, .. } => {
                (TextStyle::Dim, format!("tool: {name} {}", cut(&input.to_string(), INPUT_CHARS)))
            }
            Event::ToolRefused { name, input, .. } => {
                let input = cut(&input.to_string(), INPUT_CHARS);
                (TextStyle::Yellow, format!("tool refused: {name} {input}"))
            }
            Event::ToolEnded { is_error: true, preview, .. } => {
                (TextStyle::Yellow, format!("tool failed: {}", cut(preview, INPUT_CHARS)))
            }
            Event::Retrying { attempt, most, wait, reason } => {
                (TextStyle::Yellow, retrying(*attempt, *most, *wait, reason))
            }
            Event::Waiting { waited, reason } => (TextStyle::Dim, waiting(*waited, reason)),
            Event::Restarted { reason } => {
                (TextStyle::Yellow, format!("restarting the answer: {reason}"))
            }
            Event::ModelSwitched { from, to, reason } => {
                (TextStyle::Yellow, format!("switched from {from} to {to}: {reason}"))
            }
            Event::Recalled { paths } => (TextStyle::Dim, format!("recalled {}", names(paths))),
            Event::Remembered { kept, how } => {
                (TextStyle::Dim, format!("note: {}", remembered(kept, *how)))
            }
            Event::Offered(waiting) => (TextStyle::Dim, format!("note: {}", offered(waiting))),
            Event::Compacted { line: text, .. } | Event::Housekeeping(text) => {
                (TextStyle::Dim, format!("note: {text}"))
            }
            Event::Notice(text) => (TextStyle::Yellow, format!("note: {text}")),
            _ => return,
        };
        self.presenter.note(look, &text);
    }

    /// Writes an object with the fields that all share.
    fn emit(&self, mut value: Value) -> io::Result<()> {
        if let Some(map) = value.as_object_mut() {
            map.insert("session_id".into(), json!(self.session));
            map.entry("uuid").or_insert_with(|| json!(uuid::Uuid::now_v7().to_string()));
        }
        Presenter::json_line(&value)
    }
}

/// The plugins that are on, as other programs read them.
fn plugins(agent: &Agent) -> Vec<Value> {
    let plugins = agent.plugins().plugins.iter();
    let shown = plugins.map(|plugin| match &plugin.version {
        Some(version) => json!({"name": plugin.name, "path": plugin.root, "version": version}),
        None => json!({"name": plugin.name, "path": plugin.root}),
    });
    shown.collect()
}

/// The servers that bring tools; they start with the first message.
fn servers(agent: &Agent) -> Vec<Value> {
    let views = agent.world().servers.as_ref().map(|own| own.list()).unwrap_or_default();
    let shown = views.iter().map(|view| {
        let status = match view.state {
            ServerState::Idle | ServerState::Connecting => "pending",
            ServerState::Up(_) => "connected",
            ServerState::Down(_) => "failed",
        };
        json!({"name": view.name, "status": status, "source": view.origin})
    });
    shown.collect()
}

/// The names of the skills of which something holds.
fn called(session: &Session, is: fn(&Skill) -> bool) -> Vec<String> {
    let skills = session.config().setups.skills.skills().iter();
    skills.filter(|skill| is(skill)).map(|skill| skill.name.clone()).collect()
}

/// A try that failed, as a person reads of it.
pub(crate) fn retrying(attempt: u32, most: u32, wait: Duration, reason: &str) -> String {
    let seconds = wait.as_secs_f32();
    format!("attempt {attempt} of {most} failed ({reason}); retrying in {seconds:.1} s")
}

/// A wait for a server, as a person reads of it.
pub(crate) fn waiting(waited: Duration, reason: &str) -> String {
    format!("waiting for {} s: {reason}", waited.as_secs())
}

/// An event as a line of stream-json; none for what the format does not have.
fn streamed(event: &Event) -> Option<Value> {
    let system = |subtype: &str, rest: Value| {
        let mut value = json!({"type": "system", "subtype": subtype});
        if let (Some(map), Value::Object(rest)) = (value.as_object_mut(), rest) {
            map.extend(rest);
        }
        Some(value)
    };
    match event {
        Event::Recorded(record) => recorded(record),
        Event::Retrying { attempt, most, wait, reason } => {
            let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let fields = json!({
                "attempt": attempt, "max_retries": most, "retry_delay_ms": wait, "error": reason,
            });
            system("api_retry", fields)
        }
        Event::Waiting { waited, reason } => {
            system("everfold_waiting", json!({"waited_s": waited.as_secs(), "reason": reason}))
        }
        Event::ModelSwitched { from, to, reason } => {
            system("everfold_model_switched", json!({"from": from, "to": to, "reason": reason}))
        }
        Event::Notice(text) => system("everfold_notice", json!({"text": text})),
        // The boundary's own record is printed, too: this is what it costs.
        Event::Compacted { line: text, .. } | Event::Housekeeping(text) => {
            system("everfold_housekeeping", json!({"text": text}))
        }
        Event::Recalled { paths } => {
            let memories: Vec<Value> =
                paths.iter().map(|path| json!({"path": path, "scope": "personal"})).collect();
            system("memory_recall", json!({"mode": "select", "memories": memories}))
        }
        Event::Remembered { kept, how } => {
            let how = match how {
                Finder::Model => "model",
                Finder::Rule => "by_rule",
            };
            let kept: Vec<Value> = kept.iter().map(kept_json).collect();
            system("everfold_remembered", json!({"how": how, "kept": kept}))
        }
        Event::Offered(waiting) => system(
            "everfold_offered",
            json!({
                "id": waiting.id, "scope": waiting.scope.as_str(), "name": waiting.name,
                "description": waiting.description, "command": waiting.command(),
            }),
        ),
        Event::Task(task) => system("everfold_task", task_fields(task)),
        Event::Text(_)
        | Event::Thinking(_)
        | Event::ToolStarted { .. }
        | Event::ToolEnded { .. }
        | Event::ToolRefused { .. }
        | Event::Restarted { .. }
        | Event::Booked(_) => None,
    }
}

/// What a program is told of a task.
pub(crate) fn task_fields(task: &TaskView) -> Value {
    let (status, reason) = match &task.status {
        TaskStatus::Running => ("running", None),
        TaskStatus::Completed => ("completed", None),
        TaskStatus::Failed { reason } => ("failed", Some(reason)),
        TaskStatus::Killed => ("killed", None),
    };
    json!({
        "task_id": task.id, "name": task.name, "source": task.source, "status": status,
        "reason": reason, "phase": task.phase, "line": task.lines.back(),
    })
}

fn recorded(record: &Record) -> Option<Value> {
    let mut value = match &record.entry {
        Entry::Assistant(entry) => assistant(entry),
        Entry::User(entry) if entry.origin == UserOrigin::ToolResult => tool_result(entry),
        Entry::Boundary(boundary) => compact_boundary(boundary),
        // Blocks of this answer were printed, and do not count any more.
        Entry::Decision(Decision::Retracted { message_id, reason }) => json!({
            "type": "system", "subtype": "everfold_retracted",
            "message_id": message_id, "reason": reason,
        }),
        _ => return None,
    };
    value.as_object_mut()?.insert("uuid".into(), json!(record.id));
    Some(value)
}

fn assistant(entry: &AssistantEntry) -> Value {
    json!({
        "type": "assistant",
        "message": {
            "id": entry.message_id,
            "type": "message",
            "role": "assistant",
            "model": entry.model,
            "content": [entry.block],
            "stop_reason": entry.stop_reason,
            "stop_sequence": null,
            "usage": usage(&entry.usage),
        },
        "parent_tool_use_id": null,
    })
}

fn tool_result(entry: &UserEntry) -> Value {
    let mut value = json!({
        "type": "user",
        "message": {"role": "user", "content": entry.content},
        "parent_tool_use_id": null,
    });
    if let (Some(result), Some(map)) = (&entry.tool_use_result, value.as_object_mut()) {
        map.insert("tool_use_result".into(), result.clone());
    }
    value
}

fn compact_boundary(boundary: &Boundary) -> Value {
    let metadata = json!({"trigger": boundary.trigger, "pre_tokens": boundary.pre_tokens});
    json!({"type": "system", "subtype": "compact_boundary", "compact_metadata": metadata})
}
/// What became of a memory, for programs.
fn kept_json(kept: &Kept) -> Value {
    let state = match kept {
        Kept::Saved { .. } => "saved",
        Kept::Merged { .. } => "merged",
        Kept::Superseded { .. } => "superseded",
        Kept::Proposed { .. } => "waiting",
        Kept::Refused { .. } => "refused",
    };
    let memory = kept.memory();
    json!({
        "state": state,
        "path": memory.map(|memory| &memory.path),
        "scope": memory.map(|memory| memory.scope.as_str()),
        "entry": kept.entry(),
    })
}
