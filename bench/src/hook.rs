//! What a hook of another agent costs its host: the whole process, and how
//! much of that is more than starting any process.

use crate::process::everfold;
use crate::table::{Samples, Section, Table, ms, verdict};
use anyhow::{Context, Result, bail};
use everfold_testkit::TempHome;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 30;
/// Memories, and what the whole process may take for each event.
const SIZES: [(usize, [Duration; 3]); 3] = [
    (200, [millis(12), millis(12), millis(10)]),
    (1_000, [millis(30), millis(40), millis(10)]),
    (10_000, [millis(60), millis(60), millis(10)]),
];
/// A prompt, a session's start, and a file that was read.
const EVENTS: [&str; 3] = ["UserPromptSubmit", "SessionStart", "PostToolUse"];
/// After this, the files have been there for a while.
const SETTLED: Duration = Duration::from_secs(3);
const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}
const WORDS: [&str; 12] = [
    "deploy", "invoice", "ledger", "kitchen", "cache", "login", "printer", "window", "garden",
    "report", "queue", "schema",
];

pub(crate) fn measure() -> Result<Section> {
    let mut table = Table::new(&["event", "memories", "best", "median", "own", "goal", "met"]);
    for (count, goals) in SIZES {
        let place = TempHome::new()?;
        let memories = place.root().join("memories");
        write_memories(&memories, count)?;
        // What was written just now is read again until it is surely whole.
        std::thread::sleep(SETTLED);
        for (event, goal) in EVENTS.into_iter().zip(goals) {
            let input = input(&place, event);
            // As a host does: a session starts, and its first prompt takes up
            // what has changed.
            run(hook(&place, &memories, "SessionStart")?, &self::input(&place, "SessionStart"))?;
            run(hook(&place, &memories, event)?, &input)?;
            let (mut bare, mut full) = (Samples::default(), Samples::default());
            for _ in 0..RUNS {
                let mut nothing = Command::new(std::env::current_exe()?);
                nothing.arg("nothing");
                bare.add(run(nothing, &input)?);
                full.add(run(hook(&place, &memories, event)?, &input)?);
            }
            let own = full.median().saturating_sub(bare.median());
            table.row([
                event.into(),
                count.to_string(),
                ms(full.best()),
                ms(full.median()),
                ms(own),
                format!("≤ {}", ms(goal)),
                verdict(full.median() <= goal),
            ]);
        }
    }
    Ok(Section {
        title: "Hooks",
        goal: "with 1,000 memories `everfold hook` takes 30 ms for a prompt, 40 ms for a session's \
               start and 10 ms for a file that was read; with 10,000 60 ms for a prompt.",
        table,
        notes: format!(
            "From before the spawn to the end of the process, {RUNS} times each, by turns with a \
             process that does nothing; own is the difference of the medians. Each after a session's \
             start and a first prompt, as a host calls them; files are in the page cache."
        ),
    })
}

fn write_memories(dir: &Path, count: usize) -> Result<()> {
    std::fs::create_dir_all(dir)?;
    let mut index = String::new();
    for number in 0..count {
        let word = |step: usize| WORDS.get((number * step + step) % WORDS.len()).unwrap_or(&"x");
        let (one, two, three) = (word(1), word(5), word(7));
        let text = format!(
            "---\nname: The {one} and the {two} {number}\ndescription: why the {one} waits for the \
             {two} in case {number}\nmetadata:\n  type: project\n---\n\nThe {one} waits for the {two}, \
             as the {three} was slow in case {number}.\n\n**Why:** the {three} came first.\n"
        );
        std::fs::write(dir.join(format!("memory-{number}.md")), text)?;
        if number < 150 {
            writeln!(index, "- [{one} {two}](memory-{number}.md) — why the {one} waits")?;
        }
    }
    Ok(std::fs::write(dir.join("MEMORY.md"), index)?)
}

fn input(place: &TempHome, event: &str) -> String {
    serde_json::json!({
        "session_id": format!("{event}-session"),
        "transcript_path": place.root().join("none.jsonl"),
        "cwd": place.project(),
        "hook_event_name": event,
        "source": if event == "SessionStart" { "startup" } else { "user" },
        "tool_name": "Read",
        "tool_use_id": "toolu_1",
        "tool_input": {"file_path": place.project().join("notes.md")},
        "tool_response": {"type": "text", "file": {"content": "nothing"}},
        "prompt": "why does the invoice wait for the ledger when the printer is slow?",
    })
    .to_string()
}

fn hook(place: &TempHome, memories: &Path, event: &str) -> Result<Command> {
    let mut command = Command::new(everfold()?);
    command
        .env_clear()
        .env("HOME", place.home())
        .env("EVERFOLD_MEMORY_DIR", memories)
        .current_dir(place.project())
        .args(["hook", event]);
    Ok(command)
}

fn run(mut command: Command, input: &str) -> Result<Duration> {
    let began = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().context("a process could not be started")?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that does nothing does not read it either.
        let _ = stdin.write_all(input.as_bytes());
    }
    let status = child.wait()?;
    let took = began.elapsed();
    if !status.success() {
        bail!("a hook ended with {status}");
    }
    Ok(took)
}
