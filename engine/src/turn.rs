//! The driver: performs the steps of a turn until it is over.

use crate::answer::{Answered, calls_of, text_of};
use crate::event::{Denial, EndReason, Event, TurnEnd};
use crate::ladder::{Climbed, Rung};
use crate::mentions::Mentioned;
use crate::prompt::Prompt;
use crate::prompting::PromptCall;
use crate::run::{Rules, Run, Step};
use crate::session::{Error, Session};
use crate::skilled::SkillRequest;
use everfold_kernel::provenance::Source;
use everfold_kernel::{Block, Entry, Role, ToolUseId, UserEntry, UserOrigin};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// What the model reads after the person stopped a turn.
pub(crate) const INTERRUPTED_BY_PERSON: &str = "[Request interrupted by user]";

/// Why a turn ends when a request stays too long.
const NO_ROOM: &str = "the prompt is too long for the model, and there is nothing left to \
    compact; shorten the last message, or unpin what is pinned";

/// What the person called by a slash.
enum Called {
    /// Nothing: it is what they say.
    Nothing,
    /// A skill.
    Skill(SkillRequest),
    /// A prompt of a server, and its text.
    Prompt(PromptCall, String),
}

impl Session {
    /// Runs one turn: the person's message, and all that follows from it.
    /// What goes wrong with the model or a tool ends the turn with a reason;
    /// the conversation can go on.
    ///
    /// # Errors
    /// If the log cannot be written: nothing more could be kept.
    pub async fn turn(
        &mut self,
        prompt: impl Into<Prompt>,
        cancel: &CancellationToken,
    ) -> Result<TurnEnd, Error> {
        if let Err(why) = Box::pin(self.open_turn(prompt.into(), cancel)).await? {
            return Ok(TurnEnd { reason: EndReason::Failed(why), ..TurnEnd::default() });
        }
        self.drive(cancel).await
    }

    /// Runs a turn without a word of the person, where letters have come or
    /// background agents have ended. None where there is nothing to say.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn go_on(&mut self, cancel: &CancellationToken) -> Result<Option<TurnEnd>, Error> {
        let before = self.last.clone();
        self.begin_turn().await?;
        self.take_queued(cancel).await?;
        if self.last == before {
            return Ok(None);
        }
        self.drive(cancel).await.map(Some)
    }

    /// What every turn starts with.
    async fn begin_turn(&mut self) -> Result<(), Error> {
        self.ensure_beginning().await?;
        if self.is_main() {
            self.attach_late_kinds().await?;
        }
        if self.keeps_itself() {
            self.follow_mode();
            self.attach_plan_mode().await?;
            self.join_mail().await?;
        }
        Ok(())
    }

    /// Performs steps until the turn is over.
    async fn drive(&mut self, cancel: &CancellationToken) -> Result<TurnEnd, Error> {
        let limit = self.config.limits.turn_requests;
        let mut run = Run::new(Rules {
            max_requests: self.config.max_turns.map_or(limit, |turns| turns.min(limit)),
            has_fallback: self.fallback_model().is_some(),
            rungs: if self.keeps_itself() { Rung::ORDER } else { Rung::OF_FORKS },
        });
        let mut end = TurnEnd::default();
        let mut kept = 0;
        loop {
            match run.next() {
                Step::RunLayer(rung) => match self.climb(rung, cancel).await? {
                    Climbed::Done => run.layer_done(),
                    Climbed::Blocked(why) => run.blocked(why),
                },
                Step::CallModel => self.step_model(&mut run, &mut end, cancel).await?,
                Step::CallTools(calls) => {
                    let denied = self.run_tools(calls, cancel).await?;
                    end.denials.extend(denied);
                    self.step_boundary(&mut run, cancel).await?;
                }
                Step::SwitchModel => match self.fall_back(cancel).await? {
                    Ok(()) => run.layer_done(),
                    Err(why) => run.blocked(why),
                },
                Step::MakeRoom { try_number, maximum } => {
                    if self.keeps_itself() && self.make_room(maximum, try_number, cancel).await? {
                        run.layer_done();
                    } else {
                        run.blocked(NO_ROOM.to_owned());
                    }
                }
                Step::Done(reason) if reason.is_success() && self.has_news() => {
                    // Told before the turn ends, and not only with the next.
                    self.join_mail().await?;
                    run.again();
                }
                Step::Done(reason) => {
                    end.reason = reason;
                    end.requests = run.requests();
                    if self.kept_at_work(&end, kept, cancel).await? {
                        kept += 1;
                        run.again();
                        continue;
                    }
                    self.after_turn(&end, cancel).await?;
                    return Ok(end);
                }
            }
        }
    }

    /// Brings in what the person said, and what comes before and after it.
    /// Why not, where a hook refused it.
    async fn open_turn(
        &mut self,
        prompt: Prompt,
        cancel: &CancellationToken,
    ) -> Result<Result<(), String>, Error> {
        self.meet_servers().await;
        self.begin_turn().await?;
        self.attach_servers().await?;
        self.start_hooks(cancel).await?;
        self.changed_hooks(cancel).await?;
        let text = prompt.text();
        let called = match self.called(&text, cancel).await? {
            Ok(called) => called,
            Err(why) => return Ok(Err(why)),
        };
        self.permit.end_turn();
        self.return_model(cancel).await?;
        self.prefetch.take_if(|prefetch| !prefetch.is_over());
        if self.is_main() {
            self.tell_date().await?;
            self.recall_for(&text, cancel).await?;
        }
        let origin = if self.keeps_itself() { UserOrigin::Human } else { UserOrigin::Meta };
        let first = self.first_words().unwrap_or_default();
        self.append_user(first.and(prompt), origin).await?;
        self.attach_named_files().await?;
        match called {
            Called::Nothing => {}
            Called::Skill(skill) => self.take_up(&skill, cancel).await?,
            Called::Prompt(call, text) => self.attach_prompt(&call, &text).await?,
        }
        self.attach_mentioned(&text).await?;
        self.attach_hook_texts().await?;
        Ok(Ok(()))
    }

    /// What the person calls by a slash, once hooks agreed to what was said.
    /// Why not, where it is refused or cannot be had.
    async fn called(
        &mut self,
        text: &str,
        cancel: &CancellationToken,
    ) -> Result<Result<Called, String>, Error> {
        if let Some(skill) = self.called_skill(text).filter(|_| self.is_main()) {
            let named = (skill.name.as_str(), skill.args.as_str());
            let asked = self.expansion_hooks("slash_command", named, text, cancel).await?;
            return Ok(asked.map(|()| Called::Skill(skill)));
        }
        if let Some(call) = self.called_prompt(text) {
            let named = (call.name.as_str(), call.args.as_str());
            if let Err(why) = self.expansion_hooks("mcp_prompt", named, text, cancel).await? {
                return Ok(Err(why));
            }
            return Ok(self.prompt_text(&call).await.map(|text| Called::Prompt(call, text)));
        }
        let asked = self.prompt_hooks(text, cancel).await?;
        Ok(asked.map(|()| Called::Nothing))
    }

    async fn step_model(
        &mut self,
        run: &mut Run,
        end: &mut TurnEnd,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        match self.ask_model(cancel).await? {
            Answered::Whole(reply) => {
                end.usage.add(&reply.usage);
                let text = text_of(&reply.blocks);
                if !text.is_empty() {
                    end.text = text;
                }
                if let Some(peek) = &self.peek {
                    peek.show(&self.fold, self.world.clock.now());
                }
                run.answered(&reply.stop_reason, calls_of(&reply.blocks));
            }
            Answered::Failed(error) => run.model_failed(&error),
            Answered::Cancelled => {
                self.close_interrupted().await?;
                run.cancelled();
            }
        }
        Ok(())
    }

    /// What joins the conversation between a tool's result and the next
    /// request: ends of background commands, instructions for files that were
    /// touched, memories, letters, messages that the person typed meanwhile.
    async fn step_boundary(
        &mut self,
        run: &mut Run,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        if cancel.is_cancelled() {
            self.close_interrupted().await?;
            run.cancelled();
            return Ok(());
        }
        if !self.keeps_itself() {
            if self.is_errand_done() {
                run.completed();
            } else {
                run.tools_done();
            }
            return Ok(());
        }
        self.changed_hooks(cancel).await?;
        self.leave_plan_mode().await?;
        self.follow_mode();
        self.attach_plan_mode().await?;
        self.tell_finished_jobs().await?;
        self.attach_requested_skills(cancel).await?;
        self.attach_servers().await?;
        self.attach_touched().await?;
        self.join_recalled().await?;
        self.join_mail().await?;
        self.take_queued(cancel).await?;
        self.attach_hook_texts().await?;
        if self.is_main() {
            self.tell_date().await?;
            self.after_response().await?;
        }
        match self.stopped_by_hook() {
            Some(why) => run.blocked(why),
            None => run.tools_done(),
        }
        Ok(())
    }

    /// Takes in what the person typed meanwhile.
    async fn take_queued(&mut self, cancel: &CancellationToken) -> Result<(), Error> {
        for waiting in self.queue.take() {
            let text = waiting.text.clone();
            if let Err(why) = self.prompt_hooks(&text, cancel).await? {
                self.emit(|| Event::Notice(why));
                continue;
            }
            if self.is_main() && !self.is_recalling() {
                self.recall_for(&text, cancel).await?;
            }
            let mentioned = Box::pin(self.with_mentions(waiting.prompt(), cancel)).await;
            let Mentioned { prompt, notes } = mentioned;
            for note in notes {
                self.emit(|| Event::Notice(note));
            }
            self.append_user(prompt, UserOrigin::Human).await?;
            self.attach_named_files().await?;
        }
        Ok(())
    }

    /// Leaves the conversation in a state that a new message can follow.
    async fn close_interrupted(&mut self) -> Result<(), Error> {
        for id in self.fold.open_calls() {
            let block = Block::tool_error(&ToolUseId::new(id), INTERRUPTED_BY_PERSON);
            let result = Prompt::of(Source::Command, vec![block]);
            self.append_user(result, UserOrigin::ToolResult).await?;
        }
        let answered = self.fold.messages().last().is_some_and(|m| m.role() == Role::Assistant);
        if answered {
            let note = Prompt::of_program(vec![Block::text(INTERRUPTED_BY_PERSON)]);
            self.append_user(note, UserOrigin::Meta).await?;
        }
        Ok(())
    }

    async fn tell_finished_jobs(&mut self) -> Result<(), Error> {
        for job in self.context.finished_jobs() {
            let text = format!(
                "The background command {} ({}) has ended: {:?}. Its output is in {}.",
                job.id,
                job.command,
                job.state,
                job.output.display()
            );
            let data = json!({"taskId": job.id});
            self.attach_from(Source::Command, "task_status", &text, data).await?;
        }
        Ok(())
    }

    pub(crate) async fn append_user(
        &mut self,
        prompt: Prompt,
        origin: UserOrigin,
    ) -> Result<(), Error> {
        let (content, provenance) = prompt.into_parts();
        let entry = UserEntry { content, origin, tool_use_result: None, provenance };
        let record = self.append(Entry::User(entry)).await?;
        if origin == UserOrigin::Human {
            if self.is_main() {
                self.crew.agents.seat().history.message(record.clone());
            }
            self.remembering.main.at_work.on(record);
        }
        Ok(())
    }

    /// The model to fall back to, if it is not the one that answers already.
    fn fallback_model(&self) -> Option<everfold_kernel::ModelId> {
        self.config.fallback_model.clone().filter(|fallback| fallback != self.model())
    }

    async fn fall_back(&mut self, cancel: &CancellationToken) -> Result<Result<(), String>, Error> {
        let Some(to) = self.fallback_model() else { return Ok(Ok(())) };
        let reason = "the model is overloaded";
        self.go_over(to, "fallback", reason, cancel).await
    }

    /// Changes the model in the middle of a turn, and tells the person. Why
    /// not, where a hook refused it.
    pub(crate) async fn go_over(
        &mut self,
        to: everfold_kernel::ModelId,
        source: &str,
        reason: &str,
        cancel: &CancellationToken,
    ) -> Result<Result<(), String>, Error> {
        let from = self.model().clone();
        let changed = Box::pin(self.change_model(&to, source, cancel)).await?;
        if changed.is_ok() {
            let reason = reason.to_owned();
            self.emit(|| Event::ModelSwitched { from, to, reason });
        }
        Ok(changed)
    }
}

/// A denial as the end of a turn reports it.
pub(crate) fn denial(call: &crate::tools::ToolCall) -> Denial {
    Denial { id: call.id.clone(), name: call.name.clone(), input: call.input.clone() }
}
