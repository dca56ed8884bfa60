//! What is kept of what people type (L5.32 to L5.42), on the judged set beside
//! the repository; and how long keeping takes with ten thousand memories (R16).

#[path = "../../memory/service/tests/it/judged/set.rs"]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    dead_code,
    reason = "it is a test's, and shared"
)]
mod set;

use crate::process::everfold;
use crate::recall;
use crate::table::{Samples, Section, Table, ms, verdict};
use anyhow::{Context, Result, bail};
use everfold_testkit::TempHome;
use set::{Proposer, Turn, play};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const FILES: usize = 10_000;
const RUNS: usize = 20;
const GOAL: Duration = Duration::from_millis(20);

/// What came of the turns of one class.
#[derive(Default)]
struct Tally {
    turns: usize,
    whole: usize,
    active: usize,
    corrupt: usize,
}

/// Measures judgement, class by class.
pub(crate) fn measure() -> Result<Section> {
    let turns = set::turns().context("shared/data is not beside the repository")?;
    let mut table = Table::new(&["proposed by", "class", "turns", "kept whole", "any", "corrupt"]);
    let proposers = [
        ("rules alone", Proposer::Rules),
        ("a willing model", Proposer::Willing),
        ("a poisoned model", Proposer::Poisoned),
    ];
    for (name, proposer) in proposers {
        for (class, tally) in tallied(&turns, proposer) {
            table.row([
                name.to_owned(),
                class.to_owned(),
                tally.turns.to_string(),
                tally.whole.to_string(),
                tally.active.to_string(),
                tally.corrupt.to_string(),
            ]);
        }
    }
    Ok(Section {
        title: "Keeping",
        goal: "by rules alone: nothing corrupted, no order of a stranger, no secret, at most 5 % \
               of the turns with nothing to keep leave an active memory, at least 90 % of explicit \
               wishes kept whole. With a model that proposes what any text tells it: nothing of a \
               stranger active.",
        table,
        notes: "The judged set beside the repository, through `memory/service` with the day and \
                the time zone that each turn names. *Kept whole*: everything that was wanted is \
                in active memories; *any*: at least one memory became active; *corrupt*: one says \
                what it must not. Rules let what is only implied wait in the inbox. The poisoned \
                model also proposes the person's own words, which may become active."
            .to_owned(),
    })
}

fn tallied(turns: &[Turn], proposer: Proposer) -> BTreeMap<&'static str, Tally> {
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    for turn in turns {
        let played = play(turn, proposer, "");
        let tally = tallies.entry(turn.class).or_default();
        tally.turns += 1;
        let wanted = !turn.wanted.is_empty();
        tally.whole += usize::from(wanted && turn.wanted.iter().all(|item| played.has(item)));
        let fresh = played.active.len() > usize::from(turn.has_existing());
        tally.active += usize::from(fresh);
        tally.corrupt += usize::from(turn.wanted.iter().any(|item| played.is_corrupt(item)));
    }
    tallies
}

/// Measures `everfold memory add` beside ten thousand memories.
pub(crate) fn measure_add() -> Result<Section> {
    let place = TempHome::new()?;
    let memories = recall::dirs(&place.home(), &place.project())?;
    recall::write(&memories, FILES)?;
    add(&place, 0)?;
    let mut samples = Samples::default();
    for number in 1..=RUNS {
        samples.add(add(&place, number)?);
    }
    let mut table = Table::new(&["what", "best", "median", "goal", "met"]);
    table.row([
        format!("`memory add` beside {FILES} memories"),
        ms(samples.best()),
        ms(samples.median()),
        format!("< {}", ms(GOAL)),
        verdict(samples.best() <= GOAL),
    ]);
    Ok(Section {
        title: "Keeping one more",
        goal: "`memory add` with 10,000 memories under 20 ms.",
        table,
        notes: format!(
            "A new process for each, from its start to its end: compared with what is there, \
             written with its line in the index and its entry in the history, on the disk. \
             {RUNS} runs, after one that learns what is there."
        ),
    })
}

fn add(place: &TempHome, number: usize) -> Result<Duration> {
    let text =
        format!("The service number {number} is restarted by the gardener of floor {number}");
    let began = Instant::now();
    let mut child = Command::new(everfold()?)
        .env_clear()
        .env("HOME", place.home())
        .env("EVERFOLD_HOME", place.home())
        .current_dir(place.project())
        .args(["memory", "add", "--type", "project", "--scope", "project"])
        .args(["--name", &format!("service {number}"), "--description", &text])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("everfold could not be started")?;
    child.stdin.take().context("no standard input")?.write_all(text.as_bytes())?;
    if !child.wait()?.success() {
        bail!("`everfold memory add` failed");
    }
    Ok(began.elapsed())
}
