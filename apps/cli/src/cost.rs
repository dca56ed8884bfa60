//! `everfold cost` and `/cost`: what was used and what it cost, by source and
//! model (T6), from the bookings in transcripts, and the cache breaks that
//! nothing had announced (PC6).

use crate::args::{By, Choices, CostArgs};
use crate::failure::Usage;
use crate::presenter::{Presenter, counted, grouped};
use crate::session_picker;
use crate::setup::{self, ProcessEnv};
use anyhow::{Context, Result};
use everfold_agent::record_filter::telling;
use everfold_agent::{Agent, Session};
use everfold_kernel::ports::{TranscriptError, Transcripts};
use everfold_kernel::usage::LedgerLine;
use everfold_kernel::{Decision, Entry, Ledger, Record, SessionId};
use everfold_transcript::line::Line;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::{Value, json};

pub(crate) mod agents;
mod breakdown;
pub(crate) mod breaks;
mod why;

/// What the lines have in them that matter here; others need not be read.
const TELLING: [&str; 4] =
    ["everfold_booked", "everfold_break_seen", "everfold_cleared", "everfold_weighed"];

/// How sources are called that worked beside other agents, in one table with ours.
const BESIDE: &str = "beside:";

/// What was asked about.
enum Scope {
    Session(SessionId),
    Project,
    Day(Date),
    All,
}

#[derive(Default)]
struct Sum {
    ledger: Ledger,
    sessions: usize,
    breaks: Vec<breaks::Seen>,
    sums: Vec<why::Why>,
    groups: breakdown::Groups,
}

/// Shows what was used.
pub(crate) async fn run(env: &ProcessEnv, args: &CostArgs, presenter: &Presenter) -> Result<()> {
    let agent = setup::for_looking(env, &Choices::default()).await?;
    if args.is_of_all_agents() {
        return agents::run(env, &agent, args, presenter);
    }
    let scope = scope(&agent, args).await?;
    let (sum, beside) = gather(&agent, args, &scope).await?;
    if args.form.json {
        return Ok(Presenter::json(&sum.to_json(&scope, &beside))?);
    }
    if args.form.csv {
        let text = if let Some(by) = sum.groups.by() {
            breakdown::csv(&["key"], &sum.groups.to_json()).replacen("key", by.as_str(), 1)
        } else {
            let all = [lines(&sum.ledger, ""), lines(&beside.ledger, BESIDE)].concat();
            breakdown::csv(&["source", "model"], &all)
        };
        return Ok(presenter.text(&text)?);
    }
    let sessions = counted(sum.sessions as u64, "session");
    let title = match &scope {
        Scope::Session(id) => format!("session {id}"),
        Scope::Project => format!("this directory, {sessions}"),
        Scope::Day(day) => format!("{day}, {sessions}"),
        Scope::All => format!("every project, {sessions}"),
    };
    presenter.line(&title)?;
    match sum.groups.by() {
        Some(_) => sum.groups.show(&sum.ledger, presenter)?,
        None => presenter.table(&table(&sum.ledger))?,
    }
    if !beside.is_empty() {
        presenter.line("\nbeside other agents, by hooks")?;
        presenter.table(&table(&beside.ledger))?;
    }
    breaks::show(&sum.breaks, presenter)?;
    if args.form.why {
        why::show_all(&sum.sums, presenter)?;
    }
    Ok(())
}

/// What our own sessions used, and what was used beside other agents (X1).
async fn gather(agent: &Agent, args: &CostArgs, scope: &Scope) -> Result<(Sum, Sum)> {
    let mut sum = Sum { groups: breakdown::Groups::new(args.by), ..Sum::default() };
    let mut beside = Sum::default();
    let (transcripts, books) = (&agent.world().transcripts, agent.books());
    let (span, is_wide) = match scope {
        Scope::Session(id) => {
            let is_beside = books.path(id).exists();
            if !is_beside || transcripts.path(id).exists() {
                sum.add(&**transcripts, id, None).await?;
            }
            if is_beside {
                beside.add(&*books, id, None).await?;
            }
            return Ok((sum, beside));
        }
        Scope::Project => (None, false),
        Scope::Day(day) => (Some(Span::of(*day)?), !args.project),
        Scope::All => (None, true),
    };
    let (logs, books) = if is_wide {
        (agent.all_transcripts()?, agent.all_books()?)
    } else {
        (vec![transcripts.clone()], vec![books])
    };
    for log in logs {
        sum.add_all(&*log, span).await?;
    }
    for book in books {
        beside.add_all(&*book, span).await?;
    }
    Ok((sum, beside))
}

async fn scope(agent: &Agent, args: &CostArgs) -> Result<Scope> {
    if let Some(day) = &args.day {
        return Ok(Scope::Day(date(day)?));
    }
    // One session has no projects or other sessions to be told apart.
    let wide = matches!(args.by, Some(By::Project));
    if args.all || (wide && !args.project && args.session.is_none()) {
        return Ok(Scope::All);
    }
    if args.project || (matches!(args.by, Some(By::Session | By::Day)) && args.session.is_none()) {
        return Ok(Scope::Project);
    }
    Ok(match &args.session {
        Some(text) => Scope::Session(session_picker::find(agent, text).await?),
        None => match session_picker::newest(agent).await {
            Ok(newest) => Scope::Session(newest),
            // Who only uses Everfold beside another agent has no session here.
            Err(_) if has_any(&*agent.books()).await => Scope::Project,
            Err(error) => return Err(error),
        },
    })
}

async fn has_any(books: &dyn Transcripts) -> bool {
    books.glimpse().await.is_ok_and(|found| !found.is_empty())
}

fn date(text: &str) -> Result<Date> {
    if text == "today" {
        return Ok(Zoned::now().date());
    }
    text.parse().map_err(|error| {
        Usage::new(format!("{text:?} is not a date ({error})"), "write it as 2026-01-31, or today")
            .into()
    })
}

/// One day, in the time zone of this machine.
#[derive(Clone, Copy)]
struct Span {
    from: Timestamp,
    to: Timestamp,
}

impl Span {
    fn of(day: Date) -> Result<Self> {
        let midnight = |day: Date| day.to_zoned(TimeZone::system()).map(|at| at.timestamp());
        let out_of_range = "that day is out of range";
        let from = midnight(day).context(out_of_range)?;
        let to = midnight(day.tomorrow().context(out_of_range)?).context(out_of_range)?;
        Ok(Self { from, to })
    }

    fn has(self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }
}

impl Sum {
    async fn add_all(&mut self, transcripts: &dyn Transcripts, span: Option<Span>) -> Result<()> {
        for glimpse in transcripts.glimpse().await.map_err(everfold_agent::Error::from)? {
            if span.is_none_or(|span| glimpse.modified >= span.from) {
                self.add(transcripts, &glimpse.session, span).await?;
            }
        }
        Ok(())
    }

    async fn add(
        &mut self,
        transcripts: &dyn Transcripts,
        session: &SessionId,
        span: Option<Span>,
    ) -> Result<()> {
        let mut found = Ledger::default();
        let mut breaks = Vec::new();
        let mut sums = Vec::new();
        let groups = &mut self.groups;
        let mut sink = |line: &[u8]| {
            let Some(line) = telling(line, &TELLING) else { return };
            let Line { record: Record { at, entry, .. }, facts, .. } = *line;
            if span.is_some_and(|span| !span.has(at)) {
                return;
            }
            sums.extend(why::Why::of(&entry, session, at));
            match entry {
                Entry::Decision(Decision::Booked(booking)) => {
                    let place = breakdown::Place { session, cwd: facts.cwd.as_deref(), at };
                    groups.book(&booking, &place);
                    found.book(&booking);
                }
                Entry::Decision(Decision::BreakSeen(what)) => {
                    breaks.push(breaks::Seen { session: session.clone(), at, what });
                }
                _ => {}
            }
        };
        transcripts.load(session, &mut sink).await.map_err(everfold_agent::Error::from)?;
        self.breaks.append(&mut breaks);
        self.sums.append(&mut sums);
        if found.lines().next().is_some() || span.is_none() {
            self.sessions += 1;
        }
        self.ledger.merge(&found);
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.ledger.lines().next().is_none()
    }

    fn to_json(&self, scope: &Scope, beside: &Self) -> Value {
        let mut value = match scope {
            Scope::Session(id) => json!({"scope": "session", "session_id": id}),
            Scope::Project => json!({"scope": "project"}),
            Scope::Day(day) => json!({"scope": "day", "day": day.to_string()}),
            Scope::All => json!({"scope": "all"}),
        };
        if let Some(map) = value.as_object_mut() {
            map.insert("sessions".into(), json!(self.sessions));
            map.insert("lines".into(), json!(lines(&self.ledger, "")));
            if let Some(by) = self.groups.by() {
                map.insert("by".into(), json!(by.as_str()));
                map.insert("groups".into(), json!(self.groups.to_json()));
            }
            map.insert("total".into(), line_json(&self.ledger.total()));
            if !beside.is_empty() {
                let lines = lines(&beside.ledger, "");
                let total = line_json(&beside.ledger.total());
                map.insert("beside".into(), json!({"lines": lines, "total": total}));
            }
            let breaks: Vec<Value> = self.breaks.iter().map(breaks::Seen::to_json).collect();
            map.insert("cache_breaks".into(), json!(breaks));
            let sums: Vec<Value> = self.sums.iter().map(why::Why::to_json).collect();
            map.insert("sums".into(), json!(sums));
        }
        value
    }
}

/// The lines of a ledger, with something before the names of their sources.
fn lines(ledger: &Ledger, before: &str) -> Vec<Value> {
    let with_names = |(source, model, line): (&str, &str, &LedgerLine)| {
        let mut value = json!({"source": format!("{before}{source}"), "model": model});
        if let (Some(map), Value::Object(rest)) = (value.as_object_mut(), line_json(line)) {
            map.extend(rest);
        }
        value
    };
    ledger.lines().map(with_names).collect()
}

fn line_json(line: &LedgerLine) -> Value {
    json!({
        "requests": line.requests,
        "input_tokens": line.usage.input,
        "cache_read_input_tokens": line.usage.cache_read,
        "cache_creation_input_tokens": line.usage.cache_write(),
        "output_tokens": line.usage.output,
        "cache_hit_rate": line.usage.hit_rate(),
        "cost_usd": line.cost.0,
        "unpriced_requests": line.unpriced,
    })
}

/// A ledger as a table for people.
pub(crate) fn table(ledger: &Ledger) -> Vec<Vec<String>> {
    let head =
        ["source", "model", "requests", "input", "cached", "written", "output", "hit", "USD"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (source, model, line) in ledger.lines() {
        rows.push(row(source, model, line));
    }
    rows.push(row("total", "", &ledger.total()));
    rows
}

fn row(source: &str, model: &str, line: &LedgerLine) -> Vec<String> {
    let cost = match line.unpriced {
        0 => format!("{:.4}", line.cost.0),
        all if all == line.requests => "no price".to_owned(),
        some => format!("{:.4} + {some} without a price", line.cost.0),
    };
    vec![
        source.to_owned(),
        model.to_owned(),
        grouped(line.requests),
        grouped(line.usage.input),
        grouped(line.usage.cache_read),
        grouped(line.usage.cache_write()),
        grouped(line.usage.output),
        format!("{:.0}%", line.usage.hit_rate() * 100.0),
        cost,
    ]
}

/// What was spent today, and what on this project, for the screen.
pub(crate) async fn spent(agent: &Agent) -> Result<Vec<(String, Ledger)>> {
    let today = Zoned::now().date();
    let span = Span::of(today)?;
    let mut sums = Vec::new();
    let mut sum = Sum::default();
    for transcripts in agent.all_transcripts()? {
        sum.add_all(&*transcripts, Some(span)).await?;
    }
    sums.push((
        format!("today, every project, {}", counted(sum.sessions as u64, "session")),
        sum.ledger,
    ));
    let mut sum = Sum::default();
    sum.add_all(&*agent.world().transcripts, None).await?;
    sums.push((format!("this project, {}", counted(sum.sessions as u64, "session")), sum.ledger));
    Ok(sums)
}

/// `/cost`: what a running session used, and the breaks in its log.
pub(crate) async fn show_session(
    agent: &Agent,
    session: &Session,
    presenter: &Presenter,
) -> Result<()> {
    let mut sum = Sum::default();
    presenter.table(&table(session.ledger()))?;
    match sum.add(&*agent.world().transcripts, session.id(), None).await {
        Ok(()) => {
            breaks::show(&sum.breaks, presenter)?;
            Ok(why::show(&sum.sums, why::SHOWN_IN_SESSION, presenter)?)
        }
        // A session that has said nothing yet has no transcript.
        Err(error) if is_not_there(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

fn is_not_there(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(everfold_agent::Error::Transcript(TranscriptError::NotFound { .. }))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::usage::{Booking, QuerySource};
    use everfold_kernel::{ModelTable, Usage};

    #[test]
    fn t6_a_model_without_a_price_is_not_shown_as_free() {
        let usage = Usage { input: 1_000_000, ..Usage::default() };
        let table_of = |models: &[&str]| {
            let mut ledger = Ledger::default();
            for model in models {
                let model = (*model).into();
                let prices = ModelTable::builtin();
                ledger.book(&Booking::new(QuerySource::Main, model, usage, &prices));
            }
            let rows = table(&ledger);
            rows.last().unwrap().last().unwrap().clone()
        };
        assert_eq!(table_of(&["no-such-model"]), "no price");
        assert_eq!(table_of(&["claude-opus-5"]), "5.0000");
        assert_eq!(table_of(&["claude-opus-5", "x"]), "5.0000 + 1 without a price");
    }

    #[test]
    fn t6_a_day_is_a_day_of_this_machine() {
        let span = Span::of("2026-03-29".parse().unwrap()).unwrap();
        assert!(span.has(span.from) && !span.has(span.to));
        assert!(date("yesterday").is_err());
    }
}
