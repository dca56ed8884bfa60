//! When something fails, a memory that knows the cause joins (R17); and who is
//! asked for memories (R18).

use crate::memory::{dir_of, write};
use crate::place::{Agent, Place, Turn, say_ok};
use everfold_engine::Event;
use everfold_kernel::ports::MemoryScope;
use everfold_testkit::{FakeModel, Received, Reply, Scenario, When, oracle};
use serde_json::json;

const CAUSE: &str = "---\nname: SQLITE_BUSY\ndescription: why SQLITE_BUSY comes up in db_main\n\
                     type: project\n---\nStop the watcher first, it holds db_main open.\n";
const OTHER: &str = "---\nname: Tests\ndescription: how the tests of the shop are run\n\
                     type: project\n---\nRun make check before a build; it failed once with an error.\n";
/// A command that fails as a program would.
const FAILS: &str =
    "echo 'Error: SQLITE_BUSY: db_main is locked (build failed, 3 tests)' >&2; exit 5";

fn failing(commands: &[&str]) -> Place {
    let mut scenario = Scenario::new();
    for command in commands {
        scenario = scenario.reply(Reply::tool("Bash", json!({"command": command})));
    }
    Place::new(FakeModel::new(scenario.otherwise(Reply::text("ok"))))
}

async fn agent(place: &Place, settings: &[(&str, bool)]) -> Agent {
    let builder = settings.iter().fold(place.builder(), |b, (key, on)| b.set(key, *on));
    let agent = builder.build().await;
    let dir = dir_of(&agent, MemoryScope::Project);
    write(&dir, "busy.md", CAUSE);
    write(&dir, "tests.md", OTHER);
    agent
}

fn last_content(request: &Received) -> Vec<serde_json::Value> {
    request.messages().last().unwrap()["content"].as_array().unwrap().clone()
}

#[tokio::test]
async fn r17_a_memory_that_knows_the_cause_joins_behind_the_failed_result() {
    let place = failing(&[FAILS, FAILS]);
    let agent = agent(&place, &[]).await;
    let mut session = agent.start();
    let mut turn = Turn::new(&mut session, "go");
    let mut recalled = Vec::new();
    while let Some(event) = turn.next().await {
        if let Event::Recalled { paths } = event {
            recalled.extend(paths);
        }
    }
    turn.end().await.unwrap();
    assert_eq!(recalled, [dir_of(&agent, MemoryScope::Project).join("busy.md")]);
    let requests = place.model.requests_of("main");
    let content = last_content(&requests[1]);
    assert_eq!(content[0]["type"], "tool_result");
    let memory = content[1]["text"].as_str().unwrap();
    assert!(memory.contains("Stop the watcher first"), "{memory}");
    assert!(!memory.contains("make check"), "words of any log bring in nothing: {memory}");
    let all = requests.last().unwrap().body.to_string();
    assert_eq!(all.matches("Stop the watcher first").count(), 1, "once, whatever fails again");
    assert!(place.model.requests_of("recall").is_empty(), "no model is asked");
    oracle::assert_prefix_stable(&requests);
}

#[tokio::test]
async fn r17_what_went_well_or_says_nothing_distinctive_is_not_looked_up() {
    let well = FAILS.replace("exit 5", "true");
    for command in [well.as_str(), "echo 'the build of the shop failed with an error'; exit 1"] {
        let place = failing(&[command]);
        let agent = agent(&place, &[]).await;
        say_ok(&mut agent.start(), "go").await;
        let last = place.model.requests_of("main").pop().unwrap();
        assert_eq!(last_content(&last).len(), 1, "{command}: {}", last.body);
    }
}

#[tokio::test]
async fn r17_c6_a_setting_and_the_switch_of_recall_turn_it_off() {
    for off in ["/everfold/recall/on_failure", "/everfold/flags/recall"] {
        let place = failing(&[FAILS]);
        let agent = agent(&place, &[(off, false)]).await;
        say_ok(&mut agent.start(), "go").await;
        let last = place.model.requests_of("main").pop().unwrap();
        assert!(!last.body["messages"].to_string().contains("watcher"), "{off}");
    }
}

#[tokio::test]
async fn r18_a_sure_ranking_serves_at_once_and_a_silent_one_asks_nobody() {
    let scenario = Scenario::new()
        .always(When::source("recall"), Reply::text(r#"{"selected_memories": ["tests.md"]}"#))
        .otherwise(Reply::text("ok"));
    let place = Place::new(FakeModel::new(scenario));
    let agent = agent(&place, &[]).await;
    let mut session = agent.start();
    say_ok(&mut session, "why does SQLITE_BUSY come up in db_main?").await;
    let first = place.model.requests_of("main").remove(0);
    assert!(first.body.to_string().contains("Stop the watcher first"), "with the first request");
    say_ok(&mut session, "paint a picture of oolong leaves").await;
    say_ok(&mut session, "thank you").await;
    assert!(place.model.requests_of("recall").is_empty(), "nobody is asked");
}
