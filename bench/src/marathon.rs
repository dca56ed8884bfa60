//! A session of twenty windows: four million tokens through 200,000.

use crate::drive::{COMMAND_MARK, FILE, MODEL, Report};
use crate::table::{Samples, Section, Table, mb, ms};
use anyhow::{Context, Result, bail};
use everfold_bench::conversation::{BYTES_PER_TOKEN, words};
use everfold_testkit::{Received, Reply, ServerRules, TempHome, TestServer};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

const WINDOW: u64 = 200_000;
const WINDOWS: u64 = 20;
const STRETCH: u64 = 1_000_000;
/// How much later the server sees the next turn: its cache stays warm, and
/// what is no longer read expires.
const BETWEEN_TURNS: Duration = Duration::from_mins(1);
const ANSWER_BYTES: usize = 8_000;

const SUMMARY: &str = "<analysis>All of it was read.</analysis>\n<summary>\n1. Primary request: \
    the person hands over pieces of text and wants each part read.\n2. State: all parts so far \
    were read and answered; part.txt is written anew before each turn.\n3. Next: read the next \
    part when asked.\n</summary>";

/// What happened over one stretch.
#[derive(Default)]
struct Stretch {
    turns: u64,
    wall: Samples,
    cpu: Samples,
    resident: u64,
    requests: u64,
    refused: u64,
    largest: u64,
    spilled: u64,
    clearings: u64,
    ways: BTreeMap<String, u64>,
}

pub(crate) fn measure() -> Result<Section> {
    let rules = ServerRules { window: WINDOW, delta_chars: 2_000, ..ServerRules::default() };
    let server = TestServer::with_handler(rules, answer)?;
    let place = TempHome::new()?;
    let mut child = Command::new(std::env::current_exe()?)
        .arg("drive")
        .arg(server.base_url())
        .args([place.home(), place.project()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("the session could not be started")?;
    let (Some(mut ask), Some(told)) = (child.stdin.take(), child.stdout.take()) else {
        bail!("the session has no pipes");
    };
    let mut told = BufReader::new(told).lines();
    let mut stretches: Vec<Stretch> = Vec::new();
    let (mut through, mut seen) = (0, 0);
    while through < WINDOW * WINDOWS {
        writeln!(ask)?;
        let line = told.next().context("the session ended early")??;
        let report: Report = serde_json::from_str(&line)?;
        if let Some(why) = report.failed {
            bail!("a turn failed after {through} tokens: {why}");
        }
        if through / STRETCH == stretches.len() as u64 {
            stretches.push(Stretch::default());
        }
        through += report.bytes / BYTES_PER_TOKEN as u64;
        let requests = server.requests();
        if let Some(stretch) = stretches.last_mut() {
            stretch.note(&report, requests.iter().skip(seen));
        }
        seen = requests.len();
        server.advance(BETWEEN_TURNS);
    }
    drop(ask);
    child.wait()?;
    Ok(section(&stretches))
}

fn answer(request: &Received) -> Reply {
    match request.last_tool_results() {
        _ if request.last_user_text().contains("<summary>") => Reply::text(SUMMARY),
        None => Reply::tool("Read", json!({"file_path": FILE})),
        Some(results)
            if results.contains(COMMAND_MARK) && !results.contains("<persisted-output>") =>
        {
            Reply::tool("Bash", json!({"command": format!("cat {FILE}")}))
        }
        Some(_) => Reply::text(words(&format!("answer {}", request.index), ANSWER_BYTES)),
    }
}

impl Stretch {
    fn note<'a>(&mut self, report: &Report, requests: impl Iterator<Item = &'a Received>) {
        self.turns += 1;
        self.wall.add(Duration::from_micros(report.wall));
        self.cpu.add(Duration::from_micros(report.cpu));
        self.resident = self.resident.max(report.resident);
        self.spilled += report.spilled;
        self.clearings += report.clearings;
        for way in &report.ways {
            *self.ways.entry(way.clone()).or_default() += 1;
        }
        for request in requests {
            self.requests += 1;
            self.refused += u64::from(request.refused.is_some());
            let prompt = request.usage.map_or(0, |usage| usage.prompt().0);
            self.largest = self.largest.max(prompt);
        }
    }

    fn row(&self, name: String) -> [String; 12] {
        let ways: Vec<String> =
            self.ways.iter().map(|(way, count)| format!("{way} {count}")).collect();
        [
            name,
            self.turns.to_string(),
            ms(self.wall.best()),
            ms(self.wall.median()),
            ms(self.cpu.best()),
            ms(self.cpu.median()),
            mb(self.resident),
            self.requests.to_string(),
            self.refused.to_string(),
            self.largest.to_string(),
            ways.join(", "),
            format!("{} / {}", self.spilled, self.clearings),
        ]
    }
}

fn section(stretches: &[Stretch]) -> Section {
    let mut table = Table::new(&[
        "tokens through",
        "turns",
        "turn, best",
        "turn, median",
        "our CPU, best",
        "our CPU, median",
        "resident, most",
        "requests",
        "refused",
        "largest request",
        "compactions",
        "spilled / clearings",
    ]);
    for (stretch, number) in stretches.iter().zip(1_u64..) {
        table.row(stretch.row(format!("to {number},000,000")));
    }
    Section {
        title: "Marathon",
        goal: "a session driven to 20 times the window goes on working, with no request over the \
               window, flat memory use and flat time per turn.",
        table,
        notes: format!(
            "{MODEL} with its window of {WINDOW} tokens, against the testkit's server, which refuses \
             a request over the window and counts 3.5 bytes a token. Each turn brings some 20,000 \
             tokens: a long prompt, a file that is read, an answer; every fifth also a command whose \
             output goes to disk. Tokens through are counted at {BYTES_PER_TOKEN} bytes of text that \
             the turns brought. The session runs in a process of its own; resident is the most after \
             any turn of the stretch. The turn's time includes the server's work on the other core; \
             the CPU time is that of the session's thread alone. Largest request is in tokens as the \
             server billed it."
        ),
    }
}
