//! Recall (R).

use super::{Stage, age, blocks, memory, put, text, until};
use everfold_testkit::{Received, Reply, oracle};
use serde_json::json;
use std::io::Write as _;
use std::time::Duration;

const QUESTION: &str = "on which weekday do we deploy the shop?";
const DAY: Duration = Duration::from_hours(24);

fn deploy() -> String {
    memory("Deploys", "on which weekday we deploy the shop", "We deploy the shop on Fridays.")
}

/// A stage whose small model picks these, whatever is asked.
fn picking(files: &'static [&'static str]) -> Stage {
    Stage::new(move |request| match request.source() {
        "recall" => Reply::text(json!({ "selected_memories": files }).to_string()),
        _ => Reply::text("ok"),
    })
    .set(&json!({"everfold": {"recall": {"by": "model"}}}))
}

/// A stage on which the local ranker picks.
fn ranking() -> Stage {
    Stage::new(|_| Reply::text("ok")).set(&json!({"everfold": {"recall": {"by": "local"}}}))
}

/// One message, and the one that the picks join at the latest.
fn talk_until(stage: &Stage, prompt: &str, wanted: &str) {
    let (running, mut input) = stage.open();
    let mut turns = 0;
    loop {
        writeln!(input, "{prompt}").unwrap();
        turns += 1;
        until("the turn", || stage.of("main").len() >= turns);
        if text(&stage.last()).contains(wanted) {
            break;
        }
        assert!(turns < 60, "{wanted} never came");
        std::thread::sleep(Duration::from_millis(10 * turns.min(50) as u64));
    }
    drop(input);
    running.end().ok();
}

fn asked(stage: &Stage) -> Received {
    stage.of("recall").remove(0)
}

/// What the small model is told for the question, in a session of its own.
fn manifest(stage: &Stage) -> String {
    let before = stage.of("recall").len();
    let (running, mut input) = stage.open();
    writeln!(input, "{QUESTION}").unwrap();
    until("the search", || stage.of("recall").len() > before);
    drop(input);
    running.end().ok();
    stage.of("recall").pop().unwrap().last_user_text()
}

#[test]
fn r1_the_main_request_never_waits_and_one_word_starts_nothing() {
    let stage = Stage::new(|request| match request.source() {
        "recall" => Reply::text("{}").gate("never"),
        _ => Reply::text("ok"),
    })
    .set(&json!({"everfold": {"recall": {"by": "model"}}}));
    put(&stage.memories(), "deploy.md", &deploy());
    let (running, mut input) = stage.open();
    writeln!(input, "deploy").unwrap();
    until("the first turn", || stage.of("main").len() == 1);
    writeln!(input, "{QUESTION}").unwrap();
    until("the search", || !stage.of("recall").is_empty());
    until("the answer", || stage.of("main").len() == 2 && stage.last().usage.is_some());
    drop(input);
    running.end().ok();
    assert_eq!(stage.of("recall").len(), 1, "one word starts no search");
}

#[test]
fn r2_r3_the_first_thirty_lines_are_scanned_newest_first_and_at_most_200() {
    let stage = picking(&[]);
    let dir = stage.memories();
    let filler = |lines: usize| "# filler\n".repeat(lines);
    put(
        &dir,
        "in.md",
        &format!(
            "---\nname: in\n{}description: said on line 30\ntype: user\n---\nBody.\n",
            filler(27)
        ),
    );
    put(
        &dir,
        "out.md",
        &format!(
            "---\nname: out\ntype: user\n{}description: said on line 33\n---\nBody.\n",
            filler(29)
        ),
    );
    put(&dir, "sub/deep.md", &memory("deep", "in a folder", "Body."));
    for other in [
        "MEMORY.md",
        "sub/MEMORY.md",
        "logs/2026/06/2026-06-01.md",
        "inbox/p.md",
        ".everfold/x.md",
        "note.txt",
    ] {
        put(&dir, other, &memory("other", "no topic", "x"));
    }
    for (name, days) in [("in.md", 1), ("out.md", 3), ("sub/deep.md", 2)] {
        age(&dir.join(name), DAY * days);
    }
    let told = manifest(&stage);
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines.len(), 3, "{told}");
    let time = |days: i64| {
        (jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * days))
            .strftime("%Y-%m-%dT")
            .to_string()
    };
    assert!(lines[0].starts_with(&format!("- in.md ({}", time(1))), "{told}");
    assert!(lines[0].ends_with("Z): said on line 30"), "{told}");
    assert!(
        lines[1].starts_with("- [project] sub/deep.md (") && lines[1].ends_with("): in a folder")
    );
    assert!(
        lines[2].starts_with("- [user] out.md (") && lines[2].ends_with(')'),
        "nothing of line 33: {told}"
    );
    // The setting says how many lines.
    let more = json!({"everfold": {"limits": {"recall": {"head_lines": 40}}}});
    let stage = stage.set(&more);
    let told = manifest(&stage);
    assert!(told.contains("out.md (") && told.contains("said on line 33"), "{told}");
    for n in 0..300 {
        put(&dir, &format!("many/{n}.md"), &memory(&format!("m{n}"), "one of many", "Body."));
    }
    let told = manifest(&stage);
    assert_eq!(told.lines().filter(|line| line.starts_with("- ")).count(), 200);
}

#[test]
fn r4_a_small_model_picks_by_a_schema_and_what_is_not_in_the_manifest_is_dropped() {
    let stage = picking(&["deploy.md", "../../etc/passwd", "no-such.md"]);
    put(&stage.memories(), "deploy.md", &deploy());
    talk_until(&stage, QUESTION, "on Fridays");
    let asked = asked(&stage);
    assert_eq!(asked.model(), "claude-haiku-5-5");
    assert_eq!(asked.body["max_tokens"], 256);
    let format = &asked.body["output_config"]["format"];
    assert_eq!(format["type"], "json_schema");
    assert_eq!(format["schema"]["required"], json!(["selected_memories"]));
    assert!(asked.last_user_text().contains(QUESTION));
    assert!(!text(&asked).contains("on Fridays"), "the manifest has no bodies");
    assert!(text(&asked).contains("at most 5"), "{}", text(&asked));
    let sent = text(&stage.last());
    assert!(!sent.contains("no-such.md") && !sent.contains("passwd"));
    // What was surfaced is not in the next manifest.
    let later = stage.of("recall").into_iter().skip(1).find(|one| one.index > stage.last().index);
    assert!(later.is_none_or(|one| !one.last_user_text().contains("deploy.md (")));
}

#[test]
fn r5_a_memory_is_cut_with_a_note_and_a_session_has_a_budget() {
    // Two hundred lines; 4,096 bytes; one long line behind a frontmatter.
    let lines: String = (0..300).map(|n| format!("deploy {n}\n")).collect();
    let wide: String = (0..100).map(|n| format!("deploy {n} {}\n", "wide ".repeat(20))).collect();
    let front: String = (0..40).map(|n| format!("note{n}: {}\n", "words ".repeat(8))).collect();
    let one = format!(
        "---\nname: Deploys\ndescription: on which weekday we deploy the shop\n{front}---\n{}\n",
        "é Friday ".repeat(2_000)
    );
    let cases = [
        ("lines", memory("Deploys", "on which weekday we deploy the shop", &lines)),
        ("wide", memory("Deploys", "on which weekday we deploy the shop", &wide)),
        ("one", one),
    ];
    for (name, file) in cases {
        let stage = ranking();
        let path = put(&stage.memories(), "deploy.md", &file);
        stage.ask(QUESTION);
        let all = blocks(&stage.last());
        let shown = all
            .iter()
            .filter_map(|block| block["text"].as_str())
            .find(|text| text.contains("deploy.md"));
        let shown = shown.unwrap_or_else(|| panic!("{name}: {all:?}"));
        assert!(shown.len() < 4_096 + 700, "{name}: {}", shown.len());
        assert!(
            shown.contains(&path.display().to_string()),
            "{name}: the note names the path: {shown}"
        );
        match name {
            "lines" => assert!(
                shown.contains("deploy 150\n") && !shown.contains("deploy 200\n"),
                "{shown}"
            ),
            "wide" => {
                assert!(shown.contains("deploy 20 ") && !shown.contains("deploy 60 "), "{shown}");
            }
            _ => assert!(
                shown.matches("é Friday").count() > 20,
                "most of the body is not left out: {shown}"
            ),
        }
    }
    let stage = ranking().set(&json!({"everfold": {"limits": {"recall": {"session_bytes": 80}}}}));
    let dir = stage.memories();
    put(&dir, "deploy.md", &deploy());
    put(
        &dir,
        "tea.md",
        &memory("Tea", "which tea the person likes to drink", "Oolong, in the afternoon."),
    );
    stage.talk(&[QUESTION, "which tea does the person like to drink?"]);
    let sent = text(&stage.last());
    assert!(
        !(sent.contains("on Fridays") && sent.contains("Oolong")),
        "after its budget prefetching stops"
    );
}

#[test]
fn r6_a_reminder_with_age_and_path_a_caution_for_old_ones_and_its_bytes_are_frozen() {
    let stage = ranking();
    let path = put(&stage.memories(), "deploy.md", &deploy());
    age(&path, DAY * 12 + Duration::from_hours(1));
    stage.ask(QUESTION);
    let first = stage.last();
    let all = blocks(&first);
    let at = all
        .iter()
        .position(|block| block["text"].as_str().is_some_and(|text| text.contains("on Fridays")));
    let shown = all[at.unwrap()]["text"].as_str().unwrap();
    assert!(
        shown.starts_with("<system-reminder>") && shown.trim_end().ends_with("</system-reminder>"),
        "{shown}"
    );
    assert!(shown.contains("deploy.md (12 days"), "{shown}");
    assert!(shown.to_lowercase().contains("check"), "a past observation to be checked: {shown}");
    age(&path, DAY * 40);
    stage.more("and the garden?");
    oracle::assert_prefix_stable(&[first, stage.last()]);
    // The side query's picks join at the next boundary, never what was sent.
    let stage = picking(&["deploy.md"]);
    put(&stage.memories(), "deploy.md", &deploy());
    talk_until(&stage, QUESTION, "on Fridays");
    assert!(!text(&stage.of("main")[0]).contains("on Fridays"), "the first request went without");
    oracle::assert_prefix_stable(&stage.of("main"));
}

#[test]
fn r7_never_twice_and_not_what_was_read_until_a_compaction() {
    let stage = ranking();
    put(&stage.memories(), "deploy.md", &deploy());
    stage.talk(&[QUESTION, QUESTION, QUESTION]);
    assert_eq!(text(&stage.last()).matches("on Fridays").count(), 1);
    let stage = stage.args(&["-c"]);
    stage.talk(&[QUESTION, "/compact", QUESTION]);
    assert_eq!(text(&stage.last()).matches("on Fridays").count(), 1, "it may come again");
    // What the model read by tool is not brought.
    let stage = Stage::new(|request| match request.last_tool_results() {
        None if request.last_user_text().contains("look") => {
            let dir = request.system_text();
            let dir = dir
                .split_once("Markdown files in `")
                .unwrap()
                .1
                .split_once('`')
                .unwrap()
                .0
                .to_owned();
            Reply::tool("Read", json!({"file_path": format!("{dir}/deploy.md")}))
        }
        _ => Reply::text("ok"),
    })
    .set(&json!({"everfold": {"recall": {"by": "local"}}}));
    put(&stage.memories(), "deploy.md", &deploy());
    stage.talk(&["look it up", QUESTION]);
    assert_eq!(text(&stage.last()).matches("on Fridays").count(), 1);
}

#[test]
fn r10_past_conversations_are_searched_by_narrow_terms_and_never_read_whole() {
    let stage = Stage::new(|request| match request.last_tool_results() {
        None if request.last_user_text().contains("search") => {
            Reply::tool("MemorySearch", json!({"query": "quetzal"}))
        }
        _ => Reply::text("ok"),
    });
    put(&stage.memories(), "bird.md", &memory("bird", "what the quetzal is", "A service of ours."));
    let long = "other words of another matter ".repeat(400);
    stage.ask(&format!("the quetzal service listens on 4417. {long}"));
    stage.ask("search for it");
    let found = super::results(&stage.last()).remove(0);
    let (memory, past) = (found.find("A service of ours"), found.find("listens on 4417"));
    assert!(memory.is_some() && past.is_some() && memory < past, "memories first: {found}");
    assert!(found.len() < 4_000, "excerpts: {}", found.len());
    let told = stage.desk.run(&["search", "quetzal"]).ok().out;
    assert!(told.contains("4417") && told.len() < 4_000, "{told}");
}
