//! Skills in whole conversations.

use crate::place::{Place, say, say_ok};
use everfold_engine::EndReason;
use everfold_engine::window::compaction;
use everfold_engine::window::compaction::Compaction;
use everfold_prefix::Message;
use everfold_testkit::{FakeModel, Reply, Scenario, When, oracle};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn start(scenario: Scenario) -> Place {
    Place::new(FakeModel::new(scenario))
}

fn own(place: &Place, name: &str, text: &str) {
    let path = place.dirs.home().join("skills").join(name).join("SKILL.md");
    place.dirs.write(path, text).unwrap();
}

fn messages(place: &Place, index: usize) -> String {
    place.model.requests()[index].body["messages"].to_string()
}

#[tokio::test]
async fn q5_the_model_is_told_once_and_takes_a_skill_up() {
    let place = start(
        Scenario::new()
            .reply(
                Reply::tool("Skill", json!({"skill": "greet", "args": "Ada loudly"}))
                    .and_tool("Skill", json!({"skill": "nonsense"})),
            )
            .otherwise(Reply::text("hello")),
    );
    own(
        &place,
        "greet",
        "---\nname: greet\ndescription: Greets people.\n---\nSay hello to $0, $1. See ${CLAUDE_SKILL_DIR}/x.md",
    );
    own(
        &place,
        "hidden",
        "---\nname: hidden\ndescription: d\ndisable-model-invocation: true\n---\nx",
    );
    own(&place, "broken", "---\nname: broken\ndescription: fix: it\n---\nx");
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "one").await;
    say_ok(&mut session, "two").await;
    let requests = place.model.requests();
    oracle::assert_prefix_stable(&requests);
    let first = messages(&place, 0);
    assert!(first.contains("- greet: Greets people.") && first.contains("- broken: fix: it"));
    assert!(!first.contains("hidden"), "not for the model");
    assert_eq!(messages(&place, 2).matches("Greets people.").count(), 1, "told once");
    let results = requests[1].messages()[2]["content"].clone();
    assert_eq!(results[0]["type"], "tool_result");
    assert!(results[1]["content"].as_str().unwrap().contains("unknown skill \"nonsense\""));
    let text = results[2]["text"].as_str().unwrap();
    assert!(text.contains("Say hello to Ada, loudly. See ") && text.contains("/skills/greet/x.md"));
    assert_eq!(agent.config().setups.skills.problems.len(), 1);
    let names: Vec<Value> =
        requests[0].body["tools"].as_array().unwrap().iter().map(|t| t["name"].clone()).collect();
    assert_eq!(names.last(), Some(&json!("Skill")), "new tools go last");
}

#[tokio::test]
async fn q5_the_person_calls_skills_and_commands_by_a_slash() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    place
        .dirs
        .write(
            place.dirs.home().join("commands/review.md"),
            "Review $ARGUMENTS: !`echo from-shell`",
        )
        .unwrap();
    own(
        &place,
        "secret",
        "---\nname: secret\ndescription: d\nuser-invocable: false\n---\nbody of it",
    );
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "/review the parser").await;
    let sent = messages(&place, 0);
    assert!(sent.contains("/review the parser"));
    assert!(sent.contains("Review the parser: from-shell"), "{sent}");
    say_ok(&mut session, "/secret").await;
    assert!(!messages(&place, 1).contains("body of it"), "not for the person");
    let (mut resumed, _) = agent.resume(session.id().clone()).await.unwrap();
    say_ok(&mut resumed, "more").await;
    oracle::assert_prefix_stable(&place.model.requests());
}

#[tokio::test]
async fn q7_a_hook_can_refuse_the_expansion_of_a_command() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    own(&place, "deploy", "---\nname: deploy\ndescription: d\n---\nDeploy it");
    let refuse = "grep -q '\"command_name\":\"deploy\"' && { echo not today >&2; exit 2; }";
    let settings = json!({"hooks": {"UserPromptExpansion": [
        {"matcher": "deploy", "hooks": [{"type": "command", "command": refuse}]}]}});
    place.dirs.write(place.dirs.home().join("settings.json"), &settings.to_string()).unwrap();
    let agent = place.agent().await;
    let end = say(&mut agent.start(), "/deploy now").await;
    let EndReason::Failed(why) = end.reason else { panic!("{:?}", end.reason) };
    assert!(why.contains("not today"), "{why}");
    assert!(place.model.requests().is_empty());
}

#[tokio::test]
async fn l4_5_skills_in_use_come_back_after_a_compaction_within_their_limits() {
    let long = "tale ".repeat(4_000);
    let place = start(
        Scenario::new()
            .on(When::source("compact"), Reply::text("<summary>gist</summary>"))
            .otherwise(Reply::text(long)),
    );
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        let body = format!("MARK-{name} {}", "word ".repeat(8_000));
        own(&place, name, &format!("---\nname: {name}\ndescription: d\n---\n{body}"));
    }
    let agent = place.agent().await;
    let mut session = agent.start();
    for name in ["a", "b", "c", "d", "e", "f", "g", "b"] {
        say_ok(&mut session, &format!("/{name}")).await;
    }
    let never = CancellationToken::new();
    compaction::compact(&mut session, Compaction::by_hand(None), &never).await.unwrap();
    say_ok(&mut session, "go on").await;
    let last = messages(&place, place.model.requests().len() - 1);
    let back: Vec<&str> = ["a", "b", "c", "d", "e", "f", "g"]
        .into_iter()
        .filter(|n| last.contains(&format!("MARK-{n}")))
        .collect();
    // Five of 5,000 tokens with what is around them, a start of the sixth.
    assert_eq!(back, ["b", "c", "d", "e", "f", "g"], "the oldest is left out");
    assert!(last.contains("It goes on in "), "each is cut");
    assert_eq!(
        last.matches("Skills that you can take up").count(),
        1,
        "and the list is there again"
    );
}

#[tokio::test]
async fn s7_a_repositorys_skill_is_text_until_the_repository_is_trusted() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool("Bash", json!({"command": "touch widened"})))
            .otherwise(Reply::text("ok")),
    );
    let text = "---\nname: evil\ndescription: d\nallowed-tools: Bash\n---\nhere: !`touch ran`";
    place.write(".claude/skills/evil/SKILL.md", text);
    own(
        &place,
        "mine",
        "---\nname: mine\ndescription: d\nallowed-tools: Bash(touch:*)\n---\nhere: !`touch mine`",
    );
    // Nobody says yes.
    let agent =
        place.builder().approver(std::sync::Arc::new(crate::place::RefuseAll)).build().await;
    let exists = |name: &str| place.dirs.project().join(name).exists();
    say_ok(&mut agent.start(), "/evil").await;
    assert!(messages(&place, 0).contains("was not run: the repository is not trusted"));
    assert!(!exists("ran") && !exists("widened"));
    say_ok(&mut agent.start(), "/mine").await;
    assert!(exists("mine"), "its own rule allows its command");
}

#[tokio::test]
async fn q5_a_skill_that_forks_is_carried_out_by_an_agent() {
    let place = start(
        Scenario::new()
            .on(When::user("one"), Reply::tool("Skill", json!({"skill": "survey", "args": "src"})))
            .on(When::source("agent:explore"), Reply::text("There are three files."))
            .otherwise(Reply::text("done")),
    );
    let text = "---\nname: survey\ndescription: Surveys.\ncontext: fork\nagent: explore\n\
                model: haiku\n---\nCount the files in $0.";
    own(&place, "survey", text);
    let text = "---\nname: lost\ndescription: d\ncontext: fork\nagent: nobody\n---\nx";
    own(&place, "lost", text);
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "one").await;
    let sent = place.model.requests_of("agent:explore");
    assert_eq!(sent.len(), 1);
    assert!(sent[0].last_user_text().contains("Count the files in src."));
    assert!(sent[0].model().contains("haiku"));
    let main = place.model.requests_of("main");
    let told = main[1].body["messages"].to_string();
    assert!(told.contains("An agent has carried out the skill survey (completed)"), "{told}");
    assert!(told.contains("There are three files.") && !told.contains("Count the files in src."));
    say_ok(&mut session, "/lost").await;
    let told = place.model.requests_of("main").pop().unwrap().body["messages"].to_string();
    assert!(told.contains("The skill lost was not carried out"));
    oracle::assert_prefix_stable(&place.model.requests_of("main"));
}

#[tokio::test]
async fn q5_a_skill_for_files_is_told_once_one_of_them_is_touched() {
    let place = start(
        Scenario::new()
            .reply(Reply::tool("Read", json!({"file_path": "notes.txt"})))
            .reply(Reply::tool("Read", json!({"file_path": "src/a.rs"})))
            .reply(Reply::tool("Read", json!({"file_path": "src/b.rs"})))
            .otherwise(Reply::text("done")),
    );
    for name in ["notes.txt", "src/a.rs", "src/b.rs"] {
        place.write(name, "x");
    }
    own(&place, "rust", "---\nname: rust\ndescription: For Rust.\npaths: [\"src/**\"]\n---\nx");
    own(&place, "other", "---\nname: other\ndescription: Always.\n---\nx");
    let agent = place.agent().await;
    say_ok(&mut agent.start(), "go").await;
    assert!(
        messages(&place, 0).contains("- other: Always.")
            && !messages(&place, 0).contains("For Rust")
    );
    assert!(!messages(&place, 1).contains("For Rust"));
    assert!(messages(&place, 2).contains("- rust: For Rust."));
    assert_eq!(messages(&place, 3).matches("For Rust.").count(), 1);
    oracle::assert_prefix_stable(&place.model.requests());
}

#[tokio::test]
async fn q6_q7_a_skill_refuses_tools_for_its_turn_and_brings_hooks() {
    let place = start(
        Scenario::new()
            .on(When::user("/careful"), Reply::tool("Bash", json!({"command": "touch one"})))
            .on(When::user("again"), Reply::tool("Bash", json!({"command": "touch two"})))
            .otherwise(Reply::text("done")),
    );
    let text = "---\nname: careful\ndescription: d\ndisallowed-tools: Bash(touch:*)\nhooks:\n  Stop:\n    \
                - hooks:\n        - type: command\n          command: echo stopped >> seen\n---\nBe careful.";
    own(&place, "careful", text);
    let path = place.dirs.project().join(".claude/skills/sly/SKILL.md");
    let sly = text.replace("careful", "sly").replace("stopped", "sly");
    place.dirs.write(path, &sly).unwrap();
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "/careful").await;
    say_ok(&mut session, "again").await;
    say_ok(&mut session, "/sly").await;
    assert!(!place.dirs.project().join("one").exists(), "refused while it was in use");
    assert!(place.dirs.project().join("two").exists(), "and not after");
    let seen = std::fs::read_to_string(place.dirs.project().join("seen")).unwrap();
    assert_eq!(seen, "stopped\n".repeat(3), "once a turn; nobody trusts the repository");
}

#[tokio::test]
async fn l4_5_skills_come_back_within_their_budget_newest_first() {
    let mut scenario = Scenario::new();
    for number in 0..8 {
        let call = Reply::tool("Skill", json!({"skill": format!("big-{number}")}));
        scenario = scenario.on(When::user(format!("take {number}")), call);
    }
    let summary = Reply::text("<summary>They took up skills.</summary>");
    let place =
        start(scenario.always(When::source("compact"), summary).otherwise(Reply::text("done")));
    for number in 0..8 {
        let text = format!(
            "---\nname: big-{number}\ndescription: d\n---\n{}",
            format!("rule {number} is a rule. ").repeat(2_000)
        );
        own(&place, &format!("big-{number}"), &text);
    }
    let agent = place.agent().await;
    let mut session = agent.start();
    for number in 0..8 {
        say_ok(&mut session, &format!("take {number}")).await;
    }
    let never = CancellationToken::new();
    compaction::compact(&mut session, Compaction::by_hand(None), &never).await.unwrap();
    let limits = agent.config().limits;
    let restored: Vec<String> = session
        .fold()
        .messages()
        .iter()
        .flat_map(Message::pieces)
        .map(|piece| piece.block.plain_text())
        .filter(|text| text.contains("is in use. Work by it"))
        .collect();
    let tokens: u64 =
        restored.iter().map(|text| everfold_kernel::tokens::estimate_text(text, &limits).0).sum();
    assert!(tokens <= limits.skills.restore_tokens, "{tokens}");
    assert!(tokens > limits.skills.restore_tokens * 3 / 4, "{tokens}: the room is used");
    let named =
        |number: usize| restored.iter().any(|text| text.contains(&format!("big-{number} ")));
    assert!(named(7) && named(6) && named(5) && named(4) && !named(0) && !named(1));
}
