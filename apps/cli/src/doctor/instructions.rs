//! Instruction files that are too long, said twice, or not loaded (I4, I5),
//! and memory indexes that are cut.

use super::{Finding, Severity};
use crate::args::Choices;
use crate::setup::{self, ProcessEnv};
use everfold_rules::{FileFate, InstructionFile, InstructionText};
use std::collections::BTreeSet;

const AREA: &str = "instructions";

pub(super) async fn look(env: &ProcessEnv) -> Vec<Finding> {
    // What stands in the way of looking was found elsewhere.
    let Ok(Ok(repository)) =
        setup::builder(env, &Choices::default()).map(|builder| builder.only_looking().repository())
    else {
        return Vec::new();
    };
    let Ok(chain) = repository.chain(&[]).await else { return Vec::new() };
    let mut findings: Vec<Finding> = chain.start.rows.iter().filter_map(finding).collect();
    findings.extend(twice(&chain.start.texts));
    findings.extend(chain.indexes.iter().filter_map(|index| {
        let cut = index.cut.as_deref()?;
        let message = format!("{} is not shown in full: {cut}", index.path.display());
        let fix = "`everfold dream` merges and drops what it can; `everfold memory edit` for the \
                   rest";
        Some(Finding::new(Severity::Warning, "memory", message).fix(fix))
    }));
    findings
}

/// Lines that are shorter say little, and are alike by chance.
const TELLING_CHARS: usize = 20;
/// So many lines have to be the same before a file counts as said twice.
const SAME_LINES: usize = 5;
/// And so many percent of the shorter file.
const SAME_PERCENT: usize = 50;

/// Files that say what another says: every request pays for both, and one day
/// they differ.
fn twice(texts: &[InstructionText]) -> Vec<Finding> {
    let lines: Vec<(&InstructionText, BTreeSet<&str>)> = texts
        .iter()
        .map(|own| {
            let lines = own.text.lines().map(str::trim);
            (own, lines.filter(|line| line.chars().count() >= TELLING_CHARS).collect())
        })
        .collect();
    let mut findings = Vec::new();
    for (at, (later, own)) in lines.iter().enumerate() {
        for (earlier, other) in lines.iter().take(at) {
            let same = own.intersection(other).count();
            let least = own.len().min(other.len());
            if same < SAME_LINES || same * 100 < least * SAME_PERCENT {
                continue;
            }
            let (one, two) = (earlier.path.display(), later.path.display());
            let message = format!("{two} repeats {same} lines of {one}");
            let fix = format!("keep them in one file; @{one} in the other imports it");
            findings.push(Finding::new(Severity::Warning, AREA, message).fix(fix));
        }
    }
    findings
}

fn finding(row: &InstructionFile) -> Option<Finding> {
    let path = row.path.display();
    let (message, fix) = match &row.fate {
        FileFate::LoadedLarge { chars } => (
            format!("{path} has {chars} characters; models follow short instructions better"),
            "make it shorter, or move parts into rules with `paths:`",
        ),
        FileFate::TooLarge { bytes } => {
            (format!("{path} has {bytes} bytes and is not loaded"), "make it shorter")
        }
        FileFate::NeedsApproval { real } => (
            format!("{path} is outside the repository ({}) and is not loaded", real.display()),
            "`everfold trust`, if you know who wrote it",
        ),
        FileFate::TooDeep => (
            format!("{path} is not loaded: imports are too deep or too many here"),
            "import it more directly",
        ),
        FileFate::NotText => {
            (format!("{path} is not text and is not loaded"), "convert it to UTF-8")
        }
        FileFate::Unreadable { message } => {
            (format!("{path} is not loaded: {message}"), "check its owner and its mode")
        }
        FileFate::Waiting { refused_patterns } if !refused_patterns.is_empty() => (
            format!("{path} has patterns that never match: {}", refused_patterns.join(", ")),
            "fix its `paths:`",
        ),
        _ => return None,
    };
    Some(Finding::new(Severity::Warning, AREA, message).fix(fix))
}
