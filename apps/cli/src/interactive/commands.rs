//! Slash commands. [`COMMANDS`] is the one list: help, parsing and running
//! all follow from it.

use super::{Flow, Repl, choose, note_damage};
use crate::cost;
use crate::pick::Opened;
use crate::present::{Look, grouped};
use crate::setup;
use anyhow::Result;
use mnemon::kernel::ModelId;
use std::future::Future;
use std::pin::Pin;

type Running<'a> = Pin<Box<dyn Future<Output = Result<Flow>> + 'a>>;

/// One slash command.
struct Command {
    /// Its names; the first is the one that help shows.
    names: &'static [&'static str],
    /// What follows the name.
    takes: &'static str,
    about: &'static str,
    run: for<'a> fn(&'a mut Repl<'_>, &'a str) -> Running<'a>,
}

const COMMANDS: &[Command] = &[
    Command {
        names: &["help", "?"],
        takes: "",
        about: "this list",
        run: |repl, _| Box::pin(async move { help(repl) }),
    },
    Command {
        names: &["cost"],
        takes: "",
        about: "what this session used and what it cost",
        run: |repl, _| {
            Box::pin(async move {
                cost::show_session(&repl.session, &repl.presenter)?;
                Ok(Flow::GoOn)
            })
        },
    },
    Command {
        names: &["context"],
        takes: "",
        about: "how full the model's window is",
        run: |repl, _| Box::pin(async move { context(repl) }),
    },
    Command {
        names: &["model"],
        takes: "[NAME]",
        about: "which model answers, or another from here on",
        run: |repl, name| Box::pin(model(repl, name)),
    },
    Command {
        names: &["resume"],
        takes: "[WORDS]",
        about: "go on with another session",
        run: |repl, words| Box::pin(resume(repl, words)),
    },
    Command {
        names: &["clear", "new"],
        takes: "",
        about: "start a new session",
        run: |repl, _| {
            Box::pin(async move {
                repl.session = repl.agent.start();
                repl.presenter.line(&format!("new session {}", repl.session.id()))?;
                Ok(Flow::GoOn)
            })
        },
    },
    Command {
        names: &["quit", "exit"],
        takes: "",
        about: "leave",
        run: |_, _| Box::pin(async { Ok(Flow::Quit) }),
    },
];

/// Runs what stands after the slash.
pub(super) async fn run(repl: &mut Repl<'_>, text: &str) -> Result<Flow> {
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let Some(command) = COMMANDS.iter().find(|command| command.names.contains(&name)) else {
        let text = format!("there is no command /{name}; /help lists them");
        repl.presenter.note(Look::Yellow, &text);
        return Ok(Flow::GoOn);
    };
    (command.run)(repl, rest.trim()).await
}

fn help(repl: &Repl<'_>) -> Result<Flow> {
    let rows: Vec<Vec<String>> = COMMANDS
        .iter()
        .map(|command| {
            let name = command.names.first().copied().unwrap_or_default();
            let usage = format!("/{name} {}", command.takes);
            vec![usage.trim_end().to_owned(), command.about.to_owned()]
        })
        .collect();
    repl.presenter.table(&rows)?;
    repl.presenter.line("a backslash at the end of a line goes on with the next")?;
    Ok(Flow::GoOn)
}

fn context(repl: &Repl<'_>) -> Result<Flow> {
    let (count, window) = (repl.session.fold().count(), repl.session.window());
    let percent = count.0.saturating_mul(100) / window.size.0.max(1);
    let rows = [
        ("used", count, format!("{percent}% of the window")),
        ("warning at", window.warning, String::new()),
        ("compacted at", window.auto_compact, "where auto-compact is on".to_owned()),
        ("refused at", window.refuse, "where it is off".to_owned()),
        ("window", window.size, setup::model_name(repl.agent, &repl.session)),
    ];
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(name, tokens, note)| vec![name.to_owned(), grouped(tokens.0), note])
        .collect();
    repl.presenter.table(&rows)?;
    Ok(Flow::GoOn)
}

async fn model(repl: &mut Repl<'_>, name: &str) -> Result<Flow> {
    if !name.is_empty() {
        repl.session.switch_model(&ModelId::new(name)).await?;
    }
    let answers = setup::model_name(repl.agent, &repl.session);
    repl.presenter.line(&format!("{answers} answers"))?;
    Ok(Flow::GoOn)
}

async fn resume(repl: &mut Repl<'_>, words: &str) -> Result<Flow> {
    let Repl { agent, presenter, lines, signals, .. } = repl;
    let Some(id) = choose(agent, presenter, lines, signals, words).await? else {
        return Ok(Flow::GoOn);
    };
    let (session, resumed) = repl.agent.resume(id).await?;
    let opened = Opened { session, resumed };
    note_damage(repl.agent, &repl.presenter, &opened);
    repl.session = opened.session;
    let count = repl.session.fold().messages().len();
    repl.presenter.line(&format!("session {}, {count} messages", repl.session.id()))?;
    Ok(Flow::GoOn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn q9_every_command_has_a_name_of_its_own() {
        let names: Vec<&str> = COMMANDS.iter().flat_map(|command| command.names).copied().collect();
        let once: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), once.len());
    }
}
