//! Hooks around a conversation: its start and end, what the person says, when
//! the model would stop, compactions, instruction files.

use super::FEEDBACK;
use crate::background::TaskStatus;
use crate::event::{EndReason, Event, TurnEnd};
use crate::session::prompt::Prompt;
use crate::session::{Error, Session};
use crate::setups::hooks;
use everfold_compact::Trigger;
use everfold_hooks::{HookEvent, HookVerdict, Occasion, SideRequest, Task};
use everfold_kernel::Block;
use everfold_kernel::ports::{JobState, ServerError};
use everfold_kernel::provenance::Source;
use everfold_kernel::settings::Surface;
use everfold_rules::{FileFate, InstructionFile, InstructionScope, Reason};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Says how the conversation began where that is neither new nor resumed:
/// `clear`.
pub fn began_by(session: &mut Session, source: &'static str) {
    session.runtime.hooks.start = Some(source);
}

/// Tells hooks that the conversation begins or goes on, once.
pub(crate) async fn start_hooks(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let Some(source) = session.runtime.hooks.start.take().filter(|_| session.keeps_itself()) else {
        return Ok(());
    };
    if session.is_main() {
        return fire_start(session, source, cancel).await;
    }
    let (id, kind) = agent_names(session);
    let verdict =
        hooks::fire(session, &Occasion::SubagentStart { id: &id, kind: &kind }, cancel).await?;
    hooks::keep_contexts(session, HookEvent::SubagentStart, verdict.contexts);
    hooks::attach_hook_texts(session).await
}

/// The id and the kind of an agent, as hooks know them.
fn agent_names(session: &Session) -> (String, String) {
    let source = session.source().to_string();
    let kind = source.strip_prefix("agent:").unwrap_or(&source);
    (session.log.id.to_string(), kind.to_owned())
}

/// Asks hooks whether the model is done.
async fn fire_stop(
    session: &mut Session,
    last: &str,
    times: u32,
    cancel: &CancellationToken,
) -> Result<(HookEvent, HookVerdict), Error> {
    let again = times > 0;
    if session.is_main() {
        let tasks = running_tasks(session);
        let stop = Occasion::Stop { again, last, tasks: &tasks };
        return Ok((HookEvent::Stop, hooks::fire(session, &stop, cancel).await?));
    }
    let (id, kind) = agent_names(session);
    let transcript = session.world.transcripts.path(&session.log.id);
    let (id, kind, transcript) = (id.as_str(), kind.as_str(), transcript.as_path());
    let stop = Occasion::SubagentStop { id, kind, transcript, again, last };
    Ok((HookEvent::SubagentStop, hooks::fire(session, &stop, cancel).await?))
}

/// What runs beside the conversation, as hooks are told of it.
fn running_tasks(session: &Session) -> Vec<Task> {
    let views = session.runtime.background.list().into_iter();
    let tasks = views.filter(|view| view.status == TaskStatus::Running).map(|view| {
        let source = view.source.to_string();
        let kind = source.split(':').next().unwrap_or_default().to_owned();
        Task { id: view.id, kind, description: view.name }
    });
    let jobs = session.world.shell.jobs().into_iter().filter(|job| job.state == JobState::Running);
    let jobs = jobs.map(|job| Task { id: job.id, kind: "shell".into(), description: job.command });
    tasks.chain(jobs).collect()
}

async fn fire_start(
    session: &mut Session,
    source: &'static str,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let model = session.model().to_string();
    let start = Occasion::SessionStart { source, model: &model };
    let verdict = hooks::fire(session, &start, cancel).await?;
    hooks::keep_contexts(session, HookEvent::SessionStart, verdict.contexts);
    session.runtime.hooks.watched.add(verdict.wanted.watch);
    // Where a person sits in front of it, they say the first words.
    let alone = session.config.background.extraction.surface == Surface::Headless;
    session.runtime.hooks.first_words =
        verdict.first_words.filter(|_| alone && source == "startup");
    hooks::attach_hook_texts(session).await
}

/// What a hook wants said before the person's first words, once.
pub(crate) fn first_words(session: &mut Session) -> Option<Prompt> {
    let said = session.runtime.hooks.first_words.take()?;
    Some(Prompt::of(Source::Hook, vec![Block::text(said)]))
}

/// Why what the person said is not taken: then it never was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PromptRefusal {
    #[error("a UserPromptSubmit hook refused the message: {why}{said}")]
    Submission { why: String, said: String },
    #[error("a UserPromptExpansion hook refused /{name}: {why}")]
    Expansion { name: String, why: String },
    #[error("/{name} cannot be used: {source}")]
    Server { name: String, source: ServerError },
    #[error("there are no servers")]
    NoServers,
    #[error(
        "the message has about {tokens} tokens, and {model} holds {window} with its fixed prompt; \
         shorten it, or put the long part into a file and mention that"
    )]
    TooLong { tokens: u64, model: String, window: u64 },
    #[error(transparent)]
    Session(#[from] Error),
}

/// Asks hooks about what the person said.
pub(crate) async fn prompt_hooks(
    session: &mut Session,
    prompt: &str,
    cancel: &CancellationToken,
) -> Result<(), PromptRefusal> {
    if !session.is_main() {
        return Ok(());
    }
    let source = if session.config.launch.entrypoint == "cli" { "user" } else { "sdk" };
    let verdict =
        hooks::fire(session, &Occasion::UserPromptSubmit { prompt, source }, cancel).await?;
    if let Some(why) = verdict.blocked.or(verdict.stop) {
        session.runtime.hooks.stop = None;
        let shown = !verdict.wanted.wishes.contains(&SideRequest::HidePrompt);
        let said = if shown { format!("\nIt was: {}", prompt.trim()) } else { String::new() };
        return Err(PromptRefusal::Submission { why, said });
    }
    hooks::keep_contexts(session, HookEvent::UserPromptSubmit, verdict.contexts);
    Ok(())
}

/// Asks hooks whether the model may stop. True where it is kept at work:
/// the reason is in the conversation then.
pub(crate) async fn stop_refused(
    session: &mut Session,
    end: &TurnEnd,
    times: u32,
    cancel: &CancellationToken,
) -> Result<bool, Error> {
    if !session.keeps_itself() {
        return Ok(false);
    }
    let last = &end.text;
    if let EndReason::Failed(error) = &end.reason {
        hooks::fire(session, &Occasion::StopFailure { error, last }, cancel).await?;
    }
    if !end.reason.is_success() {
        return Ok(false);
    }
    let (event, verdict) = fire_stop(session, last, times, cancel).await?;
    hooks::keep_contexts(session, event, verdict.contexts);
    let stops = session.runtime.hooks.stop.take().is_some();
    let Some(reason) = verdict.blocked.filter(|_| !stops) else { return Ok(false) };
    let most = session.config.limits.hooks.stop_blocks;
    if times >= most {
        let text = format!(
            "a Stop hook kept the model at work {most} times in a row; the turn ends here \
             ({reason})"
        );
        session.emit(|| Event::Notice(text));
        return Ok(false);
    }
    hooks::keep_for_model(session, FEEDBACK, event, reason);
    hooks::attach_hook_texts(session).await?;
    Ok(true)
}

/// Asks hooks whether a compaction may be made (L4.3). Why not, where it may not.
pub(crate) async fn compaction_refused(
    session: &mut Session,
    trigger: Trigger,
    instructions: Option<&str>,
    cancel: &CancellationToken,
) -> Result<Option<String>, Error> {
    let occasion = Occasion::PreCompact { trigger: trigger.as_str(), instructions };
    let verdict = hooks::fire(session, &occasion, cancel).await?;
    session.runtime.hooks.stop = None;
    Ok(verdict.blocked.or(verdict.stop))
}

/// Tells hooks of a compaction, and starts the conversation anew for them (L4.5).
pub(crate) async fn compacted_hooks(
    session: &mut Session,
    trigger: Trigger,
    summary: &str,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let occasion = Occasion::PostCompact { trigger: trigger.as_str(), summary };
    hooks::fire(session, &occasion, cancel).await?;
    fire_start(session, "compact", cancel).await
}

/// Tells hooks which instruction files were loaded.
pub(crate) async fn told_instructions(
    session: &mut Session,
    rows: &[InstructionFile],
) -> Result<(), Error> {
    let never = CancellationToken::new();
    let loaded = |row: &&InstructionFile| {
        matches!(row.fate, FileFate::Loaded | FileFate::LoadedLarge { .. })
    };
    for row in rows.iter().filter(loaded) {
        let kind = match row.scope {
            InstructionScope::Managed => "Managed",
            InstructionScope::User => "User",
            InstructionScope::Project => "Project",
            InstructionScope::Local => "Local",
        };
        let reason = match row.reason {
            Reason::Start => "session_start",
            Reason::Nested => "nested_traversal",
            Reason::PathMatch { .. } => "path_glob_match",
            Reason::Import { .. } => "include",
        };
        let occasion = Occasion::InstructionsLoaded { path: &row.path, kind, reason };
        hooks::fire(session, &occasion, &never).await?;
    }
    Ok(())
}

/// Tells hooks that the conversation is left: `clear`, `resume`,
/// `prompt_input_exit` or `other`. All of them together have a moment.
///
/// # Errors
/// If the log cannot be written.
pub async fn end_hooks(session: &mut Session, reason: &str) -> Result<(), Error> {
    // Who never heard of a start hears of no end.
    if session.runtime.hooks.start.is_some() {
        return Ok(());
    }
    let budget = Duration::from_millis(session.config.limits.hooks.session_end_ms);
    let never = CancellationToken::new();
    let occasion = Occasion::SessionEnd { reason };
    if let Ok(fired) = tokio::time::timeout(budget, hooks::fire(session, &occasion, &never)).await {
        return fired.map(|_| ());
    }
    tracing::warn!("the SessionEnd hooks timed out and were stopped");
    Ok(())
}
