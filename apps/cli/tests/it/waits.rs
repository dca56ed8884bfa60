//! Waits for a server are told on standard error (S16, U10).

use crate::desk::{Desk, Running};
use std::net::TcpListener;

/// A desk whose server is not there.
fn run(args: &[&str]) -> crate::desk::Ran {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let desk = Desk::offline();
    let mut command = desk.command(args);
    command.env("ANTHROPIC_API_KEY", crate::desk::KEY).env("ANTHROPIC_BASE_URL", gone);
    Running::start(command.env("EVERFOLD_LIMIT_MAX_RETRIES", "2"), None).end()
}

#[test]
fn s16_a_server_that_is_not_there_is_told_at_each_try() {
    for format in ["text", "json"] {
        let ran = run(&["-p", "hi", "--output-format", format]).failed(1);
        assert!(ran.err.contains("attempt 1 of 3 failed"), "{format}: {}", ran.err);
        assert!(ran.err.contains("attempt 2 of 3 failed"), "{format}: {}", ran.err);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(
            said.contains("gave up after 3 attempts") && said.contains("http://127.0.0.1"),
            "{said}"
        );
    }
    let ran = run(&["-p", "hi", "--output-format", "stream-json"]).failed(1);
    let retry = ran.lines().into_iter().find(|line| line["subtype"] == "api_retry").unwrap();
    assert_eq!((&retry["attempt"], &retry["max_retries"]), (&1.into(), &3.into()));
}
