//! Layer 7: agents (L7).

use super::{Stage, blocks, results, text, until, worker};
use everfold_testkit::{Received, Reply, ServerRules, oracle};
use serde_json::{Value, json};
use std::io::Write as _;

fn task(kind: &str, prompt: &str) -> Value {
    json!({"description": "a part", "prompt": prompt, "subagent_type": kind})
}

#[test]
fn l7_1_l7_2_forks_of_one_message_share_all_but_their_directive() {
    let stage = Stage::new(|request| match (request.source(), request.last_tool_results()) {
        ("agent:fork", _) => Reply::text("My part is done."),
        ("main", None) if request.last_user_text().contains("parts") => (2..=4)
            .fold(Reply::tool("Agent", task("fork", "part 1")), |reply, part| {
                reply.and_tool("Agent", task("fork", &format!("part {part}")))
            }),
        _ => worker(request),
    });
    stage.write("a.txt", &"a word about the work.\n".repeat(1_000));
    stage.talk(&["run seq 1 20000 and cat a.txt", "do it in parts"]);
    let forks = stage.of("agent:fork");
    assert_eq!(forks.len(), 4);
    let parent = &stage.of("main")[2];
    let (first, mark) = (text(&forks[0]), text(&forks[0]).find("Your task:").unwrap());
    for fork in &forks {
        assert!(oracle::first_break(parent, fork).is_none(), "the parent's bytes, spills included");
        assert_eq!(text(fork)[..mark], first[..mark], "one directive differs, nothing else");
        let usage = fork.usage.unwrap();
        assert!(usage.cache_read * 100 >= parent.usage.unwrap().prompt().0 * 99, "{usage:?}");
    }
    // The whole message, then a placeholder for every call, and the directive last.
    let last = forks[0].messages().last().unwrap()["content"].as_array().unwrap().clone();
    assert_eq!(last.len(), 5);
    let placeholders: Vec<&Value> =
        last.iter().filter(|one| one["type"] == "tool_result").collect();
    assert_eq!(placeholders.len(), 4);
    assert!(placeholders.iter().all(|one| one["content"] == placeholders[0]["content"]));
    let before = &forks[0].messages()[forks[0].messages().len() - 2];
    assert_eq!(before["content"].as_array().unwrap().len(), 4, "that message whole");
}

#[test]
fn l7_3_a_fork_keeps_the_agent_tool_and_is_refused_when_it_forks_again() {
    let stage = Stage::new(|request| match (request.source(), request.last_tool_results()) {
        ("main", None) => Reply::tool("Agent", task("fork", "a part")),
        ("agent:fork", Some(said)) if said.contains("refused") => Reply::text("I did it myself."),
        ("agent:fork", _) => Reply::tool("Agent", task("fork", "a part of it")),
        _ => Reply::text("Done."),
    });
    stage.ask("go");
    let forks = stage.of("agent:fork");
    assert_eq!(forks[0].body["tools"], stage.of("main")[0].body["tools"]);
    assert_eq!(forks.len(), 2, "the one that asked, and its end");
    assert!(results(&stage.last())[0].contains("I did it myself."), "{:?}", results(&stage.last()));
}

#[test]
fn l7_4_kinds_with_a_prompt_tools_and_a_transcript_of_their_own() {
    let stage = Stage::new(|request| match (request.source(), request.last_tool_results()) {
        ("main", None) => Reply::tool("Agent", task("tester", "test it")),
        (_, None) => Reply::tool("Glob", json!({"pattern": "*"})),
        _ => Reply::text("It is fine."),
    });
    stage.put(
        "agents/tester.md",
        "---\nname: tester\ndescription: tests things\ntools: Glob\n---\nYou test.\n",
    );
    stage.ask("go");
    let own = stage.of("agent:tester");
    assert!(own[0].system_text().contains("You test."));
    let names: Vec<&str> = own[0].body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(
        names.contains(&"Glob") && !names.contains(&"Bash") && !names.contains(&"Write"),
        "{names:?}"
    );
    assert!(
        text(&stage.of("main")[0]).contains("- tester: tests things"),
        "offered by its description"
    );
    let side = stage.transcript().with_extension("").join("subagents");
    assert_eq!(
        std::fs::read_dir(side)
            .unwrap()
            .filter(|entry| entry
                .as_ref()
                .unwrap()
                .path()
                .extension()
                .is_some_and(|end| end == "jsonl"))
            .count(),
        1
    );
    assert!(results(&stage.last())[0].contains("It is fine."));
}

#[test]
fn l7_5_l7_6_letters_between_members_of_a_team_arrive_once_and_end_a_session() {
    let stage = Stage::new(|request| {
        let said = request.last_user_text();
        match request.last_tool_results() {
            None if said.contains("write to bob") => (1..=3).fold(Reply::default(), |reply, n| {
                reply
                    .and_tool("SendMessage", json!({"to": "bob", "message": format!("letter {n}")}))
            }),
            None if said.contains("end bob") => Reply::tool(
                "SendMessage",
                json!({"to": "bob", "message": {"type": "shutdown_request", "reason": "all done"}}),
            ),
            None if said.contains("asks you to come to an end") => Reply::tool(
                "SendMessage",
                json!({"to": "ada", "message": {"type": "shutdown_response", "consent": "approved"}}),
            ),
            _ => Reply::text("ok"),
        }
    });
    let ada = ["--team", "crew", "--agent-name", "ada"];
    let bob = ["--team", "crew", "--agent-name", "bob"];
    stage.run(&[&bob[..], &["-p", "hello"]].concat()).ok();
    stage.run(&[&ada[..], &["-p", "write to bob"]].concat()).ok();
    stage.run(&[&bob[..], &["-p", "anything new?"]].concat()).ok();
    let got = text(&stage.last());
    let places: Vec<Option<usize>> = (1..=3).map(|n| got.find(&format!("letter {n}"))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "in order: {got}");
    stage.run(&[&bob[..], &["-p", "and now?"]].concat()).ok();
    assert!(!text(&stage.last()).contains("letter 1"), "once");
    stage.run(&[&ada[..], &["-p", "end bob"]].concat()).ok();
    stage.run(&[&bob[..], &["-p", "anything new?"]].concat()).ok();
    let asked = stage.of("main").into_iter().any(|one| {
        text(&one).contains("all done") && one.last_user_text().contains("come to an end")
    });
    assert!(asked, "the request reaches the model as one");
    stage.run(&[&ada[..], &["-p", "anything new?"]].concat()).ok();
    assert!(
        text(&stage.last()).contains("It ends, as it was asked to."),
        "{}",
        text(&stage.last())
    );
}

#[test]
fn l7_7_under_a_coordinator_it_is_said_in_a_few_words_what_an_agent_does() {
    let stage = Stage::new(|request| match (request.source(), request.last_tool_results()) {
        ("main", None) => Reply::tool("Agent", task("general", "look around")),
        ("agent:general", None) => Reply::tool("Glob", json!({"pattern": "*"})),
        ("agent:general", _) => Reply::text("Done.").gate("end"),
        ("agent_summary", _) => Reply::text("Listing files in project"),
        _ => Reply::text("ok"),
    })
    .args(&["--coordinator"])
    .set(&json!({"everfold": {"limits": {"agents": {"summary_s": 0}}}}));
    let (running, mut input) = stage.open();
    writeln!(input, "go").unwrap();
    until("the summary", || stage.of("agent_summary").iter().any(|one| one.usage.is_some()));
    stage.server().release("end");
    drop(input);
    running.end().ok();
    let asked = stage.of("agent_summary").remove(0);
    let said = asked.last_user_text();
    assert!(text(&asked).contains("three to five words"), "{}", text(&asked));
    assert!(said.contains("Glob") || text(&asked).contains("Glob"), "what it does now: {said}");
    assert!(stage.of("main")[0].system_text().contains("coordinat"), "the main thread delegates");
    let plain = Stage::new(|request| match (request.source(), request.last_tool_results()) {
        ("main", None) => Reply::tool("Agent", task("general", "look around")),
        _ => Reply::text("ok"),
    })
    .set(&json!({"everfold": {"limits": {"agents": {"summary_s": 0}}}}));
    plain.ask("go");
    assert!(plain.of("agent_summary").is_empty(), "only under a coordinator");
}

#[test]
fn l7_8_l4_9_a_sub_agent_compacts_itself_and_the_parent_is_left_alone() {
    let reading = |request: &Received| match (request.source(), request.last_tool_results()) {
        _ if super::asks_for_summary(request) => Reply::text(super::SUMMARY),
        ("main", None) => Reply::tool("Agent", task("general", "read it all")),
        ("agent:general", _) if blocks(request).len() > 60 => Reply::text("Enough."),
        ("agent:general", said) => {
            // Twelve readings, counted over summaries by what was asked for.
            let round = said.map_or(0, |said| said.lines().count());
            if text(request).contains("keep counting") {
                Reply::text("The end.")
            } else {
                Reply::tool("Read", json!({"file_path": "a.txt", "offset": 1 + round % 7}))
            }
        }
        _ => Reply::text("Done."),
    };
    let rules = ServerRules { window: 80_000, ..ServerRules::default() };
    let stage = Stage::with_rules(rules, reading).set(&json!({"autoCompactWindow": 80_000}));
    stage.write("a.txt", &"some line of text to read\n".repeat(1_500));
    let ran = stage.ask("go");
    assert_eq!(ran.out, "Done.\n");
    assert!(results(&stage.last())[0].contains("The end."), "{:?}", results(&stage.last()));
    assert!(stage.marked("compact_boundary").is_empty(), "not the parent's conversation");
    let side = stage.transcript().with_extension("").join("subagents");
    let own = std::fs::read_dir(side)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let compacted = super::lines(&own.unwrap())
        .iter()
        .filter(|line| line["subtype"] == "compact_boundary")
        .count();
    assert!(compacted >= 1, "its own");
    assert!(stage.requests().iter().all(|request| request.refused.is_none()));
}
