//! `everfold statusline`: one line for hosts that have one (PC12): the window,
//! what the session and the day cost, and how much came from the cache.
//!
//! It runs after every message, so it reads the end of the transcript and a
//! small file of its own, and nothing else.

use crate::presenter::Presenter;
use crate::setup::ProcessEnv;
use anyhow::Result;
use everfold_kernel::{ModelTable, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes from the end of a transcript in which the last usage is looked for.
const TAIL_BYTES: u64 = 256 * 1_024;
/// Most that is read from standard input.
const INPUT_BYTES: u64 = 1 << 20;

/// What sessions of a day had cost when they were last seen.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Today {
    day: String,
    /// First and last sight of each session on that day, in US dollars.
    sessions: BTreeMap<String, (f64, f64)>,
}

/// Reads what the host says, and prints the line. Whatever is missing is left
/// out; a status line never fails.
pub(crate) fn run(env: &ProcessEnv, presenter: &Presenter) -> Result<()> {
    let mut text = String::new();
    let _ = std::io::stdin().take(INPUT_BYTES).read_to_string(&mut text);
    let told: Value = serde_json::from_str(&text).unwrap_or_default();
    let day = jiff::Zoned::now().date().to_string();
    presenter.line(&line(&told, home(env).as_deref(), &day))?;
    Ok(())
}

fn home(env: &ProcessEnv) -> Option<PathBuf> {
    let set = env.variables.get("EVERFOLD_HOME").filter(|path| !path.is_empty());
    set.map(PathBuf::from).or_else(|| env.user_home.as_ref().map(|home| home.join(".everfold")))
}

fn line(told: &Value, home: Option<&Path>, day: &str) -> String {
    let mut parts = Vec::new();
    let text = |pointer: &str| told.pointer(pointer).and_then(Value::as_str);
    parts.extend(text("/model/display_name").or_else(|| text("/model/id")).map(str::to_owned));
    let usage = text("/transcript_path").and_then(|path| last_usage(Path::new(path)));
    parts.extend(window(told, usage.as_ref()));
    if let Some(usd) = told.pointer("/cost/total_cost_usd").and_then(Value::as_f64) {
        parts.push(format!("{usd:.2} USD"));
        let session = text("/session_id").unwrap_or("");
        let is_of_today =
            text("/transcript_path").is_some_and(|path| is_made(Path::new(path), day));
        let begins = if is_of_today { 0.0 } else { usd };
        if let Some(all) = home.and_then(|home| today(home, day, session, (begins, usd))) {
            parts.push(format!("today {all:.2} USD"));
        }
    }
    if let Some(usage) = usage.filter(|own| own.prompt().0 > 0) {
        parts.push(format!("cache {:.0} %", usage.hit_rate() * 100.0));
    }
    parts.join(" · ")
}

fn window(told: &Value, usage: Option<&Usage>) -> Option<String> {
    let number = |pointer: &str| told.pointer(pointer).and_then(Value::as_f64);
    if let Some(percent) = number("/context_window/used_percentage") {
        return Some(format!("window {percent:.0} %"));
    }
    let model = told.pointer("/model/id").and_then(Value::as_str)?;
    let size = told.pointer("/context_window/context_window_size").and_then(Value::as_u64);
    let size = size.or(ModelTable::builtin().spec(&model.into()).window)?;
    let used = usage?.prompt().0;
    Some(format!("window {} %", used.saturating_mul(100) / size.max(1)))
}

/// The usage of the last answer in a transcript of Claude Code.
fn last_usage(path: &Path) -> Option<Usage> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail).ok()?;
    tail.rsplit(|byte| *byte == b'\n').find_map(|line| {
        let line: Value = serde_json::from_slice(line).ok()?;
        let is_main = line.get("isSidechain").and_then(Value::as_bool) != Some(true);
        let usage = line.pointer("/message/usage").filter(|_| is_main)?;
        let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
        let own = Usage {
            input: count("input_tokens"),
            cache_read: count("cache_read_input_tokens"),
            cache_write_5m: count("cache_creation_input_tokens"),
            output: count("output_tokens"),
            ..Usage::default()
        };
        (own.prompt().0 > 0).then_some(own)
    })
}

/// Whether a file was made on a day.
fn is_made(path: &Path, day: &str) -> bool {
    let made = fs::metadata(path).and_then(|data| data.created()).ok();
    let made = made.and_then(|time| jiff::Timestamp::try_from(time).ok());
    made.is_some_and(|at| at.to_zoned(jiff::tz::TimeZone::system()).date().to_string() == day)
}

/// Notes what a session cost, and tells what all of them cost today.
fn today(home: &Path, day: &str, session: &str, (begins, usd): (f64, f64)) -> Option<f64> {
    if !home.is_dir() || session.is_empty() {
        return None;
    }
    let path = home.join("cache").join("today.json");
    let known = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let mut own: Today = known.filter(|own: &Today| own.day == day).unwrap_or_default();
    day.clone_into(&mut own.day);
    // A session that began on another day counts from where this one found it.
    let seen = own.sessions.entry(session.to_owned()).or_insert((begins, usd));
    *seen = (seen.0.min(usd), usd);
    let all = own.sessions.values().map(|(first, last)| last - first).sum();
    let bytes = serde_json::to_vec(&own).ok()?;
    // Without the file the day is not told, and nothing else.
    let _ = everfold_agent::disk::atomic::write(
        &path,
        &bytes,
        everfold_agent::disk::atomic::FileReaders::Private,
    );
    Some(all)
}
