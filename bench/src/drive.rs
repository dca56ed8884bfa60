//! The session of the marathon, in a process of its own, so that what it
//! holds is its own. One turn for each line that comes in; one line of JSON
//! out for each turn.

use crate::process::held;
use anyhow::{Context, Result};
use everfold_agent::{Agent, AllowAll, Event, Session, Turn};
use everfold_bench::conversation::words;
use everfold_kernel::{Decision, Entry};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// A model with a window of 200,000 tokens.
pub(crate) const MODEL: &str = "claude-haiku-4-5";
/// The file that the model reads in every turn.
pub(crate) const FILE: &str = "part.txt";
/// What a file says in whose turn the model also runs a command.
pub(crate) const COMMAND_MARK: &str = "run cat as well";
/// Every so many turns the model runs a command, whose output goes to disk.
const COMMAND_EVERY: u64 = 5;
const PROMPT_BYTES: usize = 28_000;
const FILE_BYTES: usize = 44_000;

/// What came of a turn.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Bytes of text that the turn brought into the conversation.
    pub(crate) bytes: u64,
    /// Wall-clock time, in microseconds.
    pub(crate) wall: u64,
    /// Time on a processor of the session's thread, in microseconds.
    pub(crate) cpu: u64,
    /// Resident after the turn, in KiB.
    pub(crate) resident: u64,
    pub(crate) ways: Vec<String>,
    /// Results that went to disk.
    pub(crate) spilled: u64,
    /// Decisions to clear stale results.
    pub(crate) clearings: u64,
    /// Why the turn failed.
    pub(crate) failed: Option<String>,
}

/// Runs until nobody asks for another turn.
pub(crate) fn run(url: &str, home: &str, project: &str) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let variables = BTreeMap::from([
            ("ANTHROPIC_BASE_URL".to_owned(), url.to_owned()),
            ("ANTHROPIC_API_KEY".to_owned(), "sk-bench-0123456789".to_owned()),
            // The figures are those of the conversation alone.
            ("EVERFOLD_FLAG_EXTRACT".to_owned(), "0".to_owned()),
        ]);
        let agent = Agent::builder(project)
            .environment(variables, Some(home.into()))
            .home(home)
            .set("--model", "/model", MODEL)
            .approver(Arc::new(AllowAll))
            .build()
            .await?;
        let mut session = agent.start();
        let mut out = std::io::stdout().lock();
        for (line, number) in std::io::stdin().lines().zip(0_u64..) {
            line?;
            let report = turn(&mut session, Path::new(project), number).await?;
            writeln!(out, "{}", serde_json::to_string(&report)?)?;
            out.flush()?;
        }
        Ok(())
    })
}

async fn turn(session: &mut Session, project: &Path, number: u64) -> Result<Report> {
    let mark = if number.is_multiple_of(COMMAND_EVERY) { COMMAND_MARK } else { "read only" };
    let file = format!("{mark}\n{}", words(&format!("file {number}"), FILE_BYTES));
    std::fs::write(project.join(FILE), &file).context("the file could not be written")?;
    let prompt = words(&format!("ask {number}"), PROMPT_BYTES);
    let mut report = Report { bytes: (file.len() + prompt.len()) as u64, ..Report::default() };
    let (began, on_cpu) = (Instant::now(), cpu()?);
    let mut turn = Turn::new(session, prompt);
    while let Some(event) = turn.next().await {
        report.note(&event);
    }
    let end = turn.end().await?;
    report.wall = u64::try_from(began.elapsed().as_micros())?;
    report.cpu = cpu()?.saturating_sub(on_cpu) / 1_000;
    report.bytes += end.text.len() as u64;
    report.resident = held("self")?.now;
    if !end.reason.is_success() {
        report.failed = Some(format!("{:?}", end.reason));
    }
    Ok(report)
}

impl Report {
    fn note(&mut self, event: &Event) {
        match event {
            Event::Compacted { report, .. } => self.ways.push(report.way.to_owned()),
            Event::Recorded(record) => match &record.entry {
                Entry::Decision(Decision::Spilled(_)) => self.spilled += 1,
                Entry::Decision(Decision::Cleared(_)) => self.clearings += 1,
                _ => {}
            },
            _ => {}
        }
    }
}

/// Nanoseconds that the session's thread, which is the first, was on a processor.
fn cpu() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/self/schedstat")?;
    let first = text.split_whitespace().next().context("schedstat is empty")?;
    Ok(first.parse()?)
}
