//! The driver: performs the steps of a turn until it is over.

use crate::agents::letters;
use crate::background::scheduler::Scheduler;
use crate::event::{Denial, EndReason, TurnEnd};
use crate::memory::recall;
use crate::session::prompt::{Prompt, text_of};
use crate::session::reminder::append_user;
use crate::session::{Converse, Error, Session, fork, prelude};
use crate::setups::hooks::model_switch::{self, SwitchError, go_over};
use crate::setups::hooks::session_events::PromptRefusal;
use crate::setups::hooks::{self, session_events};
use crate::setups::mcp_prompts::{self, PromptCall};
use crate::setups::mcp_tools;
use crate::setups::skills::{self, SkillRequest};
use crate::turn::joins::{self, Boundary};
use crate::turn::model_call::{self, Answered, calls_of};
use crate::turn::run::{Rules, Run, Step};
use crate::turn::{date_notice, mentions, tool_calls, turn_end};
use crate::window::ladder::{self, Climbed, Rung};
use crate::window::{compaction, pause, prompt_room};
use everfold_kernel::ports::{BoxFuture, ModelError};
use everfold_kernel::provenance::Source;
use everfold_kernel::{Block, Role, ToolUseId, UserOrigin};
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
    Skill(SkillRequest),
    /// A prompt of a server, and its text.
    Prompt(PromptCall, String),
}

/// Runs one turn: the person's message, and all that follows from it.
/// What goes wrong with the model or a tool ends the turn with a reason;
/// the conversation can go on.
///
/// # Errors
/// If the log cannot be written: nothing more could be kept.
pub async fn turn(
    session: &mut Session,
    prompt: impl Into<Prompt>,
    cancel: &CancellationToken,
) -> Result<TurnEnd, Error> {
    match Box::pin(open_turn(session, prompt.into(), cancel)).await {
        Ok(()) => drive(session, cancel).await,
        Err(PromptRefusal::Session(error)) => Err(error),
        Err(why) => {
            Ok(TurnEnd { reason: EndReason::Failed(why.to_string()), ..TurnEnd::default() })
        }
    }
}

/// Runs a turn without a word of the person, where letters have come or
/// background agents have ended. None where there is nothing to say.
///
/// # Errors
/// If the log cannot be written.
pub async fn go_on(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<Option<TurnEnd>, Error> {
    let before = session.log.last.clone();
    joins::join(session, Boundary::Start, cancel).await?;
    joins::take_queued(session, cancel).await?;
    if session.log.last == before {
        return Ok(None);
    }
    drive(session, cancel).await.map(Some)
}

/// Performs steps until the turn is over.
async fn drive(session: &mut Session, cancel: &CancellationToken) -> Result<TurnEnd, Error> {
    let _turn = session.is_main().then(|| TurnGoesOn::of(&session.runtime.cache.scheduler));
    let limit = session.config.limits.turn_requests;
    let mut run = Run::new(Rules {
        max_requests: session.config.launch.max_turns.map_or(limit, |turns| turns.min(limit)),
        has_fallback: fallback_model(session).is_some(),
        rungs: if session.keeps_itself() { Rung::ORDER } else { Rung::OF_FORKS },
    });
    session.runtime.branch.guard.begin_turn();
    let mut end = TurnEnd::default();
    let mut kept = 0;
    loop {
        match run.next() {
            Step::RunLayer(rung) => match ladder::climb(session, rung, cancel).await? {
                Climbed::Done => run.layer_done(),
                Climbed::Blocked(why) => run.blocked(why),
                Climbed::OverCeiling(spent) => run.over_ceiling(spent),
            },
            Step::CallModel => step_model(session, &mut run, &mut end, cancel).await?,
            Step::CallTools(calls) => {
                let denied = tool_calls::run_tools(session, calls, cancel).await?;
                end.denials.extend(denied);
                step_boundary(session, &mut run, cancel).await?;
            }
            Step::SwitchModel => match fall_back(session, cancel).await {
                Ok(()) => run.layer_done(),
                Err(SwitchError::Session(error)) => return Err(error),
                Err(why) => run.blocked(why.to_string()),
            },
            Step::MakeRoom { try_number, maximum } => {
                if session.keeps_itself()
                    && compaction::make_room(session, maximum, try_number, cancel).await?
                {
                    run.layer_done();
                } else {
                    run.blocked(NO_ROOM.to_owned());
                }
            }
            Step::Done(reason) if reason.is_success() && letters::has_news(session) => {
                // Told before the turn ends, and not only with the next.
                letters::join_mail(session).await?;
                run.again();
            }
            Step::Done(reason) => {
                end.reason = reason;
                end.requests = run.requests();
                if session_events::stop_refused(session, &end, kept, cancel).await? {
                    kept += 1;
                    run.again();
                    continue;
                }
                turn_end::after_turn(session, &end, cancel).await?;
                return Ok(end);
            }
        }
    }
}

/// Tells work in the background that a turn goes on, until it is dropped.
struct TurnGoesOn(Scheduler);

impl TurnGoesOn {
    fn of(scheduler: &Scheduler) -> Self {
        scheduler.turn_begins();
        Self(scheduler.clone())
    }
}

impl Drop for TurnGoesOn {
    fn drop(&mut self) {
        self.0.turn_ends();
    }
}

/// Brings in what the person said, and what comes before and after it.
async fn open_turn(
    session: &mut Session,
    prompt: Prompt,
    cancel: &CancellationToken,
) -> Result<(), PromptRefusal> {
    mcp_tools::meet_servers(session).await;
    pause::before_prompt(session, cancel).await?;
    joins::join(session, Boundary::Start, cancel).await?;
    joins::join(session, Boundary::BeforePrompt, cancel).await?;
    let text = prompt.text();
    let called = called(session, &text, cancel).await?;
    session.permit.end_turn();
    model_switch::return_model(session, cancel).await?;
    session.runtime.branch.prefetch.take_if(|prefetch| !prefetch.is_over());
    if session.is_main() {
        date_notice::tell_date(session).await?;
        recall::recall_for(session, &text, cancel).await?;
    }
    let prompt = prompt_room::fit(session, prompt).await?;
    let origin = if session.keeps_itself() { UserOrigin::Human } else { UserOrigin::Meta };
    let first = session_events::first_words(session).unwrap_or_default();
    append_user(session, first.and(prompt), origin).await?;
    mentions::attach_named_files(session).await?;
    match called {
        Called::Nothing => {}
        Called::Skill(skill) => skills::take_up(session, &skill, cancel).await?,
        Called::Prompt(call, text) => mcp_prompts::attach_prompt(session, &call, &text).await?,
    }
    mcp_prompts::attach_mentioned(session, &text).await?;
    Ok(hooks::attach_hook_texts(session).await?)
}

/// What the person calls by a slash, once hooks agreed to what was said.
async fn called(
    session: &mut Session,
    text: &str,
    cancel: &CancellationToken,
) -> Result<Called, PromptRefusal> {
    if let Some(skill) = skills::called_skill(session, text).filter(|_| session.is_main()) {
        let named = (skill.name.as_str(), skill.args.as_str());
        skills::expansion_hooks(session, "slash_command", named, text, cancel).await?;
        return Ok(Called::Skill(skill));
    }
    if let Some(call) = mcp_prompts::called_prompt(session, text) {
        let named = (call.name.as_str(), call.args.as_str());
        skills::expansion_hooks(session, "mcp_prompt", named, text, cancel).await?;
        let text = mcp_prompts::prompt_text(session, &call).await?;
        return Ok(Called::Prompt(call, text));
    }
    session_events::prompt_hooks(session, text, cancel).await?;
    Ok(Called::Nothing)
}

async fn step_model(
    session: &mut Session,
    run: &mut Run,
    end: &mut TurnEnd,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    match model_call::ask_model(session, cancel).await? {
        Answered::Whole(reply) => {
            session.runtime.branch.guard.answered();
            end.usage.add(&reply.usage);
            let text = text_of(&reply.blocks);
            if !text.is_empty() {
                end.text = text;
            }
            if let Some(peek) = &session.runtime.peek {
                peek.show(&session.state.fold, session.world.clock.now());
            }
            run.answered(&reply.stop_reason, calls_of(&reply.blocks));
        }
        Answered::Failed(ModelError::NoTools { .. }) if prelude::ask_by_text(session).await? => {
            run.again();
        }
        Answered::Failed(error) => run.model_failed(&error),
        Answered::Cancelled => {
            close_interrupted(session).await?;
            run.cancelled();
        }
    }
    Ok(())
}

/// What joins the conversation between a tool's result and the next
/// request: ends of background commands, instructions for files that were
/// touched, memories, letters, messages that the person typed meanwhile.
async fn step_boundary(
    session: &mut Session,
    run: &mut Run,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    if cancel.is_cancelled() {
        close_interrupted(session).await?;
        run.cancelled();
        return Ok(());
    }
    if !session.keeps_itself() {
        if fork::is_errand_done(session) {
            run.completed();
        } else {
            run.tools_done();
        }
        return Ok(());
    }
    joins::join(session, Boundary::AfterTools, cancel).await?;
    match hooks::stopped_by_hook(session) {
        Some(why) => run.blocked(why),
        None => run.tools_done(),
    }
    Ok(())
}

/// Leaves the conversation in a state that a new message can follow.
async fn close_interrupted(session: &mut Session) -> Result<(), Error> {
    for id in session.state.fold.open_calls() {
        let block = Block::tool_error(&ToolUseId::new(id), INTERRUPTED_BY_PERSON);
        let result = Prompt::of(Source::Command, vec![block]);
        append_user(session, result, UserOrigin::ToolResult).await?;
    }
    let answered =
        session.state.fold.messages().last().is_some_and(|m| m.role() == Role::Assistant);
    if answered {
        let note = Prompt::of_program(vec![Block::text(INTERRUPTED_BY_PERSON)]);
        append_user(session, note, UserOrigin::Meta).await?;
    }
    Ok(())
}

/// The model to fall back to, if it is not the one that answers already.
fn fallback_model(session: &Session) -> Option<everfold_kernel::ModelId> {
    session.config.models.fallback.clone().filter(|fallback| fallback != session.model())
}

async fn fall_back(session: &mut Session, cancel: &CancellationToken) -> Result<(), SwitchError> {
    let Some(to) = fallback_model(session) else { return Ok(()) };
    let reason = "the model is overloaded";
    go_over(session, to, "fallback", reason, cancel).await
}

/// A denial as the end of a turn reports it.
pub(crate) fn denial(call: &crate::tools::ToolCall) -> Denial {
    Denial { id: call.id.clone(), name: call.name.clone(), input: call.input.clone() }
}

impl Converse for Session {
    fn converse<'a>(
        &'a mut self,
        prompt: Prompt,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<TurnEnd, Error>> {
        Box::pin(turn(self, prompt, cancel))
    }

    fn go_on<'a>(
        &'a mut self,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Option<TurnEnd>, Error>> {
        Box::pin(go_on(self, cancel))
    }
}
