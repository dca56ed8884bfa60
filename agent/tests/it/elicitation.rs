//! What servers want to know, in whole conversations: hooks answer first, then
//! the person, and nobody where there is none.

use crate::place::{Place, say, say_ok};
use everfold_agent::{Agent, EndReason, Turn};
use everfold_kernel::ports::{BoxFuture, Respondent, ServerAnswer, ServerQuestion};
use everfold_testkit::mcp::{Revision, asking};
use everfold_testkit::{Reply, Scenario, TestServer, When, oracle};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

/// Somebody who fills everything in the same way, or never answers.
struct Person {
    answer: Option<ServerAnswer>,
    asked: Mutex<Vec<ServerQuestion>>,
    came: tokio::sync::Notify,
}

impl Person {
    fn new(answer: Option<ServerAnswer>) -> Arc<Self> {
        Arc::new(Self { answer, asked: Mutex::default(), came: tokio::sync::Notify::new() })
    }

    fn named(name: &str) -> Arc<Self> {
        let content = Map::from_iter([("name".to_owned(), json!(name))]);
        Self::new(Some(ServerAnswer::Accept(content)))
    }

    fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Respondent for Person {
    fn respond(&self, question: ServerQuestion) -> BoxFuture<'_, ServerAnswer> {
        self.asked.lock().unwrap().push(question);
        self.came.notify_one();
        let answer = self.answer.clone();
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

fn call(tool: &str) -> Reply {
    Reply::tool("mcp__call", json!({"tool": format!("mcp__s__{tool}"), "arguments": {}}))
}

fn place(scenario: Scenario) -> Place {
    Place::new(TestServer::start(scenario).unwrap())
}

fn asks() -> Place {
    place(Scenario::new().reply(call("ask")).reply(call("heard")).otherwise(Reply::text("done")))
}

async fn with(
    place: &Place,
    revision: Revision,
    hooks: Value,
    person: Option<Arc<Person>>,
) -> Agent {
    let question = json!({"mode": "form", "message": "Who?", "requestedSchema": {
        "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}});
    let path = place.dirs.root().join("asking.sh");
    let path = place.dirs.write(path, &asking(revision, &question)).unwrap();
    let settings = json!({"hooks": hooks, "permissions": {"allow": ["mcp__s"]},
        "mcpServers": {"s": {"command": "bash", "args": [path]}}});
    place.dirs.write(place.dirs.home().join("settings.json"), &settings.to_string()).unwrap();
    let builder = place.builder();
    let builder = match person {
        Some(person) => builder.respondent(person),
        None => builder,
    };
    builder.build().await.unwrap()
}

fn hook(command: &str) -> Value {
    let keep = format!("cat >> \"$CLAUDE_PROJECT_DIR/seen\"; echo >> seen; {command}");
    json!([{"matcher": "s", "hooks": [{"type": "command", "command": keep}]}])
}

fn seen(place: &Place) -> Vec<Value> {
    let text = std::fs::read_to_string(place.dirs.project().join("seen")).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What the model reads of the two calls.
fn told(place: &Place) -> (String, String) {
    let requests = place.server.requests();
    let result = |at: usize| requests[at].last_tool_results().unwrap();
    (result(1), result(2))
}

#[tokio::test]
async fn q5_a_server_asks_the_person_and_hooks_hear_of_it() {
    for revision in [Revision::Older, Revision::Newer] {
        let place = asks();
        let person = Person::named("Ada");
        let hooks = json!({"Elicitation": hook(""), "ElicitationResult": hook(""),
            "Notification": hook("")});
        let agent = with(&place, revision, hooks, Some(person.clone())).await;
        say_ok(&mut agent.start(), "go").await;
        let (answer, heard) = told(&place);
        assert!(answer.contains("accept") && answer.contains("Ada"), "{answer}");
        assert!(heard.contains("yes"), "somebody was announced: {heard}");
        assert_eq!(person.count(), 1);
        agent.shutdown().await;
        let seen = seen(&place);
        assert_eq!(seen[0]["hook_event_name"], "Elicitation");
        assert_eq!((&seen[0]["mcp_server_name"], &seen[0]["mode"]), (&json!("s"), &json!("form")));
        assert_eq!(seen[0]["requested_schema"]["required"], json!(["name"]));
        let result = seen.iter().find(|input| input["action"] == "accept").unwrap();
        assert_eq!(result["content"], json!({"name": "Ada"}));
        oracle::assert_prefix_stable(&place.server.requests());
    }
}

#[tokio::test]
async fn q7_a_hook_answers_a_server_in_the_persons_place_and_without_one() {
    let accept = r#"echo '{"hookSpecificOutput":{"action":"accept","content":{"name":"Hook"}}}'"#;
    for person in [Some(Person::named("Ada")), None] {
        let place = asks();
        let hooks = json!({"Elicitation": hook(accept)});
        let agent = with(&place, Revision::Older, hooks, person.clone()).await;
        say_ok(&mut agent.start(), "go").await;
        let (answer, heard) = told(&place);
        assert!(answer.contains("accept") && answer.contains("Hook"), "{answer}");
        assert!(heard.contains("yes"), "a hook is somebody: {heard}");
        assert_eq!(person.map_or(0, |person| person.count()), 0);
    }
}

#[tokio::test]
async fn q7_hooks_deny_a_question_and_decline_or_change_an_answer() {
    let misfit = r#"echo '{"hookSpecificOutput":{"action":"accept","content":{"name":7}}}'"#;
    let other = r#"echo '{"hookSpecificOutput":{"action":"accept","content":{"name":"Eve"}}}'"#;
    for (event, command, says, count) in [
        ("Elicitation", "echo no >&2; exit 2", "decline", 0),
        ("Elicitation", misfit, "decline", 0),
        ("ElicitationResult", "echo no >&2; exit 2", "decline", 1),
        ("ElicitationResult", other, "Eve", 1),
    ] {
        let place = asks();
        let person = Person::named("Ada");
        let hooks = json!({ event: hook(command) });
        let agent = with(&place, Revision::Older, hooks, Some(person.clone())).await;
        say_ok(&mut agent.start(), "go").await;
        let (answer, _) = told(&place);
        assert!(answer.contains(says) && !answer.contains("Ada"), "{event}: {answer}");
        assert_eq!(person.count(), count, "{event}");
    }
}

#[tokio::test]
async fn q5_where_nobody_sits_a_server_is_declined_and_nobody_is_announced() {
    let place = asks();
    let agent = with(&place, Revision::Newer, json!({}), None).await;
    say_ok(&mut agent.start(), "go").await;
    let (answer, heard) = told(&place);
    assert!(answer.contains("decline"), "{answer}");
    assert!(heard.contains("no"), "{heard}");
}

#[tokio::test]
async fn q5_the_question_of_a_background_agent_is_declined_and_that_of_another_is_asked() {
    for (background, says, count) in [(true, "decline", 0), (false, "Ada", 1)] {
        let order = json!({"description": "d", "prompt": "ask", "run_in_background": background});
        let place = place(
            Scenario::new()
                .on(When::source("agent:general"), call("ask"))
                .always(When::source("agent:general"), Reply::text("asked"))
                .reply(Reply::tool("Agent", order))
                .otherwise(Reply::text("done")),
        );
        let person = Person::named("Ada");
        let agent = with(&place, Revision::Older, json!({}), Some(person.clone())).await;
        let mut session = agent.start();
        say_ok(&mut session, "go").await;
        place.server.wait_for_requests(4).await.unwrap();
        let requests = place.server.requests();
        let mut own = requests.iter().filter(|request| request.source() == "agent:general");
        let answer = own.find_map(everfold_testkit::Received::last_tool_results).unwrap();
        assert!(answer.contains(says), "{answer}");
        assert_eq!(person.count(), count);
    }
}

#[tokio::test]
async fn q5_stopping_a_turn_takes_the_question_back() {
    for revision in [Revision::Older, Revision::Newer] {
        let place = asks();
        let person = Person::new(None);
        let agent = with(&place, revision, json!({}), Some(person.clone())).await;
        let mut session = agent.start();
        let turn = Turn::new(&mut session, "go");
        let stop = turn.canceller();
        let waiting = async {
            person.came.notified().await;
            stop.cancel();
        };
        let (end, ()) = tokio::join!(turn.end(), waiting);
        assert_eq!(end.unwrap().reason, EndReason::Cancelled);
        // The conversation goes on.
        let end = say(&mut session, "go on").await;
        assert_eq!(end.reason, EndReason::Completed);
    }
}
