//! The loop and its switches (Q1 to Q4).

use super::{Stage, blocks, memory, put, results, text, until, worker};
use everfold_testkit::{Reply, oracle};
use serde_json::json;
use std::io::Write as _;
use std::time::Duration;

#[test]
fn q1_layers_come_before_the_request_and_results_in_the_order_of_calls() {
    let stage = Stage::new(|request| match request.last_tool_results() {
        None => Reply::tool("Read", json!({"file_path": "a.txt"}))
            .and_tool("Glob", json!({"pattern": "*.txt"}))
            .and_tool("Bash", json!({"command": "seq 1 20000"})),
        Some(_) => Reply::text("Done."),
    })
    .set(&json!({"everfold": {"recall": {"by": "local"}}}));
    stage.write("a.txt", "x");
    put(
        &stage.memories(),
        "deploy.md",
        &memory("Deploys", "on which weekday we deploy the shop", "On Fridays."),
    );
    stage.ask("on which weekday do we deploy the shop?");
    let last = stage.last();
    let shown = results(&last);
    assert!(shown[2].starts_with("<persisted-output>"), "spilled before it was sent: {}", shown[2]);
    let calls: Vec<_> = blocks(&last)
        .into_iter()
        .filter(|one| one["type"] == "tool_use")
        .map(|one| one["id"].clone())
        .collect();
    let answers: Vec<_> = blocks(&last)
        .into_iter()
        .filter(|one| one["type"] == "tool_result")
        .map(|one| one["tool_use_id"].clone())
        .collect();
    assert_eq!(calls, answers, "in the order of the calls");
    assert!(text(&last).contains("On Fridays."), "recall joined");
}

#[test]
fn q1_reviews_come_on_the_final_message_alone() {
    let stage = Stage::new(|request| match (request.source(), request.last_tool_results()) {
        ("extract", _) => Reply::text("nothing"),
        ("main", None) if request.last_user_text().contains("Always") => {
            Reply::tool("Glob", json!({"pattern": "*"}))
        }
        _ => Reply::text("Done."),
    })
    .flag("extract", "1");
    stage.ask("Always use tabs, never spaces.");
    let sources: Vec<String> = stage.requests().iter().map(|one| one.source().to_owned()).collect();
    assert_eq!(sources, ["main", "main", "extract"]);
}

#[test]
fn q2_a_layer_that_fails_ends_no_turn() {
    let stage = Stage::new(|request| match request.source() {
        "extract" | "recall" | "session_memory" | "dream" | "compact" => {
            Reply::error(500, "broken")
        }
        _ => worker(request),
    })
    .flag("extract", "1")
    .flag("session_memory", "1")
    .set(&json!({"autoCompactWindow": 80_000, "everfold": {"recall": {"by": "model"}}}));
    stage.write("a.txt", &"a line of a file with some words in it\n".repeat(900));
    put(
        &stage.memories(),
        "deploy.md",
        &memory("Deploys", "on which weekday we deploy the shop", "On Fridays."),
    );
    stage.ask("Always deploy the shop on weekdays.\nread a.txt");
    for _ in 0..7 {
        let ran = stage.more("Always deploy the shop on weekdays.\nread a.txt");
        assert_eq!(ran.out, "Done.\n");
    }
    assert!(!stage.of("extract").is_empty() && !stage.of("compact").is_empty());
    assert!(!stage.marked("compact_boundary").is_empty(), "the next one caught it");
    // No disk for spills, no memory directory: the turn goes on.
    let stage = Stage::new(worker);
    let dir = stage.memories();
    std::fs::create_dir_all(dir.parent().unwrap()).unwrap();
    std::fs::write(&dir, "a file in its place").unwrap();
    assert_eq!(stage.ask("run seq 1 20000").out, "Done.\n");
}

#[test]
fn q3_each_system_has_a_switch_and_without_it_nothing_of_it_leaves_the_program() {
    let sources = |flags: &[(&str, &str)]| {
        let stage = Stage::new(|request| match request.source() {
            "extract" | "session_memory" => Reply::text("nothing"),
            "recall" => Reply::text(r#"{"selected_memories": []}"#),
            _ => worker(request),
        })
        .set(&json!({"everfold": {"recall": {"by": "model"}}}));
        let stage = flags.iter().fold(stage, |stage, (name, value)| stage.flag(name, value));
        stage.write("a.txt", &"a line of a file with some words in it\n".repeat(540));
        put(
            &stage.memories(),
            "deploy.md",
            &memory("Deploys", "on which weekday we deploy the shop", "On Fridays."),
        );
        stage.ask("Always deploy the shop on weekdays.\nread a.txt");
        let mut all: Vec<String> =
            stage.requests().iter().map(|one| one.source().to_owned()).collect();
        all.sort();
        all.dedup();
        all
    };
    let on = [("extract", "1"), ("session_memory", "1"), ("recall", "1")];
    assert_eq!(sources(&on), ["extract", "main", "recall", "session_memory"]);
    for (name, source) in
        [("extract", "extract"), ("session_memory", "session_memory"), ("recall", "recall")]
    {
        let mut flags = on.to_vec();
        flags.push((name, "0"));
        assert!(!sources(&flags).contains(&source.to_owned()), "{name}");
    }
}

#[test]
fn q3_a_file_of_flags_is_followed_in_a_session_that_is_open() {
    let stage = Stage::new(|request| match request.source() {
        "extract" => Reply::text("nothing"),
        _ => Reply::text("ok"),
    });
    let flags = stage.desk.files.root().join("flags.json");
    std::fs::write(&flags, r#"{"flags": {"extract": false}}"#).unwrap();
    let follow = json!({"flag_source": {"file": flags}, "limits": {"flag_poll_s": 1}});
    let stage = stage.set(&json!({ "everfold": follow }));
    // The environment would stand over the file.
    let mut command = stage.command(&[]);
    command.env_remove("EVERFOLD_FLAG_EXTRACT");
    let (running, mut input) = crate::desk::Running::typing(&mut command);
    let mut turns = 0;
    let mut turn = || {
        turns += 1;
        writeln!(input, "Always mind matter number {turns}.").unwrap();
        let answered = || stage.of("main").iter().filter(|one| one.usage.is_some()).count();
        until("the turn", || answered() >= turns);
    };
    turn();
    turn();
    assert!(stage.of("extract").is_empty(), "it is off from the start");
    std::fs::write(&flags, r#"{"flags": {"extract": true}}"#).unwrap();
    // It is read in the background, and holds from the next turn on.
    for _ in 0..200 {
        turn();
        if !stage.of("extract").is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(input);
    let ran = running.end().ok();
    assert!(!stage.of("extract").is_empty(), "a review is made in the open session");
    let told = format!("{}{}", ran.out, ran.err);
    assert!(told.contains("extract on"), "and the person is told: {told}");
    oracle::assert_prefix_stable(&stage.of("main"));
}
