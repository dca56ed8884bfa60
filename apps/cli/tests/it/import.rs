//! `everfold memory import` and `export` (L5.30).

use crate::desk::Desk;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn write(path: &Path, text: &str) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    path.to_owned()
}

/// Where Claude Code keeps the memories of the project.
fn claude(desk: &Desk) -> PathBuf {
    let ours = PathBuf::from(desk.run(&["memory", "path"]).ok().out.trim());
    let slug = ours.parent().unwrap().file_name().unwrap().to_owned();
    desk.files.home().join(".claude/projects").join(slug).join("memory")
}

fn inbox(desk: &Desk) -> Vec<Value> {
    let inbox = desk.run(&["memory", "inbox", "--json"]).ok().json();
    inbox.as_array().unwrap().clone()
}

#[test]
fn l5_30_memories_of_claude_code_come_in_as_proposals_and_stay_as_they_were() {
    let desk = Desk::offline();
    let dir = claude(&desk);
    let tea = "---\nname: tea\ndescription: \"green tea in the kitchen\"\nmetadata: \n  type: user\n---\n\nGreen.\n";
    let file = write(&dir.join("tea.md"), tea);
    write(&dir.join("MEMORY.md"), "- [Tea](tea.md) — green tea\n");
    let key = ["AKIA", "Z7QW3ERTY5UIOP2L"].concat();
    write(&dir.join("key.md"), &format!("---\nname: key\ndescription: d\n---\nthe key is {key}\n"));

    let done = desk.run(&["memory", "import", "--from", "claude", "--json"]).ok().json();
    assert_eq!(done["proposed"].as_array().unwrap().len(), 1, "{done}");
    assert_eq!(done["skipped"].as_array().unwrap().len(), 1, "{done}");
    assert!(!done.to_string().contains(&key), "a secret is not said again");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), tea);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 3, "nothing was added there");
    assert_eq!(desk.run(&["memory", "list", "--json"]).ok().json(), json!([]));

    assert_eq!(inbox(&desk).len(), 1);
    let again = desk.run(&["memory", "import", "--from", "claude", "--json"]).ok().json();
    assert_eq!(again["proposed"], json!([]), "{again}");
    desk.run(&["memory", "inbox", "accept", "1"]).ok();
    let shown = desk.run(&["memory", "show", "tea"]).ok().out;
    assert!(shown.contains("Green.") && shown.contains("origin: "), "{shown}");
    let third = desk.run(&["memory", "import", "--from", "claude"]).ok();
    assert!(third.out.contains("proposed 0 memories"), "{}", third.out);
}

#[test]
fn l5_30_near_copies_are_not_proposed() {
    let desk = Desk::offline();
    let add = ["memory", "add", "--name", "British English", "--type", "feedback"];
    let about = ["--description", "answers in British English", "--scope", "project"];
    let said = "Always answer in British English, as the team is in London.";
    desk.run_with(&[&add[..], &about[..]].concat(), said).ok();
    let dir = claude(&desk);
    write(
        &dir.join("spelling.md"),
        "---\nname: spelling\ndescription: use British English in answers\ntype: feedback\n---\n\
         Use British English in all answers. **Why:** the team sits in London.\n",
    );
    write(
        &dir.join("tabs.md"),
        "---\nname: tabs\ndescription: Makefiles are indented by tabs\ntype: project\n---\n\
         Makefiles of the firmware are indented by tabs, as the old linter wants.\n",
    );
    for dry in [&["--dry-run"][..], &[]] {
        let args = [&["memory", "import", "--from", "claude", "--json"][..], dry].concat();
        let done = desk.run(&args).ok().json();
        let names: Vec<&str> = done["proposed"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["tabs"], "{done}");
        assert_eq!(done["skipped"][0]["reason"], "project/british-english.md already says this");
    }
}

#[test]
fn l5_30_codex_notes_and_graphs_come_in_too() {
    let desk = Desk::offline();
    let home = desk.files.home();
    write(
        &home.join(".codex/memories/MEMORY.md"),
        "# Memory\n\n## Build\nUse make.\n\n## Deploy\n- On Fridays only.\n",
    );
    let graph = write(
        &desk.files.root().join("memory.jsonl"),
        "{\"type\":\"entity\",\"name\":\"Ada\",\"entityType\":\"person\",\"observations\":[\"likes tea\"]}\n",
    );
    let from = graph.display().to_string();
    let dry = desk
        .run(&["memory", "import", "--from", "codex", &from, "--dry-run", "--json"])
        .ok()
        .json();
    assert_eq!(dry["proposed"].as_array().unwrap().len(), 3, "{dry}");
    assert!(inbox(&desk).is_empty());
    desk.run(&["memory", "import", "--from", "codex", &from]).ok();
    assert_eq!(inbox(&desk).len(), 3);
    desk.run(&["memory", "import", "--from", "/no/such/place"]).failed(2);
    desk.run(&["memory", "import"]).failed(2);
}

#[test]
fn l5_30_memories_go_out_as_plain_files() {
    let desk = Desk::offline();
    for scope in ["project", "global"] {
        let name = format!("Tea {scope}");
        let args = [
            "memory",
            "add",
            "--name",
            &name,
            "--description",
            "d",
            "--type",
            "user",
            "--scope",
            scope,
        ];
        desk.run_with(&args, "Green.").ok();
    }
    let to = desk.files.root().join("out");
    let to_text = to.display().to_string();
    let done = desk.run(&["memory", "export", &to_text, "--json"]).ok().json();
    assert_eq!(done["files"].as_array().unwrap().len(), 4, "{done}");
    let dir = PathBuf::from(desk.run(&["memory", "path"]).ok().out.trim());
    for name in ["MEMORY.md", "tea-project.md"] {
        let (ours, theirs) = (dir.join(name), to.join("project").join(name));
        assert_eq!(std::fs::read(ours).unwrap(), std::fs::read(theirs).unwrap());
    }
    desk.run(&["memory", "export", &to_text]).failed(1);
    let back = Desk::offline();
    let from = to.join("global").display().to_string();
    let done = back.run(&["memory", "import", "--from", &from, "--json"]).ok().json();
    assert_eq!(done["proposed"].as_array().unwrap().len(), 1, "what went out comes in: {done}");
}
