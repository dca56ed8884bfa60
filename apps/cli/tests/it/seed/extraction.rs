//! Layer 5: extraction (L5.5, L5.6, L5.9 to L5.15).

use super::{Stage, put, text, until};
use everfold_testkit::{Received, Reply, oracle};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const SAID: &str = "Use a real database in the integration tests, not mocks.";

/// The directory that a review is told to write to.
fn dir_in(request: &Received) -> Option<PathBuf> {
    let text = request.last_user_text();
    let (_, rest) = text.split_once("each as `")?;
    let (dir, _) = rest.split_once("/its_topic.md`")?;
    Some(dir.into())
}

fn file(description: &str, body: &str) -> String {
    format!("---\nname: A title\ndescription: {description}\ntype: feedback\n---\n\n{body}\n")
}

fn write(path: &Path, text: &str) -> Reply {
    Reply::tool("Write", json!({"file_path": path, "content": text}))
}

/// A stage whose reviews do this.
fn reviewing(review: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Stage {
    Stage::new(move |request| match request.source() {
        "extract" => review(request),
        _ => Reply::text("ok"),
    })
    .flag("extract", "1")
}

fn keeping() -> Stage {
    reviewing(|request| match dir_in(request) {
        Some(dir) => write(
            &dir.join("real_db.md"),
            &file(
                "integration tests use a real database, not mocks",
                "Use a real database in the integration tests.",
            ),
        ),
        None => Reply::text("done"),
    })
}

fn topics(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| Path::new(name).extension().is_some_and(|end| end == "md"));
    names.retain(|name| name != "MEMORY.md");
    names.sort();
    names
}

#[test]
fn l5_5_what_can_be_derived_is_not_saved_even_when_asked() {
    let code = format!("```rust\n{}```", "let parser = Parser::new(tokens);\n".repeat(12));
    let (kept, said) = (code.clone(), format!("Remember how we build the parser:\n{code}"));
    let stage = reviewing(move |request| match dir_in(request) {
        Some(dir) => write(&dir.join("parser.md"), &file("how the parser is built", &kept)),
        None => Reply::text("done"),
    });
    stage.ask(&said);
    assert!(!stage.of("extract").is_empty());
    assert!(topics(&stage.memories()).is_empty(), "{:?}", topics(&stage.memories()));
    // And the model is told to ask what was surprising about it.
    let told = stage.last().system_text();
    assert!(told.contains("Ask then what about it was surprising"), "{told}");
    for part in ["Code patterns", "architecture", "paths", "git says it", "instruction files"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn l5_6_relative_dates_become_absolute_when_saved() {
    let stage = reviewing(|request| match dir_in(request) {
        Some(dir) => write(
            &dir.join("freeze.md"),
            &file("when the merge freeze begins", "The merge freeze begins tomorrow."),
        ),
        None => Reply::text("done"),
    });
    let before = jiff::Zoned::now().date();
    stage.ask("Remember: the merge freeze begins tomorrow.");
    let after = jiff::Zoned::now().date();
    let dir = stage.memories();
    let names = topics(&dir);
    let saved = std::fs::read_to_string(dir.join(&names[0])).unwrap();
    let body = saved.rsplit_once("---").unwrap().1;
    let days = [before, after].map(|day| day.tomorrow().unwrap().to_string());
    assert!(days.iter().any(|day| body.contains(day)) && !body.contains("tomorrow"), "{saved}");
}

#[test]
fn l5_9_at_the_end_of_a_turn_a_fork_reviews_what_is_new_in_at_most_five_rounds() {
    let stage = reviewing(|_| Reply::tool("Glob", json!({"pattern": "*"})));
    put(&stage.memories(), "deploy.md", &file("when we deploy", "Fridays."));
    stage.ask(SAID);
    let asked = stage.of("extract");
    assert_eq!(asked.len(), 5, "at most five rounds");
    assert!(oracle::first_break(&stage.of("main")[0], &asked[0]).is_none(), "a fork");
    let told = asked[0].last_user_text();
    assert!(
        told.contains("- [feedback] deploy.md (") && told.contains(": when we deploy"),
        "{told}"
    );
    assert!(told.contains(&format!("starts with \"{}", &SAID[..20])), "from the cursor on: {told}");
    stage.more("Never push on Fridays, the office is empty.");
    let told = stage.of("extract")[5].last_user_text();
    assert!(told.contains("starts with \"Never push on"), "only what is new: {told}");
}

#[test]
fn l5_11_what_the_main_agent_saved_itself_is_not_reviewed() {
    let stage = Stage::new(|request| {
        let dir = request.system_text();
        let dir =
            dir.split_once("Markdown files in `").unwrap().1.split_once('`').unwrap().0.to_owned();
        match (request.source(), request.last_tool_results()) {
            ("main", None) if request.last_user_text().contains("mocks") => write(
                &Path::new(&dir).join("real_db.md"),
                &file("integration tests use a real database", SAID),
            ),
            _ => Reply::text("ok"),
        }
    })
    .flag("extract", "1");
    stage.ask(SAID);
    assert!(stage.of("extract").is_empty(), "it wrote itself");
    stage.more("Never push on Fridays, the office is empty.");
    let told = stage.of("extract")[0].last_user_text();
    assert!(told.contains("starts with \"Never push on"), "the cursor moved: {told}");
}

#[test]
fn l5_12_one_at_a_time_and_one_trailing_run_with_the_newest() {
    let stage = reviewing(|_| Reply::text("nothing").gate("review"));
    let (running, mut input) = stage.open();
    for number in 1..=4 {
        writeln!(input, "Always mind matter number {number}.").unwrap();
        until("the turn", || stage.of("main").len() >= number);
    }
    until("the review", || !stage.of("extract").is_empty());
    assert_eq!(stage.of("extract").len(), 1, "the others wait");
    stage.server().release("review");
    drop(input);
    running.end().ok();
    let all = stage.of("extract");
    // The last turn may have ended only after the trailing run began.
    assert!((2..=3).contains(&all.len()), "one trailing run: {}", all.len());
    assert!(all[1].last_user_text().contains("starts with \"Always mind matter number 2"));
    assert!(text(all.last().unwrap()).contains("matter number 4"), "the newest");
    let ended = |one: &Received| one.usage.is_some();
    assert!(all.iter().all(ended), "and none is lost");
}

#[test]
fn l5_13_it_is_throttled_and_off_in_remote_mode_in_sub_agents_and_by_a_setting() {
    let reviews = |stage: Stage| {
        for turn in 0..4 {
            let said = format!("Always mind matter number {turn}.");
            if turn == 0 {
                stage.ask(&said)
            } else {
                stage.more(&said)
            };
        }
        stage.of("extract").len()
    };
    let nothing = || reviewing(|_| Reply::text("nothing"));
    assert_eq!(reviews(nothing()), 4);
    let slow = json!({"everfold": {"limits": {"extract": {"every_turns": 2}}}});
    assert_eq!(reviews(nothing().set(&slow)), 2, "every second turn");
    let off = json!({"everfold": {"memory": {"extract_headless": false}}});
    assert_eq!(reviews(nothing().set(&off)), 0, "not where nobody sits");
    let away = nothing();
    let dir = away.desk.files.root().join("mounted/memory");
    let away =
        away.var("EVERFOLD_REMOTE", "1").var("EVERFOLD_REMOTE_MEMORY_DIR", dir.to_str().unwrap());
    assert_eq!(reviews(away), 0, "remote");
    let agents = Stage::new(|request| match (request.source(), request.last_tool_results()) {
        ("main", None) => Reply::tool(
            "Agent",
            json!({"description": "x", "prompt": "Always use tabs, never spaces."}),
        ),
        _ => Reply::text("nothing"),
    })
    .flag("extract", "1");
    agents.ask("Always use tabs, never spaces.");
    assert_eq!(agents.of("agent:general").len(), 1);
    assert_eq!(agents.of("extract").len(), 1, "the main thread's only");
}

#[test]
fn l5_14_it_reads_and_writes_memories_and_all_else_is_refused_when_called() {
    let stage = reviewing(|request| match dir_in(request) {
        Some(dir) => write(
            &dir.join("a.md"),
            &file("tests use a real database", "Use a real database in the integration tests."),
        )
        .and_tool("Write", json!({"file_path": dir.join("../../../../stray.md"), "content": "no"}))
        .and_tool("Write", json!({"file_path": "stray.md", "content": "no"}))
        .and_tool("Bash", json!({"command": "touch stray.txt"}))
        .and_tool("Bash", json!({"command": "cat seen.txt > stray.txt"}))
        .and_tool("Bash", json!({"command": "cat seen.txt; rm seen.txt"}))
        .and_tool("WebFetch", json!({"url": "http://127.0.0.1:1/", "prompt": "x"}))
        .and_tool("Grep", json!({"pattern": "plain", "output_mode": "content"}))
        .and_tool("Read", json!({"file_path": "seen.txt"})),
        None => Reply::text("done"),
    });
    stage.write("seen.txt", "plain words");
    stage.ask(SAID);
    let asked = stage.of("extract");
    assert_eq!(
        asked[0].body["tools"],
        stage.of("main")[0].body["tools"],
        "not left out of the list"
    );
    let answered = super::results(&asked[1]);
    assert!(answered[1..7].iter().all(|one| one.contains("refused")), "{answered:?}");
    assert!(
        answered[7].contains("plain words") && answered[8].contains("plain words"),
        "{answered:?}"
    );
    assert_eq!(topics(&stage.memories()), ["a.md"]);
    let project = stage.desk.files.project();
    assert!(!project.join("stray.md").exists() && !project.join("stray.txt").exists());
    assert!(project.join("seen.txt").exists());
}

#[test]
fn l5_15_what_was_saved_is_told_to_the_person_never_to_the_model_and_errors_are_not_thrown() {
    let stage = keeping();
    let ran = stage.ask(SAID);
    assert!(ran.err.contains("saved project/real_db.md"), "{}", ran.err);
    assert!(!ran.err.contains("MEMORY.md"), "{}", ran.err);
    assert_eq!(ran.out, "ok\n");
    stage.more("thanks a lot");
    let sent = text(&stage.last());
    assert!(!sent.contains("saved project/real_db.md"), "never in request bytes");
    let broken = reviewing(|_| Reply::error(400, "no"));
    let ran = broken.ask(SAID);
    assert_eq!(ran.out, "ok\n", "the turn is as it was");
}

/// The team's directory, where a review is told of it.
fn team_in(request: &Received) -> Option<PathBuf> {
    let text = request.last_user_text();
    let (before, _) = text.split_once("`, which the whole team reads")?;
    Some(before.rsplit_once('`')?.1.into())
}

#[test]
fn l5_21_a_review_is_told_both_directories_by_type_and_no_write_leaves_the_team_s() {
    const DECIDED: &str = "We decided that the shop moves to Postgres in spring.";
    let of = |kind: &str, description: &str, body: &str| {
        format!("---\nname: A title\ndescription: {description}\ntype: {kind}\n---\n\n{body}\n")
    };
    let stage = reviewing(move |request| match team_in(request) {
        Some(team) => [
            ("postgres.md", of("project", "the shop moves to Postgres in spring", DECIDED)),
            ("me.md", of("user", "what the person decided", DECIDED)),
            ("../../x.md", of("project", "x", DECIDED)),
            ("link/x.md", of("project", "x", DECIDED)),
            ("%2e%2e/x.md", of("project", "x", DECIDED)),
            ("\u{ff0e}\u{ff0e}/x.md", of("project", "x", DECIDED)),
        ]
        .iter()
        .fold(Reply::default(), |reply, (name, text)| {
            reply.and_tool("Write", json!({"file_path": team.join(name), "content": text}))
        }),
        None => Reply::text("done"),
    })
    .flag("team_memory", "1");
    let dir = stage.memories();
    put(&dir, "team/MEMORY.md", "- [Shared](shared.md) — ours\n");
    let outside = stage.desk.files.root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, dir.join("team/link")).unwrap();
    stage.ask(DECIDED);
    assert!(text(&stage.last()).contains("— ours"), "the team's own index");
    let told = stage.of("extract")[0].last_user_text();
    assert_eq!(
        (team_in(&stage.of("extract")[0]), dir_in(&stage.of("extract")[0])),
        (Some(dir.join("team")), Some(dir.clone()))
    );
    for part in [
        "user is always private",
        "feedback is private unless",
        "project leans to the team",
        "reference is usually",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(dir.join("team/postgres.md").exists());
    assert!(!dir.join("team/me.md").exists(), "what is about the person stays private");
    let found = std::fs::read_dir(&outside).unwrap().count();
    assert_eq!(found, 0, "links that leave it are refused");
    let all: Vec<_> =
        walk(&stage.home()).into_iter().filter(|path| path.ends_with("x.md")).collect();
    assert!(all.is_empty(), "{all:?}");
    let plain = reviewing(|_| Reply::text("nothing"));
    plain.ask(DECIDED);
    assert_eq!(team_in(&plain.of("extract")[0]), None, "a flag of its own");
}

fn walk(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}
