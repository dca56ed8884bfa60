//! Slash commands. [`COMMANDS`] is the one list: help, parsing and running
//! all follow from it.

use super::{Desk, Flow, choose, compact, context, memory, messages, notes, rewind, tables, tasks};
use crate::args::{Choices, ConfigArgs, DoctorArgs, ExportFormat};
use crate::config as settings;
use crate::cost;
use crate::doctor as findings;
use crate::health;
use crate::log;
use crate::present::{Look, cut};
use crate::sessions::export as file;
use crate::setup;
use anyhow::Result;
use everfold::kernel::ModelId;
use everfold_tui::{CommandInfo, Table};
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
        names: &["rewind"],
        takes: "[N [both | conversation | files | summarize-from | summarize-up-to]]",
        about: "go back to before a message: conversation, files, or both",
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
                let saved =
                    everfold::engine::memory::extraction::statement::remember(&desk.session, text)
                        .await;
                messages::tell(desk, saved.and_then(|kept| memory::stated(&kept)))
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
        run: |desk, _| Box::pin(async move { listed(desk, &tables::servers(&desk.agent)) }),
    },
    Command {
        names: &["skills"],
        takes: "",
        about: "skills and custom commands; call one as /NAME [ARGUMENTS]",
        run: |desk, _| Box::pin(async move { listed(desk, &tables::skills(&desk.agent)) }),
    },
    Command {
        names: &["permissions"],
        takes: "",
        about: "rules of what tools may do, and where they are from",
        run: |desk, _| Box::pin(async move { listed(desk, &tables::rules(&desk.agent)) }),
    },
    Command {
        names: &["config"],
        takes: "[KEY]",
        about: "settings, their values and who set them",
        run: |desk, key| Box::pin(config(desk, key)),
    },
    Command {
        names: &["doctor"],
        takes: "",
        about: "what is wrong or missing, and the command that mends it",
        run: |desk, _| Box::pin(doctor(desk)),
    },
    Command {
        names: &["export"],
        takes: "[FILE]",
        about: "write the conversation to a file, as Markdown",
        run: |desk, file| Box::pin(export(desk, file)),
    },
    Command {
        names: &["quit", "exit"],
        takes: "",
        about: "leave",
        run: |_, _| Box::pin(async { Ok(Flow::Quit) }),
    },
];

/// What the names of servers' prompts start with.
const SERVER_PROMPTS: &str = "mcp__";

/// The commands, and the skills and prompts of servers that a person may call.
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
    let views = desk.agent.world().servers.as_ref().map(|own| own.list()).unwrap_or_default();
    let prompts = views.iter().flat_map(|view| {
        view.prompts.iter().map(|prompt| CommandInfo {
            names: vec![format!("{SERVER_PROMPTS}{}__{}", view.name, prompt.name)],
            takes: prompt.arguments.join(" "),
            about: cut(&prompt.description, 80),
        })
    });
    own.chain(skills).chain(prompts).collect()
}

/// Runs what stands after the slash.
pub(crate) async fn run(desk: &mut Desk, text: &str) -> Result<Flow> {
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let Some(command) = COMMANDS.iter().find(|command| command.names.contains(&name)) else {
        let skills = std::sync::Arc::clone(&desk.session.config().skills);
        let is_skill = skills.get(name).is_some_and(everfold::skilling::Skill::is_for_person);
        if is_skill || name.starts_with(SERVER_PROMPTS) {
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

fn listed(desk: &Desk, table: &Table) -> Result<Flow> {
    tables::show(table, &desk.presenter)?;
    Ok(Flow::GoOn)
}

async fn config(desk: &mut Desk, key: &str) -> Result<Flow> {
    let key = Some(key.to_owned()).filter(|key| !key.is_empty());
    let args = ConfigArgs { key, json: false, schema: false, choices: Choices::default() };
    settings::run(&desk.ground, &args, &desk.presenter).await?;
    Ok(Flow::GoOn)
}

async fn doctor(desk: &mut Desk) -> Result<Flow> {
    let args = DoctorArgs { json: false, choices: Choices::default() };
    findings::run(&desk.ground, &args, &desk.presenter).await?;
    Ok(Flow::GoOn)
}

async fn export(desk: &mut Desk, name: &str) -> Result<Flow> {
    let id = desk.session.id();
    let name = if name.is_empty() { format!("everfold-{id}.md") } else { name.to_owned() };
    let path = std::path::Path::new(&desk.session.config().surroundings.cwd).join(name);
    if !desk.agent.world().transcripts.path(id).exists() {
        let why = "there is nothing to write: this session has no log yet, or is private";
        desk.presenter.note(Look::Yellow, why);
        return Ok(Flow::GoOn);
    }
    file::run(&desk.agent, id, ExportFormat::Markdown, Some(&path)).await?;
    desk.presenter.line(&format!("written to {}", path.display()))?;
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
    everfold::engine::session::effects::book_side_queries(session).await?;
    crate::dream::show(&end, wish, presenter)?;
    Ok(Flow::GoOn)
}

async fn model(desk: &mut Desk, name: &str) -> Result<Flow> {
    if name.is_empty() {
        tables::show(&tables::models(&desk.agent), &desk.presenter)?;
    } else {
        let stop = desk.stop.clone();
        let changed = everfold::engine::setups::hooks::model_switch::change_model(
            &mut desk.session,
            &ModelId::new(name),
            "command",
            &stop,
        )
        .await?;
        if let Err(why) = changed {
            desk.presenter.note(Look::Yellow, &why);
        }
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
