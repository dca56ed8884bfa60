//! The same commands to our store and to the local backend of Anthropic's own
//! SDK: the answers have to be the same, but for what is named here.

use super::call;
use everfold_agent::memory_tool::ToolAnswer;
use everfold_memory_store::Store;
use everfold_testkit::interop;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The version that CONTRACTS was written by.
const PACKAGE: &str = "anthropic==2.8.0";

#[test]
fn x4_answers_are_those_of_the_official_sdk() {
    let Some(python) = interop::python(&[PACKAGE]) else { return };
    let commands = commands();
    let theirs = reference(&python, &commands);
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(theirs.len(), commands.len());
    for (input, theirs) in commands.into_iter().zip(theirs) {
        let ours = call(&store, input.clone());
        let failed = matches!(ours, ToolAnswer::Failed(_));
        assert_eq!(Some(failed), theirs["is_error"].as_bool(), "{input}: {ours:?} {theirs}");
        let text = theirs["content"].as_str().unwrap();
        assert_eq!(plain(ours.text()), plain(text), "{input}");
    }
}

fn reference(python: &Path, commands: &[Value]) -> Vec<Value> {
    let dir = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/memory_tool/reference.py");
    let mut child = Command::new(python)
        .arg(script)
        .arg(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: Vec<String> = commands.iter().map(ToString::to_string).collect();
    let lines = lines.join("\n");
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Some hundreds of commands over a few paths, the same in every run. Folders
/// stay: theirs may be empty, ours are there by what is in them.
fn commands() -> Vec<Value> {
    const FILES: [&str; 5] = [
        "/memories/a.md",
        "/memories/b.txt",
        "/memories/d/c.md",
        "/memories/d/e/deep.md",
        "/memories/none.md",
    ];
    const FOLDERS: [&str; 3] = ["/memories", "/memories/d", "/memories/d/e"];
    const TEXTS: [&str; 6] = ["", "one\n", "one\ntwo\nthree", "a\r\nb\r\n", "x x x\n", "é\n\nü\n"];
    let mut state = 20_250_818_u64;
    let mut chance = move |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let keep = ["/memories/d/keep.md", "/memories/d/e/keep.md"];
    let start = keep.map(|path| json!({"command": "create", "path": path, "file_text": "k"}));
    let more = (0..600).map(|_| {
        let (file, folder) = (FILES[chance(FILES.len())], FOLDERS[chance(FOLDERS.len())]);
        let path = if chance(5) == 0 { folder } else { file };
        let text = TEXTS[chance(TEXTS.len())];
        match chance(8) {
            0 | 1 => json!({"command": "create", "path": path, "file_text": text}),
            2 => json!({"command": "view", "path": path}),
            3 => json!({"command": "view", "path": path, "view_range": [chance(4), chance(5)]}),
            4 => {
                let old = ["one", "x", "é", "two\nthree", "nothing"][chance(5)];
                json!({"command": "str_replace", "path": path, "old_str": old, "new_str": text})
            }
            5 => {
                let at = i64::try_from(chance(6)).unwrap() - 1;
                json!({"command": "insert", "path": path, "insert_line": at, "insert_text": text})
            }
            6 => json!({"command": "delete", "path": file}),
            _ => {
                let new = FILES[chance(FILES.len())];
                json!({"command": "rename", "old_path": file, "new_path": new})
            }
        }
    });
    start.into_iter().chain(more).collect()
}

/// A text without what may differ: the index that our store has, and the sizes of
/// folders.
fn plain(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.ends_with("\t/memories/MEMORY.md"));
    let line = |line: &str| match line.split_once('\t') {
        Some((_, path)) if path.ends_with('/') || path.matches('/').count() == 1 => path.to_owned(),
        _ => line.to_owned(),
    };
    lines.map(line).collect::<Vec<_>>().join("\n")
}
