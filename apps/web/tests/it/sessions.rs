//! Sessions and money on the page.

use crate::stage::{Stage, Visitor, claude_lines};
use everfold_page::PageAccess;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

const ID: &str = "33333333-3333-4333-8333-333333333333";

fn key(visitor: &Visitor, id: &str) -> String {
    let page = visitor.get(&format!("/sessions?q={id}")).ok();
    page.body.split("href=\"/sessions/").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[test]
fn w2_sessions_of_every_agent_are_listed_searched_and_sorted() {
    let stage = Stage::new();
    let visitor = stage.open(PageAccess::Full);
    visitor.get("/sessions").ok().has("No sessions on this machine yet");
    stage.claude_session(ID, 12, "fix the login");
    stage.claude_session("44444444-4444-4444-8444-444444444444", 3, "write the docs");
    let pi = stage.files.home().join(".pi/agent/sessions/x/p.jsonl");
    std::fs::create_dir_all(pi.parent().unwrap()).unwrap();
    std::fs::write(
        &pi,
        concat!(
            r#"{"type":"session","id":"pi-1","cwd":"/home/u/pi","timestamp":"2026-01-01T10:00:00Z"}"#, "\n",
            r#"{"type":"message","timestamp":"2026-01-01T10:00:01Z","message":{"role":"user","content":"hello pi"}}"#, "\n",
        ),
    )
    .unwrap();
    // The first page came before them; what is new is looked for again.
    std::thread::sleep(Duration::from_millis(800));
    visitor.get("/sessions");
    std::thread::sleep(Duration::from_millis(200));
    let page = visitor.get("/sessions").ok();
    page.has("fix the login (0)")
        .has("write the docs (0)")
        .has("hello pi")
        .has("Claude Code")
        .has("/home/u/shop");
    visitor.get("/sessions?q=login").ok().has("fix the login").lacks("write the docs");
    visitor.get("/sessions?agent=pi").ok().has("hello pi").lacks("login (0)");
    let sorted = visitor.get("/sessions?sort=requests").ok().body;
    assert!(sorted.find("login (0)").unwrap() < sorted.find("docs (0)").unwrap());
    visitor.get("/sessions?q=nothing+like+it").ok().has("No matching sessions");
}

#[test]
fn w2_one_session_shows_its_window_its_cache_and_its_messages() {
    let stage = Stage::new();
    let path = stage.claude_session(ID, 40, "fix the login");
    // A break: the cache is lost within its lifetime.
    let text = std::fs::read_to_string(&path).unwrap();
    let broken = text.replace(
        r#""cache_read_input_tokens":22000,"cache_creation_input_tokens":700"#,
        r#""cache_read_input_tokens":4000,"cache_creation_input_tokens":18700"#,
    );
    assert_ne!(text, broken);
    std::fs::write(&path, broken).unwrap();
    let visitor = stage.open(PageAccess::Full);
    let key = key(&visitor, ID);
    let page = visitor.get(&format!("/sessions/{key}")).ok();
    page.has("reconstructed")
        .has("svg class=\"window\"")
        .has("request 1: ")
        .has("read from the cache");
    page.has("Cache breaks").has("request 21").has("What it cost, and why");
    page.has("80 messages").has("page 1 of 2");
    // By its id as well.
    visitor.get(&format!("/sessions/{ID}")).ok().has("80 messages");
    let request = visitor.get(&format!("/sessions/{key}/requests/21")).ok();
    request.has("system prompt and tools").has("Cache break").has("18,700 tokens");
    assert_eq!(visitor.get(&format!("/sessions/{key}/requests/0")).status, 404);
    assert_eq!(visitor.get(&format!("/sessions/{key}/requests/41")).status, 404);
    let message = visitor.get(&format!("/sessions/{key}/messages/3")).ok();
    message.has("fix the login (1)").has("Next →").has("← Previous");
    visitor.get(&format!("/sessions/{key}?show=said&q=login")).ok().has("40 messages");
    visitor.get(&format!("/sessions/{key}?show=failed")).ok().has("0 messages");
}

#[test]
fn w3_our_own_log_is_exact() {
    let stage = Stage::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let id = runtime.block_on(async {
        let agent = everfold_agent::Agent::builder(stage.files.project())
            .environment(BTreeMap::new(), Some(stage.files.home()))
            .build()
            .await
            .unwrap();
        let mut session = agent.start();
        everfold_agent::Turn::new(&mut session, "say hello to the page").end().await.unwrap();
        session.id().to_string()
    });
    let visitor = stage.open(PageAccess::Full);
    let page = visitor.get(&format!("/sessions/{}", key(&visitor, &id))).ok();
    page.has(">exact<").has("say hello to the page").has("svg class=\"window\"");
}

/// Bodies that Claude Code left (CONTRACTS 7.1) make its windows exact, and go.
#[test]
fn w3_observed_requests_are_exact() {
    let stage = Stage::new();
    stage.claude_session(ID, 3, "fix the login");
    let folder = stage.files.home().join(".everfold/observed/claude/bodies");
    std::fs::create_dir_all(&folder).unwrap();
    let mut index = String::new();
    for number in 0..3 {
        let user =
            serde_json::json!({"session_id": ID, "account_uuid": "mia@example.com"}).to_string();
        let request = serde_json::json!({"system": "s".repeat(20_000), "tools": [], "messages":
            [{"role": "user", "content": "fix the login"}], "metadata": {"user_id": user}});
        std::fs::write(folder.join(format!("{number}.request.json")), request.to_string()).unwrap();
        let line = serde_json::json!({"session_id": ID, "message_id": format!("msg{ID}{number}"),
            "request_file": format!("{number}.request.json")});
        index = format!("{index}{line}\n");
    }
    std::fs::write(folder.join("index.jsonl"), index).unwrap();
    let visitor = stage.open(PageAccess::Full);
    let key = key(&visitor, ID);
    let page = visitor.get(&format!("/sessions/{key}")).ok();
    page.has(">exact<").has("3 of 3 requests as Claude Code sent them");
    // Nearly all of it is the system prompt, as the bytes say.
    let request = visitor.get(&format!("/sessions/{key}/requests/3")).ok();
    request.has("system prompt and tools</th><td class=\"number\">10,09");
    let left: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["index.jsonl"]);
}

#[test]
fn w5_money_by_day_project_agent_model_and_cause() {
    let stage = Stage::new();
    stage.claude_session(ID, 30, "fix the login");
    let visitor = stage.open(PageAccess::Full);
    let money = visitor.get("/money").ok();
    money.has("30 requests").has("other answers").has("How to reduce it").has("Background budget");
    for (by, part) in [
        ("project", "/home/u/shop"),
        ("agent", "Claude Code"),
        ("model", "claude-opus-4-5"),
        ("week", "20"),
        ("month", "20"),
    ] {
        visitor.get(&format!("/money?by={by}&days=7")).ok().has(part);
    }
    visitor.get("/money?by=nonsense&days=-5").ok();
    visitor.get("/").ok().has("spent today").has("fix the login");
    visitor.get("/health?of=week").ok().has("the last seven days");
    visitor.get("/settings?q=everfold.budget").ok().has("everfold.budget.daily_usd").has("default");
    visitor.get("/settings?set=1").ok();
}

/// A session that goes on tells its page.
#[test]
fn w2_a_running_session_is_followed() {
    let stage = Stage::new();
    let path = stage.claude_session(ID, 5, "fix the login");
    let visitor = stage.open(PageAccess::Full);
    let key = key(&visitor, ID);
    let page = visitor.get(&format!("/sessions/{key}")).ok();
    let address =
        page.body.split("data-live=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let mut stream = TcpStream::connect(&visitor.host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let cookie = visitor.cookie.clone().unwrap();
    write!(stream, "GET {address} HTTP/1.1\r\nHost: {}\r\nCookie: {cookie}\r\n\r\n", visitor.host)
        .unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.next().unwrap().contains("200"));
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(claude_lines(ID, 5..7, "and the logout").as_bytes()).unwrap();
    assert!(lines.any(|line| line == "event: changed"));
    visitor.get(&format!("/sessions/{key}")).ok().has("and the logout (6)").has("request 7: ");
    // Without the cookie nobody is told.
    let stranger = Visitor { cookie: None, ..visitor };
    assert_eq!(stranger.get(&address).status, 401);
}
