//! The screen at a million tokens: a key, a stream, a result that is too long.

use crate::memory::{SESSION, write_transcript};
use crate::table::{Samples, Section, Table, ms, verdict};
use anyhow::{Context, Result};
use everfold_agent::{Agent, Event, SessionId};
use everfold_bench::conversation::{MESSAGES, TEXT_BYTES, words};
use everfold_kernel::{
    Block, Entry, Record, RecordId, Timestamp, ToolUseId, UserEntry, UserOrigin,
};
use everfold_testkit::TempHome;
use everfold_tui::bench::Bench;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const GOAL: Duration = Duration::from_millis(16);
const SHARE_GOAL: f64 = 0.5;
const KEYS: usize = 300;
const TOKENS_A_SECOND: u32 = 500;
const STREAM: Duration = Duration::from_secs(8);
const FRAME: Duration = Duration::from_millis(16);
const RESULT_BYTES: usize = 50_000_000;
const SIZE: (u16, u16) = (200, 60);

pub(crate) fn measure() -> Result<Section> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let place = TempHome::new()?;
    write_transcript(&place)?;
    let agent = runtime
        .block_on(Agent::builder(place.project()).home(place.home()).build())
        .context("there is no agent")?;
    let (session, _) = runtime.block_on(agent.resume(SessionId::from(SESSION)))?;
    let mut screen = Bench::new(SIZE.0, SIZE.1)?;
    let mut table = Table::new(&["what", "median", "worst", "goal", "met"]);

    let began = Instant::now();
    runtime.block_on(screen.open(&agent, &session));
    screen.draw()?;
    let opened = began.elapsed();
    table.row(["opening it".into(), ms(opened), String::new(), String::new(), String::new()]);

    let typed = keys(&mut screen, |screen, at| screen.letter(letter(at)))?;
    table.row(row("a key, at the end", &typed));
    let up = keys(&mut screen, |screen, _| screen.page_up())?;
    table.row(row("a page up", &up));
    let typed = keys(&mut screen, |screen, at| screen.letter(letter(at)))?;
    table.row(row("a key, scrolled up", &typed));
    let walked = keys(&mut screen, |screen, at| match at {
        0 => screen.go_to_start(),
        _ => screen.letter('j'),
    })?;
    table.row(row("a step, from the start", &walked));

    let (share, frames) = stream(&mut Bench::new(SIZE.0, SIZE.1)?)?;
    table.row([
        "500 tokens a second, share of a core".into(),
        format!("{:.1} %", share * 100.0),
        String::new(),
        "< 50 %".into(),
        verdict(share < SHARE_GOAL),
    ]);
    table.row(row("a frame of that", &frames));
    let frames = result(&mut screen)?;
    let mut long = row("a result of 50 MB: a frame", &frames);
    // One frame that is held up is one too many.
    if let Some(met) = long.last_mut() {
        *met = verdict(frames.worst() < GOAL);
    }
    table.row(long);
    Ok(Section {
        title: "Screen",
        goal: "with a conversation of 1,000,000 tokens, a key is on the screen in under 16 ms; \
               500 tokens a second take under half a core; a result of 50 MB holds no frame up.",
        table,
        notes: format!(
            "{MESSAGES} messages and {TEXT_BYTES} bytes of text on a screen of {}×{}, drawn by the \
             terminal's own code into nothing. A key is from the press to the frame, {KEYS} of \
             each. The stream is Markdown with code, in pieces of a token, one frame in 16 ms, for \
             {} seconds; its share is the time that this process had of the processors. The \
             frames of the result: the call, its record, its end, unfolding it.",
            SIZE.0,
            SIZE.1,
            STREAM.as_secs()
        ),
    })
}

fn row(what: &str, samples: &Samples) -> [String; 5] {
    let met = verdict(samples.median() < GOAL);
    [what.into(), ms(samples.median()), ms(samples.worst()), "< 16 ms".into(), met]
}

fn letter(at: usize) -> char {
    if at % 6 == 5 { ' ' } else { 'e' }
}

fn keys(screen: &mut Bench, press: impl Fn(&mut Bench, usize)) -> Result<Samples> {
    let mut samples = Samples::default();
    for at in 0..KEYS {
        let began = Instant::now();
        press(screen, at);
        screen.draw()?;
        samples.add(began.elapsed());
    }
    Ok(samples)
}

/// The share of a core that a stream takes, and its frames.
fn stream(screen: &mut Bench) -> Result<(f64, Samples)> {
    let text = answer();
    let pieces: Vec<&str> =
        text.as_bytes().chunks(4).filter_map(|piece| std::str::from_utf8(piece).ok()).collect();
    let mut samples = Samples::default();
    let (began, used) = (Instant::now(), cpu_time()?);
    let mut sent = 0;
    for frame in 1.. {
        let due = FRAME * frame;
        std::thread::sleep(due.saturating_sub(began.elapsed()));
        if due > STREAM {
            break;
        }
        let drawn = Instant::now();
        let wanted = u128::from(TOKENS_A_SECOND) * due.as_millis() / 1_000;
        while sent < wanted {
            let at = usize::try_from(sent).unwrap_or(0) % pieces.len().max(1);
            screen.event(Event::Text(pieces.get(at).copied().unwrap_or_default().to_owned()));
            sent += 1;
        }
        screen.draw()?;
        samples.add(drawn.elapsed());
    }
    let share = cpu_time()?.saturating_sub(used).as_secs_f64() / began.elapsed().as_secs_f64();
    Ok((share, samples))
}

fn answer() -> String {
    let code = words("part", 1_500);
    format!(
        "## A heading\n\nSome **strong** words, `code` and a [link](http://example.com) in a paragraph \
         that is long enough to be broken into several lines on every screen that there is.\n\n\
         - one\n- two\n  - nested\n\n| a | b |\n|---|---|\n| one | two |\n| three | four |\n\n\
         ```rust\n{code}\n```\n\n"
    )
}

/// The frames around a result that is too long to be shown.
fn result(screen: &mut Bench) -> Result<Samples> {
    let id = ToolUseId::from("toolu_long");
    let text = words("long", RESULT_BYTES);
    let content = vec![Block::tool_result(&id, Value::String(text))];
    let origin = UserOrigin::ToolResult;
    let entry =
        Entry::User(UserEntry { content, origin, tool_use_result: None, provenance: Vec::new() });
    let at = Timestamp::UNIX_EPOCH;
    let record = Record { id: RecordId::from("long"), parent: None, at, entry };
    let input = json!({"command": "cat everything"});
    let duration = Duration::from_secs(1);
    let events = [
        Event::ToolStarted { id: id.clone(), name: "Bash".to_owned(), input },
        Event::Recorded(Box::new(record)),
        Event::ToolEnded { id, is_error: false, preview: String::new(), duration },
    ];
    let mut samples = Samples::default();
    for event in events {
        let began = Instant::now();
        screen.event(event);
        screen.draw()?;
        samples.add(began.elapsed());
    }
    screen.letter('G');
    let began = Instant::now();
    screen.unfold();
    screen.draw()?;
    samples.add(began.elapsed());
    Ok(samples)
}

/// The time that this process had of the processors.
fn cpu_time() -> Result<Duration> {
    let stat =
        std::fs::read_to_string("/proc/self/stat").context("failed to read /proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').context("/proc/self/stat has no name")?;
    let ticks = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse::<u64>)
        .sum::<Result<u64, _>>()?;
    // Linux counts in hundredths of a second for programs.
    Ok(Duration::from_millis(ticks * 10))
}
