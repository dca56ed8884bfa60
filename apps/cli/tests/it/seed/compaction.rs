//! Layer 4: full compaction (L4).

use super::{SUMMARY, Stage, asks_for_summary, results, text, until, worker};
use everfold_testkit::{Received, Reply, ServerFault, oracle};
use serde_json::{Value, json};
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A window of which a few readings of the file fill half.
fn small(stage: Stage) -> Stage {
    let stage = stage
        .set(&json!({"autoCompactWindow": 80_000, "everfold": {"flags": {"prune_time": false}}}));
    stage.write("a.txt", &"a line of a file with some words in it\n".repeat(700));
    stage
}

fn boundaries(stage: &Stage) -> Vec<Value> {
    let all = stage.marked("compact_boundary").into_iter();
    all.map(|line| line["compactMetadata"].clone()).collect()
}

/// Turns until it was compacted so often.
fn until_compacted(stage: &Stage, times: usize) {
    stage.ask("turn 0\nread a.txt");
    for turn in 1..60 {
        stage.more(&format!("turn {turn}\nread a.txt"));
        if boundaries(stage).len() >= times {
            return;
        }
    }
    panic!("it was compacted {} times", boundaries(stage).len());
}

#[test]
fn l4_1_over_the_threshold_a_model_sums_up_and_by_hand_with_what_to_keep_in_mind() {
    let stage = small(Stage::new(worker));
    until_compacted(&stage, 1);
    let asked = stage.of("compact");
    assert_eq!(asked.len(), 1);
    let before = stage.requests()[..asked[0].index].to_vec();
    let parent = before.iter().rev().find(|one| one.source() == "main").unwrap();
    let known = parent.usage.unwrap();
    // The threshold of 80,000 is 47,000; the result that came since is over it.
    assert!(known.prompt().0 + known.output + 8_000 > 47_000, "{known:?}");
    assert!(known.prompt().0 < 47_000);
    let hand = small(Stage::new(worker));
    hand.talk(&["read a.txt", "/compact mind the ports", "go on"]);
    assert_eq!(boundaries(&hand)[0]["trigger"], "manual");
    assert!(hand.of("compact")[0].last_user_text().contains("mind the ports"));
    assert!(text(&hand.last()).contains("keep counting"));
}

#[test]
fn l4_2_after_three_failures_no_model_is_asked_again_in_this_session() {
    let stage = small(Stage::new(|request| match asks_for_summary(request) {
        true => Reply::text("I would rather not."),
        false => worker(request),
    }));
    until_compacted(&stage, 5);
    // Each of three failures was asked about once more (L4.4).
    assert_eq!(stage.of("compact").len(), 6);
    assert!(boundaries(&stage).iter().all(|one| one["way"] == "local"), "local ones in between");
    assert!(stage.requests().iter().all(|request| request.refused.is_none()));
}

#[test]
fn l4_3_a_hook_blocks_it_and_pictures_are_left_out_where_the_cache_is_cold() {
    let hook =
        json!({"hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}});
    let stage = Stage::new(worker).set(&hook);
    stage.talk(&["hello", "/compact", "go on"]);
    assert!(stage.of("compact").is_empty() && boundaries(&stage).is_empty());
    for minutes in [0, 61] {
        let stage = Stage::new(worker).flag("prune_time", "0");
        let png = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0];
        std::fs::write(stage.desk.files.project().join("pic.png"), png).unwrap();
        stage.ask("read pic.png");
        let parent = stage.last();
        assert!(text(&parent).contains(r#""type":"image""#));
        let pass = std::time::Duration::from_mins(minutes);
        stage.let_pass(pass);
        stage.server().advance(pass);
        let stage = stage.args(&["-c"]);
        stage.talk(&["/compact"]);
        let asked = stage.of("compact").remove(0);
        assert_eq!(text(&asked).contains(r#""type":"image""#), minutes == 0);
        assert_eq!(text(&asked).contains("[image]"), minutes > 0);
        assert_eq!(oracle::first_break(&parent, &asked).is_none(), minutes == 0);
    }
}

#[test]
fn l4_4_nine_sections_by_a_fork_the_draft_is_stripped_and_no_summary_is_asked_for_once_more() {
    let asked = AtomicUsize::new(0);
    let stage = Stage::new(move |request| match asks_for_summary(request) {
        true if asked.fetch_add(1, Ordering::SeqCst) == 0 => Reply::text("Well."),
        true => Reply::text(SUMMARY.replace("draft", "draft of mine")),
        false => worker(request),
    });
    stage.write("a.txt", &"a line of a file with some words in it\n".repeat(900));
    stage.talk(&["read a.txt", "/compact", "that is all"]);
    let forks = stage.of("compact");
    assert_eq!(forks.len(), 2, "once more, and then it is there");
    assert!(oracle::first_break(&stage.of("main")[1], &forks[0]).is_none(), "the parent's prefix");
    let said = forks[0].last_user_text().to_lowercase();
    for section in [
        "primary request",
        "key technical concepts",
        "files and code",
        "errors and fixes",
        "problem solving",
        "all user messages",
        "pending tasks",
        "current work",
        "next step",
    ] {
        assert!(said.contains(section), "{section}: {said}");
    }
    let after = text(&stage.last());
    assert!(after.contains("keep counting") && !after.contains("draft of mine"), "{after}");
}

#[test]
fn l4_5_files_instructions_and_the_index_come_back_anew() {
    let stage = Stage::new(worker);
    stage.write("CLAUDE.md", "Speak plainly.");
    for file in 0..7 {
        stage.write(
            &format!("f{file}.txt"),
            &format!("old words of file {file}\n{}", "and more of it\n".repeat(200)),
        );
    }
    super::put(&stage.memories(), "MEMORY.md", "- [A](a.md) — the first line\n");
    let (running, mut input) = stage.open();
    for file in 0..7 {
        writeln!(input, "read f{file}.txt").unwrap();
        until("the reading", || stage.of("main").len() >= 2 * (file + 1));
    }
    stage.write("f6.txt", "new words of file 6\n");
    stage.write("CLAUDE.md", "Speak softly.");
    writeln!(input, "/compact\ngo on").unwrap();
    drop(input);
    running.end().ok();
    let after = text(&stage.last());
    for file in 2..6 {
        assert!(after.contains(&format!("old words of file {file}")), "{file}: {after}");
    }
    assert!(!after.contains("words of file 1") && !after.contains("words of file 0"), "five");
    assert!(after.contains("new words of file 6") && !after.contains("old words of file 6"));
    assert!(after.contains("Speak softly.") && !after.contains("Speak plainly."));
    assert!(after.contains("the first line"), "the index of memories: {after}");
}

#[test]
fn l4_5_the_title_is_written_again_so_that_the_list_finds_it_at_the_end() {
    let stage = Stage::new(worker);
    stage.write("a.txt", &"a line of a file with some words in it\n".repeat(1_000));
    stage.ask("read a.txt");
    let path = stage.transcript();
    let id = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let title = json!({"type": "custom-title", "customTitle": "the blue shed", "sessionId": id});
    let before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{before}{title}\n")).unwrap();
    let stage = stage.args(&["-c"]);
    stage.talk(&["read a.txt", "read a.txt", "/compact", "go on", "read a.txt", "/compact"]);
    let lines = stage.lines();
    let is = |line: &&Value, kind: &str| line["type"] == kind || line["subtype"] == kind;
    let at = lines.iter().rposition(|line| is(&line, "compact_boundary")).unwrap();
    let again = lines[at..].iter().filter(|line| is(line, "custom-title")).count();
    assert_eq!(again, 1, "behind the newest boundary");
    let listed = stage.desk.run(&["sessions", "list"]).ok().out;
    assert!(listed.contains("the blue shed"), "{listed}");
}

#[test]
fn l4_6_a_boundary_marks_it_and_resume_starts_there() {
    let stage = Stage::new(worker);
    let long = format!("the port is 4417 {}", "and more words of mine ".repeat(600));
    stage.talk(&[&long, "hello", "/compact", "after"]);
    let lines = stage.lines();
    let at = lines.iter().position(|line| line["subtype"] == "compact_boundary").unwrap();
    let boundary = &lines[at]["compactMetadata"];
    assert_eq!(boundary["trigger"], "manual");
    assert!(boundary["preTokens"].as_u64().unwrap() > 1_000, "{boundary}");
    assert!(
        lines[..at].iter().any(|line| line["uuid"] == lines[at]["logicalParentUuid"]),
        "the last message before"
    );
    assert_eq!(lines[at + 1]["isCompactSummary"], true);
    let last = stage.last();
    stage.more("resumed");
    assert!(oracle::first_break(&last, &stage.last()).is_none(), "the same bytes");
}

#[test]
fn l4_8_a_request_that_is_too_long_loses_its_oldest_rounds_at_most_three_times() {
    // Where the error states no gap, a fifth of the rounds go.
    let long = |times: usize| {
        let asked = AtomicUsize::new(0);
        let stage = Stage::new(move |request| {
            if !asks_for_summary(request) {
                return worker(request);
            }
            let call = asked.fetch_add(1, Ordering::SeqCst);
            let fault = ServerFault::PromptTooLong { with_numbers: call % 2 == 1 };
            if call < times { Reply::text("").fault(fault) } else { Reply::text(SUMMARY) }
        });
        stage.write("a.txt", &"a line of a file with some words in it\n".repeat(200));
        let turns: Vec<String> =
            (0..10).map(|turn| format!("read a.txt and b{turn}.txt")).collect();
        let mut said: Vec<&str> = turns.iter().map(String::as_str).collect();
        said.extend(["/compact", "go on"]);
        let ran = stage.talk(&said);
        let rounds: Vec<usize> =
            stage.of("compact").iter().map(|one| results(one).len() / 2).collect();
        (rounds, boundaries(&stage)[0]["way"].clone(), ran)
    };
    let (rounds, way, _) = long(2);
    assert_eq!(way, "model");
    assert_eq!((rounds.len(), rounds[0]), (3, 10));
    assert!(rounds[1] < rounds[0] && rounds[2] < rounds[1], "each is shorter: {rounds:?}");
    let (rounds, way, ran) = long(9);
    assert_eq!(way, "local", "then it has failed");
    assert_eq!(rounds.len(), 4, "three more, and no other: {rounds:?}");
    assert!(rounds.is_sorted_by(|one, next| one > next), "{rounds:?}");
    assert!(
        format!("{}{}", ran.out, ran.err).contains("compacted (local)"),
        "it is said: {} {}",
        ran.out,
        ran.err
    );
}

#[test]
fn l4_9_nothing_is_compacted_from_inside_a_fork() {
    // The review reads until its own conversation is far over the threshold.
    let stage = small(Stage::new(|request| match request.source() {
        "extract" if request.messages().len() < 14 => {
            Reply::tool("Read", json!({"file_path": "a.txt", "offset": request.messages().len()}))
        }
        "extract" => Reply::text("nothing"),
        _ => worker(request),
    }))
    .flag("extract", "1");
    stage.ask("Always use tabs, never spaces.\nread a.txt");
    stage.more("And never push on Fridays.\nread a.txt");
    stage.more("I prefer short answers.\nread a.txt");
    let most =
        stage.of("extract").iter().filter_map(|one| one.usage).map(|usage| usage.prompt().0).max();
    assert!(most.unwrap() > 47_000, "it was over the threshold: {most:?}");
    assert!(stage.of("compact").is_empty(), "and nothing was compacted");
}

/// A model that only talks, at length.
fn talker(words: usize) -> impl Fn(&Received) -> Reply {
    move |request| match request.source() {
        "compact" if request.body["tools"].is_null() => Reply::text("They talked of lines."),
        "compact" => Reply::text("<summary>They talked of lines.</summary>"),
        _ => Reply::text("a long answer about lines ".repeat(words)),
    }
}

fn collapsing(words: usize) -> Stage {
    let rules = everfold_testkit::ServerRules { window: 60_000, ..Default::default() };
    Stage::with_rules(rules, talker(words)).flag("collapse", "1").set(&json!({"everfold": {
        "models": {"claude-haiku-4-5": {"window": 60_000}}, "limits": {"output_reserve_tokens": 5_000}}}))
}

#[test]
fn l4_13_spans_are_shown_by_summaries_and_a_conversation_without_tools_never_ends_in_refusals() {
    let stage = collapsing(900);
    let turns: Vec<String> = (0..16).map(|turn| format!("go on, part {turn}")).collect();
    let ran = stage.talk(&turns.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(!stage.marked("everfold_collapsed").is_empty(), "spans were committed");
    // Each time is one quiet line with tokens and money (E10).
    let told: Vec<&str> =
        ran.out.lines().filter_map(|line| line.strip_prefix("--- collapsed ")).collect();
    let spans = told.iter().map(|line| line.split(' ').next().unwrap().parse::<usize>().unwrap());
    assert_eq!(spans.sum::<usize>(), stage.marked("everfold_collapsed").len(), "{told:?}");
    let whole = |line: &&str| line.contains(" tokens less, $") && line.contains("later request");
    assert!(told.iter().all(whole), "{told:?}");
    assert_eq!(ran.out.matches("collapsed ").count(), told.len(), "and nothing else says it");
    assert!(boundaries(&stage).is_empty(), "in place of compaction");
    assert!(stage.requests().iter().all(|request| request.refused.is_none()));
    let last = stage.last();
    let most = stage.of("main").iter().map(|one| one.usage.unwrap().prompt().0).max().unwrap();
    assert!(most < 55_000 * 95 / 100, "under 95 % of 55,000: {most}");
    assert!(
        (0..16).all(|turn| text(&last).contains(&format!("part {turn}"))),
        "the person's words"
    );
    let whole = std::fs::read_to_string(stage.transcript()).unwrap();
    assert!(
        whole.matches("a long answer about lines a long answer").count() >= 16,
        "nothing is lost"
    );
    stage.more("and again");
    let resumed = text(&stage.last());
    let whole = |sent: &str| sent.matches("a long answer about lines a long answer").count();
    assert!(resumed.contains("They talked of lines."), "rebuilt on resume");
    assert!(whole(&resumed) <= whole(&text(&last)) + 1, "what was collapsed stays so");
    // Where nothing can be staged, layer 4 serves.
    let stage = collapsing(2);
    let long = "of what the person has to say ".repeat(800);
    let turns: Vec<String> = (0..14).map(|turn| format!("part {turn} {long}")).collect();
    stage.talk(&turns.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(stage.marked("everfold_collapsed").is_empty() && !boundaries(&stage).is_empty());
    assert_eq!(stage.of("main").len(), 14, "every message was answered");
}
