//! Hooks at work (Q7): the handlers of an event are run side by side, and
//! what they say is carried out.
//!
//! `mnemon-hooks` says whom an event calls and what answers mean; here they
//! are run. A handler that hangs, dies, prints nonsense or is missing has no
//! say: it is noted in the log, and the turn goes on. Text for the model joins
//! the conversation as a reminder, frozen like all others.

use crate::event::Event;
use crate::session::{Error, Session};
use futures_util::future::join_all;
use mnemon_hooks::{
    Act, Answer, Base, Ended, Event as HookEvent, Handler, Noted, Occasion, Ran, Verdict, Waits,
};
use mnemon_kernel::env::HOOK_PROJECT_DIR;
use mnemon_kernel::ports::{Exit, HookAction, HookCall, HookRun};
use mnemon_kernel::{Decision, Entry, QuerySource};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

mod around;
mod calls;

pub(crate) use calls::Said;

/// The kind of an attachment that holds what a hook tells the model.
pub const CONTEXT: &str = "hook_additional_context";
/// The kind of one that holds why a hook blocked something.
pub const FEEDBACK: &str = "hook_blocking_error";
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
}

impl Hooking {
    /// Those of a new conversation.
    pub(crate) fn new() -> Self {
        let start = Some("startup");
        Self { start, pending: Vec::new(), stop: None, told: BTreeSet::new() }
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
        let event = occasion.event();
        let mut verdict = Verdict::default();
        let Some(hooks) = self.world.hooks.clone() else { return Ok(verdict) };
        if !self.config.hooks.listens_to(event) || !self.has_hooks() || cancel.is_cancelled() {
            return Ok(verdict);
        }
        let registry = std::sync::Arc::clone(&self.config.hooks);
        let (unheard, heard): (Vec<&Handler>, Vec<&Handler>) = registry
            .called(occasion)
            .into_iter()
            .filter(|handler| self.is_meant(handler, occasion))
            .partition(|handler| event.is_unheard() || handler.waits == Waits::No);
        let input = self.hook_input(occasion);
        for handler in unheard {
            hooks.start(self.hook_call(handler, event, &input));
        }
        let calls = heard.iter().map(|handler| self.hook_call(handler, event, &input));
        let running = join_all(calls.map(|call| hooks.run(call)));
        let ran = tokio::select! {
            ran = running => ran,
            () = cancel.cancelled() => return Ok(verdict),
        };
        for (handler, run) in heard.into_iter().zip(ran) {
            let mut answer = Answer::read(event, &as_ran(run));
            for text in answer.texts_mut() {
                *text = self.capped(std::mem::take(text)).await;
            }
            verdict.add(event, handler.name(), answer);
        }
        self.note_hooks(event, std::mem::take(&mut verdict.notes)).await?;
        if let Some(why) = &verdict.stop {
            self.hooking.stop = Some(why.clone());
        }
        Ok(verdict)
    }

    /// Whether hooks are called for this conversation: a person's, and those
    /// of agents that were sent by it. What keeps the memory does so unasked.
    fn has_hooks(&self) -> bool {
        self.is_main() || matches!(self.source(), QuerySource::Agent(_))
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

    fn hook_call(&self, handler: &Handler, event: HookEvent, input: &str) -> HookCall {
        let limits = &self.config.limits.hooks;
        let usual = match event {
            HookEvent::UserPromptSubmit => limits.prompt_timeout_s,
            _ => limits.timeout_s,
        };
        let mut timeout = Duration::from_secs(handler.timeout_s.unwrap_or(usual));
        if event == HookEvent::SessionEnd {
            timeout = timeout.min(Duration::from_millis(limits.session_end_ms));
        }
        let project = self.config.roots.first().cloned().unwrap_or_default();
        let env = BTreeMap::from([(HOOK_PROJECT_DIR.to_owned(), project.display().to_string())]);
        let action = match handler.act.clone() {
            Act::Shell(command) => HookAction::Shell(command),
            Act::Program { command, args } => HookAction::Program { command, args },
            Act::Http { url, headers, allowed } => HookAction::Http { url, headers, allowed },
        };
        HookCall {
            action,
            input: input.to_owned(),
            cwd: self.context.cwd(),
            env,
            timeout,
            output_bytes: limits.output_bytes,
        }
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
            self.attach(kind, &told, json!({ "hookEvent": name })).await?;
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
