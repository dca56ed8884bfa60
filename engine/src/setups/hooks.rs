//! Hooks at work (Q7): the handlers of an event are run side by side, and
//! what they say is carried out.
//!
//! `everfold-hooks` says whom an event calls and what answers mean; here they
//! are run. A handler that hangs, dies, prints nonsense or is missing has no
//! say: it is noted in the log, and the turn goes on. Text for the model joins
//! the conversation as a reminder, frozen like all others.

use crate::agents;
use crate::event::Event;
use crate::session::runtime::PendingText;
use crate::session::{Error, Session};
use crate::tools::ENV_FILE;
use everfold_hooks::{
    CommonFields, Handler, HandlerAnswer, HandlerExit, HookEvent, HookVerdict, Noted, Occasion,
    Often, Ran, Registry, Waits,
};
use everfold_kernel::ports::{Exit, HookExit, HookRun};
use everfold_kernel::provenance::Source;
use everfold_kernel::{Decision, Entry, QuerySource};
use futures_util::future::join_all;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(crate) mod file_changes;
pub(crate) mod handlers;
pub mod model_switch;
pub(crate) mod permission;
pub(crate) mod respondent;
pub mod session_events;
pub(crate) mod tool_events;

use handlers::Handlers;
pub(crate) use tool_events::Said;

/// The kind of an attachment that holds what a hook tells the model.
pub const CONTEXT: &str = "hook_additional_context";
/// The kind of one that holds why a hook blocked something.
pub const FEEDBACK: &str = "hook_blocking_error";
/// What an agent is that judges for a hook, and who asks for it in the books.
const HANDLER_KIND: &str = "hook";
/// Where texts go that are too long, among the session's files.
const OUTPUT_DIR: &str = "hook-output";
/// Characters of a text that went to a file which stay in its place.
const PREVIEW_CHARS: usize = 1_000;

/// Calls the handlers of an occasion and waits for what they say. Those
/// that nobody listens to are only started.
pub(crate) async fn fire(
    session: &mut Session,
    occasion: &Occasion<'_>,
    cancel: &CancellationToken,
) -> Result<HookVerdict, Error> {
    if !hears(session, occasion.event()) || cancel.is_cancelled() {
        return Ok(HookVerdict::default());
    }
    // Turns in which nobody is called need not make room for it.
    Box::pin(call_handlers(session, occasion, cancel)).await
}

async fn call_handlers(
    session: &mut Session,
    occasion: &Occasion<'_>,
    cancel: &CancellationToken,
) -> Result<HookVerdict, Error> {
    let event = occasion.event();
    let mut verdict = HookVerdict::default();
    let registry = hook_registry(session);
    let (unheard, heard): (Vec<&Handler>, Vec<&Handler>) = registry
        .called(occasion)
        .into_iter()
        .filter(|handler| {
            tool_events::is_meant(session, handler, occasion) && !is_done(session, event, handler)
        })
        .partition(|handler| event.is_unheard() || handler.waits != Waits::Yes);
    let once = unheard.iter().chain(&heard).filter(|handler| handler.often == Often::Once);
    let once: Vec<_> = once.map(|handler| (event, Handler::clone(handler))).collect();
    session.runtime.hooks.done.extend(once);
    // What an agent takes over is cloned only where one is sent.
    let agents = unheard.iter().chain(&heard).any(|handler| handler.sends_agent());
    let mut handlers = handlers(session, occasion).await;
    handlers.parent = (agents && session.is_main()).then(|| Arc::new(agents::as_parent(session)));
    for handler in unheard {
        match handler.waits {
            Waits::Rewakes => handlers.clone().start_waking(handler),
            Waits::Yes | Waits::No => handlers.clone().start(handler),
        }
    }
    let running = join_all(heard.iter().map(|handler| handlers.run(handler)));
    let ran = tokio::select! {
        ran = running => ran,
        () = cancel.cancelled() => return Ok(verdict),
    };
    for (handler, run) in heard.into_iter().zip(ran) {
        let mut answer = HandlerAnswer::read(event, &run);
        for text in answer.texts_mut() {
            *text = capped(session, std::mem::take(text)).await;
        }
        verdict.add(event, handler.name(), answer);
    }
    note_hooks(session, event, std::mem::take(&mut verdict.notes)).await?;
    if let Some(why) = &verdict.stop {
        session.runtime.hooks.stop = Some(why.clone());
    }
    if let Some(title) = verdict.title.take() {
        let line = everfold_transcript::bookkeeping::custom_title(&session.log.id, title.trim());
        session.log.note(&line).await?;
    }
    Ok(verdict)
}

/// Whether anybody is called at an event.
pub(crate) fn hears(session: &Session, event: HookEvent) -> bool {
    has_hooks(session) && hook_registry(session).listens_to(event)
}

fn is_done(session: &Session, event: HookEvent, handler: &Handler) -> bool {
    session.runtime.hooks.done.iter().any(|(at, done)| *at == event && done == handler)
}

/// Whether hooks are called for this conversation: a person's, and those
/// of agents that were sent by it. What keeps the memory does so unasked.
fn has_hooks(session: &Session) -> bool {
    match session.source() {
        // Who judges for a hook calls none, or there would be no end.
        QuerySource::Agent(kind) => kind != HANDLER_KIND,
        _ => session.is_main(),
    }
}

fn hook_input(session: &Session, occasion: &Occasion<'_>) -> String {
    let (source, cwd) = (session.source().to_string(), session.context.cwd());
    let path = session.world.transcripts.path(&session.log.id);
    let kind = source.strip_prefix("agent:").unwrap_or(&source);
    let agent = (!session.is_main()).then_some((session.log.id.as_str(), kind));
    let base = CommonFields {
        session_id: session.log.envelope.session.as_str(),
        transcript_path: &path,
        cwd: &cwd,
        permission_mode: session.permit.mode().as_str(),
        effort: session.config.models.effort.as_deref(),
        agent,
    };
    occasion.input(&base).to_string()
}

/// What handlers are run with. Where they may leave variables, there is a
/// file for them.
async fn handlers(session: &Session, occasion: &Occasion<'_>) -> Handlers {
    let event = occasion.event();
    let place = Path::new(ENV_FILE);
    let env_file = session.world.transcripts.session_dir(&session.log.id).join(place);
    let fresh = event == HookEvent::SessionStart;
    let leaves = event.leaves_variables() && session.is_main();
    if leaves
        && (fresh || session.world.files.stat(&env_file).await.is_err())
        && let Err(error) = session.world.transcripts.keep(&session.log.id, place, b"").await
    {
        tracing::warn!(%error, "there is no file for the variables of hooks");
    }
    Handlers {
        world: session.world.clone(),
        config: Arc::clone(&session.config),
        books: session.runtime.books.clone(),
        agents: session.crew.agents.clone(),
        parent: None,
        event,
        input: hook_input(session, occasion),
        cwd: session.context.cwd(),
        env_file: leaves.then_some(env_file),
    }
}

/// The handlers of settings, and those that skills brought.
fn hook_registry(session: &Session) -> Arc<Registry> {
    session
        .runtime
        .hooks
        .registry
        .clone()
        .unwrap_or_else(|| Arc::clone(&session.config.setups.hooks))
}

/// Adds handlers for the rest of the conversation.
pub(crate) fn add_hooks(session: &mut Session, more: &Registry) {
    session.runtime.hooks.registry = Some(Arc::new(hook_registry(session).and(more)));
}

/// A text as it may be shown: without keys (S5), and a long one by its
/// start and the file that has all of it.
async fn capped(session: &Session, text: String) -> String {
    let text = session.config.redact(&text);
    let count = text.chars().count();
    if count <= session.config.limits.hooks.output_chars {
        return text;
    }
    let start: String = text.chars().take(PREVIEW_CHARS).collect();
    let place = Path::new(OUTPUT_DIR).join(format!("{}.txt", session.world.clock.fresh_uuid()));
    let kept = session.world.transcripts.keep(&session.log.id, &place, text.as_bytes()).await;
    let rest = match kept {
        Ok(path) => format!("all of it is in {}: use Read", path.display()),
        Err(error) => format!("the rest is lost: {error}"),
    };
    format!("{start}\n[These are the first {PREVIEW_CHARS} of {count} characters; {rest}.]")
}

/// Tells the person what hooks said, and of each failure once.
async fn note_hooks(
    session: &mut Session,
    event: HookEvent,
    notes: Vec<Noted>,
) -> Result<(), Error> {
    for note in notes {
        match note {
            Noted::Said(text) => session.emit(|| Event::Notice(text)),
            Noted::Failed { handler, reason } => {
                let event = event.name().to_owned();
                let text = format!("the {event} hook {handler:?} failed: {reason}");
                tracing::warn!("{text}");
                if session.runtime.hooks.told.insert(text.clone()) {
                    session
                        .append(Entry::Decision(Decision::HookFailed { event, handler, reason }))
                        .await?;
                    session.emit(|| Event::Notice(text));
                }
            }
        }
    }
    Ok(())
}

/// Keeps text for the model until the next boundary: between a call and
/// its result there is no place for it.
fn keep_for_model(session: &mut Session, kind: &'static str, event: HookEvent, text: String) {
    session.runtime.hooks.pending.push(PendingText { kind, event, text });
}

/// The same for all texts of an event.
pub(crate) fn keep_contexts(session: &mut Session, event: HookEvent, contexts: Vec<String>) {
    for text in contexts {
        keep_for_model(session, CONTEXT, event, text);
    }
}

/// Brings in what hooks have for the model.
pub(crate) async fn attach_hook_texts(session: &mut Session) -> Result<(), Error> {
    for PendingText { kind, event, text } in std::mem::take(&mut session.runtime.hooks.pending) {
        let name = event.name();
        let told = match kind {
            FEEDBACK => format!("The {name} hook objects: {text}"),
            _ => format!("From the {name} hook: {text}"),
        };
        let data = json!({ "hookEvent": name });
        session.attach_from(Source::Hook, kind, &told, data).await?;
    }
    Ok(())
}

/// Why a hook wants the turn to end, if one does.
pub(crate) fn stopped_by_hook(session: &mut Session) -> Option<String> {
    session.runtime.hooks.stop.take().map(|why| format!("a hook stopped the turn: {why}"))
}

fn as_ran(run: HookRun) -> Ran {
    let ended = match run.exit {
        HookExit::Ended(Exit::Code(code)) => HandlerExit::Code(code),
        HookExit::Ended(Exit::Signal(signal)) => HandlerExit::Signal(signal),
        HookExit::Ended(Exit::TimedOut) => HandlerExit::TimedOut,
        HookExit::NotRun(why) => HandlerExit::NotRun(why),
    };
    Ran { ended, stdout: run.stdout, stderr: run.stderr }
}
