//! Hooks around a conversation: its start and end, what the person says, when
//! the model would stop, compactions, instruction files.

use super::FEEDBACK;
use crate::background::TaskStatus;
use crate::compacting::Trigger;
use crate::event::{EndReason, Event, TurnEnd};
use crate::prompt::Prompt;
use crate::session::{Error, Session};
use everfold_hooks::{Event as HookEvent, Occasion, Task, Verdict, Wish};
use everfold_kernel::Block;
use everfold_kernel::ports::JobState;
use everfold_kernel::provenance::Source;
use everfold_kernel::settings::Surface;
use everfold_rules::{Fate, Reason, Row, Scope};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

impl Session {
    /// Says how the conversation began where that is neither new nor resumed:
    /// `clear`.
    pub fn began_by(&mut self, source: &'static str) {
        self.hooking.start = Some(source);
    }

    /// Tells hooks that the conversation begins or goes on, once.
    pub(crate) async fn start_hooks(&mut self, cancel: &CancellationToken) -> Result<(), Error> {
        let Some(source) = self.hooking.start.take().filter(|_| self.keeps_itself()) else {
            return Ok(());
        };
        if self.is_main() {
            return self.fire_start(source, cancel).await;
        }
        let (id, kind) = self.agent_names();
        let verdict = self.fire(&Occasion::SubagentStart { id: &id, kind: &kind }, cancel).await?;
        self.keep_contexts(HookEvent::SubagentStart, verdict.contexts);
        self.attach_hook_texts().await
    }

    /// The id and the kind of an agent, as hooks know them.
    fn agent_names(&self) -> (String, String) {
        let source = self.source().to_string();
        let kind = source.strip_prefix("agent:").unwrap_or(&source);
        (self.id.to_string(), kind.to_owned())
    }

    /// Asks hooks whether the model is done.
    async fn fire_stop(
        &mut self,
        last: &str,
        times: u32,
        cancel: &CancellationToken,
    ) -> Result<(HookEvent, Verdict), Error> {
        let again = times > 0;
        if self.is_main() {
            let tasks = self.running_tasks();
            let stop = Occasion::Stop { again, last, tasks: &tasks };
            return Ok((HookEvent::Stop, self.fire(&stop, cancel).await?));
        }
        let (id, kind) = self.agent_names();
        let transcript = self.world.transcripts.path(&self.id);
        let (id, kind, transcript) = (id.as_str(), kind.as_str(), transcript.as_path());
        let stop = Occasion::SubagentStop { id, kind, transcript, again, last };
        Ok((HookEvent::SubagentStop, self.fire(&stop, cancel).await?))
    }

    /// What runs beside the conversation, as hooks are told of it.
    fn running_tasks(&self) -> Vec<Task> {
        let views = self.background.list().into_iter();
        let tasks = views.filter(|view| view.status == TaskStatus::Running).map(|view| {
            let source = view.source.to_string();
            let kind = source.split(':').next().unwrap_or_default().to_owned();
            Task { id: view.id, kind, description: view.name }
        });
        let jobs = self.world.shell.jobs().into_iter().filter(|job| job.state == JobState::Running);
        let jobs =
            jobs.map(|job| Task { id: job.id, kind: "shell".into(), description: job.command });
        tasks.chain(jobs).collect()
    }

    async fn fire_start(
        &mut self,
        source: &'static str,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        let model = self.model().to_string();
        let start = Occasion::SessionStart { source, model: &model };
        let verdict = self.fire(&start, cancel).await?;
        self.keep_contexts(HookEvent::SessionStart, verdict.contexts);
        self.hooking.watched.add(verdict.wanted.watch);
        // Where a person sits in front of it, they say the first words.
        let alone = self.config.extraction.surface == Surface::Headless;
        self.hooking.first_words = verdict.first_words.filter(|_| alone && source == "startup");
        self.attach_hook_texts().await
    }

    /// What a hook wants said before the person's first words, once.
    pub(crate) fn first_words(&mut self) -> Option<Prompt> {
        let said = self.hooking.first_words.take()?;
        Some(Prompt::of(Source::Hook, vec![Block::text(said)]))
    }

    /// Asks hooks about what the person said. Why not, where it is refused:
    /// then it never was.
    pub(crate) async fn prompt_hooks(
        &mut self,
        prompt: &str,
        cancel: &CancellationToken,
    ) -> Result<Result<(), String>, Error> {
        if !self.is_main() {
            return Ok(Ok(()));
        }
        let source = if self.config.entrypoint == "cli" { "user" } else { "sdk" };
        let verdict = self.fire(&Occasion::UserPromptSubmit { prompt, source }, cancel).await?;
        if let Some(why) = verdict.blocked.or(verdict.stop) {
            self.hooking.stop = None;
            let shown = !verdict.wanted.wishes.contains(&Wish::HidePrompt);
            let said = if shown { format!("\nIt was: {}", prompt.trim()) } else { String::new() };
            return Ok(Err(format!("a UserPromptSubmit hook refused the message: {why}{said}")));
        }
        self.keep_contexts(HookEvent::UserPromptSubmit, verdict.contexts);
        Ok(Ok(()))
    }

    /// Asks hooks whether the model may stop. True where it is kept at work:
    /// the reason is in the conversation then.
    pub(crate) async fn kept_at_work(
        &mut self,
        end: &TurnEnd,
        times: u32,
        cancel: &CancellationToken,
    ) -> Result<bool, Error> {
        if !self.keeps_itself() {
            return Ok(false);
        }
        let last = &end.text;
        if let EndReason::Failed(error) = &end.reason {
            self.fire(&Occasion::StopFailure { error, last }, cancel).await?;
        }
        if !end.reason.is_success() {
            return Ok(false);
        }
        let (event, verdict) = self.fire_stop(last, times, cancel).await?;
        self.keep_contexts(event, verdict.contexts);
        let stops = self.hooking.stop.take().is_some();
        let Some(reason) = verdict.blocked.filter(|_| !stops) else { return Ok(false) };
        let most = self.config.limits.hooks.stop_blocks;
        if times >= most {
            let text = format!(
                "a Stop hook kept the model at work {most} times in a row; the turn ends here \
                 ({reason})"
            );
            self.emit(|| Event::Notice(text));
            return Ok(false);
        }
        self.keep_for_model(FEEDBACK, event, reason);
        self.attach_hook_texts().await?;
        Ok(true)
    }

    /// Asks hooks whether a compaction may be made (L4.3). Why not, where it may not.
    pub(crate) async fn compaction_refused(
        &mut self,
        trigger: Trigger,
        instructions: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, Error> {
        let occasion = Occasion::PreCompact { trigger: trigger.as_str(), instructions };
        let verdict = self.fire(&occasion, cancel).await?;
        self.hooking.stop = None;
        let blocked = verdict.blocked.or(verdict.stop);
        Ok(blocked.map(|why| format!("a PreCompact hook blocked it: {why}")))
    }

    /// Tells hooks of a compaction, and starts the conversation anew for them (L4.5).
    pub(crate) async fn compacted_hooks(
        &mut self,
        trigger: Trigger,
        summary: &str,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        let occasion = Occasion::PostCompact { trigger: trigger.as_str(), summary };
        self.fire(&occasion, cancel).await?;
        self.fire_start("compact", cancel).await
    }

    /// Tells hooks which instruction files were loaded.
    pub(crate) async fn told_instructions(&mut self, rows: &[Row]) -> Result<(), Error> {
        let never = CancellationToken::new();
        let loaded = |row: &&Row| matches!(row.fate, Fate::Loaded | Fate::LoadedLarge { .. });
        for row in rows.iter().filter(loaded) {
            let kind = match row.scope {
                Scope::Managed => "Managed",
                Scope::User => "User",
                Scope::Project => "Project",
                Scope::Local => "Local",
            };
            let reason = match row.reason {
                Reason::Start => "session_start",
                Reason::Nested => "nested_traversal",
                Reason::PathMatch { .. } => "path_glob_match",
                Reason::Import { .. } => "include",
            };
            let occasion = Occasion::InstructionsLoaded { path: &row.path, kind, reason };
            self.fire(&occasion, &never).await?;
        }
        Ok(())
    }

    /// Tells hooks that the conversation is left: `clear`, `resume`,
    /// `prompt_input_exit` or `other`. All of them together have a moment.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn end_hooks(&mut self, reason: &str) -> Result<(), Error> {
        // Who never heard of a start hears of no end.
        if self.hooking.start.is_some() {
            return Ok(());
        }
        let budget = Duration::from_millis(self.config.limits.hooks.session_end_ms);
        let never = CancellationToken::new();
        let occasion = Occasion::SessionEnd { reason };
        if let Ok(fired) = tokio::time::timeout(budget, self.fire(&occasion, &never)).await {
            return fired.map(|_| ());
        }
        tracing::warn!("the SessionEnd hooks took too long and were ended");
        Ok(())
    }
}
