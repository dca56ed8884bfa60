//! `everfold sessions`: past conversations of this directory (Q4).

use crate::args::{Choices, SessionsCommand};
use crate::presenter::{Presenter, counted, cut, grouped, size};
use crate::session_picker;
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::engine::window::notes;
use everfold_agent::{Agent, RedactionMode};
use everfold_kernel::ports::LoadedTranscript;
use everfold_kernel::usage::LedgerLine;
use everfold_kernel::{
    BlockView, Decision, Entry, Ledger, MessageId, ModelId, Record, SessionId, UserOrigin,
};
use everfold_memory_judge::secrets;
use everfold_transcript::{Decoded, Listed, decode};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

pub(crate) mod export;
mod prune;
mod redact;
pub(crate) mod rest;
mod window;

use window::{WindowStory, Written};

/// Characters of a title in the list.
const TITLE_CHARS: usize = 80;

/// Lists sessions, or shows one.
pub(crate) async fn run(
    env: &ProcessEnv,
    command: &SessionsCommand,
    presenter: &Presenter,
) -> Result<()> {
    if let SessionsCommand::Finish { id, choices } = command {
        return Box::pin(rest::finish(env, &SessionId::new(id), choices)).await;
    }
    let agent = setup::for_looking(env, &Choices::default()).await?;
    match command {
        SessionsCommand::Finish { .. } => Ok(()),
        SessionsCommand::List { search, json } => {
            let sessions = agent.sessions().await?;
            let found = match search {
                Some(text) => session_picker::search(&sessions, text),
                None => sessions.iter().collect(),
            };
            if *json {
                let found: Vec<Value> =
                    found.into_iter().map(|entry| entry_json(&agent, entry)).collect();
                return Ok(Presenter::json(&found)?);
            }
            list(&agent, &found, presenter)
        }
        SessionsCommand::Show { id, json } => {
            let id = match id {
                Some(text) => session_picker::find(&agent, text).await?,
                None => session_picker::newest(&agent).await?,
            };
            let (mut story, loaded) = Story::read(&agent, &id).await?;
            let notes = agent.world().transcripts.session_dir(&id).join(notes::PLACE);
            story.notes = Some(notes).filter(|path| path.is_file());
            if *json {
                return Ok(Presenter::json(&story.to_json(&id, loaded))?);
            }
            story.show(&id, loaded, presenter)
        }
        SessionsCommand::Export { id, format, output } => {
            let id = match id {
                Some(text) => session_picker::find(&agent, text).await?,
                None => session_picker::newest(&agent).await?,
            };
            export::run(&agent, &id, *format, output.as_deref()).await
        }
        SessionsCommand::Redact { id, dry_run, json } => {
            let id = session_picker::find(&agent, id).await?;
            let mode = if *dry_run { RedactionMode::Count } else { RedactionMode::Mask };
            redact::run(&agent, &id, mode, *json, presenter)
        }
        SessionsCommand::Prune { dry_run, days, json } => {
            let act = if *dry_run { prune::Act::Show } else { prune::Act::Remove };
            prune::run(&agent, act, *days, *json, presenter)
        }
    }
}

fn list(agent: &Agent, found: &[&Listed], presenter: &Presenter) -> Result<()> {
    if found.is_empty() {
        return Ok(presenter.line("no sessions in this directory")?);
    }
    let now = Timestamp::now();
    let rows = found.iter().map(|entry| {
        let holder = agent.world().transcripts.holder(&entry.session);
        let open = holder.map_or("", |_| "(open) ");
        vec![
            entry.session.to_string(),
            session_picker::age(entry.modified, now),
            size(entry.bytes),
            format!("{open}{}", cut(entry.title.as_deref().unwrap_or("(no title)"), TITLE_CHARS)),
        ]
    });
    Ok(presenter.table(&rows.collect::<Vec<_>>())?)
}

fn entry_json(agent: &Agent, entry: &Listed) -> Value {
    let holder = agent.world().transcripts.holder(&entry.session);
    let holder = holder.map(|holder| json!({"pid": holder.pid, "since": holder.since}));
    json!({
        "session_id": entry.session,
        "title": entry.title,
        "first_prompt": entry.first_prompt,
        "cwd": entry.cwd,
        "git_branch": entry.git_branch,
        "started": entry.first,
        "modified": entry.modified,
        "bytes": entry.bytes,
        "open_in": holder,
    })
}

/// What happened in a session, from every line of its transcript.
#[derive(Debug, Default)]
struct Story {
    prompts: u64,
    answers: BTreeSet<MessageId>,
    tool_calls: u64,
    failed_calls: u64,
    models: Vec<ModelId>,
    window: WindowStory,
    ledger: Ledger,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    first_prompt: Option<String>,
    unreadable: u64,
    /// The running notes, if there are any.
    notes: Option<PathBuf>,
}

impl Story {
    async fn read(agent: &Agent, id: &SessionId) -> Result<(Self, LoadedTranscript)> {
        let mut story = Self::default();
        let mut sink = |line: &[u8]| story.push(line);
        let transcripts = &agent.world().transcripts;
        let loaded = transcripts.load(id, &mut sink).await.map_err(everfold_agent::Error::from)?;
        Ok((story, loaded))
    }

    fn push(&mut self, line: &[u8]) {
        match decode(line) {
            Ok(Decoded::Record(line)) => {
                let copied = line.facts.forked_from.is_some();
                let written = if copied { Written::Elsewhere } else { Written::Here };
                for record in std::iter::once(&line.record).chain(&line.rest) {
                    self.note(record);
                    self.window.note(record, written);
                    if let Entry::Decision(Decision::Booked(booking)) = &record.entry
                        && !copied
                    {
                        self.ledger.book(booking);
                    }
                }
            }
            Ok(_) => {}
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(_) => self.unreadable += 1,
        }
    }

    fn note(&mut self, record: &Record) {
        self.first.get_or_insert(record.at);
        self.last = Some(record.at);
        match &record.entry {
            Entry::User(user) => {
                if user.origin == UserOrigin::Human {
                    self.prompts += 1;
                    let text = || user.content.iter().map(everfold_agent::Block::plain_text);
                    self.first_prompt
                        .get_or_insert_with(|| secrets::mask(&text().collect::<String>()));
                }
                for block in &user.content {
                    if let BlockView::ToolResult { is_error: true, .. } = block.view() {
                        self.failed_calls += 1;
                    }
                }
            }
            Entry::Assistant(entry) => {
                self.answers.insert(entry.message_id.clone());
                if let BlockView::ToolUse { .. } = entry.block.view() {
                    self.tool_calls += 1;
                }
                if self.models.last() != Some(&entry.model) {
                    self.models.push(entry.model.clone());
                }
            }
            _ => {}
        }
    }

    fn to_json(&self, id: &SessionId, loaded: LoadedTranscript) -> Value {
        let total = self.ledger.total();
        let mut value = json!({
            "session_id": id,
            "first_prompt": self.first_prompt,
            "started": self.first,
            "ended": self.last,
            "prompts": self.prompts,
            "answers": self.answers.len(),
            "tool_calls": self.tool_calls,
            "failed_tool_calls": self.failed_calls,
            "models": self.models,
            "requests": total.requests,
            "tokens": total.usage.total(),
            "cache_hit_rate": total.usage.hit_rate(),
            "cost_usd": total.cost.0,
            "unpriced_requests": total.unpriced,
            "lines": loaded.lines,
            "unreadable_lines": self.unreadable + loaded.skipped,
            "torn_bytes": loaded.torn_bytes,
            "notes": self.notes,
        });
        if let Some(map) = value.as_object_mut() {
            self.window.add_to(map);
        }
        value
    }

    fn show(&self, id: &SessionId, loaded: LoadedTranscript, presenter: &Presenter) -> Result<()> {
        let total = self.ledger.total();
        let time = |at: Option<Timestamp>| {
            at.map_or_else(|| "-".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M:%SZ").to_string())
        };
        let mut rows = vec![
            ("session", id.to_string()),
            ("first prompt", cut(self.first_prompt.as_deref().unwrap_or("-"), TITLE_CHARS)),
            ("from", time(self.first)),
            ("to", time(self.last)),
            ("turns", grouped(self.prompts)),
            ("answers", self.answers.len().to_string()),
            ("tool calls", format!("{}, {} failed", self.tool_calls, self.failed_calls)),
            (
                "tokens",
                format!(
                    "{} in {}",
                    grouped(total.usage.total().0),
                    counted(total.requests, "request")
                ),
            ),
            ("cost", cost(&total)),
            ("models", names(&self.models)),
        ];
        rows.extend(self.window.rows());
        rows.extend(self.notes.iter().map(|path| ("notes", path.display().to_string())));
        let damage = self.unreadable + loaded.skipped;
        if damage > 0 || loaded.torn_bytes > 0 {
            let torn = loaded.torn_bytes;
            rows.push((
                "damage",
                format!("{} unreadable, {} torn", counted(damage, "line"), counted(torn, "byte")),
            ));
        }
        let rows: Vec<Vec<String>> =
            rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
        Ok(presenter.table(&rows)?)
    }
}

fn cost(total: &LedgerLine) -> String {
    match total.unpriced {
        0 => format!("{:.4} USD", total.cost.0),
        some => {
            format!("{:.4} USD, and {} without a price", total.cost.0, counted(some, "request"))
        }
    }
}

fn names(models: &[ModelId]) -> String {
    let names: Vec<&str> = models.iter().map(ModelId::as_str).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", then ") }
}
