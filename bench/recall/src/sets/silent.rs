//! Messages that want nothing of a directory: what people tell their agents to
//! keep, what they type in sessions of other projects, and prompts that are about
//! another directory (R13).

use super::{Directory, PromptCase, field, list};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

/// Longer messages are pastes, or texts that a program wrote.
const MOST_BYTES: usize = 3_000;
/// Messages that alike start are one.
const START: usize = 80;

/// Deals prompts out to directories, in turn.
fn dealt(prompts: Vec<PromptCase>, directories: &[Directory]) -> Vec<Directory> {
    let again = |one: &Directory| Directory { memories: Rc::clone(&one.memories), prompts: vec![] };
    let mut all: Vec<Directory> = directories.iter().map(again).collect();
    let count = all.len().max(1);
    for (at, prompt) in prompts.into_iter().enumerate() {
        if let Some(one) = all.get_mut(at % count) {
            one.prompts.push(prompt);
        }
    }
    all
}

/// The turns of `keep.json`.
pub(crate) fn turns(data: &Value, directories: &[Directory]) -> Vec<Directory> {
    let turns = list(data, "turns").map(|turn| PromptCase::silent("keep", field(turn, "prompt")));
    dealt(turns.collect(), directories)
}

/// What people typed in sessions of other projects.
pub(crate) fn prompts(sessions: &[PathBuf], directories: &[Directory]) -> Result<Vec<Directory>> {
    let mut seen = BTreeSet::new();
    let mut prompts = Vec::new();
    for path in sessions {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("failed to read {}", path.display()))?;
        for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            for text in typed(&line) {
                if seen.insert(text.chars().take(START).collect::<String>()) {
                    prompts.push(PromptCase::silent("session", &text));
                }
            }
        }
    }
    Ok(dealt(prompts, directories))
}

/// What a person typed in a line of a session.
fn typed(line: &Value) -> Vec<String> {
    let is_other = |name: &str| line.get(name).and_then(Value::as_bool).unwrap_or_default();
    let message = line.get("message").filter(|message| field(message, "role") == "user");
    let Some(message) = message.filter(|_| !is_other("isMeta") && !is_other("isSidechain")) else {
        return Vec::new();
    };
    let texts = match message.get("content") {
        Some(Value::String(text)) => vec![text.as_str()],
        _ => list(message, "content").map(|block| field(block, "text")).collect(),
    };
    let is_made = |text: &str| {
        text.starts_with(['<', '['])
            || text.starts_with("Caveat")
            || text.contains("session is being continued")
    };
    let texts = texts.into_iter().map(str::trim).filter(|text| !text.is_empty());
    let texts = texts.filter(|text| !is_made(text) && text.len() <= MOST_BYTES);
    texts.map(str::to_owned).collect()
}

/// Prompts that want something, of another directory.
pub(crate) fn strangers(directories: &[Directory]) -> Vec<Directory> {
    let asking = |one: &Directory| -> Vec<PromptCase> {
        let asking = one.prompts.iter().filter(|prompt| !prompt.wanted.is_empty());
        asking.map(|prompt| PromptCase::silent("stranger", &prompt.text)).collect()
    };
    let others = directories.iter().cycle().skip(1);
    let each = directories.iter().zip(others);
    each.map(|(one, other)| Directory {
        memories: Rc::clone(&one.memories),
        prompts: asking(other),
    })
    .collect()
}
