//! Whether the layers earn their keep (Q10): what transcripts and the journals
//! of memory tell. Nothing is asked and nothing written.

mod memories;
mod tally;

use crate::agent::Agent;
use crate::error::Error;
use crate::memory_dirs::MemoryDirs;
use everfold_kernel::SessionId;
use everfold_kernel::phrase::{counted, grouped};
use everfold_kernel::ports::Transcripts;
use jiff::{SignedDuration, Timestamp};
use memories::Memories;
use serde_json::{Value, json};
use tally::Tally;

/// Days of a week.
const WEEK_DAYS: i64 = 7;

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HealthScope {
    /// One session of this directory.
    Session(SessionId),
    /// All sessions of this directory.
    Project,
    /// The last seven days, in every project.
    Week,
}

impl HealthScope {
    fn since(&self) -> Option<Timestamp> {
        let week = SignedDuration::from_hours(24 * WEEK_DAYS);
        matches!(self, Self::Week).then(|| Timestamp::now().checked_sub(week).ok()).flatten()
    }

    /// Its title.
    #[must_use]
    pub fn title(&self) -> String {
        match self {
            Self::Session(id) => format!("session {id}"),
            Self::Project => "this directory, all its sessions".to_owned(),
            Self::Week => "the last seven days, every project".to_owned(),
        }
    }

    /// Its name for programs.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Session(_) => "session",
            Self::Project => "project",
            Self::Week => "week",
        }
    }
}

/// How things are.
#[derive(Debug, Default)]
pub struct Health {
    tally: Tally,
    memories: Memories,
}

impl Health {
    /// Looks at transcripts, and at memories where they are given.
    ///
    /// # Errors
    /// If transcripts are there and cannot be read.
    pub async fn look(
        agent: &Agent,
        scope: &HealthScope,
        memories: Option<&MemoryDirs>,
    ) -> Result<Self, Error> {
        let here = &*agent.world().transcripts;
        let since = scope.since();
        let mut tally = Tally::default();
        match scope {
            HealthScope::Session(id) => add(&mut tally, here, id, None).await?,
            HealthScope::Project => add_all(&mut tally, here, None).await?,
            HealthScope::Week => {
                for transcripts in agent.all_transcripts()? {
                    add_all(&mut tally, &*transcripts, since).await?;
                }
            }
        }
        let memories = memories.map(|dirs| Memories::of(dirs, since)).unwrap_or_default();
        Ok(Self { tally, memories })
    }

    /// What there is to say, as names and values.
    #[must_use]
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let Self { tally, memories } = self;
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
            ("recalled", counted(tally.recalled, "memory")),
            (
                "saved",
                format!("{}, {} refused", counted(tally.saved, "memory"), tally.refused.len()),
            ),
        ];
        if tally.put_off > 0 {
            let sessions = counted(tally.put_off, "session");
            rows.push((
                "put off",
                format!("reviews in {sessions}, over budget; they are done later"),
            ));
        }
        rows.extend(memories.rows());
        rows
    }

    /// The same for programs.
    #[must_use]
    pub fn to_json(&self, scope: &HealthScope) -> Value {
        let Self { tally, memories } = self;
        let (behind, all) = (tally.ledger.background().cost.0, tally.ledger.total().cost.0);
        json!({
            "scope": scope.as_str(),
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
}

async fn add_all(
    tally: &mut Tally,
    transcripts: &dyn Transcripts,
    since: Option<Timestamp>,
) -> Result<(), Error> {
    for glimpse in transcripts.glimpse().await? {
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
) -> Result<(), Error> {
    tally.begin_session();
    let mut sink = |line: &[u8]| tally.note(line, since);
    transcripts.load(session, &mut sink).await?;
    Ok(())
}
