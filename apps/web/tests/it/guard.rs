//! Who may ask, and what the answers let a browser do.

use crate::stage::{Stage, Visitor, form};
use everfold_page::PageAccess;

fn with(visitor: &Visitor, name: &str, value: &str) -> Vec<(String, String)> {
    let mut headers = visitor.usual();
    headers.retain(|(own, _)| own != name);
    headers.push((name.to_owned(), value.to_owned()));
    headers
}

#[test]
fn w1_without_the_key_nothing_is_shown() {
    let stage = Stage::new();
    stage.remember("Deploy day", "Deploys happen on Tuesdays", "The rota is why.");
    let visitor = stage.open(PageAccess::Full);
    visitor.get("/memories").ok().has("Deploy day");
    assert!(visitor.url.starts_with("http://127.0.0.1:"));
    let stranger = Visitor { cookie: None, ..visitor.clone() };
    for path in
        ["/", "/memories", "/sessions", "/settings", "/nothing", "/memories/project/deploy-day.md"]
    {
        let answer = stranger.get(path);
        assert_eq!(answer.status, 401, "{path}");
        answer.lacks("Deploy").has("everfold web");
    }
    for word in ["", "x", &"0".repeat(48), &visitor.token[1..]] {
        let answer = stranger.get(&format!("/?token={word}"));
        assert_eq!((answer.status, answer.header("set-cookie")), (401, None), "{word}");
    }
    let wrong =
        Visitor { cookie: Some("everfold_1=x; everfold_2=y".to_owned()), ..visitor.clone() };
    assert_eq!(wrong.get("/").status, 401);
    // The key of the address is not the cookie, and the cookie is for us alone.
    let entered = visitor.get(&format!("/?token={}", visitor.token));
    let cookie = entered.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(&visitor.token));
}

#[test]
fn w1_only_our_own_name_is_answered() {
    let stage = Stage::new();
    let visitor = stage.open(PageAccess::Full);
    let port = visitor.host.split(':').nth(1).unwrap();
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:80", "[::1]"] {
        let answer = visitor.ask("GET", "/", &with(&visitor, "Host", host), "");
        assert_eq!(answer.status, 421, "{host}");
    }
    let localhost = format!("localhost:{port}");
    assert_eq!(visitor.ask("GET", "/", &with(&visitor, "Host", &localhost), "").status, 200);
    let answer = visitor.ask("GET", "http://evil.example/", &visitor.usual(), "");
    assert!(answer.status >= 400, "{answer:?}");
}

#[test]
fn w1_other_pages_can_change_nothing() {
    let stage = Stage::new();
    let path = stage.remember("Deploy day", "Deploys happen on Tuesdays", "The rota is why.");
    let visitor = stage.open(PageAccess::Full);
    let address = format!("/memories/project/{path}");
    let key = visitor.form_key();
    assert_eq!(key.len(), 48);
    let body = form(&[("key", &key), ("do", "forget")]);
    let own = format!("http://{}", visitor.host);
    let post = |headers: &[(String, String)], body: &str| {
        visitor.ask("POST", &address, headers, body).status
    };
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost"] {
        assert_eq!(post(&with(&visitor, "Origin", origin), &body), 403, "{origin}");
        let looked = visitor.ask("GET", "/", &with(&visitor, "Origin", origin), "");
        assert_eq!(looked.status, 403, "{origin}");
    }
    assert_eq!(post(&visitor.usual(), &body), 403, "no Origin");
    let mut fetched = with(&visitor, "Origin", &own);
    fetched.push(("Sec-Fetch-Site".to_owned(), "same-site".to_owned()));
    assert_eq!(post(&fetched, &body), 403, "another port of this machine");
    for wrong in [form(&[("do", "forget")]), form(&[("key", "x"), ("do", "forget")]), String::new()]
    {
        assert_eq!(post(&with(&visitor, "Origin", &own), &wrong), 403, "{wrong}");
    }
    let large = form(&[("key", &key), ("do", "edit"), ("text", &"x".repeat(2 << 20))]);
    assert_eq!(post(&with(&visitor, "Origin", &own), &large), 413);
    visitor.get(&address).ok().has("The rota is why.");
    assert_eq!(post(&with(&visitor, "Origin", &own), &body), 303);
    visitor.get(&address).ok().has("memory was removed");
}

#[test]
fn w1_a_page_for_looking_has_no_buttons() {
    let stage = Stage::new();
    let path = stage.remember("Deploy day", "Deploys happen on Tuesdays", "The rota is why.");
    stage.propose("Test runner", "Tests run with nextest", "nextest it is.");
    let writer = stage.open(PageAccess::Full);
    let reader = stage.open(PageAccess::ReadOnly);
    let address = format!("/memories/project/{path}");
    for page in [
        "/",
        "/inbox",
        "/inbox/project/1",
        "/changes/project/1",
        &address,
        &format!("{address}?edit=1"),
    ] {
        let answer = reader.get(page).ok();
        answer.lacks("<button>").lacks("method=\"post\"").has("read only");
    }
    writer.get(&address).ok().has("Forget");
    assert_eq!(reader.send(&address, &[("do", "forget")]).status, 403);
    assert_eq!(reader.send("/inbox/project/1", &[("do", "accept")]).status, 403);
    reader.get(&address).ok().has("The rota is why.");
}

#[test]
fn w1_a_browser_is_told_to_run_nothing_else() {
    let stage = Stage::new();
    let visitor = stage.open(PageAccess::Full);
    let stranger = Visitor { cookie: None, ..visitor.clone() };
    for answer in [
        visitor.get("/"),
        stranger.get("/"),
        visitor.get("/nothing"),
        visitor.get("/asset/page.css"),
    ] {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
        answer.lacks("<style").lacks(" style=").lacks("onclick").lacks("https://");
    }
}

#[test]
fn w1_paths_lead_nowhere_else() {
    let stage = Stage::new();
    stage.remember("Deploy day", "Deploys happen on Tuesdays", "The rota is why.");
    let secret = stage.files.home().join("secret.md");
    std::fs::write(&secret, "top secret words").unwrap();
    std::fs::write(stage.files.home().join("secret.jsonl"), "{}").unwrap();
    let visitor = stage.open(PageAccess::Full);
    for path in [
        "/memories/project/../../../../secret.md",
        "/memories/project/..%2f..%2f..%2f..%2fsecret.md",
        "/memories/project/%2e%2e/%2e%2e/%2e%2e/%2e%2e/secret.md",
        "/memories/project//etc/passwd",
        "/memories/project/%00.md",
        "/memories/project/.everfold/journal.jsonl",
        "/memories/nowhere/deploy-day.md",
        "/asset/../memories",
        "/asset/..%2f..%2fsecret.md",
        "/sessions/..%2f..%2fsecret.jsonl",
        "/sessions/secret",
        "/sessions/0000000000000000/messages/99999999999999999999",
        "/changes/project/18446744073709551616",
        "/inbox/project/-1",
    ] {
        let answer = visitor.get(path);
        assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
        answer.lacks("top secret").lacks("root:");
    }
    let escaped = visitor.send("/memories/project/..%2f..%2fsecret.md", &[("do", "forget")]);
    assert!((400..500).contains(&escaped.status));
    assert!(secret.exists());
    for method in ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"] {
        let status = visitor.ask(method, "/memories", &visitor.usual(), "").status;
        assert!((400..500).contains(&status), "{method}: {status}");
    }
}

#[test]
fn w1_what_others_wrote_is_text() {
    let stage = Stage::new();
    let script = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    let path = stage.remember("Look", "</title><script>alert(3)</script>", script);
    stage.propose("Evil", "\"><script>alert(4)</script>", &format!("</textarea>{script}"));
    stage.claude_session("11111111-1111-4111-8111-111111111111", 3, script);
    let visitor = stage.open(PageAccess::Full);
    let sessions = visitor.get("/sessions").ok();
    let key = first_session(&sessions.body);
    for page in [
        "/".to_owned(),
        "/sessions".to_owned(),
        format!("/sessions/{key}"),
        format!("/sessions/{key}/messages/1"),
        format!("/sessions/{key}?q=%3Cscript%3Ealert(5)%3C%2Fscript%3E"),
        format!("/memories/project/{path}"),
        format!("/memories/project/{path}?edit=1"),
        "/memories?q=%22%3E%3Cscript%3Ealert(6)%3C%2Fscript%3E".to_owned(),
        "/inbox".to_owned(),
        "/inbox/project/1?edit=evil.md".to_owned(),
        "/recall?q=%3Cscript%3Ealert(7)%3C/script%3E+look".to_owned(),
        "/settings?q=%3Cscript%3E".to_owned(),
        "/changes/project/1?done=%3Cscript%3E&scope=%22%3E&entry=1".to_owned(),
    ] {
        let answer = visitor.get(&page);
        answer
            .lacks("<script>")
            .lacks("<img")
            .lacks("</textarea><script")
            .lacks("onerror=alert(2)>\"");
        assert!(answer.body.matches("<script").count() <= 1, "{page}: {}", answer.body);
    }
}

/// The name of the first session that a page links to.
fn first_session(body: &str) -> String {
    let link = body.split("href=\"/sessions/").nth(1).unwrap();
    link.split('"').next().unwrap().to_owned()
}

#[test]
fn w1_secrets_are_masked() {
    let stage = Stage::new();
    let key = format!(
        "sk-ant-api03-{}",
        "Ab3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5kL7nP9rT1uV3xY5zA7cD9fG1iJ3k"
    );
    stage.claude_session("22222222-2222-4222-8222-222222222222", 2, &format!("my key is {key} ok"));
    // Somebody wrote one by hand: the store would have refused it.
    let dir = stage.store(everfold_memory_store::StoreScope::Project).dir().to_owned();
    std::fs::write(
        dir.join("note.md"),
        crate::stage::memory("Note", "a note", &format!("the key {key}")),
    )
    .unwrap();
    let visitor = stage.open(PageAccess::Full);
    let sessions = visitor.get("/sessions").ok();
    let name = first_session(&sessions.body);
    let pages = [
        "/".to_owned(),
        "/sessions".to_owned(),
        "/memories".to_owned(),
        "/changes".to_owned(),
        "/memories/project/note.md".to_owned(),
        "/memories/project/note.md?edit=1".to_owned(),
        format!("/sessions/{name}"),
        format!("/sessions/{name}/messages/1"),
        "/recall?q=a+note+about+the+key".to_owned(),
    ];
    for page in pages {
        visitor.get(&page).ok().lacks(&key).lacks("Ab3dE5gH7jK9mN1pQ3s");
    }
    visitor.get("/memories/project/note.md").ok().has("[secret:");
}
