//! Peers: what others take for the same work, in the same run (see
//! `bench/peers/README.md`). They are installed under `target/peers/`; one
//! that cannot be installed or does not run here is a row that says so.

mod context;
mod place;
mod search;

use crate::process::mnemon;
use crate::table::{Samples, Section, Table, ms};
use anyhow::{Context, Result};
use mnemon_testkit::TempHome;
use place::Place;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often a program is started.
const STARTS: usize = 10;

/// One row: who, which version, what, their figure, ours.
pub(crate) struct Row {
    pub(crate) peer: &'static str,
    pub(crate) version: String,
    pub(crate) what: &'static str,
    pub(crate) theirs: String,
    pub(crate) ours: String,
}

impl Row {
    /// A peer that was not measured, and why.
    pub(crate) fn skipped(peer: &'static str, what: &'static str, why: &str) -> Self {
        let why: String = why.lines().next_back().unwrap_or_default().chars().take(90).collect();
        let theirs = format!("skipped: {}", why.replace('|', "/"));
        Self { peer, version: "-".to_owned(), what, theirs, ours: "-".to_owned() }
    }
}

/// Measures.
pub(crate) fn measure() -> Result<Section> {
    let place = Place::new()?;
    let mut rows = start_ups(&place)?;
    rows.extend(context::measure(&place)?);
    rows.extend(search::measure(&place)?);
    let mut table = Table::new(&["peer", "version", "what", "theirs", "ours"]);
    for Row { peer, version, what, theirs, ours } in rows {
        table.row([peer.to_owned(), version, what.to_owned(), theirs, ours]);
    }
    Ok(Section {
        title: "Peers",
        goal: "peers that the registries have, measured in the same run where that is possible.",
        table,
        notes: format!(
            "Installed under `target/peers/`, run with telemetry and updates off, no keys, and a proxy that \
             leads nowhere. A start is the median of {STARTS} runs of `--version` by a new process. {} {}",
            context::NOTE,
            search::NOTE
        ),
    })
}

/// How long programs take to start and say their version.
fn start_ups(place: &Place) -> Result<Vec<Row>> {
    const WHAT: &str = "start, `--version`";
    let ours = ms(start_up(place, &mnemon()?)?);
    let peers = [
        ("Claude Code", "@anthropic-ai/claude-code", "claude"),
        ("Codex", "@openai/codex", "codex"),
    ];
    let row = |(peer, package, program): (&'static str, &str, &str)| {
        let found = place.npm(package, program).and_then(|path| {
            let version = place.run(Command::new(&path).arg("--version"), "")?;
            let took = start_up(place, &path).map_err(|error| error.to_string())?;
            Ok((String::from_utf8_lossy(&version).trim().to_owned(), took))
        });
        match found {
            Ok((version, took)) => {
                let version = version.lines().next().unwrap_or_default().to_owned();
                Row { peer, version, what: WHAT, theirs: ms(took), ours: ours.clone() }
            }
            Err(why) => Row::skipped(peer, WHAT, &why),
        }
    };
    Ok(peers.into_iter().map(row).collect())
}

fn start_up(place: &Place, program: &Path) -> Result<Duration> {
    let home = TempHome::new()?;
    let mut times = Samples::default();
    for _ in 0..STARTS {
        let mut command = Command::new(program);
        place.quiet(&mut command).env("HOME", home.home()).arg("--version");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let began = Instant::now();
        command.status().with_context(|| format!("{} did not start", program.display()))?;
        times.add(began.elapsed());
    }
    Ok(times.median())
}
