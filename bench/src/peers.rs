//! Peers: what others take for the same work, in the same run (see
//! `bench/peers/README.md`). They are installed into the system's folder for
//! temporary files; one that cannot be installed or does not run here is a
//! row that says so.

mod context;
mod environment;
mod search;

use crate::process::everfold;
use crate::table::{Samples, Section, Table, ms};
use anyhow::{Context, Result};
use environment::Place;
use everfold_testkit::TempHome;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Characters of a reason.
const MOST_CHARS: usize = 90;

/// How often a program is started.
const STARTS: usize = 10;

/// One row: who, which version, what, their figure, ours.
pub(crate) struct Row {
    pub(crate) peer: &'static str,
    pub(crate) version: String,
    pub(crate) what: &'static str,
    pub(crate) theirs: String,
    pub(crate) ours: String,
    /// Theirs over ours, where both are there.
    pub(crate) ratio: Option<f64>,
}

impl Row {
    /// Two times of the same work.
    pub(crate) fn times(
        (peer, version, what): (&'static str, String, &'static str),
        theirs: Duration,
        ours: Duration,
    ) -> Self {
        let ratio = Some(theirs.as_secs_f64() / ours.as_secs_f64());
        Self { peer, version, what, theirs: ms(theirs), ours: ms(ours), ratio }
    }

    /// A peer that was not measured, and why.
    pub(crate) fn skipped(peer: &'static str, what: &'static str, why: &str) -> Self {
        let (theirs, ours) = (format!("skipped: {}", told(why)), "-".to_owned());
        Self { peer, version: "-".to_owned(), what, theirs, ours, ratio: None }
    }
}

/// What a reader of the page needs of a reason: its first line, without the
/// addresses and paths of this machine.
fn told(why: &str) -> String {
    let line = why.lines().find(|line| !line.trim().is_empty()).unwrap_or("it did not say why");
    let is_place = |word: &&str| word.contains("://") || word.contains('/');
    let words: Vec<&str> = line.split_whitespace().filter(|word| !is_place(word)).collect();
    words.join(" ").replace('|', ",").chars().take(MOST_CHARS).collect()
}

pub(crate) fn measure() -> Result<Section> {
    let place = Place::new()?;
    let mut rows = start_ups(&place)?;
    rows.extend(context::measure(&place)?);
    rows.extend(search::measure(&place)?);
    let mut table = Table::new(&["peer", "version", "what", "theirs", "ours", "theirs / ours"]);
    for Row { peer, version, what, theirs, ours, ratio } in rows {
        let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        table.row([peer.to_owned(), version, what.to_owned(), theirs, ours, ratio]);
    }
    Ok(Section {
        title: "Peers",
        goal: "peers that the registries have, measured in the same run where that is possible.",
        table,
        notes: format!(
            "Installed into a folder of their own, run with telemetry and updates off, no keys, and a proxy that \
             leads nowhere. A start is the median of {STARTS} runs of `--version` by a new process. {} {}",
            context::NOTE,
            search::NOTE
        ),
    })
}

/// How long programs take to start and say their version.
fn start_ups(place: &Place) -> Result<Vec<Row>> {
    const WHAT: &str = "start, `--version`";
    let ours = start_up(place, &everfold()?)?;
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
                let version = number(version.lines().next().unwrap_or_default());
                Row::times((peer, version, WHAT), took, ours)
            }
            Err(why) => Row::skipped(peer, WHAT, &why),
        }
    };
    Ok(peers.into_iter().map(row).collect())
}

/// The number in what a program says of its version.
fn number(line: &str) -> String {
    let is_number = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    line.split_whitespace().find(is_number).unwrap_or(line).to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_no_places_of_this_machine() {
        let why = "\nERROR: no such thing at https://registry.example/simple in /home/ada\nexit 1";
        assert_eq!(told(why), "ERROR: no such thing at in");
        assert_eq!(told(""), "it did not say why");
        assert_eq!(number("codex-cli 0.166.0"), "0.166.0");
    }
}
