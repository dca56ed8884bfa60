//! Team memory on the command line (L5.21).

use crate::desk::{Desk, Ran};

fn add(desk: &Desk, name: &str, kind: &str, body: &str) -> Ran {
    let args = [
        "memory",
        "add",
        "--name",
        name,
        "--description",
        "a thing to know",
        "--type",
        kind,
        "--scope",
        "team",
        "--json",
    ];
    desk.run_with(&args, body)
}

#[test]
fn l5_21_a_teams_memory_is_added_listed_moved_and_undone() {
    let desk = Desk::offline();
    let saved = add(&desk, "Deploy day", "project", "We ship on Thursdays.").ok();
    assert!(saved.err.contains("team_memory"), "it is off: {}", saved.err);
    let saved = saved.json();
    assert_eq!(saved["scope"], "team");
    let file = saved["file"].as_str().unwrap().to_owned();
    assert!(file.ends_with("memory/team/deploy-day.md"), "{file}");
    let index = file.replace("deploy-day.md", "MEMORY.md");
    assert!(std::fs::read_to_string(&index).unwrap().contains("deploy-day.md"));
    let rows = desk.run(&["memory", "list", "--json"]).ok().json();
    assert_eq!(rows.as_array().unwrap().len(), 1, "not also a memory of the project: {rows}");
    assert_eq!(rows[0]["scope"], "team");
    assert_eq!(desk.run(&["memory", "check"]).ok().out.trim(), "no problems found");

    desk.run(&["memory", "move", "deploy-day", "--to", "project"]).ok();
    assert!(!std::path::Path::new(&file).exists());
    desk.run(&["memory", "move", "deploy-day", "--to", "team"]).ok();
    assert!(std::path::Path::new(&file).exists());
    desk.run(&["memory", "forget", "deploy-day"]).ok();
    desk.run(&["memory", "undo", "--scope", "team"]).ok();
    assert!(std::path::Path::new(&file).exists());
    let nowhere = desk.run(&["memory", "move", "deploy-day", "--to", "team"]).failed(1);
    assert!(nowhere.err.contains("no memory"), "it is there already: {}", nowhere.err);
}

#[test]
fn l5_21_what_is_private_or_secret_is_not_shared() {
    let desk = Desk::offline();
    let private = add(&desk, "Tea", "user", "Likes tea.").failed(1);
    assert!(private.err.contains("stays private"), "{}", private.err);
    let key = ["AKIA", "Z7QW3ERTY5UIOP2L"].concat();
    add(&desk, "Key", "reference", &key).failed(1);
    let args = [
        "memory",
        "add",
        "--name",
        "tea",
        "--description",
        "tea, black",
        "--type",
        "user",
        "--scope",
        "project",
    ];
    desk.run_with(&args, "Likes tea.").ok();
    let moved = desk.run(&["memory", "move", "tea", "--to", "team"]).failed(1);
    assert!(moved.err.contains("stays private"), "{}", moved.err);
    assert_eq!(desk.run(&["memory", "show", "tea", "--json"]).ok().json()["scope"], "project");
}

#[cfg(unix)]
#[test]
fn l5_21_s1_a_link_in_the_place_of_the_teams_directory_is_refused() {
    let desk = Desk::offline();
    let args = [
        "memory",
        "add",
        "--name",
        "tea",
        "--description",
        "tea, black",
        "--type",
        "user",
        "--scope",
        "project",
    ];
    desk.run_with(&args, "Likes tea.").ok();
    let dir = desk.run(&["memory", "path"]).ok().out;
    let outside = desk.files.root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, std::path::Path::new(dir.trim()).join("team")).unwrap();
    add(&desk, "Deploy day", "project", "We ship on Thursdays.").failed(1);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}
