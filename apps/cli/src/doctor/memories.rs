//! Memories that name what is no longer there (L6.8). They are read, and not
//! opened: the doctor changes nothing.

use super::{Finding, Severity};
use crate::args::Choices;
use crate::presenter::counted;
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::memory_dirs::shelf;
use everfold_kernel::ports::Names;
use everfold_memory_judge::drift::references;
use everfold_memory_store::StoreScope;
use jiff::Zoned;

const AREA: &str = "memory";
/// How many are named one by one.
const NAMED: usize = 10;

/// Looks up what memories name.
pub(super) fn look(env: &ProcessEnv, choices: &Choices) -> Result<Vec<Finding>> {
    let memories = setup::builder(env, choices)?.only_looking().memory_dirs();
    // Where they cannot be is told with the settings.
    let Ok(memories) = memories else { return Ok(Vec::new()) };
    // Without a directory there is nothing to look up.
    let Ok(shelf) = shelf(&memories.dir(StoreScope::Project)) else { return Ok(Vec::new()) };
    let mut names = Names::default();
    for found in shelf.iter().flat_map(|memory| references(memory.body())) {
        found.collect(&mut names);
    }
    let (gone, now) = (memories.missing(names), Zoned::now());
    let mut drifted = Vec::new();
    for memory in &shelf {
        let written = memory.front().modified.unwrap_or(memory.modified);
        let written = written.to_zoned(now.time_zone().clone()).date();
        let old = references(memory.body()).into_iter();
        let old = old.filter(|found| found.is_gone(&gone, Some(written), now.date()));
        drifted.extend(old.map(|found| format!("{} {found}", memory.path)));
    }
    let fix = "everfold dream, or everfold memory edit";
    let more = drifted.len().saturating_sub(NAMED);
    let finding = |message| Finding::new(Severity::Info, AREA, message).fix(fix);
    let mut findings: Vec<Finding> = drifted.into_iter().take(NAMED).map(finding).collect();
    if more > 0 {
        let message =
            format!("{} in memories, which point nowhere", counted(more as u64, "more name"));
        findings.push(finding(message));
    }
    Ok(findings)
}
