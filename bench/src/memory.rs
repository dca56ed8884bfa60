//! What a process holds while it waits for the answer to a request of a
//! million tokens.

use crate::process::{Held, end, headless, held};
use crate::table::{Section, Table, mb, verdict};
use anyhow::{Context, Result, bail};
use everfold_agent::{Agent, SessionId};
use everfold_bench::conversation::{MESSAGES, RecordWriter, TEXT_BYTES, rounds};
use everfold_kernel::Timestamp;
use everfold_testkit::TempHome;
use everfold_transcript::{Envelope, encode};
use std::io::{BufWriter, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

const GOAL_KIB: u64 = 40_000_000 / 1_024;
const RUNS: usize = 3;
pub(crate) const SESSION: &str = "11111111-1111-7111-8111-111111111111";
/// A model that no table knows; its window is set so that the conversation
/// fits and is sent whole.
const MODEL: &str = "bench-long";
const WINDOW: &str = "1200000";
/// How long the request is waited for.
const WAIT: Duration = Duration::from_secs(30);

pub(crate) fn measure() -> Result<Section> {
    let mut table = Table::new(&["what", "request", "resident", "most", "goal", "met"]);
    let empty = best(|| hold(&TempHome::new()?, &["hi"]))?;
    table.row(row("an empty conversation", &empty, String::new(), String::new()));
    let full = best(|| {
        let place = TempHome::new()?;
        write_transcript(&place)?;
        hold(&place, &["--resume", SESSION, "go on"])
    })?;
    let met = verdict(full.held.most <= GOAL_KIB);
    table.row(row("1,000,000 tokens, resumed", &full, "< 40 MB".into(), met));
    Ok(Section {
        title: "Memory",
        goal: "resident memory under 40 MB with a conversation of 1,000,000 tokens loaded.",
        table,
        notes: format!(
            "`everfold -p --resume` on a transcript of {MESSAGES} messages and {TEXT_BYTES} bytes of \
             text, read while the server holds the answer back: the whole request has been made and \
             sent. Resident is `VmRSS`, most is `VmHWM`, the best of {RUNS} runs. 1 MB is 1,000,000 \
             bytes."
        ),
    })
}

/// What was seen of one process.
struct Seen {
    body: u64,
    held: Held,
}

fn row(what: &str, seen: &Seen, goal: String, met: String) -> [String; 6] {
    let body = mb(seen.body / 1_024);
    [what.into(), body, mb(seen.held.now), mb(seen.held.most), goal, met]
}

fn best(measure: impl Fn() -> Result<Seen>) -> Result<Seen> {
    let mut best = measure()?;
    for _ in 1..RUNS {
        let seen = measure()?;
        if seen.held.most < best.held.most {
            best = seen;
        }
    }
    Ok(best)
}

/// Starts the program, takes its request, and looks before it is answered.
fn hold(place: &TempHome, arguments: &[&str]) -> Result<Seen> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port on loopback")?;
    let mut command = headless(place, listener.local_addr()?)?;
    command.args(arguments).env("EVERFOLD_CONTEXT_WINDOW", WINDOW).env("EVERFOLD_MODEL", MODEL);
    let child = command.spawn().context("everfold could not be started")?;
    let (mut stream, _) = listener.accept()?;
    let body = take_request(&mut stream)?;
    let held = held(&child.id().to_string())?;
    end(child)?;
    Ok(Seen { body, held })
}

/// Reads one request to its end, without keeping it.
fn take_request(stream: &mut TcpStream) -> Result<u64> {
    stream.set_read_timeout(Some(WAIT))?;
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).context("no request came")?;
        head.extend_from_slice(&byte);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let Some(length) = length.and_then(|length| length.trim().parse().ok()) else {
        bail!("the request does not say how long it is");
    };
    let copied = std::io::copy(&mut stream.take(length), &mut std::io::sink())?;
    if copied < length {
        bail!("the request ended early");
    }
    Ok(length)
}

/// Writes the conversation where `everfold` looks for it.
pub(crate) fn write_transcript(place: &TempHome) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let agent = runtime.block_on(Agent::builder(place.project()).home(place.home()).build())?;
    let session = SessionId::new(SESSION);
    let path = agent.world().transcripts.path(&session);
    let envelope = Envelope::new(session, place.project().display().to_string(), "0.1.0");
    write_lines(&path, &envelope)
}

fn write_lines(path: &Path, envelope: &Envelope) -> Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    let mut writer = RecordWriter::new(MODEL, Timestamp::now());
    writeln!(file, "{}", encode(&writer.prelude(), envelope))?;
    for number in 0..rounds() {
        for record in writer.round(number) {
            writeln!(file, "{}", encode(&record, envelope))?;
        }
    }
    file.flush()?;
    Ok(())
}
