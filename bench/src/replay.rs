//! A long transcript replayed by a new process: how long it takes, and what it
//! holds (PC7).

use crate::process::{everfold, held};
use crate::table::{Samples, Section, Table, mb, ms, verdict};
use anyhow::{Context, Result, bail};
use everfold_agent::SessionId;
use everfold_bench::conversation::RecordWriter;
use everfold_kernel::Timestamp;
use everfold_testkit::TempHome;
use everfold_transcript::{Envelope, encode};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const BYTES: u64 = 200_000_000;
const RUNS: usize = 3;
const GOAL: Duration = Duration::from_secs(3);
const GOAL_KIB: u64 = 200_000_000 / 1_024;
/// How often a process is looked at.
const LOOK: Duration = Duration::from_millis(5);

pub(crate) fn measure() -> Result<Section> {
    let place = TempHome::new()?;
    let path = place.root().join("long.jsonl");
    let requests = write(&path)?;
    let columns = ["policies", "best", "median", "resident, most", "goal", "met"];
    let mut table = Table::new(&columns);
    for policies in ["the default", "none", "everfold", "all"] {
        let (mut times, mut most) = (Samples::default(), u64::MAX);
        for _ in 0..RUNS {
            let (took, kib) = run(&place, &path, policies)?;
            times.add(took);
            most = most.min(kib);
        }
        // The goal is for what the command does of itself.
        let (goal, met) = if policies == "the default" {
            let met = verdict(times.best() <= GOAL && most <= GOAL_KIB);
            ("< 3 s, < 200 MB".to_owned(), met)
        } else {
            (String::new(), String::new())
        };
        table.row([policies.into(), ms(times.best()), ms(times.median()), mb(most), goal, met]);
    }
    Ok(Section {
        title: "Replay",
        goal: "a transcript of 200 MB is replayed in under 3 seconds and under 200 MB of memory.",
        table,
        notes: format!(
            "`everfold replay --json` as a new process, by default under recorded, none and everfold, on {requests} requests in {BYTES} bytes, \
             which are in the page cache; {RUNS} runs. Most is `VmHWM`, looked at every {} ms.",
            LOOK.as_millis()
        ),
    })
}

/// Writes the transcript, and tells how many requests it has.
fn write(path: &PathBuf) -> Result<usize> {
    let mut out = BufWriter::new(std::fs::File::create(path).context("no room for a transcript")?);
    let mut writer = RecordWriter::new("claude-sonnet-4-5", Timestamp::UNIX_EPOCH);
    let envelope = Envelope::new(SessionId::new("11111111-1111-7111-8111-111111111111"), "/p", "0");
    let (mut written, mut rounds) = (0, 0);
    let mut records = vec![writer.prelude()];
    while written < BYTES {
        records.extend(writer.round(rounds));
        for record in records.drain(..) {
            let line = encode(&record, &envelope);
            written += line.len() as u64 + 1;
            writeln!(out, "{line}")?;
        }
        rounds += 1;
    }
    out.flush()?;
    Ok(rounds * 2)
}

/// Replays it once: the time, and the most that was resident in KiB.
fn run(place: &TempHome, path: &Path, policies: &str) -> Result<(Duration, u64)> {
    let mut command = Command::new(everfold()?);
    command.env_clear().env("HOME", place.home()).current_dir(place.project());
    command.stdin(Stdio::null()).stdout(Stdio::null()).arg("replay").arg(path).arg("--json");
    if policies != "the default" {
        command.args(["--policy", policies]);
    }
    let began = Instant::now();
    let mut child = command.spawn().context("everfold could not be started")?;
    let mut most = 0;
    loop {
        if let Ok(held) = held(&child.id().to_string()) {
            most = most.max(held.most);
        }
        if let Some(status) = child.try_wait().context("everfold could not be waited for")? {
            if !status.success() {
                bail!("everfold replay ended with {status}");
            }
            return Ok((began.elapsed(), most));
        }
        std::thread::sleep(LOOK);
    }
}
