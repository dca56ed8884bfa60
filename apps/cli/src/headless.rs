//! `everfold -p`: one turn, printed for people or programs (C1, Q9).

use crate::args::{OutputFormat, Talk};
use crate::commands::{CommandContext, Hands};
use crate::failure::{self, Usage};
use crate::presenter::{Presenter, TextStyle, counted};
use crate::session_picker;
use crate::sessions::rest;
use crate::setup::{self, ProcessEnv};
use crate::signals::Signals;
use anyhow::Result;
use everfold_agent::engine::agents::letters;
use everfold_agent::engine::setups::hooks::session_events;
use everfold_agent::{
    Agent, CancellationToken, EndReason, RefuseAll, Session, Turn, TurnEnd, Waiting,
};
use everfold_kernel::QuerySource;
use everfold_kernel::settings::Surface;
use futures_util::StreamExt;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

mod input;
mod outcome;
mod printer;
mod slash;
mod tally;

pub(crate) use input::Piped;
use outcome::Outcome;
use printer::Printer;
pub(crate) use printer::{retrying, task_fields, waiting};
use slash::{Done, Wanted};

/// Exit code after a second Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;

/// Answers once.
pub(crate) async fn run(env: &ProcessEnv, talk: &Talk, presenter: &Presenter) -> Result<ExitCode> {
    let prompt = prompt(talk, presenter)?;
    let nobody = Arc::new(RefuseAll);
    let agent = setup::for_talk(env, talk, Surface::Headless, nobody, None).await?;
    let agent = Arc::new(agent);
    let ended = Box::pin(answer(env, &agent, talk, presenter, prompt)).await;
    agent.shutdown().await;
    ended
}

async fn answer(
    env: &ProcessEnv,
    agent: &Arc<Agent>,
    talk: &Talk,
    presenter: &Presenter,
    mut prompt: Waiting,
) -> Result<ExitCode> {
    let target = session_picker::target(agent, &talk.which).await?;
    let opened = session_picker::open_when_free(agent, &talk.which, target, presenter).await?;
    if let Some(damage) = opened.damage() {
        presenter.note(TextStyle::Yellow, &format!("note: {damage}"));
    }
    let mut session = opened.session;
    for note in setup::notes(agent, &session) {
        presenter.note(TextStyle::Yellow, &format!("note: {note}"));
    }
    letters::open_mail(&mut session).await;
    if prompt.text.starts_with('/') {
        let mut cx = CommandContext {
            env: env.clone(),
            agent: Arc::clone(agent),
            session,
            presenter: presenter.clone(),
            hands: Hands::Elsewhere,
            stop: CancellationToken::new(),
        };
        if let Wanted::Command(line) = slash::wanted(&cx, &prompt.text)? {
            match slash::run(&mut cx, line).await? {
                Done::Said(text) => return Box::pin(said(agent, talk, cx, text)).await,
                Done::Turn(words) => prompt = Waiting { text: words, pasted: Vec::new() },
            }
        }
        session = cx.session;
    }
    let mut printer = Printer::new(presenter.clone(), talk, &session);
    printer.begin(agent, &session)?;
    let ended = take_turn(Turn::saying(&mut session, prompt.prompt()), &mut printer).await?;
    match with_agents(&mut session, ended, &mut printer).await? {
        Ended::Killed => Ok(ExitCode::from(INTERRUPTED)),
        Ended::Turn(end) => {
            let code = match &end {
                Ok(end) if end.reason.is_success() => ExitCode::SUCCESS,
                Ok(TurnEnd { reason: EndReason::SpendingCeiling(_), .. }) => {
                    ExitCode::from(failure::OVER_CEILING)
                }
                _ => ExitCode::from(failure::FAILED),
            };
            let outcome = Outcome::new(&session, end);
            tracing::debug!(session = %session.id(), reason = ?outcome.reason(), "the turn ended");
            printer.end(&outcome)?;
            if session.config().background.slots == Some(1) && !talk.which.private {
                rest::leave(session, &talk.choices).await?;
            } else {
                finish(&mut session, &printer).await?;
            }
            Ok(code)
        }
    }
}

/// What a command said is the answer.
async fn said(agent: &Agent, talk: &Talk, cx: CommandContext, text: String) -> Result<ExitCode> {
    let mut session = cx.session;
    let printer = Printer::new(cx.presenter, talk, &session);
    printer.begin(agent, &session)?;
    let end = TurnEnd { text, ..TurnEnd::default() };
    printer.end(&Outcome::new(&session, Ok(end)))?;
    finish(&mut session, &printer).await?;
    Ok(ExitCode::SUCCESS)
}

/// Lets background work come to its end; a signal ends the wait.
async fn finish(session: &mut Session, printer: &Printer) -> Result<()> {
    let mut signals = Signals::take()?;
    session_events::end_hooks(session, "other").await?;
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    session.watch(sender);
    if session.background().is_running(&QuerySource::Dream) {
        printer.waits("consolidating memories; Ctrl-C stops it");
    }
    let done = tokio::select! {
        done = everfold_agent::engine::finish(session) => done,
        _ = signals.next() => Ok(()),
    };
    while let Ok(event) = events.try_recv() {
        printer.afterwards(&event);
    }
    Ok(done?)
}

enum Ended {
    Turn(Result<TurnEnd, everfold_agent::engine::Error>),
    /// A second signal: there is no time to say anything.
    Killed,
}

/// Goes on while agents run in the background, so that what they find is part
/// of the answer. A signal, or their time, ends the wait.
async fn with_agents(
    session: &mut Session,
    mut ended: Ended,
    printer: &mut Printer,
) -> Result<Ended> {
    let mut signals = Signals::take()?;
    let wait = Duration::from_secs(session.config().limits.agents.drain_s);
    while let Ended::Turn(Ok(before)) = &mut ended
        && before.reason.is_success()
        && !letters::agents(session).running().is_empty()
    {
        tokio::select! {
            () = letters::news(session) => {}
            () = tokio::time::sleep(wait) => break,
            _ = signals.next() => break,
        }
        match take_turn(Turn::go_on(session), printer).await? {
            Ended::Turn(Ok(mut end)) => {
                end.requests += before.requests;
                end.usage.add(&before.usage);
                end.denials.splice(0..0, before.denials.drain(..));
                if end.text.is_empty() {
                    end.text = std::mem::take(&mut before.text);
                }
                *before = end;
            }
            other => ended = other,
        }
    }
    Ok(ended)
}

async fn take_turn(mut turn: Turn<'_>, printer: &mut Printer) -> Result<Ended> {
    let mut signals = Signals::take()?;
    let stop = turn.canceller();
    loop {
        tokio::select! {
            event = turn.next() => match event {
                Some(event) => printer.event(&event)?,
                None => return Ok(Ended::Turn(turn.end().await)),
            },
            _ = signals.next() => {
                if stop.is_cancelled() {
                    return Ok(Ended::Killed);
                }
                stop.cancel();
            }
        }
    }
}

/// The prompt, and what was piped in, which nobody typed here.
fn prompt(talk: &Talk, presenter: &Presenter) -> Result<Waiting> {
    let given = talk.prompt.as_deref().unwrap_or_default().trim();
    let piped = Piped::read(if given.is_empty() { input::Need::All } else { input::Need::IfAny })?;
    if let Some(note) = &piped.note {
        presenter.note(TextStyle::Yellow, &format!("note: {note}"));
    }
    let prompt = piped.behind(given);
    if prompt.text.is_empty() {
        let message = match talk.which.resume.as_deref() {
            None | Some("") => "no prompt given".to_owned(),
            Some(id) => format!("no prompt given: {id:?} was taken as the session for --resume"),
        };
        let hint = "write `everfold -p \"what to do\"`, or pipe a text into it";
        return Err(Usage::new(message, hint).into());
    }
    Ok(prompt)
}

/// Why a turn did not give what was asked for, in a line.
pub(crate) fn failure_text(reason: &EndReason) -> Option<String> {
    match reason {
        EndReason::Completed | EndReason::OutputLimit => None,
        EndReason::Refused => Some("the model declined to answer".into()),
        EndReason::TooManyRequests(count) => Some(format!(
            "the turn ended after {}; allow more with --max-turns, or resume with --continue",
            counted((*count).into(), "request")
        )),
        EndReason::Cancelled => Some("the turn was stopped; resume with --continue".into()),
        EndReason::SpendingCeiling(spent) => Some(format!(
            "the turn ended: summaries and retries cost ${:.2}, over its ceiling \
             (everfold.budget.turn_ceiling_usd); resume with --continue",
            spent.0
        )),
        EndReason::Failed(why) => Some(why.clone()),
    }
}

/// Whether only the answer is printed.
fn is_text(talk: &Talk) -> bool {
    talk.output_format == OutputFormat::Text
}
