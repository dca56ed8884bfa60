//! What every agent on this machine cost (PC10): by day, week, month, block of
//! five hours, project, agent, model or session.

use crate::args::{By, CostArgs};
use crate::causes::{Causes, share};
use crate::presenter::{Presenter, TextStyle, grouped};
use crate::setup::ProcessEnv;
use anyhow::Result;
use everfold::Agent;
use everfold::bills::{BillBook, SessionBill, read_bills};
use everfold::kernel::{Timestamp, Usage};
use everfold::session_files::{SessionFile, SessionPlaces};
use everfold_replay::{BilledRequest, Options};
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Hours of a block, as subscriptions count them.
const BLOCK_HOURS: i64 = 5;
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
    let home = agent.home().root();
    let index = home.join("cache").join("bills.jsonl");
    // Who never used us has no home to put an index in.
    let index = (remember == Remember::Yes && home.is_dir()).then_some(index);
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
        presenter.note(TextStyle::Yellow, &format!("left out: {}: {why}", path.display()));
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

/// Requests of one group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Group {
    pub(crate) requests: u64,
    pub(crate) usage: Usage,
    pub(crate) usd: f64,
    pub(crate) unpriced: u64,
}

impl Group {
    pub(crate) fn add(&mut self, request: &BilledRequest) {
        self.requests += 1;
        self.usage.add(&request.usage);
        self.usd += request.usd.unwrap_or(0.0);
        self.unpriced += u64::from(request.usd.is_none());
    }
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
    let groups = groups(&book.sessions, by);
    let mut total = Group::default();
    for session in &book.sessions {
        session.bill.requests.iter().for_each(|request| total.add(request));
    }
    let why = args.form.why.then(|| Causes::of_sessions(&book.sessions));
    if args.form.json {
        let value = json!({
            "by": by.as_str(),
            "sessions": book.sessions.len(),
            "groups": groups.iter().map(|(key, own)| line(key, own)).collect::<Vec<_>>(),
            "total": line("total", &total),
            "why": why.as_ref().map(Causes::to_json),
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
        "{} sessions of {agents}: {:.2} USD",
        book.sessions.len(),
        total.usd
    ))?;
    presenter.table(&table(by, &groups, &total))?;
    if let Some(why) = why {
        presenter.line("")?;
        why.show(presenter)?;
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

/// Requests by what was asked for.
pub(crate) fn groups(sessions: &[SessionBill], by: By) -> BTreeMap<String, Group> {
    let mut found: BTreeMap<String, Group> = BTreeMap::new();
    let zone = TimeZone::system();
    let blocks = if by == By::Block { blocks(sessions) } else { Vec::new() };
    for session in sessions {
        let own = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
        for request in &session.bill.requests {
            let at = || request.at.to_zoned(zone.clone());
            let key = match by {
                By::Session => own(&session.session),
                By::Project => own(&session.project),
                By::Agent | By::Source => own(&session.agent),
                By::Model => request.model.to_string(),
                By::Day => at().date().to_string(),
                By::Week => week(&at()),
                By::Month => at().strftime("%Y-%m").to_string(),
                By::Block => {
                    let next = blocks.partition_point(|start| *start <= request.at);
                    let start = next.checked_sub(1).and_then(|index| blocks.get(index));
                    let start = start.copied().unwrap_or(request.at).to_zoned(zone.clone());
                    start.strftime("%Y-%m-%d %H:00").to_string()
                }
            };
            found.entry(key).or_default().add(request);
        }
    }
    found
}

/// The Monday of a week.
fn week(at: &Zoned) -> String {
    let days = i64::from(at.date().weekday().to_monday_zero_offset());
    at.date().checked_sub(days.days()).unwrap_or_else(|_| at.date()).to_string()
}

/// Where blocks of five hours begin: at the full hour of the first request
/// that is in none.
fn blocks(sessions: &[SessionBill]) -> Vec<Timestamp> {
    let requests = sessions.iter().flat_map(|own| &own.bill.requests);
    let mut times: Vec<i64> = requests.map(|own| own.at.as_second()).collect();
    times.sort_unstable();
    let mut starts: Vec<i64> = Vec::new();
    for at in times {
        if starts.last().is_none_or(|start| at >= start + BLOCK_HOURS * 3_600) {
            starts.push(at.div_euclid(3_600) * 3_600);
        }
    }
    starts.into_iter().filter_map(|start| Timestamp::from_second(start).ok()).collect()
}
