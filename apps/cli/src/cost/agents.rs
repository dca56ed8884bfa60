//! What every agent on this machine cost (PC10): by day, week, month, block of
//! five hours, project, agent, model or session.

use crate::args::{By, CostArgs};
use crate::causes::{self, share};
use crate::presenter::{Presenter, TextStyle, counted, grouped};
use crate::setup::ProcessEnv;
use anyhow::Result;
use everfold_agent::Agent;
use everfold_agent::bills::{self, BillBook, Group, SessionBill, bill_index, read_bills};
use everfold_agent::session_files::{SessionFile, SessionPlaces};
use everfold_replay::Options;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Widest bar of the plot.
const BAR: usize = 30;

/// Reads the bills of these sessions, telling how far it is.
pub(crate) fn read(
    agent: &Agent,
    files: &[SessionFile],
    remember: Remember,
    presenter: &Presenter,
) -> BillBook {
    let config = agent.config();
    let options = Options {
        table: config.models.table.clone(),
        limits: Arc::clone(&config.limits),
        ..Options::default()
    };
    let index = match remember {
        Remember::Yes => bill_index(agent.home().root()),
        Remember::No => None,
    };
    let mut told = 0;
    let mut progress = |done: u64, all: u64| {
        let percent = done.saturating_mul(100) / all.max(1);
        if presenter.is_terminal() && percent >= told + 10 {
            told = percent;
            presenter.note(TextStyle::Dim, &format!("{percent} % of {} MB", all / 1_000_000));
        }
    };
    let book = read_bills(files, &options, index.as_deref(), &mut progress);
    for (path, why) in &book.failed {
        presenter.note(TextStyle::Yellow, &format!("skipped: {}: {why}", path.display()));
    }
    book
}

/// Whether what was read is kept in an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remember {
    Yes,
    No,
}

/// Where sessions of all agents lie.
pub(crate) fn places(agent: &Agent, env: &ProcessEnv) -> SessionPlaces {
    SessionPlaces::of(agent.home().root(), env.user_home.as_deref(), &env.variables)
}

/// Shows what all agents cost.
pub(crate) fn run(
    env: &ProcessEnv,
    agent: &Agent,
    args: &CostArgs,
    presenter: &Presenter,
) -> Result<()> {
    let book = read(agent, &places(agent, env).files(), Remember::Yes, presenter);
    let by = args.by.unwrap_or(By::Agent);
    let groups = bills::groups(&book.sessions, by.into());
    let mut total = Group::default();
    for session in &book.sessions {
        session.bill.requests.iter().for_each(|request| total.add(request));
    }
    let why = args.form.why.then(|| bills::causes(&book.sessions));
    if args.form.json {
        let value = json!({
            "by": by.as_str(),
            "sessions": book.sessions.len(),
            "groups": groups.iter().map(|(key, own)| line(key, own)).collect::<Vec<_>>(),
            "total": line("total", &total),
            "why": why.as_ref().map(causes::to_json),
        });
        return Ok(Presenter::json(&value)?);
    }
    if args.form.csv {
        let lines: Vec<Value> = groups.iter().map(|(key, own)| line(key, own)).collect();
        let text = super::breakdown::csv(&["key"], &lines).replacen("key", by.as_str(), 1);
        return Ok(presenter.text(&text)?);
    }
    let agents = groups_by_agent(&book.sessions);
    presenter.line(&format!(
        "{} of {agents}: {:.2} USD",
        counted(book.sessions.len() as u64, "session"),
        total.usd
    ))?;
    presenter.table(&table(by, &groups, &total))?;
    if let Some(why) = why {
        presenter.line("")?;
        causes::show(&why, presenter)?;
    }
    Ok(())
}

fn groups_by_agent(sessions: &[SessionBill]) -> String {
    let names: std::collections::BTreeSet<&str> =
        sessions.iter().filter_map(|own| own.agent.as_deref()).collect();
    if names.is_empty() {
        "no agent".to_owned()
    } else {
        names.into_iter().collect::<Vec<_>>().join(", ")
    }
}

fn table(by: By, groups: &BTreeMap<String, Group>, total: &Group) -> Vec<Vec<String>> {
    let head = [by.as_str(), "requests", "input", "cached", "written", "output", "hit", "USD", ""];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let most = groups.values().map(|own| own.usd).fold(0.0, f64::max);
    let row = |key: &str, own: &Group, bar: String| {
        let usd = match own.unpriced {
            0 => format!("{:.2}", own.usd),
            all if all == own.requests => "no price".to_owned(),
            some => format!("{:.2} + {some} without", own.usd),
        };
        vec![
            key.to_owned(),
            grouped(own.requests),
            grouped(own.usage.input),
            grouped(own.usage.cache_read),
            grouped(own.usage.cache_write()),
            grouped(own.usage.output),
            format!("{:.1}%", own.usage.hit_rate() * 100.0),
            usd,
            bar,
        ]
    };
    for (key, own) in sorted(by, groups) {
        rows.push(row(key, own, bar(own.usd, most)));
    }
    rows.push(row("total", total, String::new()));
    rows
}

/// By time where the key is one, else the dearest first.
fn sorted(by: By, groups: &BTreeMap<String, Group>) -> Vec<(&String, &Group)> {
    let mut all: Vec<(&String, &Group)> = groups.iter().collect();
    if !matches!(by, By::Day | By::Week | By::Month | By::Block) {
        all.sort_by(|one, other| other.1.usd.total_cmp(&one.1.usd));
    }
    all
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of the width of a bar"
)]
fn bar(usd: f64, most: f64) -> String {
    let cells = (share(usd, most) * 0.01 * 30.0).ceil() as usize;
    "█".repeat(cells.min(BAR))
}

fn line(key: &str, own: &Group) -> Value {
    json!({
        "key": key, "requests": own.requests, "input": own.usage.input,
        "cache_read": own.usage.cache_read, "cache_write": own.usage.cache_write(),
        "output": own.usage.output, "hit_rate": own.usage.hit_rate(), "usd": own.usd,
        "unpriced": own.unpriced,
    })
}
