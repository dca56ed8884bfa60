//! Servers that want to know something, in both revisions.

use super::{LIMIT, Place, up};
use everfold_kernel::limits::McpLimits;
use everfold_kernel::ports::question::Wants;
use everfold_kernel::ports::{BoxFuture, Respondent, ServerAnswer, ServerQuestion, Servers};
use everfold_mcp::McpServers;
use everfold_testkit::mcp::{Revision, asking};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

const BOTH: [Revision; 2] = [Revision::Older, Revision::Newer];

fn form() -> Value {
    json!({"mode": "form", "message": "Who are\u{1b}[31m you?\nIt's for the list.",
        "requestedSchema": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "title": "Your name"}, "age": {"type": "integer"}}}})
}

fn address(url: &str) -> Value {
    json!({"mode": "url", "message": "Please log in.", "url": url, "elicitationId": "e1"})
}

fn server(place: &Place, revision: Revision, question: &Value, timeout_ms: u64) -> McpServers {
    let path = place.dir.path().join("asking.sh");
    std::fs::write(&path, asking(revision, question)).unwrap();
    let entry = json!({"s": {"command": "bash", "args": [path], "timeout": timeout_ms}});
    place.servers(&entry, McpLimits::default())
}

/// Somebody who answers after a while, if at all.
#[derive(Default)]
struct Person {
    answer: Option<Map<String, Value>>,
    after: Duration,
    asked: Mutex<Vec<ServerQuestion>>,
    came: Notify,
    /// Questions that were taken back before they were answered.
    left: Arc<Mutex<u32>>,
}

struct Leaving(Arc<Mutex<u32>>);

impl Drop for Leaving {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

impl Respondent for Person {
    fn respond(&self, question: ServerQuestion) -> BoxFuture<'_, ServerAnswer> {
        self.asked.lock().unwrap().push(question);
        self.came.notify_one();
        Box::pin(async move {
            let leaving = Leaving(Arc::clone(&self.left));
            tokio::time::sleep(self.after).await;
            std::mem::forget(leaving);
            match &self.answer {
                Some(content) => ServerAnswer::Accept(content.clone()),
                None => ServerAnswer::Decline,
            }
        })
    }
}

async fn told(servers: &McpServers, tool: &str, who: Option<Arc<dyn Respondent>>) -> String {
    let called = servers.call("s", tool, Map::new(), who);
    let result = tokio::time::timeout(LIMIT, called).await.unwrap().unwrap();
    result.content[0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn q5_a_question_of_a_server_is_put_to_who_called_in_both_revisions() {
    for revision in BOTH {
        let place = Place::new();
        let servers = server(&place, revision, &form(), 20_000).answering();
        up(&servers).await;
        let content = json!({"name": "Ada", "age": 36}).as_object().cloned();
        let person = Arc::new(Person { answer: content, ..Person::default() });
        let said = told(&servers, "ask", Some(person.clone())).await;
        assert!(said.contains(r#""action":"accept""#), "{said}");
        assert!(said.contains(r#""content":{"name":"Ada","age":36}"#), "{said}");
        if revision == Revision::Newer {
            assert!(said.contains(r#""requestState":"opaque""#), "{said}");
        }
        let asked = person.asked.lock().unwrap().remove(0);
        assert_eq!(asked.server, "s");
        assert_eq!(asked.message, "Who are[31m you?\nIt's for the list.", "nothing that steers");
        let Wants::Form { fields, schema } = asked.wants else { panic!() };
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["name", "age"], "in the server's order");
        assert_eq!(schema["properties"]["name"]["title"], "Your name");
        assert_eq!(told(&servers, "heard", None).await, "yes");
        servers.shutdown().await;
    }
}

#[tokio::test]
async fn q5_a_question_of_a_server_is_declined() {
    for revision in BOTH {
        let place = Place::new();
        let servers = server(&place, revision, &form(), 20_000);
        up(&servers).await;
        assert!(told(&servers, "ask", None).await.contains(r#""action":"decline""#));
        assert_eq!(told(&servers, "heard", None).await, "no", "and nobody is announced");
        servers.shutdown().await;
        let no = server(&place, revision, &form(), 20_000).answering();
        up(&no).await;
        let said = told(&no, "ask", Some(Arc::new(Person::default()))).await;
        assert!(said.contains(r#""action":"decline""#) && !said.contains("content"), "{said}");
        no.shutdown().await;
    }
}

#[tokio::test]
async fn q5_an_address_is_shown_and_nothing_of_it_is_sent() {
    for (url, action, count) in [
        ("https://login.example.org/x", "accept", 1),
        ("file:///etc/passwd", "decline", 0),
        ("javascript:alert(1)", "decline", 0),
    ] {
        let place = Place::new();
        let servers = server(&place, Revision::Older, &address(url), 20_000).answering();
        up(&servers).await;
        let person = Arc::new(Person { answer: Some(Map::new()), ..Person::default() });
        let said = told(&servers, "ask", Some(person.clone())).await;
        assert!(said.contains(&format!(r#""action":"{action}""#)), "{said}");
        assert!(!said.contains("content"), "{said}");
        let asked = std::mem::take(&mut *person.asked.lock().unwrap());
        assert_eq!(asked.len(), count, "{url}");
        if let Some(asked) = asked.first() {
            assert_eq!(asked.wants, Wants::Visit(url.to_owned()));
            assert_eq!(asked.id.as_deref(), Some("e1"));
        }
        servers.shutdown().await;
    }
}

#[tokio::test]
async fn q5_the_time_in_which_a_person_thinks_does_not_count() {
    for revision in BOTH {
        let place = Place::new();
        let servers = server(&place, revision, &form(), 1_000).answering();
        up(&servers).await;
        let content = json!({"name": "Ada"}).as_object().cloned();
        let after = Duration::from_secs(3);
        let person = Arc::new(Person { answer: content, after, ..Person::default() });
        let said = told(&servers, "ask", Some(person)).await;
        assert!(said.contains(r#""action":"accept""#), "{said}");
        servers.shutdown().await;
    }
}

#[tokio::test]
async fn q5_a_call_that_is_given_up_takes_its_question_back() {
    for revision in BOTH {
        let place = Place::new();
        let servers = server(&place, revision, &form(), 20_000).answering();
        up(&servers).await;
        let person = Arc::new(Person { after: Duration::from_hours(1), ..Person::default() });
        let call = servers.call("s", "ask", Map::new(), Some(person.clone()));
        tokio::select! {
            _ = call => panic!("nobody answered"),
            () = person.came.notified() => {}
        }
        for _ in 0..1_000 {
            if *person.left.lock().unwrap() == 1 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(*person.left.lock().unwrap(), 1, "the question is gone");
        // The server is there for the next one.
        let said = told(&servers, "heard", None).await;
        assert!(said == "yes" || said.contains("cancel"), "{said}");
        servers.shutdown().await;
    }
}

#[tokio::test]
async fn q5_beside_a_caller_whom_nobody_answers_for_a_question_is_declined() {
    let place = Place::new();
    let servers = server(&place, Revision::Older, &form(), 20_000).answering();
    up(&servers).await;
    let person = Arc::new(Person { answer: Some(Map::new()), ..Person::default() });
    let nobody = servers.call("s", "ask", Map::new(), None);
    let somebody = servers.call("s", "heard", Map::new(), Some(person.clone()));
    // The server is busy with the first: the second waits meanwhile.
    let one = tokio::select! {
        biased;
        one = nobody => one.unwrap(),
        _ = somebody => panic!("it was answered first"),
    };
    let said = one.content[0]["text"].as_str().unwrap().to_owned();
    assert!(said.contains("decline"), "{said}");
    assert!(person.asked.lock().unwrap().is_empty());
    servers.shutdown().await;
}
