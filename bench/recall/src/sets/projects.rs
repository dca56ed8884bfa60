//! Made-up projects of our own, to fit the gate on (`bench/recall/projects`).
//!
//! A file is a project: what it is about, its memories (`# id | name |
//! description`, then the body), and what its developers type (`kind ids >
//! message`, or `none > message` where nothing is called for). `\n` in a message
//! stands for the end of a line.

use super::{Directory, MemoryText, PromptCase};
use anyhow::{Context, Result, bail};
use everfold_memory_recall::Counter;
use std::path::Path;
use std::rc::Rc;

/// Every project of a folder, by name.
pub(crate) fn load(folder: &Path) -> Result<Vec<Directory>> {
    let listed = std::fs::read_dir(folder)
        .with_context(|| format!("failed to list {}", folder.display()))?;
    let mut files: Vec<_> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("failed to read {}", path.display()))?;
        project(&text).with_context(|| format!("{} is no project", path.display()))
    };
    files.iter().map(read).collect()
}

fn project(text: &str) -> Result<Directory> {
    let mut counter = Counter::default();
    let (mut ids, mut memories, mut prompts) = (Vec::new(), Vec::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(head) = line.strip_prefix("# ") {
            let mut fields = head.split(" | ");
            let mut next = || fields.next().context("a memory has an id, a name, a description");
            let (id, name, description) = (next()?, next()?, next()?);
            let body = lines.next().unwrap_or_default();
            ids.push(id);
            memories.push(MemoryText::new(&mut counter, name, description, body));
        } else if let Some((head, message)) = line.split_once(" > ") {
            let (kind, wanted) = head.split_once(' ').unwrap_or((head, ""));
            let place = |id: &str| {
                let at = ids.iter().position(|known| *known == id);
                at.with_context(|| format!("no memory has the id {id}"))
            };
            let wanted = wanted.split(',').filter(|id| !id.is_empty()).map(place);
            prompts.push(PromptCase {
                text: message.replace("\\n", "\n"),
                kind: kind.to_owned(),
                wanted: wanted.collect::<Result<_>>()?,
            });
        }
    }
    if memories.is_empty() || prompts.is_empty() {
        bail!("it has no memories or no messages");
    }
    Ok(Directory { memories: Rc::new(memories), prompts })
}
