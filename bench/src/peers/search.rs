//! Searching memories: mem0 and basic-memory over the files that ours reads.

use super::Row;
use super::place::Place;
use crate::recall;
use crate::table::{Samples, ms};
use anyhow::{Context, Result};
use mnemon::kernel::Timestamp;
use mnemon::memdir::Scope;
use mnemon::memory_dirs::Recaller;
use mnemon_testkit::TempHome;
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

/// Measures.
pub(super) fn measure(place: &Place) -> Result<Vec<Row>> {
    let home = TempHome::new()?;
    let memories = recall::dirs(&home.home(), &home.project())?;
    recall::write(&memories, FILES)?;
    let (mut running, mut program) = (Samples::default(), Samples::default());
    let mut recaller = Recaller::new(&memories);
    recaller.recall(recall::QUERY, Timestamp::now())?;
    for _ in 0..RUNS {
        let began = Instant::now();
        recaller.recall(recall::QUERY, Timestamp::now())?;
        running.add(began.elapsed());
        program.add(recall::of_program(&home)?);
    }
    let notes = memories.dir(Scope::Project);
    let peers = [
        (
            "mem0",
            &["mem0ai", "langchain"][..],
            "mem0_search.py",
            "search, running",
            running.median(),
        ),
        (
            "basic-memory",
            &["basic-memory"],
            "basic_memory_search.py",
            "search, new process",
            program.median(),
        ),
    ];
    let mut rows = Vec::new();
    for (peer, packages, script, what, ours) in peers {
        rows.push(match search(place, packages, script, &notes)? {
            Ok((version, theirs)) => {
                Row { peer, version, what, theirs: ms(theirs), ours: ms(ours) }
            }
            Err(why) => Row::skipped(peer, what, &why),
        });
    }
    Ok(rows)
}

/// One peer over the notes: its version and its median; else why not.
fn search(
    place: &Place,
    packages: &[&str],
    script: &str,
    notes: &Path,
) -> Result<Result<(String, Duration), String>> {
    let store = place.root().join("store");
    if store.exists() {
        std::fs::remove_dir_all(&store)?;
    }
    std::fs::create_dir_all(&store)?;
    let queries = json!(vec![recall::QUERY; RUNS]).to_string();
    let found = place.python(packages).and_then(|python| {
        let mut command = Command::new(python);
        command.arg(Place::script(script)).arg(notes).arg(store.join("of")).arg(queries);
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
