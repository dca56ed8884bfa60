//! Pastes (R13): what tools printed in sessions of other projects, and the
//! messages of their commits. They call for nothing.

use super::{Directory, PromptCase, field, list};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How many of each kind.
const OUTPUTS: usize = 90;
const COMMITS: usize = 30;
/// Shorter texts are no pastes, longer ones are cut by whoever pastes them.
const BYTES: std::ops::RangeInclusive<usize> = 120..=6_000;

/// Every paste, for each of these directories.
pub(crate) fn of(transcripts: &Path, directories: &[Directory]) -> Result<Vec<Directory>> {
    let (mut outputs, mut commits) = (Vec::new(), Vec::new());
    for path in sessions(transcripts)? {
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("failed to read {}", path.display()))?;
        for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            read(&line, &mut outputs, &mut commits);
        }
    }
    let outputs = spread(outputs, OUTPUTS);
    let commits = spread(commits, COMMITS);
    let prompts = || {
        let outputs = outputs.iter().map(|text| PromptCase::silent("output", text));
        outputs.chain(commits.iter().map(|text| PromptCase::silent("commit", text))).collect()
    };
    let again =
        |one: &Directory| Directory { memories: Rc::clone(&one.memories), prompts: prompts() };
    Ok(directories.iter().map(again).collect())
}

pub(crate) fn sessions(transcripts: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in [transcripts.to_owned(), transcripts.join("claude-code-2.1")] {
        let listed = std::fs::read_dir(&folder)
            .with_context(|| format!("failed to list {}", folder.display()))?;
        files.extend(listed.filter_map(|entry| Some(entry.ok()?.path())));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    Ok(files)
}

fn read(line: &Value, outputs: &mut Vec<String>, commits: &mut Vec<String>) {
    let Some(message) = line.get("message") else { return };
    if field(message, "role") == "toolResult" {
        outputs.push(text(message));
    }
    for block in list(message, "content") {
        if field(block, "type") == "tool_result" {
            outputs.push(text(block));
        }
        let command = ["/input/command", "/arguments/command"];
        let command = command.iter().find_map(|at| block.pointer(at)?.as_str());
        commits.extend(command.and_then(commit));
    }
}

fn text(holder: &Value) -> String {
    match holder.get("content") {
        Some(Value::String(text)) => text.clone(),
        _ => {
            list(holder, "content").map(|block| field(block, "text")).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The message of a `git commit`, given in a here-document or in quotes.
fn commit(command: &str) -> Option<String> {
    let (_, behind) = command.split_once("git commit")?;
    let document = behind.split_once("<<'EOF'\n").and_then(|(_, text)| text.split_once("\nEOF"));
    let quoted = || behind.split_once("-m \"").and_then(|(_, text)| text.split_once('"'));
    Some(document.or_else(quoted)?.0.to_owned())
}

/// So many different ones, from front to back.
fn spread(all: Vec<String>, most: usize) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let is_new = |text: &String| {
        BYTES.contains(&text.len()) && seen.insert(text.chars().take(80).collect::<String>())
    };
    let different: Vec<String> = all.into_iter().filter(is_new).collect();
    let step = (different.len() / most).max(1);
    different.into_iter().step_by(step).take(most).collect()
}
