//! What is kept after a turn, by the program.

use crate::desk::{Desk, Ran, Running};
use everfold_testkit::{Reply, ServerRules, TempHome, TestServer};
use serde_json::json;

const PROMPT: &str = "Use a real database in the integration tests, not mocks.";

fn keeping() -> Desk {
    let server = TestServer::with_handler(ServerRules::default(), |request| {
        let text = request.last_user_text();
        let dir = text.split_once("each as `").and_then(|(_, rest)| rest.split_once("/its_topic"));
        match dir {
            Some((dir, _)) => {
                let content = "---\nname: Real databases\ndescription: integration tests use a real \
                               database, not mocks\ntype: feedback\n---\nUse a real database.\n";
                let path = format!("{dir}/real_db.md");
                Reply::tool("Write", json!({"file_path": path, "content": content}))
            }
            None => Reply::text("I will."),
        }
    });
    Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) }
}

fn run(desk: &Desk, args: &[&str], input: Option<&str>) -> Ran {
    let mut command = desk.command(args);
    let input = input.map(|text| text.as_bytes().to_vec());
    Running::start(command.env("EVERFOLD_FLAG_EXTRACT", "1"), input).end().ok()
}

#[test]
fn l5_15_a_headless_run_waits_for_its_review_and_tells_what_was_saved() {
    let desk = keeping();
    let ran = run(&desk, &["-p", PROMPT], None);
    assert_eq!(ran.out, "I will.\n");
    assert!(ran.err.contains("note: memory: saved project/real_db.md"), "{}", ran.err);
    let list = || desk.run(&["memory", "list", "--json"]).ok().out;
    assert!(list().contains("real_db.md"));
    let blame = desk.run(&["memory", "blame", "real_db.md"]).ok().out;
    assert!(blame.contains("extract"), "{blame}");
    // What the background took is a line of its own (L5.27).
    let cost = desk.run(&["cost"]).ok().out;
    assert!(cost.lines().any(|line| line.starts_with("extract")), "{cost}");
    desk.run(&["memory", "undo"]).ok();
    assert!(!list().contains("real_db.md"));
}

#[test]
fn l5_19_q8_without_a_key_the_program_keeps_by_rule_and_says_so() {
    let desk = Desk::offline();
    let ran = run(&desk, &["-p", "Remember that we deploy on Fridays."], None);
    let told = "note: memory: saved project/we-deploy-on-fridays.md (by rule, without a model)";
    assert!(ran.err.contains(told), "{}", ran.err);
    let shown = desk.run(&["memory", "show", "we-deploy-on-fridays.md"]).ok().out;
    assert!(shown.contains("rule: remember") && shown.contains("We deploy on Fridays"), "{shown}");
}

#[test]
fn l5_37_what_was_asked_for_is_kept_though_the_review_fails() {
    let server =
        TestServer::with_handler(ServerRules::default(), |request| match request.source() {
            "extract" => Reply::error(500, "out of order"),
            _ => Reply::text("I will."),
        });
    let desk = Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) };
    let ran = run(&desk, &["-p", "Remember that we deploy on Fridays."], None);
    let told = "note: memory: saved project/we-deploy-on-fridays.md (by rule, without a model)";
    assert!(ran.err.contains(told), "{}", ran.err);
    // Nobody waits for it, and it is done later: it is not tried for a minute.
    let tries = desk.server().requests_of("extract").len();
    assert!((1..=3).contains(&tries), "{tries}");
}

#[test]
fn l5_15_l5_27_a_conversation_tells_what_was_saved_and_what_it_cost() {
    let desk = keeping();
    let ran = run(&desk, &[], Some(&format!("{PROMPT}\n")));
    assert!(ran.out.contains("--- memory: saved project/real_db.md"), "{}", ran.out);
    let cost = run(&desk, &["-c"], Some("/cost\n")).out;
    assert!(cost.lines().any(|line| line.starts_with("extract")), "{cost}");
}

#[test]
fn l5_38_what_is_about_the_person_is_kept_for_all_projects_and_the_rest_here() {
    let desk = Desk::offline();
    let said = "Remember that we deploy on Fridays. I prefer British spelling.";
    let ran = run(&desk, &["-p", said], None);
    let list = desk.run(&["memory", "list", "--json"]).ok().json();
    let rows = list.as_array().unwrap();
    assert_eq!(rows.len(), 2, "{list} {}", ran.err);
    let of = |scope: &str| rows.iter().find(|row| row["scope"] == scope).unwrap();
    let (here, everywhere) = (of("project"), of("global"));
    assert!(here["preview"].as_str().unwrap().contains("deploy on Fridays"), "{list}");
    assert!(everywhere["preview"].as_str().unwrap().contains("British spelling"), "{list}");
    assert_eq!(everywhere["type"], "user", "{list}");
    assert!(!here.to_string().contains("spelling"), "each is one fact: {list}");
    // Both are told, with what takes them back (L5.41).
    for scope in ["project", "global"] {
        let hint = format!("everfold memory undo 1 --scope {scope}");
        assert!(ran.err.contains(&hint), "{}", ran.err);
    }
}
