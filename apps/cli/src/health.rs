//! `everfold health` and `/health`: whether the layers earn their keep (Q10).
//! From transcripts and the journals of memory; nothing is asked and nothing
//! written.

use crate::args::{Choices, HealthArgs};
use crate::presenter::{Presenter, counted, grouped};
use crate::session_picker;
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold::Agent;
use everfold::kernel::SessionId;
use everfold::kernel::ports::Transcripts;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

mod memories;
mod tally;

use memories::Memories;
use tally::Tally;

/// Days of a week.
const WEEK_DAYS: i64 = 7;

/// What is looked at.
enum Scope {
    Session(SessionId),
    Project,
    Week,
}

/// Shows how things are.
pub(crate) async fn run(env: &ProcessEnv, args: &HealthArgs, presenter: &Presenter) -> Result<()> {
    let agent = setup::for_looking(env, &Choices::default()).await?;
    let scope = match &args.session {
        Some(text) => Scope::Session(session_picker::find(&agent, text).await?),
        None if args.week => Scope::Week,
        None => Scope::Project,
    };
    let tally = look(&agent, &scope).await?;
    let since = scope.since();
    let dirs = setup::builder(env, &Choices::default())?.memory_dirs();
    // Without memory there is still a conversation to look at.
    let memories = dirs.map(|dirs| Memories::of(&dirs, since)).unwrap_or_default();
    let (title, name) = scope.words();
    if args.json {
        return Ok(Presenter::json(&to_json(name, &tally, &memories))?);
    }
    presenter.line(&title)?;
    Ok(presenter.table(&rows(&tally, &memories))?)
}

/// `/health`: the session that is running.
pub(crate) async fn show_session(
    agent: &Agent,
    session: &SessionId,
    presenter: &Presenter,
) -> Result<()> {
    let scope = Scope::Session(session.clone());
    let tally = look(agent, &scope).await.unwrap_or_default();
    presenter.line(&scope.words().0)?;
    Ok(presenter.table(&rows(&tally, &Memories::default()))?)
}

impl Scope {
    fn since(&self) -> Option<Timestamp> {
        let week = SignedDuration::from_hours(24 * WEEK_DAYS);
        matches!(self, Self::Week).then(|| Timestamp::now().checked_sub(week).ok()).flatten()
    }

    /// For people, and for programs.
    fn words(&self) -> (String, &'static str) {
        match self {
            Self::Session(id) => (format!("session {id}"), "session"),
            Self::Project => ("this directory, all its sessions".to_owned(), "project"),
            Self::Week => ("the last seven days, every project".to_owned(), "week"),
        }
    }
}

async fn look(agent: &Agent, scope: &Scope) -> Result<Tally> {
    let here = &*agent.world().transcripts;
    let mut tally = Tally::default();
    match scope {
        Scope::Session(id) => add(&mut tally, here, id, None).await?,
        Scope::Project => add_all(&mut tally, here, None).await?,
        Scope::Week => {
            for transcripts in agent.all_transcripts()? {
                add_all(&mut tally, &*transcripts, scope.since()).await?;
            }
        }
    }
    Ok(tally)
}

async fn add_all(
    tally: &mut Tally,
    transcripts: &dyn Transcripts,
    since: Option<Timestamp>,
) -> Result<()> {
    for glimpse in transcripts.glimpse().await.map_err(everfold::Error::from)? {
        if since.is_none_or(|since| glimpse.modified >= since) {
            add(tally, transcripts, &glimpse.session, since).await?;
        }
    }
    Ok(())
}

async fn add(
    tally: &mut Tally,
    transcripts: &dyn Transcripts,
    session: &SessionId,
    since: Option<Timestamp>,
) -> Result<()> {
    tally.begin_session();
    let mut sink = |line: &[u8]| tally.note(line, since);
    transcripts.load(session, &mut sink).await.map_err(everfold::Error::from)?;
    Ok(())
}

fn rows(tally: &Tally, memories: &Memories) -> Vec<Vec<String>> {
    let (behind, all) = (tally.ledger.background().cost.0, tally.ledger.total().cost.0);
    let ways: Vec<String> =
        tally.summaries.iter().map(|(way, count)| format!("{count} by {way}")).collect();
    let summaries = if ways.is_empty() { "none".to_owned() } else { ways.join(", ") };
    let main = tally.main();
    let mut rows = vec![
        ("sessions", grouped(tally.sessions)),
        ("cache", format!("{:.1}% of the prompts were read from it", main.hit_rate() * 100.0)),
        ("cache breaks", grouped(tally.breaks)),
        ("cost", format!("{all:.4} USD, {behind:.4} of it in the background")),
        ("summaries", summaries),
        ("failed summaries", grouped(tally.failures)),
        ("breaker", format!("opened {}", counted(tally.trips, "time"))),
        ("recalled", format!("{} brought in", counted(tally.recalled, "memory"))),
        ("saved", format!("{}, {} refused", counted(tally.saved, "memory"), tally.refused.len())),
    ];
    if tally.put_off > 0 {
        let sessions = counted(tally.put_off, "session");
        rows.push((
            "put off",
            format!("reviews in {sessions}, for want of budget; they are made up for"),
        ));
    }
    rows.extend(memories.rows());
    rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect()
}

fn to_json(scope: &str, tally: &Tally, memories: &Memories) -> Value {
    let (behind, all) = (tally.ledger.background().cost.0, tally.ledger.total().cost.0);
    json!({
        "scope": scope,
        "sessions": tally.sessions,
        "cache_hit_rate": tally.main().hit_rate(),
        "cache_breaks": tally.breaks,
        "cost_usd": all,
        "background_usd": behind,
        "summaries": tally.summaries,
        "failed_summaries": tally.failures,
        "breaker_trips": tally.trips,
        "recalled": tally.recalled,
        "saved": tally.saved,
        "refused": tally.refused,
        "reviews_put_off": tally.put_off,
        "memories": memories.to_json(),
    })
}
