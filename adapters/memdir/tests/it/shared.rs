//! One directory with Claude Code (X5): it writes files and lines of the index
//! as it does, with its own frontmatter and without asking, while changes of
//! ours are at any of their steps. Neither loses a line to the other.

use crate::{at, by, index, memory, open, path, save_at};
use mnemon_memdir::store::{Expect, OnConflict, Place, Save, Step, Steps};
use mnemon_memdir::{Author, By, Options, Store};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Writes one memory as Claude Code does: the file, then the whole index with
/// one more line.
fn claude_writes(dir: &Path, number: usize) {
    let text = format!(
        "---\nname: claude-{number}\ndescription: \"seen by Claude, {number}\"\nmetadata: \n  \
         node_type: memory\n  type: feedback\n  originSessionId: 0192f0c1\n---\n\nBody {number}.\n"
    );
    fs::write(dir.join(format!("claude-{number}.md")), text).unwrap();
    let old = fs::read_to_string(dir.join("MEMORY.md")).unwrap_or_default();
    let line = format!("- [Claude {number}](claude-{number}.md) — seen by Claude, {number}\n");
    fs::write(dir.join("MEMORY.md"), old + &line).unwrap();
}

/// Somebody who writes before the n-th step of a change.
#[derive(Debug)]
struct Intruder {
    dir: PathBuf,
    at: AtomicUsize,
    number: usize,
}

impl Steps for Intruder {
    fn before(&self, _: Step<'_>) -> ControlFlow<()> {
        if self.at.fetch_sub(1, Ordering::SeqCst) == 0 {
            claude_writes(&self.dir, self.number);
        }
        ControlFlow::Continue(())
    }
}

fn rounds(count: usize) {
    let dir = tempfile::tempdir().unwrap();
    let mut ours: Vec<String> = Vec::new();
    let mut written = 0;
    for round in 0..count {
        let steps = Arc::new(Intruder {
            dir: dir.path().to_owned(),
            at: AtomicUsize::new(round % 12),
            number: round,
        });
        let options = Options { steps: steps.clone(), ..Options::default() };
        let seconds = i64::try_from(round).unwrap();
        let store = Store::open_with(dir.path(), options, at(seconds)).unwrap();
        let name = format!("ours-{round}");
        match round % 5 {
            // A memory of ours that is changed, forgotten and brought back.
            3 => {
                let old = path(&format!("{}.md", ours[0]));
                let entry = store.forget(&old, &by()).unwrap().unwrap();
                store.undo(entry, OnConflict::Force, &By::person("", at(seconds))).unwrap();
            }
            4 => {
                let old = path(&format!("{}.md", ours[ours.len() / 2]));
                let text = memory(old.as_str().trim_end_matches(".md"), &format!("Round {round}."));
                let save = Save {
                    place: Place::At(old),
                    text: &text,
                    expect: Expect::Anything,
                    line: None,
                };
                store.save(&save, &by()).unwrap();
            }
            _ => {
                save_at(&store, &name, "Body.");
                ours.push(name);
            }
        }
        // It may have had fewer steps.
        if steps.at.load(Ordering::SeqCst) < usize::MAX / 2 {
            claude_writes(dir.path(), round);
        }
        written = round + 1;
    }
    let store = open(dir.path());
    let index = index(dir.path());
    for number in 0..written {
        let line = format!("- [Claude {number}](claude-{number}.md) — seen by Claude, {number}");
        assert!(index.contains(&line) || is_in_sub_index(dir.path(), &line), "{number}: {index}");
        let text = fs::read_to_string(dir.path().join(format!("claude-{number}.md"))).unwrap();
        assert!(text.contains("originSessionId: 0192f0c1"), "its own frontmatter stays");
    }
    for name in &ours {
        let target = format!("({name}.md)");
        assert!(index.contains(&target) || is_in_sub_index(dir.path(), &target), "{name}: {index}");
        assert!(store.read(&path(&format!("{name}.md"))).is_ok(), "{name}");
    }
    let log = store.log(None, usize::MAX).unwrap();
    let foreign =
        |name: &str| log.iter().any(|entry| entry.author == Author::Foreign && entry.touches(name));
    for number in 0..written {
        assert!(foreign(&format!("claude-{number}.md")), "{number} is journaled as foreign");
    }
}

fn is_in_sub_index(dir: &Path, line: &str) -> bool {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut subs = entries.filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("index"))
    });
    subs.any(|path| fs::read_to_string(path).unwrap().contains(line))
}

#[test]
fn x5_neither_loses_a_line_to_the_other_at_any_step() {
    rounds(40);
}

#[test]
#[ignore = "the full figure; run by hand"]
fn x5_two_hundred_rounds() {
    rounds(200);
}
