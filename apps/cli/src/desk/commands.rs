//! Slash commands. [`COMMANDS`] is the one list: help, parsing and running
//! all follow from it.

use super::{Desk, Flow, choose, compact, context, memory, messages, notes, rewind, tasks};
use crate::cost;
use crate::health;
use crate::log;
use crate::present::{Look, cut};
use crate::setup;
use anyhow::Result;
use mnemon::kernel::ModelId;
use mnemon::kernel::ports::ServerState;
use mnemon_tui::CommandInfo;
use std::future::Future;
use std::pin::Pin;

type Running<'a> = Pin<Box<dyn Future<Output = Result<Flow>> + Send + 'a>>;

/// One slash command.
struct Command {
    /// Its names; the first is the one that help shows.
    names: &'static [&'static str],
    /// What follows the name.
    takes: &'static str,
    about: &'static str,
    run: for<'a> fn(&'a mut Desk, &'a str) -> Running<'a>,
}

const COMMANDS: &[Command] = &[
    Command {
        names: &["help", "?"],
        takes: "",
        about: "this list",
        run: |desk, _| Box::pin(async move { help(desk) }),
    },
    Command {
        names: &["cost"],
        takes: "",
        about: "what this session used and what it cost",
        run: |desk, _| {
            Box::pin(async move {
                cost::show_session(&desk.agent, &desk.session, &desk.presenter).await?;
                Ok(Flow::GoOn)
            })
        },
    },
    Command {
        names: &["health"],
        takes: "",
        about: "whether memory and context management earn their keep",
        run: |desk, _| {
            Box::pin(async move {
                let id = desk.session.id();
                health::show_session(&desk.agent, id, &desk.presenter).await?;
                Ok(Flow::GoOn)
            })
        },
    },
    Command {
        names: &["context"],
        takes: "",
        about: "what fills the model's window",
        run: |desk, _| Box::pin(async move { context::run(desk) }),
    },
    Command {
        names: &["compact"],
        takes: "[--preview] [from N | up-to N] [GUIDANCE]",
        about: "put a summary in the place of the conversation, or of a part",
        run: |desk, text| Box::pin(compact::run(desk, text)),
    },
    Command {
        names: &["rewind", "undo"],
        takes: "[N] [files | conversation | both | summarize-from | summarize-up-to]",
        about: "go back to before a message: files, conversation, or both",
        run: |desk, text| Box::pin(rewind::run(desk, text)),
    },
    Command {
        names: &["notes"],
        takes: "[path | edit | update]",
        about: "the running notes on this session",
        run: |desk, text| Box::pin(notes::run(desk, text)),
    },
    Command {
        names: &["messages"],
        takes: "",
        about: "what the model sees, with numbers",
        run: |desk, _| Box::pin(async move { messages::list(desk) }),
    },
    Command {
        names: &["pin"],
        takes: "[N]",
        about: "keep a message through every compaction",
        run: |desk, name| Box::pin(messages::pin(desk, name)),
    },
    Command {
        names: &["unpin"],
        takes: "[N]",
        about: "take a pin out",
        run: |desk, name| Box::pin(messages::unpin(desk, name)),
    },
    Command {
        names: &["snip"],
        takes: "N [N]",
        about: "take messages out of the model's view",
        run: |desk, names| Box::pin(messages::snip(desk, names)),
    },
    Command {
        names: &["unsnip"],
        takes: "[ID]",
        about: "put them back",
        run: |desk, name| Box::pin(messages::unsnip(desk, name)),
    },
    Command {
        names: &["expand"],
        takes: "ID",
        about: "bring back what is out of view",
        run: |desk, name| Box::pin(messages::expand(desk, name)),
    },
    Command {
        names: &["tasks", "agents"],
        takes: "[ID | say ID TEXT | stop ID]",
        about: "what runs in the background: list, watch, write to, stop",
        run: |desk, text| Box::pin(async move { tasks::run(desk, text) }),
    },
    Command {
        names: &["plan"],
        takes: "[off]",
        about: "only read and plan, until you agree to the plan",
        run: |desk, text| Box::pin(async move { tasks::plan(desk, text) }),
    },
    Command {
        names: &["dream"],
        takes: "[--dry-run] [--force]",
        about: "tidy memories: join copies, mend the index, drop what no longer holds",
        run: |desk, text| Box::pin(dream(desk, text)),
    },
    Command {
        names: &["model"],
        takes: "[NAME]",
        about: "which model answers, or another from here on",
        run: |desk, name| Box::pin(model(desk, name)),
    },
    Command {
        names: &["thinking"],
        takes: "[default | off | adaptive | TOKENS]",
        about: "how much the model thinks before it answers",
        run: |desk, text| Box::pin(choose::thinking(desk, text)),
    },
    Command {
        names: &["effort"],
        takes: "[default | low | medium | high | xhigh | max]",
        about: "how much effort the model is asked for",
        run: |desk, text| Box::pin(choose::effort(desk, text)),
    },
    Command {
        names: &["output-style"],
        takes: "[NAME]",
        about: "how answers are written",
        run: |desk, text| Box::pin(choose::output_style(desk, text)),
    },
    Command {
        names: &["language"],
        takes: "[NAME | default]",
        about: "the language of answers",
        run: |desk, text| Box::pin(choose::language(desk, text)),
    },
    Command {
        names: &["resume"],
        takes: "[WORDS]",
        about: "go on with another session",
        run: |_, words| Box::pin(async move { Ok(Flow::Choose(words.to_owned())) }),
    },
    Command {
        names: &["memory"],
        takes: "[off | on | list | show | forget | undo | log | inbox …]",
        about: "look at memories and change them, or do without for now",
        run: |desk, text| Box::pin(memory::run(desk, text)),
    },
    Command {
        names: &["remember"],
        takes: "TEXT",
        about: "save a memory, as `# TEXT` does",
        run: |desk, text| {
            Box::pin(async move {
                let saved = desk.session.remember(text).await;
                messages::tell(desk, saved.map(|path| format!("saved {}", path.display())))
            })
        },
    },
    Command {
        names: &["private"],
        takes: "",
        about: "start a session that nothing is left of",
        run: |desk, _| Box::pin(memory::private(desk)),
    },
    Command {
        names: &["clear", "new"],
        takes: "",
        about: "start a new session",
        run: |desk, _| {
            Box::pin(async move {
                let session = desk.agent.start();
                desk.change(session, "clear").await?;
                log::hold(false);
                desk.presenter.line(&format!("new session {}", desk.session.id()))?;
                Ok(Flow::GoOn)
            })
        },
    },
    Command {
        names: &["mcp"],
        takes: "",
        about: "servers that bring tools, and how they are",
        run: |desk, _| Box::pin(async move { servers(desk) }),
    },
    Command {
        names: &["skills"],
        takes: "",
        about: "skills and custom commands; call one as /NAME [ARGUMENTS]",
        run: |desk, _| Box::pin(async move { skills(desk) }),
    },
    Command {
        names: &["quit", "exit"],
        takes: "",
        about: "leave",
        run: |_, _| Box::pin(async { Ok(Flow::Quit) }),
    },
];

/// The commands, and the skills that a person may call.
pub(crate) fn infos(desk: &Desk) -> Vec<CommandInfo> {
    let own = COMMANDS.iter().map(|command| CommandInfo {
        names: command.names.iter().map(|name| (*name).to_owned()).collect(),
        takes: command.takes.to_owned(),
        about: command.about.to_owned(),
    });
    let shelf = &desk.session.config().skills;
    let skills =
        shelf.skills().iter().filter(|skill| skill.is_for_person()).map(|skill| CommandInfo {
            names: vec![skill.name.clone()],
            takes: skill.argument_hint.clone().unwrap_or_default(),
            about: cut(&skill.description, 80),
        });
    own.chain(skills).collect()
}

/// Runs what stands after the slash.
pub(crate) async fn run(desk: &mut Desk, text: &str) -> Result<Flow> {
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let Some(command) = COMMANDS.iter().find(|command| command.names.contains(&name)) else {
        let skills = std::sync::Arc::clone(&desk.session.config().skills);
        if skills.get(name).is_some_and(mnemon::skilling::Skill::is_for_person) {
            return Ok(Flow::Say(format!("/{text}")));
        }
        let text = format!("there is no command /{name}; /help lists them");
        desk.presenter.note(Look::Yellow, &text);
        return Ok(Flow::GoOn);
    };
    (command.run)(desk, rest.trim()).await
}

fn help(desk: &Desk) -> Result<Flow> {
    let rows: Vec<Vec<String>> = COMMANDS
        .iter()
        .map(|command| {
            let name = command.names.first().copied().unwrap_or_default();
            let usage = format!("/{name} {}", command.takes);
            vec![usage.trim_end().to_owned(), command.about.to_owned()]
        })
        .collect();
    desk.presenter.table(&rows)?;
    desk.presenter.line("a backslash at the end of a line goes on with the next")?;
    Ok(Flow::GoOn)
}

fn servers(desk: &Desk) -> Result<Flow> {
    let named = desk.agent.named_servers();
    let views = desk.agent.world().servers.as_ref().map(|own| own.list()).unwrap_or_default();
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
        desk.presenter.line("there are none; name one under mcpServers in the settings")?;
        return Ok(Flow::GoOn);
    }
    desk.presenter.table(&rows)?;
    Ok(Flow::GoOn)
}

fn skills(desk: &Desk) -> Result<Flow> {
    let shelf = &desk.session.config().skills;
    if shelf.skills().is_empty() {
        let home = desk.agent.home().skills();
        desk.presenter.line(&format!("there are none; put one in {}", home.display()))?;
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
    desk.presenter.table(&rows)?;
    Ok(Flow::GoOn)
}

async fn dream(desk: &mut Desk, text: &str) -> Result<Flow> {
    let Some(wish) = crate::dream::wish(text) else {
        desk.presenter.note(Look::Yellow, "write /dream, /dream --dry-run or /dream --force");
        return Ok(Flow::GoOn);
    };
    let Desk { session, stop, presenter, .. } = desk;
    let watch = crate::dream::Watch::lines(presenter.clone());
    let end = crate::dream::watched(session, wish, stop, watch).await?;
    session.book_side_queries().await?;
    crate::dream::show(&end, wish, presenter)?;
    Ok(Flow::GoOn)
}

async fn model(desk: &mut Desk, name: &str) -> Result<Flow> {
    if !name.is_empty() {
        desk.session.switch_model(&ModelId::new(name)).await?;
    }
    let answers = setup::model_name(&desk.agent, &desk.session);
    desk.presenter.line(&format!("{answers} answers"))?;
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
