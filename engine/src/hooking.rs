//! Hooks at work (Q7): the handlers of an event are run side by side, and
//! what they say is carried out.
//!
//! `everfold-hooks` says whom an event calls and what answers mean; here they
//! are run. A handler that hangs, dies, prints nonsense or is missing has no
//! say: it is noted in the log, and the turn goes on. Text for the model joins
//! the conversation as a reminder, frozen like all others.

use crate::event::Event;
use crate::session::{Error, Session};
pub(crate) use crate::tools::ENV_FILE;
use everfold_hooks::{
    Answer, Base, Ended, Event as HookEvent, Handler, Noted, Occasion, Often, Ran, Registry,
    Verdict, Waits,
};
use everfold_kernel::ports::{Exit, HookRun};
use everfold_kernel::provenance::Source;
use everfold_kernel::{Decision, Entry, QuerySource};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

mod around;
mod beside;
mod calls;
mod changes;
mod handlers;
mod models;
mod responding;

pub(crate) use beside::request_beside;
pub(crate) use calls::Said;
use changes::Watched;
use handlers::Handlers;
pub(crate) use responding::respondent;

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

/// What hooks left for later.
#[derive(Clone, Debug)]
pub(crate) struct Hooking {
    /// How the conversation began, as long as nobody was told.
    pub(crate) start: Option<&'static str>,
    /// What the model reads at the next boundary.
    pending: Vec<Pending>,
    /// The turn is to end, and why.
    stop: Option<String>,
    /// Failures that the person was told of.
    told: BTreeSet<String>,
    /// What is said before the person's first words.
    first_words: Option<String>,
    /// All handlers, where skills brought some.
    registry: Option<Arc<Registry>>,
    /// Skills whose handlers are among them.
    pub(crate) skills: BTreeSet<String>,
    /// Handlers that were called once and are not again.
    done: Vec<(HookEvent, Handler)>,
    /// Calls of the answer that is carried out, with what came of them.
    batch: Vec<Value>,
    /// Where commands ran last.
    cwd: Option<PathBuf>,
    /// Files that are looked at for changes.
    watched: Watched,
}

impl Hooking {
    /// Those of a new conversation.
    pub(crate) fn new() -> Self {
        let start = Some("startup");
        Self {
            start,
            pending: Vec::new(),
            stop: None,
            told: BTreeSet::new(),
            first_words: None,
            registry: None,
            skills: BTreeSet::new(),
            done: Vec::new(),
            batch: Vec::new(),
            cwd: None,
            watched: Watched::default(),
        }
    }
}

#[derive(Clone, Debug)]
struct Pending {
    kind: &'static str,
    event: HookEvent,
    text: String,
}

impl Session {
    /// Calls the handlers of an occasion and waits for what they say. Those
    /// that nobody listens to are only started.
    pub(crate) async fn fire(
        &mut self,
        occasion: &Occasion<'_>,
        cancel: &CancellationToken,
    ) -> Result<Verdict, Error> {
        if !self.hears(occasion.event()) || cancel.is_cancelled() {
            return Ok(Verdict::default());
        }
        // Turns in which nobody is called need not make room for it.
        Box::pin(self.call_handlers(occasion, cancel)).await
    }

    async fn call_handlers(
        &mut self,
        occasion: &Occasion<'_>,
        cancel: &CancellationToken,
    ) -> Result<Verdict, Error> {
        let event = occasion.event();
        let mut verdict = Verdict::default();
        let registry = self.hook_registry();
        let (unheard, heard): (Vec<&Handler>, Vec<&Handler>) = registry
            .called(occasion)
            .into_iter()
            .filter(|handler| self.is_meant(handler, occasion) && !self.is_done(event, handler))
            .partition(|handler| event.is_unheard() || handler.waits != Waits::Yes);
        let once = unheard.iter().chain(&heard).filter(|handler| handler.often == Often::Once);
        let once: Vec<_> = once.map(|handler| (event, Handler::clone(handler))).collect();
        self.hooking.done.extend(once);
        // What an agent takes over is cloned only where one is sent.
        let agents = unheard.iter().chain(&heard).any(|handler| handler.sends_agent());
        let mut handlers = self.handlers(occasion).await;
        handlers.parent = (agents && self.is_main()).then(|| Arc::new(self.as_parent()));
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
            let mut answer = Answer::read(event, &run);
            for text in answer.texts_mut() {
                *text = self.capped(std::mem::take(text)).await;
            }
            verdict.add(event, handler.name(), answer);
        }
        self.note_hooks(event, std::mem::take(&mut verdict.notes)).await?;
        if let Some(why) = &verdict.stop {
            self.hooking.stop = Some(why.clone());
        }
        if let Some(title) = verdict.title.take() {
            let line = everfold_transcript::bookkeeping::custom_title(&self.id, title.trim());
            self.world.transcripts.append(&self.id, line.as_bytes()).await?;
        }
        Ok(verdict)
    }

    /// Whether anybody is called at an event.
    pub(crate) fn hears(&self, event: HookEvent) -> bool {
        self.has_hooks() && self.hook_registry().listens_to(event)
    }

    fn is_done(&self, event: HookEvent, handler: &Handler) -> bool {
        self.hooking.done.iter().any(|(at, done)| *at == event && done == handler)
    }

    /// Whether hooks are called for this conversation: a person's, and those
    /// of agents that were sent by it. What keeps the memory does so unasked.
    fn has_hooks(&self) -> bool {
        match self.source() {
            // Who judges for a hook calls none, or there would be no end.
            QuerySource::Agent(kind) => kind != HANDLER_KIND,
            _ => self.is_main(),
        }
    }

    fn hook_input(&self, occasion: &Occasion<'_>) -> String {
        let (source, cwd) = (self.source().to_string(), self.context.cwd());
        let path = self.world.transcripts.path(&self.id);
        let kind = source.strip_prefix("agent:").unwrap_or(&source);
        let agent = (!self.is_main()).then_some((self.id.as_str(), kind));
        let base = Base {
            session_id: self.envelope.session.as_str(),
            transcript_path: &path,
            cwd: &cwd,
            permission_mode: self.permit.mode().as_str(),
            effort: self.config.effort.as_deref(),
            agent,
        };
        occasion.input(&base).to_string()
    }

    /// What handlers are run with. Where they may leave variables, there is a
    /// file for them.
    async fn handlers(&self, occasion: &Occasion<'_>) -> Handlers {
        let event = occasion.event();
        let place = Path::new(ENV_FILE);
        let env_file = self.world.transcripts.session_dir(&self.id).join(place);
        let fresh = event == HookEvent::SessionStart;
        let leaves = event.leaves_variables() && self.is_main();
        if leaves
            && (fresh || self.world.files.stat(&env_file).await.is_err())
            && let Err(error) = self.world.transcripts.keep(&self.id, place, b"").await
        {
            tracing::warn!(%error, "there is no file for the variables of hooks");
        }
        Handlers {
            world: self.world.clone(),
            config: Arc::clone(&self.config),
            books: self.side_bookings.clone(),
            agents: self.crew.agents.clone(),
            parent: None,
            event,
            input: self.hook_input(occasion),
            cwd: self.context.cwd(),
            env_file: leaves.then_some(env_file),
        }
    }

    /// The handlers of settings, and those that skills brought.
    fn hook_registry(&self) -> Arc<Registry> {
        self.hooking.registry.clone().unwrap_or_else(|| Arc::clone(&self.config.hooks))
    }

    /// Adds handlers for the rest of the conversation.
    pub(crate) fn add_hooks(&mut self, more: &Registry) {
        self.hooking.registry = Some(Arc::new(self.hook_registry().and(more)));
    }

    /// A text as it may be shown: without keys (S5), and a long one by its
    /// start and the file that has all of it.
    async fn capped(&self, text: String) -> String {
        let text = self.config.redact(&text);
        let count = text.chars().count();
        if count <= self.config.limits.hooks.output_chars {
            return text;
        }
        let start: String = text.chars().take(PREVIEW_CHARS).collect();
        let place = Path::new(OUTPUT_DIR).join(format!("{}.txt", self.world.clock.fresh_uuid()));
        let kept = self.world.transcripts.keep(&self.id, &place, text.as_bytes()).await;
        let rest = match kept {
            Ok(path) => format!("all of it is in {}: use Read", path.display()),
            Err(error) => format!("the rest is lost: {error}"),
        };
        format!("{start}\n[These are the first {PREVIEW_CHARS} of {count} characters; {rest}.]")
    }

    /// Tells the person what hooks said, and of each failure once.
    async fn note_hooks(&mut self, event: HookEvent, notes: Vec<Noted>) -> Result<(), Error> {
        for note in notes {
            match note {
                Noted::Said(text) => self.emit(|| Event::Notice(text)),
                Noted::Failed { handler, reason } => {
                    let event = event.name().to_owned();
                    let text = format!("the {event} hook {handler:?} failed: {reason}");
                    tracing::warn!("{text}");
                    if self.hooking.told.insert(text.clone()) {
                        self.append(Entry::Decision(Decision::HookFailed {
                            event,
                            handler,
                            reason,
                        }))
                        .await?;
                        self.emit(|| Event::Notice(text));
                    }
                }
            }
        }
        Ok(())
    }

    /// Keeps text for the model until the next boundary: between a call and
    /// its result there is no place for it.
    fn keep_for_model(&mut self, kind: &'static str, event: HookEvent, text: String) {
        self.hooking.pending.push(Pending { kind, event, text });
    }

    /// The same for all texts of an event.
    pub(crate) fn keep_contexts(&mut self, event: HookEvent, contexts: Vec<String>) {
        for text in contexts {
            self.keep_for_model(CONTEXT, event, text);
        }
    }

    /// Brings in what hooks have for the model.
    pub(crate) async fn attach_hook_texts(&mut self) -> Result<(), Error> {
        for Pending { kind, event, text } in std::mem::take(&mut self.hooking.pending) {
            let name = event.name();
            let told = match kind {
                FEEDBACK => format!("The {name} hook objects: {text}"),
                _ => format!("From the {name} hook: {text}"),
            };
            let data = json!({ "hookEvent": name });
            self.attach_from(Source::Hook, kind, &told, data).await?;
        }
        Ok(())
    }

    /// Why a hook wants the turn to end, if one does.
    pub(crate) fn stopped_by_hook(&mut self) -> Option<String> {
        self.hooking.stop.take().map(|why| format!("a hook stopped the turn: {why}"))
    }
}

fn as_ran(run: HookRun) -> Ran {
    let ended = match run.exit {
        Ok(Exit::Code(code)) => Ended::Code(code),
        Ok(Exit::Signal(signal)) => Ended::Signal(signal),
        Ok(Exit::TimedOut) => Ended::TimedOut,
        Err(why) => Ended::NotRun(why),
    };
    Ran { ended, stdout: run.stdout, stderr: run.stderr }
}
