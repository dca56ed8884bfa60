//! From the start of a process that resumes a long log to the first byte of
//! its request (E11).

use crate::memory::SESSION;
use crate::process::headless;
use crate::start::first_byte;
use crate::table::{Samples, Section, Table, mb, ms};
use anyhow::{Context, Result};
use everfold_agent::{Agent, SessionId};
use everfold_bench::conversation::RecordWriter;
use everfold_kernel::{Entry, Record, RecordId, Timestamp};
use everfold_testkit::TempHome;
use everfold_transcript::{Envelope, Rebuild, encode};
use std::net::{Ipv4Addr, TcpListener};

const RUNS: usize = 10;
const MODEL: &str = "bench-long";
/// Rounds of four messages before the boundary, and after it.
const LOGS: [(&str, usize, usize); 2] = [("20,000 messages", 5_000, 5), ("2,000 messages", 500, 5)];

/// What a log says of where it may be read from.
#[derive(Clone, Copy)]
enum Point {
    /// Nothing, as older versions wrote it.
    Missing,
    There,
}

pub(crate) fn measure() -> Result<Section> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port on loopback")?;
    let address = listener.local_addr()?;
    let mut table = Table::new(&["log", "size", "read", "best", "median"]);
    for (name, before, after) in LOGS {
        for (point, read) in [(Point::Missing, "whole"), (Point::There, "from its point")] {
            let place = TempHome::new()?;
            let bytes = write(&place, before, after, point)?;
            let mut samples = Samples::default();
            for _ in 0..RUNS {
                let mut command = headless(&place, address)?;
                command.args(["--resume", SESSION, "go on"]).env("EVERFOLD_MODEL", MODEL);
                samples.add(first_byte(command, &listener)?);
            }
            let size = mb(bytes / 1_024);
            table.row([name.into(), size, read.into(), ms(samples.best()), ms(samples.median())]);
        }
    }
    Ok(Section {
        title: "Resume",
        goal: "resuming costs what is in view, not what the log holds.",
        table,
        notes: format!(
            "Time from before the spawn of `everfold -p --resume` until the listener has a byte, \
             {RUNS} times. A boundary stands five rounds of four messages before the end; a log \
             without a resume point is one of an older version."
        ),
    })
}

/// Writes a log that was compacted once; says how many bytes it has.
fn write(place: &TempHome, before: usize, after: usize, point: Point) -> Result<u64> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let agent = runtime.block_on(Agent::builder(place.project()).home(place.home()).build())?;
    let session = SessionId::new(SESSION);
    let path = agent.world().transcripts.path(&session);
    let envelope = Envelope::new(session.clone(), place.project().display().to_string(), "0.1.0");
    let mut log = Log { envelope, bytes: Vec::new(), rebuild: Rebuild::new() };
    let mut writer = RecordWriter::new(MODEL, Timestamp::now());
    log.add(&[writer.prelude()]);
    let mut last = Vec::new();
    for number in 0..before {
        last = writer.round(number);
        log.add(&last);
    }
    let said = last.iter().filter(|record| !matches!(record.entry, Entry::Decision(_)));
    let kept: Vec<RecordId> = said.map(|record| record.id.clone()).collect();
    log.add(&writer.compaction(kept));
    let found = std::mem::take(&mut log.rebuild).finish().resume_point;
    if let (Point::There, Some(found)) = (point, found) {
        log.push(&found.encode(&session));
    }
    for number in before..before + after {
        log.add(&writer.round(number));
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(&path, &log.bytes)?;
    Ok(log.bytes.len() as u64)
}

struct Log {
    envelope: Envelope,
    bytes: Vec<u8>,
    rebuild: Rebuild,
}

impl Log {
    fn add(&mut self, records: &[Record]) {
        for record in records {
            self.push(&encode(record, &self.envelope));
        }
    }

    fn push(&mut self, line: &str) {
        self.rebuild.push_at(self.bytes.len() as u64, line.as_bytes());
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.push(b'\n');
    }
}
