//! Slash commands. [`COMMANDS`] is the one list: help, parsing and running
//! all follow from it.

use super::{
    CommandContext, Flow, compact, context, dream, memory, messages, model, notes, permissions,
    preferences, project, rewind, slash, tables, tasks,
};
use crate::args::{Choices, ConfigArgs, DoctorArgs, ExportFormat};
use crate::config as settings;
use crate::cost;
use crate::doctor as findings;
use crate::health;
use crate::log;
use crate::nearest::unknown;
use crate::presenter::{TextStyle, cut};
use crate::sessions::export as file;
use anyhow::Result;
use everfold_agent::engine::memory::extraction::statement;
use everfold_skills::Skill;
use everfold_tui::{CommandInfo, Table};
use std::future::Future;
use std::pin::Pin;

type Running<'a> = Pin<Box<dyn Future<Output = Result<Flow>> + Send + 'a>>;

struct Command {
    /// Its names; the first is the one that help shows.
    names: &'static [&'static str],
    /// What follows the name.
    takes: &'static str,
    about: &'static str,
    run: for<'a> fn(&'a mut CommandContext, &'a str) -> Running<'a>,
}

const COMMANDS: &[Command] = &[
    Command {
        names: &["help", "?"],
        takes: "",
        about: "this list",
        run: |cx, _| Box::pin(async move { help(cx) }),
    },
    Command {
        names: &["cost"],
        takes: "",
        about: "what this session used and what it cost",
        run: |cx, _| {
            Box::pin(async move {
                cost::show_session(&cx.agent, &cx.session, &cx.presenter).await?;
                Ok(Flow::GoOn)
            })
        },
    },
    Command {
        names: &["health"],
        takes: "",
        about: "whether memory and context management earn their keep",
        run: |cx, _| {
            Box::pin(async move {
                let id = cx.session.id();
                health::show_session(&cx.agent, id, &cx.presenter).await?;
                Ok(Flow::GoOn)
            })
        },
    },
    Command {
        names: &["context"],
        takes: "",
        about: "what fills the model's window",
        run: |cx, _| Box::pin(async move { context::run(cx) }),
    },
    Command {
        names: &["compact"],
        takes: "[--preview] [from N | up-to N] [GUIDANCE]",
        about: "summarise the conversation, or part of it",
        run: |cx, text| Box::pin(compact::run(cx, text)),
    },
    Command {
        names: &["rewind"],
        takes: "[N [both | conversation | files | summarize-from | summarize-up-to]]",
        about: "go back to before a message: conversation, files, or both",
        run: |cx, text| Box::pin(rewind::run(cx, text)),
    },
    Command {
        names: &["notes"],
        takes: "[path | edit | update]",
        about: "the running notes on this session",
        run: |cx, text| Box::pin(notes::run(cx, text)),
    },
    Command {
        names: &["messages"],
        takes: "",
        about: "what the model sees, with numbers",
        run: |cx, _| Box::pin(async move { messages::list(cx) }),
    },
    Command {
        names: &["pin"],
        takes: "[N]",
        about: "keep a message through every compaction",
        run: |cx, name| Box::pin(messages::pin(cx, name)),
    },
    Command {
        names: &["unpin"],
        takes: "[N]",
        about: "remove a pin",
        run: |cx, name| Box::pin(messages::unpin(cx, name)),
    },
    Command {
        names: &["snip"],
        takes: "N [N]",
        about: "take messages out of the model's view",
        run: |cx, names| Box::pin(messages::snip(cx, names)),
    },
    Command {
        names: &["unsnip"],
        takes: "[ID]",
        about: "put them back",
        run: |cx, name| Box::pin(messages::unsnip(cx, name)),
    },
    Command {
        names: &["expand"],
        takes: "ID",
        about: "bring back what is out of view",
        run: |cx, name| Box::pin(messages::expand(cx, name)),
    },
    Command {
        names: &["tasks"],
        takes: "[ID | say ID TEXT | stop ID]",
        about: "what runs in the background: list, watch, write to, stop",
        run: |cx, text| Box::pin(async move { tasks::run(cx, text) }),
    },
    Command {
        names: &["agents"],
        takes: "",
        about: "the kinds of agents that can be started; /tasks shows the running ones",
        run: |cx, _| Box::pin(async move { listed(cx, &tables::agents(&cx.session)) }),
    },
    Command {
        names: &["plan"],
        takes: "[off]",
        about: "only read and plan, until you approve the plan",
        run: |cx, text| Box::pin(async move { tasks::plan(cx, text) }),
    },
    Command {
        names: &["dream"],
        takes: "[--dry-run] [--force]",
        about: "tidy memories: merge duplicates, fix the index, drop what no longer holds",
        run: |cx, text| Box::pin(dream::run(cx, text)),
    },
    Command {
        names: &["model"],
        takes: "[NAME]",
        about: "show or switch the model",
        run: |cx, name| Box::pin(model::run(cx, name)),
    },
    Command {
        names: &["thinking"],
        takes: "[default | off | adaptive | TOKENS]",
        about: "how much the model thinks before it answers",
        run: |cx, text| Box::pin(preferences::thinking(cx, text)),
    },
    Command {
        names: &["effort"],
        takes: "[default | low | medium | high | xhigh | max]",
        about: "how much effort the model makes",
        run: |cx, text| Box::pin(preferences::effort(cx, text)),
    },
    Command {
        names: &["output-style"],
        takes: "[NAME]",
        about: "how answers are written",
        run: |cx, text| Box::pin(preferences::output_style(cx, text)),
    },
    Command {
        names: &["language"],
        takes: "[NAME | default]",
        about: "the language of answers",
        run: |cx, text| Box::pin(preferences::language(cx, text)),
    },
    Command {
        names: &["resume"],
        takes: "[WORDS]",
        about: "resume another session",
        run: |_, words| Box::pin(async move { Ok(Flow::Choose(words.to_owned())) }),
    },
    Command {
        names: &["memory"],
        takes: "[off | on | list | show | forget | undo | log | inbox …]",
        about: "view and change memories, or turn memory off",
        run: |cx, text| Box::pin(memory::run(cx, text)),
    },
    Command {
        names: &["remember"],
        takes: "TEXT",
        about: "save a memory, as `# TEXT` does",
        run: |cx, text| {
            Box::pin(async move {
                let saved = statement::remember(&cx.session, text).await;
                let told = saved.map_err(anyhow::Error::from);
                messages::tell(cx, told.and_then(|kept| memory::stated(&kept)))
            })
        },
    },
    Command {
        names: &["private"],
        takes: "",
        about: "start a private session: nothing is kept",
        run: |cx, _| Box::pin(memory::private(cx)),
    },
    Command {
        names: &["clear", "new"],
        takes: "",
        about: "start a new session",
        run: |cx, _| {
            Box::pin(async move {
                let session = cx.agent.start();
                cx.change(session, "clear").await?;
                log::hold(false);
                cx.presenter.line(&format!("new session {}", cx.session.id()))?;
                Ok(Flow::GoOn)
            })
        },
    },
    Command {
        names: &["mcp"],
        takes: "",
        about: "MCP servers and their state",
        run: |cx, _| Box::pin(async move { listed(cx, &tables::servers(&cx.agent)) }),
    },
    Command {
        names: &["skills"],
        takes: "",
        about: "skills and custom commands; call one as /NAME [ARGUMENTS]",
        run: |cx, _| Box::pin(async move { listed(cx, &tables::skills(&cx.agent)) }),
    },
    Command {
        names: &["hooks"],
        takes: "",
        about: "hooks, and where they are set",
        run: |cx, _| Box::pin(async move { listed(cx, &tables::hooks(&cx.session)) }),
    },
    Command {
        names: &["add-dir"],
        takes: "DIR",
        about: "let tools work in another directory too, for this session",
        run: |cx, dir| Box::pin(project::add_dir(cx, dir)),
    },
    Command {
        names: &["init"],
        takes: "",
        about: "let the model write this project's instruction file",
        run: |cx, _| Box::pin(async move { Ok(Flow::Say(project::init(cx))) }),
    },
    Command {
        names: &["permissions"],
        takes: "[forget RULE]",
        about: "rules for what tools may do, and where they come from; remove one",
        run: |cx, rest| Box::pin(async move { permissions::run(cx, rest) }),
    },
    Command {
        names: &["config"],
        takes: "[KEY]",
        about: "settings, their values and where they are set",
        run: |cx, key| Box::pin(config(cx, key)),
    },
    Command {
        names: &["doctor"],
        takes: "",
        about: "what is wrong or missing, and how to fix it",
        run: |cx, _| Box::pin(doctor(cx)),
    },
    Command {
        names: &["export"],
        takes: "[FILE]",
        about: "write the conversation to a file, as Markdown",
        run: |cx, file| Box::pin(export(cx, file)),
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
pub(crate) fn infos(cx: &CommandContext) -> Vec<CommandInfo> {
    let own = COMMANDS.iter().map(|command| CommandInfo {
        names: command.names.iter().map(|name| (*name).to_owned()).collect(),
        takes: command.takes.to_owned(),
        about: command.about.to_owned(),
    });
    let shelf = &cx.session.config().setups.skills;
    let skills =
        shelf.skills().iter().filter(|skill| skill.is_for_person()).map(|skill| CommandInfo {
            names: vec![skill.name.clone()],
            takes: skill.argument_hint.clone().unwrap_or_default(),
            about: cut(&skill.description, 80),
        });
    let views = cx.agent.world().servers.as_ref().map(|own| own.list()).unwrap_or_default();
    let prompts = views.iter().flat_map(|view| {
        view.prompts.iter().map(|prompt| CommandInfo {
            names: vec![format!("{SERVER_PROMPTS}{}__{}", view.name, prompt.name)],
            takes: prompt.arguments.join(" "),
            about: cut(&prompt.description, 80),
        })
    });
    own.chain(skills).chain(prompts).collect()
}

/// Whether a command has this name.
pub(super) fn is_command(name: &str) -> bool {
    COMMANDS.iter().any(|command| command.names.contains(&name))
}

/// Whether a skill or a server's prompt has it: words for the model come of it.
pub(super) fn is_prompt(cx: &CommandContext, name: &str) -> bool {
    let skill = cx.session.config().setups.skills.get(name).is_some_and(Skill::is_for_person);
    skill || name.starts_with(SERVER_PROMPTS)
}

/// Runs what stands after the slash.
pub(crate) async fn run(cx: &mut CommandContext, text: &str) -> Result<Flow> {
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let Some(command) = COMMANDS.iter().find(|command| command.names.contains(&name)) else {
        if is_prompt(cx, name) {
            return Ok(Flow::Say(format!("/{text}")));
        }
        let near = slash::near(cx, name);
        let told = unknown(&format!("unknown command /{name}"), near.as_deref());
        cx.presenter.note(TextStyle::Yellow, &format!("{told} /help lists the commands"));
        return Ok(Flow::GoOn);
    };
    (command.run)(cx, rest.trim()).await
}

fn help(cx: &CommandContext) -> Result<Flow> {
    let rows: Vec<Vec<String>> = COMMANDS
        .iter()
        .map(|command| {
            let name = command.names.first().copied().unwrap_or_default();
            let usage = format!("/{name} {}", command.takes);
            vec![usage.trim_end().to_owned(), command.about.to_owned()]
        })
        .collect();
    cx.presenter.table(&rows)?;
    cx.presenter.line("end a line with a backslash to continue on the next")?;
    Ok(Flow::GoOn)
}

fn listed(cx: &CommandContext, table: &Table) -> Result<Flow> {
    tables::show(table, &cx.presenter)?;
    Ok(Flow::GoOn)
}

async fn config(cx: &mut CommandContext, key: &str) -> Result<Flow> {
    let key = Some(key.to_owned()).filter(|key| !key.is_empty());
    let args = ConfigArgs { key, json: false, schema: false, choices: Choices::default() };
    settings::run(&cx.env, &args, &cx.presenter).await?;
    Ok(Flow::GoOn)
}

async fn doctor(cx: &mut CommandContext) -> Result<Flow> {
    let args = DoctorArgs { json: false, choices: Choices::default() };
    Box::pin(findings::run(&cx.env, &args, &cx.presenter)).await?;
    Ok(Flow::GoOn)
}

async fn export(cx: &mut CommandContext, name: &str) -> Result<Flow> {
    let id = cx.session.id();
    let name = if name.is_empty() { format!("everfold-{id}.md") } else { name.to_owned() };
    let path = std::path::Path::new(&cx.session.config().surroundings.cwd).join(name);
    if !cx.agent.world().transcripts.path(id).exists() {
        let why = "nothing to export: this session has no log yet, or is private";
        cx.presenter.note(TextStyle::Yellow, why);
        return Ok(Flow::GoOn);
    }
    file::run(&cx.agent, id, ExportFormat::Markdown, Some(&path)).await?;
    cx.presenter.line(&format!("written to {}", path.display()))?;
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
