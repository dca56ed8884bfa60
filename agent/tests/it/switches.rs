//! Kill switches and limits that change while a session runs (Q3, L1.6).

use crate::memory::{dir_in, watched};
use crate::place::{Place, say, say_ok};
use everfold_agent::{Agent, Builder, EndReason, Event};
use everfold_kernel::Flag;
use everfold_testkit::{Reply, Scenario, ServerRules, TestServer, When, oracle};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A builder whose environment leaves the switches to files.
fn builder(place: &Place) -> Builder {
    place.builder_with(&[("EVERFOLD_LIMIT_FLAG_POLL_S", "1")])
}

fn settings(place: &Place) -> PathBuf {
    place.dirs.home().join("settings.json")
}

fn write_settings(place: &Place, everfold: &Value) {
    place.dirs.write(settings(place), &json!({ "everfold": everfold }).to_string()).unwrap();
}

fn notices(events: &[Event]) -> Vec<&str> {
    let mut told = Vec::new();
    for event in events {
        if let Event::Notice(text) = event {
            told.push(text.as_str());
        }
    }
    told
}

/// Each turn counts to a number and then says so.
fn counting(turns: usize, to: u32) -> Place {
    let command = json!({"command": format!("seq 1 {to}")});
    let scenario = (0..turns).fold(Scenario::new(), |scenario, _| {
        scenario.reply(Reply::tool("Bash", command.clone())).reply(Reply::text("counted"))
    });
    Place::new(TestServer::start(scenario).unwrap())
}

fn last_results(place: &Place) -> String {
    place.server.requests().last().unwrap().last_tool_results().unwrap()
}

const SPILLED: &str = "<persisted-output>";

#[tokio::test]
async fn l1_6_a_lower_cap_holds_from_the_next_turn_and_sent_bytes_stay() {
    let place = counting(5, 2_000);
    let agent = builder(&place).build().await.unwrap();
    let mut session = agent.start();
    say_ok(&mut session, "count").await;
    let whole = last_results(&place);
    assert!(!whole.contains(SPILLED) && whole.len() > 8_000, "{}", whole.len());

    write_settings(&place, &json!({"limits": {"offload": {"bash_chars": 4_000}}}));
    let events = watched(&mut session, "count again").await;
    assert!(last_results(&place).starts_with(SPILLED));
    let told = notices(&events);
    assert!(told.iter().any(|text| text.contains("offload.bash_chars 4000")), "{told:?}");

    let events = watched(&mut session, "once more").await;
    assert!(last_results(&place).starts_with(SPILLED));
    assert!(notices(&events).is_empty(), "told once: {:?}", notices(&events));

    write_settings(&place, &json!({"limits": {"offload": {"tool_chars": {"Bash": 20_000}}}}));
    say_ok(&mut session, "and now").await;
    assert_eq!(last_results(&place), whole);
    oracle::assert_prefix_stable(&place.server.requests());

    // What the log has is what was sent, whatever the caps are by now.
    let (mut resumed, _) = agent.resume(session.id().clone()).await.unwrap();
    say_ok(&mut resumed, "go on").await;
    oracle::assert_prefix_stable(&place.server.requests());
}

#[tokio::test]
async fn l1_6_limits_of_tools_follow_too() {
    let scenario = (0..2).fold(Scenario::new(), |scenario, _| {
        scenario
            .reply(Reply::tool("Grep", json!({"pattern": "word", "output_mode": "content"})))
            .reply(Reply::text("found"))
    });
    let place = Place::new(TestServer::start(scenario).unwrap());
    place.write("words.txt", &"a word\n".repeat(50));
    let agent = builder(&place).build().await.unwrap();
    let mut session = agent.start();
    say_ok(&mut session, "look").await;
    let count = |place: &Place| last_results(place).matches("a word").count();
    assert_eq!(count(&place), 50);
    write_settings(&place, &json!({"limits": {"grep_lines": 5}}));
    say_ok(&mut session, "look again").await;
    assert_eq!(count(&place), 5);
    oracle::assert_prefix_stable(&place.server.requests());
}

/// A place whose reviews keep one memory each.
fn reviewed() -> Place {
    let server = TestServer::with_handler(ServerRules::default(), |request| {
        match (request.source(), dir_in(request)) {
            ("extract", Some(dir)) => {
                let text = "---\nname: Tea\ndescription: likes tea\nmetadata:\n  type: user\n---\n\n\
                            They like tea.\n";
                Reply::default()
                    .and_tool("Write", json!({"file_path": dir.join("tea.md"), "content": text}))
            }
            _ => Reply::text("ok"),
        }
    });
    Place::new(server.unwrap())
}

/// An agent whose environment says nothing of reviews.
async fn by_flag_file(place: &Place, flags: &str) -> (Agent, PathBuf) {
    let path = place.dirs.root().join("flags.json");
    std::fs::write(&path, flags).unwrap();
    write_settings(place, &json!({"flag_source": {"file": path}, "limits": {"flag_poll_s": 1}}));
    let agent = place.builder_without(&["EVERFOLD_FLAG_EXTRACT"]).build().await.unwrap();
    (agent, path)
}

async fn until(agent: &Agent, what: impl Fn(&everfold_agent::Config) -> bool) {
    let start = Instant::now();
    while !what(&agent.config()) {
        assert!(start.elapsed() < Duration::from_secs(20), "the flag source was not followed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

const TEA: &str = "Remember that I like tea best of all, in every season of the year.";

#[tokio::test]
async fn q3_a_switch_of_the_flag_file_holds_from_the_next_turn_on() {
    let place = reviewed();
    let (agent, path) = by_flag_file(&place, r#"{"flags": {"extract": true}}"#).await;
    let mut session = agent.start();
    watched(&mut session, TEA).await;
    let reviews = place.server.requests_of("extract").len();
    assert!(reviews > 0, "a review is made");

    std::fs::write(&path, r#"{"flags": {"extract": false}}"#).unwrap();
    until(&agent, |config| !config.flags.is_on(Flag::Extract)).await;
    let events = watched(&mut session, TEA).await;
    assert_eq!(place.server.requests_of("extract").len(), reviews, "no request arrives");
    let told = notices(&events);
    assert!(told.iter().any(|text| text.contains("extract off")), "{told:?}");

    std::fs::write(&path, r#"{"flags": {"extract": true}}"#).unwrap();
    until(&agent, |config| config.flags.is_on(Flag::Extract)).await;
    watched(&mut session, TEA).await;
    assert!(place.server.requests_of("extract").len() > reviews, "and again");
    oracle::assert_prefix_stable(&place.server.requests_of("main"));
}

#[tokio::test]
async fn q3_a_broken_flag_file_keeps_the_last_values_and_is_told_once() {
    let place = reviewed();
    let (agent, path) = by_flag_file(&place, r#"{"flags": {"extract": false}}"#).await;
    let mut session = agent.start();
    watched(&mut session, TEA).await;
    std::fs::remove_file(&path).unwrap();
    let start = Instant::now();
    let mut told = Vec::new();
    while told.is_empty() && start.elapsed() < Duration::from_secs(20) {
        let events = watched(&mut session, TEA).await;
        told = notices(&events).into_iter().map(str::to_owned).collect();
    }
    assert!(told.iter().any(|text| text.contains("stay as they were")), "{told:?}");
    let events = watched(&mut session, TEA).await;
    assert!(notices(&events).is_empty(), "{:?}", notices(&events));
    assert!(place.server.requests_of("extract").is_empty());
}

#[tokio::test]
async fn q3_settings_that_break_or_go_keep_the_last_values_and_are_told_once() {
    let place = counting(6, 2_000);
    write_settings(&place, &json!({"limits": {"offload": {"bash_chars": 4_000}}}));
    let agent = builder(&place).build().await.unwrap();
    let mut session = agent.start();
    say_ok(&mut session, "count").await;
    assert!(last_results(&place).starts_with(SPILLED));

    std::fs::write(settings(&place), "{ broken").unwrap();
    let events = watched(&mut session, "count").await;
    assert!(last_results(&place).starts_with(SPILLED));
    let told = notices(&events);
    assert!(matches!(told[..], [one] if one.contains("settings.json")), "{told:?}");
    let events = watched(&mut session, "count").await;
    assert!(notices(&events).is_empty(), "{:?}", notices(&events));

    write_settings(&place, &json!({"limits": {"offload": {"bash_chars": 40_000}}}));
    watched(&mut session, "count").await;
    assert!(!last_results(&place).starts_with(SPILLED), "it is read again once it is whole");

    std::fs::remove_file(settings(&place)).unwrap();
    let events = watched(&mut session, "count").await;
    assert!(!last_results(&place).starts_with(SPILLED));
    let told = notices(&events);
    assert!(matches!(told[..], [one] if one.contains("gone")), "{told:?}");
    oracle::assert_prefix_stable(&place.server.requests());
}

#[tokio::test]
async fn q3_what_the_prelude_was_made_with_stays_until_a_new_session() {
    let place = counting(2, 10);
    let agent = builder(&place).build().await.unwrap();
    let mut session = agent.start();
    say_ok(&mut session, "count").await;
    write_settings(
        &place,
        &json!({"limits": {"max_output_tokens": 1_234}, "flags": {"daily_logs": true}}),
    );
    let events = watched(&mut session, "count").await;
    let told = notices(&events);
    assert!(
        matches!(told[..], [one] if one.contains("new sessions only: daily_logs on, max_output_tokens 1234")),
        "{told:?}"
    );
    let requests = place.server.requests();
    let asked = |at: usize| requests[at].body["max_tokens"].clone();
    assert_eq!(asked(0), asked(requests.len() - 1));
    oracle::assert_prefix_stable(&requests);
    assert_eq!(agent.start().config().limits.max_output_tokens, 1_234);
}

#[tokio::test]
async fn q3_what_a_session_was_started_with_by_hand_stays() {
    let place = counting(2, 2_000);
    let agent = builder(&place).build().await.unwrap();
    let mut config = agent.config();
    let mut limits = (*config.limits).clone();
    limits.offload.bash_chars = 4_000;
    config.limits = limits.into();
    let mut session = everfold_agent::Session::new(
        "by-hand".into(),
        agent.world().clone(),
        config,
        agent.toolbox().clone(),
    );
    say_ok(&mut session, "count").await;
    assert!(last_results(&place).starts_with(SPILLED));
    write_settings(&place, &json!({"limits": {"read_lines": 7}}));
    say_ok(&mut session, "count").await;
    assert!(last_results(&place).starts_with(SPILLED));
    assert_eq!(session.config().limits.read_lines, 7);
}

#[tokio::test]
async fn l1_6_a_result_that_was_sent_and_not_answered_keeps_its_bytes() {
    let count = || Reply::tool("Bash", json!({"command": "seq 1 2000"}));
    let scenario = Scenario::new()
        .reply(count())
        .reply(Reply::error(400, "not now"))
        .reply(Reply::text("counted"))
        .reply(count())
        .reply(Reply::text("counted"));
    let place = Place::new(TestServer::start(scenario).unwrap());
    let agent = builder(&place).build().await.unwrap();
    let mut session = agent.start();
    let end = say(&mut session, "count").await;
    assert!(matches!(end.reason, EndReason::Failed(_)), "{:?}", end.reason);
    write_settings(&place, &json!({"limits": {"offload": {"bash_chars": 4_000}}}));
    say_ok(&mut session, "go on").await;
    assert!(!last_results(&place).contains(SPILLED));
    say_ok(&mut session, "count again").await;
    assert!(last_results(&place).starts_with(SPILLED), "the cap holds once there was an answer");
    oracle::assert_prefix_stable(&place.server.requests());
}

#[tokio::test]
async fn q3_the_past_is_no_longer_searched_and_searched_again() {
    let place =
        Place::new(TestServer::start(Scenario::new().otherwise(Reply::text("ok"))).unwrap());
    let agent = builder(&place).build().await.unwrap();
    let mut session = agent.start();
    for on in [true, false, true] {
        write_settings(&place, &json!({"flags": {"past_search": on}}));
        say_ok(&mut session, "go on").await;
        assert_eq!(session.context().world.past.is_some(), on);
    }
    oracle::assert_prefix_stable(&place.server.requests());
}

#[tokio::test]
async fn l1_6_agents_that_start_later_go_by_the_new_caps() {
    let task = json!({"description": "count", "prompt": "count", "subagent_type": "general"});
    let agents = || When::source("agent:general");
    let count = || Reply::tool("Bash", json!({"command": "seq 1 2000"}));
    let scenario = (0..2).fold(Scenario::new(), |scenario, _| {
        scenario
            .on(agents(), count())
            .on(agents(), Reply::text("counted"))
            .on(When::source("main"), Reply::tool("Agent", task.clone()))
            .on(When::source("main"), Reply::text("done"))
    });
    let place = Place::new(TestServer::start(scenario).unwrap());
    let agent = builder(&place).build().await.unwrap();
    let mut session = agent.start();
    let counted = |place: &Place| {
        let requests = place.server.requests_of("agent:general");
        requests.last().unwrap().last_tool_results().unwrap()
    };
    say_ok(&mut session, "count").await;
    assert!(!counted(&place).contains(SPILLED));
    write_settings(&place, &json!({"limits": {"offload": {"bash_chars": 4_000}}}));
    say_ok(&mut session, "count").await;
    assert!(counted(&place).starts_with(SPILLED));
    oracle::assert_prefix_stable(&place.server.requests_of("main"));
}
