//! Searching memories: mem0, and basic-memory where it can be installed, over
//! the files that ours reads.

use super::Row;
use super::environment::Place;
use crate::recall;
use crate::table::{Samples, ms};
use anyhow::{Context, Result};
use everfold_memory_service::HitFilter;
use everfold_memory_store::StoreScope;
use everfold_testkit::TempHome;
use serde::Deserialize;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const FILES: usize = 1_000;
const RUNS: usize = 10;

/// What a reader has to know of these rows.
pub(super) const NOTE: &str = "A search is over 1,000 memories of some 160 words, the same for all, the median of 10: \
    mem0 and ours in a running process (mem0's vectors are made by rule, so no model is in its time), basic-memory and \
    ours as a new process.";

#[derive(Deserialize)]
struct Found {
    version: String,
    ms: Vec<f64>,
}

pub(super) fn measure(place: &Place) -> Result<Vec<Row>> {
    let home = TempHome::new()?;
    let memories = recall::dirs(&home.home(), &home.project())?;
    recall::write(&memories, FILES)?;
    let (mut running, mut program) = (Samples::default(), Samples::default());
    let service = memories.service();
    service.recall(&recall::query(), HitFilter::All)?;
    for _ in 0..RUNS {
        let began = Instant::now();
        service.recall(&recall::query(), HitFilter::All)?;
        running.add(began.elapsed());
        program.add(recall::of_program(&home)?);
    }
    let notes = memories.dir(StoreScope::Project);
    let mem0 = match mem0(place, &notes)? {
        Ok((version, theirs)) => Row::times(("mem0", version, RUNNING), theirs, running.median()),
        Err(why) => Row::skipped("mem0", RUNNING, &why),
    };
    // It could be installed nowhere yet where this was tried, so nothing drives it.
    let why = place.python("py-basic-memory", &["basic-memory"]);
    let why = why.err().unwrap_or_else(|| "it can be installed now; nothing drives it yet".into());
    let mut basic = Row::skipped("basic-memory", NEW, &why);
    basic.ours = ms(program.median());
    Ok(vec![mem0, basic])
}

const RUNNING: &str = "search, running";
const NEW: &str = "search, new process";

/// mem0 over the notes: its version and its median; else why not.
fn mem0(place: &Place, notes: &Path) -> Result<Result<(String, Duration), String>> {
    let store = place.root().join("store");
    if store.exists() {
        std::fs::remove_dir_all(&store)?;
    }
    std::fs::create_dir_all(&store)?;
    let queries = json!(vec![recall::QUERY; RUNS]).to_string();
    let found = place.python("py-mem0", &["mem0ai", "langchain"]).and_then(|python| {
        let mut command = Command::new(python);
        command.arg(Place::script("mem0_search.py")).arg(notes).arg(store.join("of")).arg(queries);
        place.run(&mut command, "")
    });
    let text = match found {
        Ok(text) => text,
        Err(why) => return Ok(Err(why)),
    };
    let found: Found = serde_json::from_slice(&text).context("the script wrote something else")?;
    let mut times = Samples::default();
    found.ms.iter().for_each(|took| times.add(Duration::from_secs_f64(took / 1_000.0)));
    Ok(Ok((found.version, times.median())))
}
