//! Lists that both faces show: line by line as a table, on a screen as a panel.

use crate::presenter::{Presenter, TextStyle, counted, cut, grouped, size};
use crate::session_picker;
use anyhow::Result;
use everfold_agent::engine::agents::letters;
use everfold_agent::settings::{SettingRow as Setting, ValueOrigin};
use everfold_agent::{Agent, Session};
use everfold_hooks::{Handler, HookEvent};
use everfold_kernel::ports::ServerState;
use everfold_kernel::{ModelId, ModelSpec};
use everfold_skills::Skill;
use everfold_transcript::{Listed, Side, list};
use everfold_tui::{Table, TableRow};

pub(crate) fn show(table: &Table, presenter: &Presenter) -> Result<()> {
    if table.rows.is_empty() {
        return Ok(presenter.line(&table.empty)?);
    }
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| row.cells.clone()).collect();
    Ok(presenter.table(&rows)?)
}

fn head<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

/// Servers that bring tools, and how they are.
pub(crate) fn servers(agent: &Agent) -> Table {
    let named = agent.named_servers();
    let views = agent.world().servers.as_ref().map(|own| own.list()).unwrap_or_default();
    let row = |name: &str, state: String, origin: &str, look, more: String| TableRow {
        id: name.to_owned(),
        cells: vec![name.to_owned(), cut(&state, 80), origin.to_owned()],
        look,
        more: format!("{state}\n{more}"),
    };
    let mut rows: Vec<TableRow> = views
        .iter()
        .map(|view| {
            let (state, look) = match &view.state {
                ServerState::Idle => ("starts with the first message".to_owned(), TextStyle::Dim),
                ServerState::Connecting => ("starting".to_owned(), TextStyle::Dim),
                ServerState::Up(revision) => {
                    let tools = counted(view.tools.len() as u64, "tool");
                    (format!("{tools}, {revision}"), TextStyle::Normal)
                }
                ServerState::Down(why) => (format!("not available: {why}"), TextStyle::Red),
            };
            let tools: Vec<&str> = view.tools.iter().map(|tool| tool.name.as_str()).collect();
            row(&view.name, state, &view.origin, look, tools.join("\n"))
        })
        .collect();
    rows.extend(named.untrusted.iter().map(|name| {
        row(name, "off: `everfold trust`".to_owned(), "", TextStyle::Yellow, String::new())
    }));
    rows.extend(named.broken.iter().map(|own| {
        row(&own.name, own.reason.clone(), &own.origin, TextStyle::Red, "fix its entry".to_owned())
    }));
    let empty = "none; add one under mcpServers in the settings".to_owned();
    Table { head: head(["server", "state", "from"]), rows, empty }
}

/// Skills and custom commands.
pub(crate) fn skills(agent: &Agent) -> Table {
    let config = agent.config();
    let row = |skill: &Skill| {
        let hint = skill.argument_hint.as_deref().unwrap_or_default();
        let slash = if skill.is_for_person() { "/" } else { "" };
        let usage = format!("{slash}{} {hint}", skill.name);
        TableRow {
            id: skill.name.clone(),
            cells: vec![usage.trim_end().to_owned(), cut(&skill.description, 80)],
            look: if skill.is_for_person() { TextStyle::Normal } else { TextStyle::Dim },
            more: skill.description.clone(),
        }
    };
    let rows = config.setups.skills.skills().iter().map(row).collect();
    let empty = format!("none; put one in {}", agent.home().skills().display());
    Table { head: head(["skill", "purpose"]), rows, empty }
}

/// Kinds of agents that can be started.
pub(crate) fn agents(session: &Session) -> Table {
    let roster = letters::agents(session).roster();
    let rows = roster.names().filter_map(|name| roster.get(name)).map(|kind| TableRow {
        id: kind.name.clone(),
        cells: vec![
            kind.name.clone(),
            cut(&kind.description, 80),
            kind.model.clone().unwrap_or_default(),
        ],
        more: kind.description.clone(),
        ..TableRow::default()
    });
    let rows = rows.collect();
    let empty = "none; put one in .claude/agents".to_owned();
    Table { head: head(["agent", "purpose", "model"]), rows, empty }
}

/// What is run at events.
pub(crate) fn hooks(session: &Session) -> Table {
    let hooks = &session.config().setups.hooks;
    let row = |(event, handler): (HookEvent, &Handler)| {
        let only = handler.condition.as_deref().unwrap_or_default();
        TableRow {
            id: handler.name().to_owned(),
            cells: vec![
                event.name().to_owned(),
                cut(handler.name(), 60),
                only.to_owned(),
                handler.origin.clone(),
            ],
            more: handler.name().to_owned(),
            ..TableRow::default()
        }
    };
    let empty = "none; they are set under `hooks` in the settings".to_owned();
    let names = ["event", "runs", "matcher", "from"];
    Table { head: head(names), rows: hooks.handlers().map(row).collect(), empty }
}

/// The models that a server of one's own has; else those whose windows and
/// prices are known.
pub(crate) fn models(agent: &Agent) -> Table {
    let table = &agent.config().models.table;
    let dollars = |price: Option<f64>| price.map_or_else(|| "-".to_owned(), |at| format!("{at}"));
    let row = |name: &str, spec: &ModelSpec| {
        let window = spec.window.map_or_else(|| "?".to_owned(), grouped);
        let prices = spec.prices.as_ref();
        TableRow {
            id: name.to_owned(),
            cells: vec![
                name.to_owned(),
                format!("{window:>9}"),
                dollars(prices.map(|prices| prices.input)),
                dollars(prices.map(|prices| prices.cache_read)),
                dollars(prices.map(|prices| prices.output)),
            ],
            ..TableRow::default()
        }
    };
    let served = &agent.served().models;
    let rows = if served.is_empty() {
        table.iter().map(|(name, spec)| row(name, spec)).collect()
    } else {
        let ids = served.iter().map(|model| model.id.as_str());
        ids.map(|id| row(id, table.spec(&ModelId::new(id)))).collect()
    };
    let names = ["model", "   window", "input $/M", "cached $/M", "output $/M"];
    Table { head: head(names), rows, empty: "no known models".to_owned() }
}

/// Settings, their values and who set them.
pub(crate) fn settings(agent: &Agent) -> Table {
    let rows = agent.settings().explain().map(|row| setting(&row, agent)).collect();
    Table { head: head(["setting", "value", "from"]), rows, empty: String::new() }
}

/// Rules of what tools may do, and where they are from.
pub(crate) fn rules(agent: &Agent) -> Table {
    let all = agent.settings().explain();
    let rows = all.filter(|row| row.key.starts_with("permissions.") && !row.value.is_null());
    // A rule is taken back by its own words.
    let named = |row: Setting| TableRow {
        id: row.value.as_str().unwrap_or(&row.key).to_owned(),
        ..setting(&row, agent)
    };
    let rows = rows.map(named).collect();
    let empty = "no rules; tools ask before they change anything".to_owned();
    Table { head: head(["rule", "value", "from"]), rows, empty }
}

fn setting(row: &Setting, agent: &Agent) -> TableRow {
    let value = if row.value.is_null() { "-".to_owned() } else { row.value.to_string() };
    let place = agent.home().root().join("settings.json");
    let how = match &row.origin {
        ValueOrigin::Default => format!("to change it: {} in {}", row.key, place.display()),
        ValueOrigin::Managed(_) => "set by an administrator; it cannot be changed here".to_owned(),
        from => format!("to change it: {from}"),
    };
    TableRow {
        id: row.key.clone(),
        cells: vec![row.key.clone(), value.clone(), row.origin.to_string()],
        look: if row.origin == ValueOrigin::Default { TextStyle::Dim } else { TextStyle::Normal },
        more: format!("{} = {value}\n{how}", row.key),
    }
}

/// Conversations of this directory, newest first.
pub(crate) async fn sessions(agent: &Agent) -> Result<Table> {
    Ok(talks(agent.sessions().await?.iter().map(|entry| (entry.session.to_string(), entry))))
}

/// Conversations of every project, newest first. Those of another directory
/// are named by the command that goes on with them.
pub(crate) async fn all_sessions(agent: &Agent) -> Result<Table> {
    let mut all: Vec<Listed> = Vec::new();
    for transcripts in agent.all_transcripts()? {
        let glimpses = transcripts.glimpse().await.map_err(everfold_agent::Error::from)?;
        all.extend(glimpses.iter().map(list).filter(|entry| entry.side == Side::Main));
    }
    all.sort_by_key(|entry| std::cmp::Reverse(entry.modified));
    let own = agent.sessions().await?;
    let name = |entry: &Listed| {
        let is_own = own.iter().any(|own| own.session == entry.session);
        match &entry.cwd {
            Some(cwd) if !is_own => format!("cd '{cwd}' && everfold --resume {}", entry.session),
            _ => entry.session.to_string(),
        }
    };
    Ok(talks(all.iter().map(|entry| (name(entry), entry))))
}

fn talks<'a>(entries: impl Iterator<Item = (String, &'a Listed)>) -> Table {
    let now = jiff::Timestamp::now();
    let row = |(id, entry): (String, &Listed)| {
        let title = entry.title.as_deref().unwrap_or("(no title)");
        let first = entry.first_prompt.as_deref().unwrap_or("-");
        let place = entry.cwd.as_deref().unwrap_or("-");
        TableRow {
            id,
            cells: vec![
                format!("{:>4}", session_picker::age(entry.modified, now)),
                format!("{:>8}", size(entry.bytes)),
                cut(entry.git_branch.as_deref().unwrap_or("-"), 20),
                cut(title, 200),
            ],
            look: TextStyle::Normal,
            more: format!("first: {first}\nnow:   {title}\nin:    {place}\n{}", entry.session),
        }
    };
    let rows = entries.map(row).collect();
    let empty = "no other sessions yet".to_owned();
    Table { head: head(["age", "size", "branch", "title"]), rows, empty }
}
