//! Anthropic's memory tool over a store (X4).

mod reference;

use everfold::memdir::{By, Store};
use everfold::memory_tool::{Answer, Command, run};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::path::Path;

fn call(store: &Store, input: Value) -> Answer {
    let command: Command = serde_json::from_value(input).unwrap();
    run(store, &command, &By::agent("memory_tool", "", Timestamp::now()))
}

#[track_caller]
fn done(store: &Store, input: Value) -> String {
    match call(store, input) {
        Answer::Done(text) => text,
        Answer::Failed(text) => panic!("{text}"),
    }
}

#[track_caller]
fn failed(store: &Store, input: Value) -> String {
    match call(store, input) {
        Answer::Failed(text) => text,
        Answer::Done(text) => panic!("{text}"),
    }
}

fn create(store: &Store, path: &str, text: &str) -> String {
    done(store, json!({"command": "create", "path": path, "file_text": text}))
}

fn file(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).unwrap()
}

#[test]
fn x4_a_file_is_created_viewed_changed_renamed_and_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let empty = done(&store, json!({"command": "view", "path": "/memories"}));
    let head = "Here're the files and directories up to 2 levels deep in /memories, excluding \
                hidden items and node_modules:\n";
    let root = empty.strip_prefix(head).unwrap();
    assert!(root.ends_with("\t/memories") && !root.contains('\n'), "{root}");

    let text = "one\ntwo\nthree\nfour\nfive\nsix\n";
    assert_eq!(
        create(&store, "/memories/notes.md", text),
        "File created successfully at: /memories/notes.md"
    );
    assert_eq!(
        failed(&store, json!({"command": "create", "path": "/memories/notes.md", "file_text": ""})),
        "Error: File /memories/notes.md already exists"
    );
    assert_eq!(
        done(
            &store,
            json!({"command": "view", "path": "/memories/notes.md", "view_range": [2, 3]})
        ),
        "Here's the content of /memories/notes.md with line numbers:\n     2\ttwo\n     3\tthree"
    );
    let replace = |old: &str| json!({"command": "str_replace", "path": "/memories/notes.md", "old_str": old, "new_str": "FOUR"});
    assert_eq!(
        done(&store, replace("four")),
        "The memory file has been edited. Here is the snippet showing the change (with line \
         numbers):\n     2\ttwo\n     3\tthree\n     4\tFOUR\n     5\tfive\n     6\tsix"
    );
    assert_eq!(
        failed(&store, replace("seven")),
        "No replacement was performed, old_str `seven` did not appear verbatim in /memories/notes.md."
    );
    assert_eq!(
        failed(&store, replace("e\n")),
        "No replacement was performed. Multiple occurrences of old_str `e\n` in lines: 1, 3, 5. \
         Please ensure it is unique"
    );
    let insert = |at: i64| json!({"command": "insert", "path": "/memories/notes.md", "insert_line": at, "insert_text": "zero\n"});
    assert_eq!(done(&store, insert(0)), "The file /memories/notes.md has been edited.");
    assert_eq!(file(dir.path(), "notes.md"), "zero\none\ntwo\nthree\nFOUR\nfive\nsix\n");
    assert_eq!(
        failed(&store, insert(8)),
        "Error: Invalid `insert_line` parameter: 8. It should be within the range of lines of the \
         file: [0, 7]"
    );
    assert_eq!(
        done(
            &store,
            json!({"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/old/notes.md"})
        ),
        "Successfully renamed /memories/notes.md to /memories/old/notes.md"
    );
    assert_eq!(
        done(&store, json!({"command": "delete", "path": "/memories/old"})),
        "Successfully deleted /memories/old"
    );
    assert!(!dir.path().join("old/notes.md").exists());
}

#[test]
fn x4_what_is_not_there_is_said_in_the_tools_words() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    create(&store, "/memories/a.md", "a");
    for (input, wanted) in [
        (
            json!({"command": "view", "path": "/memories/x.md"}),
            "The path /memories/x.md does not exist. Please provide a valid path.",
        ),
        (
            json!({"command": "str_replace", "path": "/memories", "old_str": "a"}),
            "Error: The path /memories does not exist. Please provide a valid path.",
        ),
        (
            json!({"command": "insert", "path": "/memories/x.md", "insert_line": 0, "insert_text": ""}),
            "Error: The path /memories/x.md does not exist",
        ),
        (
            json!({"command": "delete", "path": "/memories/x.md"}),
            "Error: The path /memories/x.md does not exist",
        ),
        (
            json!({"command": "rename", "old_path": "/memories/x.md", "new_path": "/memories/y.md"}),
            "Error: The path /memories/x.md does not exist",
        ),
        (
            json!({"command": "rename", "old_path": "/memories/x.md", "new_path": "/memories/a.md"}),
            "Error: The destination /memories/a.md already exists",
        ),
        (
            json!({"command": "delete", "path": "/memories"}),
            "Cannot delete the /memories directory itself",
        ),
        (
            json!({"command": "view", "path": "/etc/passwd"}),
            "Path must start with /memories, got: /etc/passwd",
        ),
    ] {
        assert_eq!(failed(&store, input.clone()), wanted, "{input}");
    }
}

#[test]
fn x4_what_the_tool_writes_is_a_memory_like_any_other() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    create(&store, "/memories/prefs/tea.txt", "Green tea, no sugar.\n");
    assert_eq!(file(dir.path(), "prefs/tea.txt.md"), "Green tea, no sugar.\n");
    assert_eq!(
        file(dir.path(), "MEMORY.md"),
        "- [tea.txt](prefs/tea.txt.md) — Green tea, no sugar.\n"
    );
    let listed = done(&store, json!({"command": "view", "path": "/memories/"}));
    let names: Vec<&str> = listed.lines().skip(1).filter_map(|l| l.split('\t').nth(1)).collect();
    let wanted =
        ["/memories", "/memories/MEMORY.md", "/memories/prefs/", "/memories/prefs/tea.txt"];
    assert_eq!(names, wanted);
    let shown = done(&store, json!({"command": "view", "path": "/memories/prefs/tea.txt"}));
    assert!(shown.contains("Green tea"));
    done(
        &store,
        json!({"command": "rename", "old_path": "/memories/prefs", "new_path": "/memories/likes"}),
    );
    assert!(file(dir.path(), "MEMORY.md").contains("(likes/tea.txt.md)"));

    let log = store.log(None, 10).unwrap();
    assert_eq!(log.len(), 2, "{log:?}");
    store
        .undo(
            log[1].id,
            everfold::memdir::store::OnConflict::Force,
            &By::person("", Timestamp::now()),
        )
        .unwrap();
    let index = failed(&store, json!({"command": "delete", "path": "/memories/MEMORY.md"}));
    assert!(index.contains("is the index"), "{index}");
}

#[test]
fn x4_l5_18_a_secret_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let key = ["AKIA", "Z7QW3ERTY5UIOP2L"].concat();
    let input =
        json!({"command": "create", "path": "/memories/k.md", "file_text": format!("key {key}")});
    let told = failed(&store, input);
    assert!(told.starts_with("Error: ") && !told.contains(&key), "{told}");
    assert!(!dir.path().join("k.md").exists());
}

#[cfg(unix)]
#[test]
fn x4_s1_a_link_does_not_lead_out() {
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(outside.path().join("x.md"), "theirs").unwrap();
    let store = Store::open(dir.path()).unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join("out")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("x.md"), dir.path().join("l.md")).unwrap();
    for path in ["/memories/out/x.md", "/memories/l.md"] {
        for command in ["view", "delete"] {
            failed(&store, json!({"command": command, "path": path}));
        }
        failed(&store, json!({"command": "create", "path": path, "file_text": "ours"}));
        failed(&store, json!({"command": "str_replace", "path": path, "old_str": "theirs"}));
    }
    assert_eq!(file(outside.path(), "x.md"), "theirs");
}
