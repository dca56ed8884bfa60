//! Slash commands. [`COMMANDS`] is the one list: help, parsing and running
//! all follow from it.

use super::{Flow, Repl, choose, compact, context, memory, messages, note_damage, notes, tasks};
use crate::cost;
use crate::health;
use crate::log;
use crate::pick::Opened;
use crate::present::{Look, cut};
use crate::setup;
use anyhow::Result;
use mnemon::kernel::ModelId;
use mnemon::kernel::ports::ServerState;
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
                cost::show_session(repl.agent, &repl.session, &repl.presenter).await?;
                Ok(Flow::GoOn)
            })
        },
    },
    Command {
        names: &["health"],
        takes: "",
        about: "whether memory and context management earn their keep",
        run: |repl, _| {
            Box::pin(async move {
                let id = repl.session.id();
                health::show_session(repl.agent, id, &repl.presenter).await?;
                Ok(Flow::GoOn)
            })
        },
    },
    Command {
        names: &["context"],
        takes: "",
        about: "what fills the model's window",
        run: |repl, _| Box::pin(async move { context::run(repl) }),
    },
    Command {
        names: &["compact"],
        takes: "[--preview] [from N | up-to N] [GUIDANCE]",
        about: "put a summary in the place of the conversation, or of a part",
        run: |repl, text| Box::pin(compact::run(repl, text)),
    },
    Command {
        names: &["notes"],
        takes: "[path | edit | update]",
        about: "the running notes on this session",
        run: |repl, text| Box::pin(notes::run(repl, text)),
    },
    Command {
        names: &["messages"],
        takes: "",
        about: "what the model sees, with numbers",
        run: |repl, _| Box::pin(async move { messages::list(repl) }),
    },
    Command {
        names: &["pin"],
        takes: "[N]",
        about: "keep a message through every compaction",
        run: |repl, name| Box::pin(messages::pin(repl, name)),
    },
    Command {
        names: &["unpin"],
        takes: "[N]",
        about: "take a pin out",
        run: |repl, name| Box::pin(messages::unpin(repl, name)),
    },
    Command {
        names: &["snip"],
        takes: "N [N]",
        about: "take messages out of the model's view",
        run: |repl, names| Box::pin(messages::snip(repl, names)),
    },
    Command {
        names: &["unsnip"],
        takes: "[ID]",
        about: "put them back",
        run: |repl, name| Box::pin(messages::unsnip(repl, name)),
    },
    Command {
        names: &["expand"],
        takes: "ID",
        about: "bring back what is out of view",
        run: |repl, name| Box::pin(messages::expand(repl, name)),
    },
    Command {
        names: &["tasks", "agents"],
        takes: "[ID | say ID TEXT | stop ID]",
        about: "what runs in the background: list, watch, write to, stop",
        run: |repl, text| Box::pin(tasks::run(repl, text)),
    },
    Command {
        names: &["plan"],
        takes: "[off]",
        about: "only read and plan, until you agree to the plan",
        run: |repl, text| Box::pin(async move { tasks::plan(repl, text) }),
    },
    Command {
        names: &["dream"],
        takes: "[--dry-run] [--force]",
        about: "tidy memories: join copies, mend the index, drop what no longer holds",
        run: |repl, text| Box::pin(dream(repl, text)),
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
        names: &["memory"],
        takes: "[off | on | list | show | forget | undo | log | inbox …]",
        about: "look at memories and change them, or do without for now",
        run: |repl, text| Box::pin(memory::run(repl, text)),
    },
    Command {
        names: &["private"],
        takes: "",
        about: "start a session that nothing is left of",
        run: |repl, _| Box::pin(memory::private(repl)),
    },
    Command {
        names: &["clear", "new"],
        takes: "",
        about: "start a new session",
        run: |repl, _| {
            Box::pin(async move {
                repl.finish("clear").await?;
                repl.session = repl.agent.start();
                repl.session.began_by("clear");
                log::hold(false);
                repl.presenter.line(&format!("new session {}", repl.session.id()))?;
                Ok(Flow::GoOn)
            })
        },
    },
    Command {
        names: &["mcp"],
        takes: "",
        about: "servers that bring tools, and how they are",
        run: |repl, _| Box::pin(async move { servers(repl) }),
    },
    Command {
        names: &["skills"],
        takes: "",
        about: "skills and custom commands; call one as /NAME [ARGUMENTS]",
        run: |repl, _| Box::pin(async move { skills(repl) }),
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
        let skills = std::sync::Arc::clone(&repl.session.config().skills);
        if skills.get(name).is_some_and(mnemon::skilling::Skill::is_for_person) {
            let prompt = format!("/{text}");
            return repl.turn(Some(&prompt)).await.map(|(flow, _)| flow);
        }
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

fn servers(repl: &Repl<'_>) -> Result<Flow> {
    let named = repl.agent.named_servers();
    let views = repl.agent.world().servers.as_ref().map(|own| own.list()).unwrap_or_default();
    let mut rows: Vec<Vec<String>> = views
        .iter()
        .map(|view| {
            let state = match &view.state {
                ServerState::Idle => "starts with the first message".to_owned(),
                ServerState::Connecting => "starting".to_owned(),
                ServerState::Up(revision) => format!("{} tools, {revision}", view.tools.len()),
                ServerState::Down(why) => format!("not there: {}", cut(why, 80)),
            };
            vec![view.name.clone(), state, view.origin.clone()]
        })
        .collect();
    let off = |name: &String| vec![name.clone(), "off: `mnemon trust`".to_owned(), String::new()];
    rows.extend(named.untrusted.iter().map(off));
    let broken = named.broken.iter();
    rows.extend(broken.map(|own| vec![own.name.clone(), own.reason.clone(), own.origin.clone()]));
    if rows.is_empty() {
        repl.presenter.line("there are none; name one under mcpServers in the settings")?;
        return Ok(Flow::GoOn);
    }
    repl.presenter.table(&rows)?;
    Ok(Flow::GoOn)
}

fn skills(repl: &Repl<'_>) -> Result<Flow> {
    let shelf = &repl.session.config().skills;
    if shelf.skills().is_empty() {
        let home = repl.agent.home().skills();
        repl.presenter.line(&format!("there are none; put one in {}", home.display()))?;
        return Ok(Flow::GoOn);
    }
    let rows: Vec<Vec<String>> = shelf
        .skills()
        .iter()
        .map(|skill| {
            let hint = skill.argument_hint.as_deref().unwrap_or_default();
            let slash = if skill.is_for_person() { "/" } else { "" };
            let usage = format!("{slash}{} {hint}", skill.name);
            vec![usage.trim_end().to_owned(), cut(&skill.description, 80)]
        })
        .collect();
    repl.presenter.table(&rows)?;
    Ok(Flow::GoOn)
}

async fn dream(repl: &mut Repl<'_>, text: &str) -> Result<Flow> {
    let Some(wish) = crate::dream::wish(text) else {
        repl.presenter.note(Look::Yellow, "write /dream, /dream --dry-run or /dream --force");
        return Ok(Flow::GoOn);
    };
    let Repl { session, signals, presenter, .. } = repl;
    let watch = crate::dream::Watch::lines(*presenter);
    let end = crate::dream::watched(session, wish, signals, watch).await?;
    session.book_side_queries().await?;
    crate::dream::show(&end, wish, presenter)?;
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
    repl.finish("resume").await?;
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
