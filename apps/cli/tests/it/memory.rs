//! `everfold memory`: saving, looking, taking back.

use crate::desk::{Desk, Ran, Running};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A key that is none, but looks like one; put together so that no scanner of
/// this repository stumbles over it.
fn secret() -> String {
    ["AKIA", "Z7QW3ERTY5UIOP2L"].concat()
}

fn add(desk: &Desk, name: &str, description: &str, kind: &str, body: &str) -> Ran {
    let mut args = vec!["memory", "add", "--name", name, "--description", description];
    args.extend(["--type", kind, "--scope", "project", "--json"]);
    desk.run_with(&args, body)
}

fn dir(desk: &Desk) -> PathBuf {
    PathBuf::from(desk.run(&["memory", "path"]).ok().out.trim())
}

fn names(desk: &Desk) -> Vec<String> {
    let list = desk.run(&["memory", "list", "--json"]).ok().json();
    let mut names: Vec<String> =
        list.as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap().into()).collect();
    names.sort();
    names
}

/// A program that stands in for an editor.
#[cfg(unix)]
fn editor(desk: &Desk, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = desk.files.root().join("editor.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path
}

#[test]
fn l5_17_a_memory_is_added_listed_shown_logged_undone_and_done_again() {
    let desk = Desk::offline();
    let body = "We ship on Thursdays.\n**Why:** support is there.\n**How to apply:** plan for it.";
    let saved = add(&desk, "Deploy day", "deploys go out on Thursdays", "project", body).ok();
    assert!(saved.err.is_empty(), "{}", saved.err);
    let saved = saved.json();
    assert_eq!((saved["path"].as_str(), saved["entry"].as_u64()), (Some("deploy-day.md"), Some(1)));

    let row = desk.run(&["memory", "list", "--json"]).ok().json()[0].clone();
    assert_eq!(row["type"], "project");
    assert_eq!(row["scope"], "project");
    assert_eq!(row["preview"], "deploys go out on Thursdays");
    assert_eq!((row["age_days"].as_i64(), row["used"].as_u64()), (Some(0), Some(0)));
    let list = desk.run(&["memory", "list"]).ok().out;
    assert!(list.contains("deploy-day.md") && list.contains("used 0"), "{list}");
    let index = std::fs::read_to_string(dir(&desk).join("MEMORY.md")).unwrap();
    assert_eq!(index, "- [Deploy day](deploy-day.md) — deploys go out on Thursdays\n");

    for name in ["deploy-day.md", "deploy-day", "Deploy day", "dep"] {
        let shown = desk.run(&["memory", "show", name]).ok().out;
        assert!(shown.contains("We ship on Thursdays."), "{name}: {shown}");
    }
    assert_eq!(desk.run(&["memory", "show", "dep", "--json"]).json()["type"], "project");

    let forgot = desk.run(&["memory", "forget", "deploy-day"]).ok();
    assert!(forgot.err.contains("everfold memory undo 2"), "{}", forgot.err);
    assert!(names(&desk).is_empty());
    let log = desk.run(&["memory", "log", "deploy-day", "--json"]).ok().json();
    let actions: Vec<&str> =
        log.as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["forget", "add"], "the log of a memory that is gone");

    let undone = desk.run(&["memory", "undo"]).ok();
    assert!(undone.out.contains("undid entry 2"), "{}", undone.out);
    assert!(undone.err.contains("everfold memory undo 3"), "{}", undone.err);
    assert_eq!(names(&desk), ["deploy-day.md"]);
    desk.run(&["memory", "undo", "3"]).ok();
    assert!(names(&desk).is_empty(), "done again");
    desk.run(&["memory", "undo", "4"]).ok();
    assert_eq!(names(&desk), ["deploy-day.md"]);
    let walked = desk.run(&["memory", "undo", "--json"]).ok().json();
    assert_eq!(walked["undoes"], serde_json::json!([1]), "the newest that still holds");
    assert!(names(&desk).is_empty());
    let nothing = desk.run(&["memory", "undo"]).failed(1);
    assert!(nothing.err.contains("nothing to undo"), "{}", nothing.err);
}

#[test]
fn l5_17_log_and_diff_show_what_changed() {
    let desk = Desk::offline();
    add(&desk, "one", "the first thing", "user", "Likes tea.").ok();
    std::fs::write(dir(&desk).join("outside.md"), "from an editor\n").unwrap();
    let log = desk.run(&["memory", "log"]).ok().out;
    assert!(log.contains("person") && log.contains("outside"), "{log}");
    let log = desk.run(&["memory", "log", "--diff"]).ok().out;
    assert!(log.contains("+Likes tea.") && log.contains("+from an editor"), "{log}");
    let diff = desk.run(&["memory", "diff", "1"]).ok().out;
    assert!(diff.contains("--- /dev/null") && diff.contains("+++ b/one.md"), "{diff}");
    let diff = desk.run(&["memory", "diff", "1", "--json"]).ok().json();
    assert_eq!(diff[0]["before"], Value::Null);
    let missing = desk.run(&["memory", "diff", "99"]).failed(1);
    assert!(missing.err.contains("no entry 99"), "{}", missing.err);
    let only = desk.run(&["memory", "log", "outside", "--json", "--diff"]).ok().json();
    assert_eq!(only.as_array().unwrap().len(), 1);
    assert!(only[0]["diff"][0]["unified"].as_str().unwrap().contains("+from an editor"));
}

#[test]
fn l5_17_undo_goes_back_to_a_time_and_refuses_what_was_changed_since() {
    let desk = Desk::offline();
    add(&desk, "one", "the first thing", "user", "Likes tea.").ok();
    std::fs::write(dir(&desk).join("one.md"), "changed by hand\n").unwrap();
    let refused = desk.run(&["memory", "undo", "1"]).failed(1);
    assert!(refused.err.contains("--force"), "{}", refused.err);
    desk.run(&["memory", "undo", "1", "--force"]).ok();
    assert!(names(&desk).is_empty());
    desk.run(&["memory", "undo", "--to", "someday"]).failed(2);
    desk.run(&["memory", "undo", "--to", "2999-01-01"]).ok();
    add(&desk, "two", "the second thing", "user", "Likes coffee.").ok();
    desk.run(&["memory", "undo", "--to", "2001-01-01"]).ok();
    assert!(names(&desk).is_empty(), "there was nothing then");
}

#[test]
fn l5_18_a_secret_is_refused_with_a_reason_and_never_said_again() {
    let desk = Desk::offline();
    let key = secret();
    let cases = [
        ("key", "where the key is", format!("first line\nthe key is {key}")),
        ("key", &*format!("the key {key}"), "text".to_owned()),
        (&*format!("key {key}"), "where it is", "text".to_owned()),
    ];
    for (name, description, body) in cases {
        let refused = add(&desk, name, description, "reference", &body).failed(1);
        assert!(refused.err.contains("it holds an AWS access key"), "{}", refused.err);
        assert!(!refused.err.contains(&key) && !refused.out.contains(&key));
    }
    let args = ["memory", "add", "--name", "k", "--description", "d", "--type", "user"];
    desk.run_with(&args, key.clone()).failed(1);
    assert!(names(&desk).is_empty());
    for file in files(&desk.files.home()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(&key), "{}", file.display());
    }
}

#[test]
fn l5_35_a_near_copy_is_merged_and_nothing_is_lost() {
    let desk = Desk::offline();
    let rich = "Deploys need two approvals. Ask Ada first.";
    add(&desk, "deploys", "deploys need two approvals", "project", rich).ok();
    let again =
        add(&desk, "other", "deploys need two approvals", "project", "Deploys need two approvals.");
    let again = again.ok().json();
    assert_eq!((&again["state"], &again["path"]), (&"unchanged".into(), &"deploys.md".into()));
    let more = "Deploys need two approvals, and they also need a green pipeline.";
    let more =
        add(&desk, "other", "deploys need a green pipeline too", "project", more).ok().json();
    assert_eq!((&more["state"], &more["path"]), (&"merged".into(), &"deploys.md".into()));
    let shown = desk.run(&["memory", "show", "deploys"]).ok().out;
    assert!(shown.contains("Ask Ada first") && shown.contains("green pipeline"), "{shown}");
    add(&desk, "deploys", "quite another thing", "reference", "Tea is served at four.").ok();
    assert_eq!(names(&desk), ["deploys-2.md", "deploys.md"]);
}

#[test]
fn l5_36_l5_41_newer_words_replace_older_ones_and_the_hint_names_scope_and_entry() {
    let desk = Desk::offline();
    let old = "Releases go out on Thursdays at 11:00, run by the release captain.";
    add(&desk, "release-day", "releases go out on Thursdays", "project", old).ok();
    let args = ["memory", "add", "--name", "r", "--description", "releases are on Tuesdays now"];
    let args = [&args[..], &["--type", "project"]].concat();
    let told =
        desk.run_with(&args, "We moved the releases, Tuesdays now, not Thursdays anymore.").ok();
    assert!(told.err.contains("everfold memory undo 2 --scope project"), "{}", told.err);
    let shown = desk.run(&["memory", "show", "release-day"]).ok().out;
    let body = shown.rsplit_once("---\n").unwrap().1;
    assert!(body.contains("Tuesday") && !body.contains("Thursday"), "{shown}");
    assert!(body.contains("release captain"), "{shown}");
    let entries = desk.run(&["memory", "log", "--json"]).ok().json();
    assert!(entries[0]["ended"][0].as_str().unwrap().contains("Thursday"), "{entries}");
    let found = desk.run(&["recall", "when do releases go out?"]).ok().out;
    assert!(found.contains("Tuesday") && !found.contains("Thursday"), "{found}");
    desk.run(&["memory", "undo", "2", "--scope", "project"]).ok();
    assert!(desk.run(&["memory", "show", "release-day"]).ok().out.contains("Thursdays at 11:00"));
}

#[test]
fn l5_32_a_sentence_is_enough_to_add_a_memory() {
    let desk = Desk::offline();
    desk.run(&["memory", "add", "we deploy on Tuesdays, after the rota changes"]).ok();
    desk.run(&["memory", "add", "I", "prefer", "tabs", "over", "spaces"]).ok();
    assert_eq!(
        names(&desk),
        ["i-prefer-tabs-over-spaces.md", "we-deploy-on-tuesdays-after-the-rota.md"]
    );
    let list = desk.run(&["memory", "list", "--json"]).ok().json();
    let of = |name: &str| {
        let row = list.as_array().unwrap().iter().find(|row| row["path"] == name).unwrap();
        (row["scope"].as_str().unwrap().to_owned(), row["type"].as_str().unwrap().to_owned())
    };
    let (project, user) =
        (of("we-deploy-on-tuesdays-after-the-rota.md"), of("i-prefer-tabs-over-spaces.md"));
    assert_eq!(project, ("project".to_owned(), "project".to_owned()));
    assert_eq!(user, ("global".to_owned(), "user".to_owned()));
    let shown = desk.run(&["memory", "show", "we-deploy"]).ok().out;
    assert_eq!(
        shown.matches("after the rota changes").count(),
        3,
        "description, evidence, body: {shown}"
    );
    let found = desk.run(&["recall", "on which days do we deploy?"]).ok().out;
    assert!(found.contains("after the rota changes"), "{found}");
    let empty = desk.run(&["memory", "add", " "]).failed(2);
    assert!(empty.err.contains("the memory has no text"), "{}", empty.err);
}

#[test]
fn l5_38_what_is_about_the_person_holds_everywhere() {
    let desk = Desk::offline();
    let args = ["memory", "add", "--name", "name", "--description", "the person is called Sam"];
    let args = [&args[..], &["--type", "user", "--json"]].concat();
    let saved = desk.run_with(&args, "My name is Sam.").ok().json();
    assert_eq!(saved["scope"], "global");
    let log = desk.run(&["memory", "log", "--json"]).ok().json();
    assert_eq!(log[0]["scope"], "global", "L5.41: the log shows every place");
    desk.run(&["memory", "undo", "1"]).ok();
    assert!(names(&desk).is_empty());
}

#[test]
fn l5_4_both_generations_of_frontmatter_are_listed_and_broken_ones_say_so() {
    let desk = Desk::offline();
    let memory = desk.files.root().join("mem");
    std::fs::create_dir_all(&memory).unwrap();
    let old = "---\nname: Old\ndescription: fix: the old way\ntype: feedback\n---\nbody\n";
    let new = "---\nname: new\ndescription: the new way\nmetadata:\n  node_type: memory\n  type: user\n---\nbody\n";
    for (name, text) in [("old.md", old), ("new.md", new), ("open.md", "---\nname: x\n")] {
        std::fs::write(memory.join(name), text).unwrap();
    }
    std::fs::write(memory.join("bytes.md"), b"\xff\xfe plain").unwrap();
    let run = |args: &[&str]| {
        let mut command = desk.command(args);
        Running::start(command.env("EVERFOLD_MEMORY_DIR", &memory), None).end()
    };
    let rows = run(&["memory", "list", "--json"]).ok().json();
    let find = |path: &str| {
        rows.as_array().unwrap().iter().find(|row| row["path"] == path).cloned().unwrap()
    };
    assert_eq!(
        (&find("old.md")["type"], &find("new.md")["type"]),
        (&"feedback".into(), &"user".into())
    );
    assert_eq!(find("old.md")["description"], "fix: the old way");
    assert!(find("open.md")["fault"].as_str().unwrap().contains("not closed"));
    assert!(find("bytes.md")["fault"].as_str().unwrap().contains("UTF-8"));
    let shown = run(&["memory", "show", "bytes"]).ok();
    assert!(shown.out.contains("plain") && shown.err.contains("UTF-8"), "{shown:?}");
    let checked = run(&["memory", "check"]).failed(1);
    for part in ["open.md", "bytes.md", "not in the index"] {
        assert!(checked.out.contains(part), "{part}: {}", checked.out);
    }
}

#[test]
fn l5_1_the_variable_and_own_settings_say_where_memories_are() {
    let desk = Desk::offline();
    let place = desk.files.root().join("a").join("place");
    let mut command = desk.command(&["memory", "path", "--json"]);
    let told = Running::start(command.env("EVERFOLD_MEMORY_DIR", &place), None).end().ok().json();
    assert_eq!(Path::new(told["path"].as_str().unwrap()), place);
    assert_eq!(told["source"], "environment");
    let home = desk.files.home().join(".everfold");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("settings.json"), r#"{"autoMemoryDirectory": "~/mine/memories"}"#)
        .unwrap();
    assert_eq!(dir(&desk), desk.files.home().join("mine").join("memories"));
    for bad in ["relative", "/", "~"] {
        let mut command = desk.command(&["memory", "list"]);
        let ran = Running::start(command.env("EVERFOLD_MEMORY_DIR", bad), None).end().failed(2);
        assert!(ran.err.contains("cannot be the memory directory"), "{bad}: {}", ran.err);
    }
}

#[test]
fn s2_a_repository_cannot_move_the_memory_directory() {
    let desk = Desk::offline();
    let evil = desk.files.root().join("evil").join("place");
    let settings = serde_json::json!({"autoMemoryDirectory": evil}).to_string();
    desk.files.write(".claude/settings.json", &settings).unwrap();
    let told = desk.run(&["memory", "path"]).ok();
    assert!(told.out.contains(".everfold") && !told.out.contains("evil"), "{told:?}");
    assert!(told.err.contains("a repository may not move the memory directory"), "{}", told.err);
    add(&desk, "one", "the first thing", "user", "Likes tea.").ok();
    assert!(!evil.exists());
}

#[cfg(unix)]
#[test]
fn s5_memories_and_their_history_are_for_the_person_alone() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::offline();
    add(&desk, "one", "the first thing", "user", "Likes tea.").ok();
    let memory = dir(&desk);
    assert_eq!(memory.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let all = files(&memory);
    assert!(all.len() > 3, "{all:?}");
    for file in all {
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.display());
    }
}

#[test]
fn l5_6_relative_dates_become_absolute_when_saved() {
    let desk = Desk::offline();
    add(&desk, "one", "it broke yesterday", "project", "It broke yesterday.").ok();
    let shown = desk.run(&["memory", "show", "one"]).ok().out;
    let (head, body) = shown.rsplit_once("---\n").unwrap();
    assert!(!body.contains("yesterday") && body.contains("It broke 2"), "{shown}");
    let words = head.lines().find(|line| line.contains("evidence")).unwrap();
    assert!(words.contains("yesterday"), "the words themselves stay: {shown}");
}

#[test]
fn l5_16_blame_says_where_a_memory_came_from() {
    let desk = Desk::offline();
    let memory = dir(&desk);
    std::fs::create_dir_all(&memory).unwrap();
    let text = "---\nname: x\ndescription: where it is\nmetadata:\n  type: reference\n  originSessionId: s-1\n  messages: [m-1, m-2]\n  date: 2026-11-01\n  basis: inferred\n---\nbody\n";
    std::fs::write(memory.join("x.md"), text).unwrap();
    let blame = desk.run(&["memory", "blame", "x", "--json"]).ok().json();
    assert_eq!(blame["session"], "s-1");
    assert_eq!(blame["messages"], serde_json::json!(["m-1", "m-2"]));
    assert_eq!((&blame["date"], &blame["basis"]), (&"2026-11-01".into(), &"inferred".into()));
    assert_eq!(blame["entries"][0]["action"], "adopt");
    let told = desk.run(&["memory", "blame", "x"]).ok().out;
    assert!(told.contains("s-1") && told.contains("m-1, m-2") && told.contains("adopt"), "{told}");
}

#[test]
fn l5_25_a_memory_moves_between_the_project_and_everywhere() {
    let desk = Desk::offline();
    add(&desk, "tea", "the person likes tea", "user", "Likes tea.").ok();
    desk.run(&["memory", "move", "tea", "--to", "global"]).ok();
    let file = desk.files.home().join(".everfold").join("memory").join("tea.md");
    assert!(file.is_file() && !dir(&desk).join("tea.md").exists());
    let row = desk.run(&["memory", "list", "--json"]).ok().json()[0].clone();
    assert_eq!(row["scope"], "global");
    let missing = desk.run(&["memory", "move", "tea", "--to", "global"]).failed(1);
    assert!(missing.err.contains("no memory"), "{}", missing.err);
    desk.run(&["memory", "move", "tea", "--to", "project"]).ok();
    assert!(dir(&desk).join("tea.md").is_file());
    let args = [
        "memory",
        "add",
        "--name",
        "x",
        "--description",
        "d",
        "--type",
        "user",
        "--scope",
        "global",
    ];
    desk.run_with(&args, "Prefers short answers.").ok();
    assert_eq!(names(&desk), ["tea.md", "x.md"]);
    let forgot = desk.run(&["memory", "forget", "x"]).ok();
    assert!(forgot.err.contains("--scope global"), "{}", forgot.err);
}

#[test]
fn l5_28_check_finds_and_mends_the_index() {
    let desk = Desk::offline();
    add(&desk, "one", "the first thing", "user", "Likes tea.").ok();
    let memory = dir(&desk);
    std::fs::write(memory.join("MEMORY.md"), "- [Gone](gone.md) — nothing\n").unwrap();
    let found = desk.run(&["memory", "check", "--json"]).failed(1).json();
    let kinds: Vec<&str> = found["issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| issue["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["broken_pointer", "orphan"]);
    let mended = desk.run(&["memory", "check", "--fix"]).ok();
    assert!(mended.out.contains("fixed") && mended.out.contains("no problems found"), "{mended:?}");
    let index = std::fs::read_to_string(memory.join("MEMORY.md")).unwrap();
    assert!(index.contains("one.md") && !index.contains("gone.md"), "{index}");
    std::fs::write(
        memory.join("drift.md"),
        "---\nname: d\ndescription: d d d\n---\nSee `src/gone.rs`.\n",
    )
    .unwrap();
    let drift = desk.run(&["memory", "check", "--fix"]).failed(1).out;
    assert!(drift.contains("src/gone.rs, which does not exist"), "{drift}");
}

#[cfg(unix)]
#[test]
fn c2_edit_validates_saves_and_loses_nothing() {
    let desk = Desk::offline();
    add(&desk, "one", "the first thing", "user", "Likes tea.").ok();
    let edit = |script: &str| {
        let mut command = desk.command(&["memory", "edit", "one"]);
        command.env("EDITOR", editor(&desk, script)).env("TMPDIR", desk.files.root());
        Running::start(&mut command, None).end()
    };
    assert!(edit("true").ok().out.contains("unchanged"));
    edit("sed -i 's/tea/coffee since yesterday/' \"$1\"").ok();
    let shown = desk.run(&["memory", "show", "one"]).ok().out;
    let body = shown.rsplit_once("---\n").unwrap().1;
    assert!(body.contains("Likes coffee since 2") && !body.contains("yesterday"), "{shown}");
    let broken = edit("printf -- '---\\nname: x\\n' > \"$1\"").failed(1);
    assert!(
        broken.err.contains("not closed") && broken.err.contains("your text is in"),
        "{broken:?}"
    );
    let secret = edit(&format!("echo 'key {}' >> \"$1\"", secret())).failed(1);
    assert!(secret.err.contains("holds"), "{}", secret.err);
    assert!(edit("exit 3").failed(1).err.contains("nothing was changed"));
    assert!(edit(": > \"$1\"").failed(1).err.contains("forget"));
    assert!(desk.run(&["memory", "show", "one"]).ok().out.contains("Likes coffee"));
}

#[test]
fn c2_bad_usage_ends_with_two_and_says_what_to_do() {
    let desk = Desk::offline();
    add(&desk, "note one", "the first thing", "user", "Likes tea.").ok();
    add(&desk, "note two", "the second one", "user", "Lives in Rome.").ok();
    let several = desk.run(&["memory", "show", "note"]).failed(2);
    assert!(several.err.contains("note-one.md") && several.err.contains("note-two.md"));
    let empty = add(&desk, "x", "d", "user", "  \n").failed(2);
    assert!(empty.err.contains("no text"), "{}", empty.err);
    add(&desk, " ", "d", "user", "text").failed(2);
    add(&desk, "x", "d", "habit", "text").failed(2);
    let missing = desk.run(&["memory", "show", "../../etc/passwd"]).failed(1);
    assert!(missing.err.contains("everfold memory list"), "{}", missing.err);
}

/// Every file below a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// Every file under a folder: its path and what it holds.
fn everything(dir: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.push((path.display().to_string(), String::new()));
            found.extend(everything(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            found.push((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    found
}

#[test]
fn l5_40_a_secret_in_a_name_is_nowhere_afterwards() {
    let desk = Desk::offline();
    let key = secret();
    let name = format!("Key {key}");
    let add = ["memory", "add", "--name", &name, "--description", "d", "--type", "project"];
    for args in [&add[..], &[&add[..], &["--scope", "global"]].concat()] {
        let mut command = desk.command(args);
        command.env("EVERFOLD_LOG", "debug");
        let ran = Running::start(&mut command, Some(b"It opens the shed.".to_vec())).end();
        let ran = ran.failed(1);
        assert!(ran.err.contains("nothing was saved: it holds an AWS access key"), "{}", ran.err);
        assert!(!ran.err.contains(&key) && !ran.out.contains(&key), "{ran:?}");
    }
    let path = format!("/memories/{key}.md");
    let call = json!({"command": "create", "path": path, "file_text": "It opens the shed.\n"});
    let told = desk.run_with(&["memory", "tool"], call.to_string()).ok().lines();
    assert_eq!(told[0]["is_error"], true, "{told:?}");
    // File names are in small letters, and words have hyphens between them.
    let plain = |text: &str| text.to_lowercase().replace('-', "");
    for (path, text) in everything(desk.files.root()) {
        assert!(!plain(&path).contains(&plain(&key)), "a name: {path}");
        assert!(!plain(&text).contains(&plain(&key)), "{path}: {text}");
    }
    assert_eq!(desk.run(&["memory", "list", "--json"]).ok().json(), json!([]));
    assert_eq!(desk.run(&["memory", "inbox", "--json"]).ok().json(), json!([]));
}
