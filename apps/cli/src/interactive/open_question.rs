//! Asking what to do about a session that another process has open: wait until
//! it is left, or go on in a copy (S13, U9).

use super::lines::{self, Lines};
use super::stopped_by;
use crate::args::Which;
use crate::commands::CommandContext;
use crate::failure;
use crate::presenter::{Presenter, TextStyle};
use crate::session_picker::{self, Opened, RETRY, Target};
use crate::signals::Signals;
use anyhow::Result;
use everfold_agent::{Agent, SessionId};
use everfold_kernel::ports::question::{Field, FieldKind, FieldNeed, FormChoice, Wants};
use everfold_kernel::ports::{ServerAnswer, ServerQuestion, SessionHolder};
use serde_json::{Value, json};

/// What a person wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenChoice {
    /// The session, once it is free.
    Wait,
    /// A copy of it, at once.
    Fork,
    Leave,
}

/// Where answers come from, before a conversation has begun.
pub(crate) enum Typed<'a> {
    /// The lines of a conversation, and what stops it.
    Lines(&'a mut Lines, &'a mut Signals),
    /// The terminal, which nobody reads yet.
    Terminal,
}

/// Opens what was asked for; none where the person left. Whoever pipes lines in
/// is not asked: it waits as a headless run does.
pub(crate) async fn open(
    agent: &Agent,
    which: &Which,
    target: Target,
    presenter: &Presenter,
    mut typed: Typed<'_>,
) -> Result<Option<Opened>> {
    if matches!(&typed, Typed::Lines(lines, _) if !lines.are_typed()) {
        let opened = session_picker::open_when_free(agent, which, target, presenter).await;
        return opened.map(Some);
    }
    loop {
        let opened = Box::pin(session_picker::open(agent, which, target.clone())).await;
        let Some(error) = opened.as_ref().err() else { return opened.map(Some) };
        let (Some((id, holder)), Target::Old(_)) = (failure::open_elsewhere(error), &target) else {
            return opened.map(Some);
        };
        match ask(presenter, &mut typed, id, holder).await? {
            OpenChoice::Leave => return Ok(None),
            OpenChoice::Wait => {
                presenter.styled(TextStyle::Dim, "waiting; Ctrl-C leaves\n")?;
                if wait(agent, id, &mut typed).await == Waited::Stopped {
                    return Ok(None);
                }
            }
            OpenChoice::Fork => {
                let (session, resumed) = Box::pin(agent.fork(id)).await?;
                return Ok(Some(Opened { session, resumed }));
            }
        }
    }
}

/// Goes on with another session in the middle of a conversation, or with a
/// copy of it. Says whether the person wanted either.
pub(super) async fn resume(
    cx: &mut CommandContext,
    id: &SessionId,
    lines: &mut Lines,
    signals: &mut Signals,
) -> Result<bool> {
    let stop = cx.stop.clone();
    while let Err(error) = stopped_by(Box::pin(cx.resume(id.clone())), signals, &stop).await.1 {
        let Some((_, holder)) = failure::open_elsewhere(&error) else { return Err(error) };
        let mut typed = Typed::Lines(lines, signals);
        match ask(&cx.presenter, &mut typed, id, holder).await? {
            OpenChoice::Leave => return Ok(false),
            OpenChoice::Wait => {
                if wait(&cx.agent, id, &mut typed).await == Waited::Stopped {
                    return Ok(false);
                }
            }
            OpenChoice::Fork => {
                cx.fork(id).await?;
                break;
            }
        }
    }
    Ok(true)
}

/// Asks until there is an answer.
async fn ask(
    presenter: &Presenter,
    typed: &mut Typed<'_>,
    id: &SessionId,
    holder: &SessionHolder,
) -> Result<OpenChoice> {
    presenter.styled(TextStyle::Yellow, &format!("{}\n", told(id, holder)))?;
    match typed {
        Typed::Lines(lines, _) => lines.settle(presenter).await?,
        Typed::Terminal => lines::settle_terminal().await,
    }
    loop {
        presenter.text("wait for it, or fork it into a new session? [w/f/q] ")?;
        let line = match typed {
            Typed::Lines(lines, signals) => tokio::select! {
                line = lines.answer() => line,
                _ = signals.next() => None,
            },
            Typed::Terminal => lines::one(),
        };
        let Some(line) = line else {
            presenter.line("")?;
            return Ok(OpenChoice::Leave);
        };
        if let Some(choice) = choice(&line) {
            return Ok(choice);
        }
    }
}

/// The same by a form, while a screen is there.
pub(crate) async fn ask_on_screen(
    agent: &Agent,
    id: &SessionId,
    holder: &SessionHolder,
) -> OpenChoice {
    let Some(person) = &agent.world().respondent else { return OpenChoice::Leave };
    let choice = |value: &str, label: &str| FormChoice { value: value.into(), label: label.into() };
    let field = Field {
        name: "next".into(),
        title: "What now?".into(),
        description: String::new(),
        kind: FieldKind::Choice(vec![
            choice("w", "w (wait until it is free)"),
            choice("f", "f (fork it into a new session)"),
        ]),
        need: FieldNeed::Required,
        default: Some("w".into()),
    };
    let schema = json!({"type": "object", "properties": {"next": {"type": "string"}}});
    let question = ServerQuestion {
        server: String::new(),
        message: told(id, holder),
        id: None,
        wants: Wants::Form { fields: vec![field], schema },
    };
    match person.respond(question).await {
        ServerAnswer::Accept(answers) => {
            let said = answers.get("next").and_then(Value::as_str);
            said.and_then(choice_of).unwrap_or(OpenChoice::Leave)
        }
        ServerAnswer::Decline | ServerAnswer::Cancel => OpenChoice::Leave,
    }
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waited {
    Free,
    Stopped,
}

/// Waits until nobody else has the session.
async fn wait(agent: &Agent, id: &SessionId, typed: &mut Typed<'_>) -> Waited {
    match typed {
        Typed::Lines(_, signals) => tokio::select! {
            () = free(agent, id) => Waited::Free,
            _ = signals.next() => Waited::Stopped,
        },
        Typed::Terminal => {
            free(agent, id).await;
            Waited::Free
        }
    }
}

/// Done when nobody else has the session.
pub(crate) async fn free(agent: &Agent, id: &SessionId) {
    while agent.world().transcripts.holder(id).is_some() {
        tokio::time::sleep(RETRY).await;
    }
}

fn told(id: &SessionId, holder: &SessionHolder) -> String {
    format!("session {} is open in {holder}", session_picker::short(id))
}

fn choice(line: &str) -> Option<OpenChoice> {
    choice_of(line.trim().to_lowercase().as_str())
}

fn choice_of(word: &str) -> Option<OpenChoice> {
    match word {
        "w" | "wait" => Some(OpenChoice::Wait),
        "f" | "fork" => Some(OpenChoice::Fork),
        "q" | "quit" => Some(OpenChoice::Leave),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s13_only_a_clear_answer_is_one() {
        assert_eq!(choice(" Wait "), Some(OpenChoice::Wait));
        assert_eq!(choice("f"), Some(OpenChoice::Fork));
        assert_eq!(choice("q"), Some(OpenChoice::Leave));
        for other in ["", "y", "fix the tests"] {
            assert_eq!(choice(other), None, "{other}");
        }
    }
}
