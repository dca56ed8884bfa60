//! Servers that fail, and what is done about it.

use crate::server::{Canned, Server, error, frame, response, sample, sse, whole};
use crate::{KEY, ask, blocks, call, config, events, restarts, retries};
use everfold_kernel::ports::{ModelError, ModelEvent};
use everfold_provider::AnthropicProvider;
use serde_json::json;
use std::time::Duration;

fn good() -> Canned {
    sse(sample().as_bytes())
}

fn first_wait(events: &[ModelEvent]) -> Duration {
    let wait = events.iter().find_map(|event| match event {
        ModelEvent::Retrying { wait, .. } => Some(*wait),
        _ => None,
    });
    wait.unwrap()
}

#[tokio::test]
async fn q8_overload_passes_and_is_shown() {
    let busy = error(529, "", "overloaded_error", "Overloaded");
    let server = Server::start(vec![busy.clone(), busy, good()]).await;
    let (events, error) = ask(&server.url).await;
    assert_eq!(error, None);
    assert_eq!((retries(&events), restarts(&events)), (2, 0));
    let Some(ModelEvent::Retrying { attempt, reason, .. }) = events.first() else {
        panic!("{events:?}");
    };
    assert_eq!(*attempt, 1);
    assert!(reason.contains("Overloaded"), "{reason}");
    assert_eq!(blocks(&events).len(), 2);
}

#[tokio::test]
async fn q8_overload_that_stays_is_told_after_all_retries() {
    let server = Server::start(vec![error(529, "", "overloaded_error", "busy")]).await;
    let (events, error) = ask(&server.url).await;
    assert!(matches!(error, Some(ModelError::Overloaded { .. })));
    assert_eq!(retries(&events), 3);
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn q8_retry_after_is_honoured() {
    let slow = |headers: &str| error(429, headers, "rate_limit_error", "slow down");
    let server =
        Server::start(vec![slow("retry-after-ms: 37\r\nretry-after: 90\r\n"), good()]).await;
    let (events, error) = ask(&server.url).await;
    assert_eq!(error, None);
    assert_eq!(first_wait(&events), Duration::from_millis(37));
    let server = Server::start(vec![slow("retry-after: 0.05\r\n"), good()]).await;
    let (events, _) = ask(&server.url).await;
    assert_eq!(first_wait(&events), Duration::from_millis(50));
}

#[tokio::test]
async fn q8_a_wait_that_is_too_long_ends_the_call() {
    let server =
        Server::start(vec![error(429, "retry-after: 3600\r\n", "rate_limit_error", "later")]).await;
    let (events, error) = ask(&server.url).await;
    let Some(ModelError::RateLimited { retry_after, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(retry_after, Some(Duration::from_hours(1)));
    assert_eq!(retries(&events), 0);
}

#[tokio::test]
async fn q8_a_server_that_says_no_is_not_asked_again() {
    let server =
        Server::start(vec![error(529, "x-should-retry: false\r\n", "overloaded_error", "no")])
            .await;
    let (events, error) = ask(&server.url).await;
    assert!(matches!(error, Some(ModelError::Overloaded { .. })));
    assert_eq!(retries(&events), 0);
}

#[tokio::test]
async fn q8_a_spend_limit_is_not_tried_again() {
    let body = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "spent",
        "details": {"error_code": "enforced_spend_limit_reached"}}});
    let server = Server::start(vec![whole(response(429, "", body.to_string().as_bytes()))]).await;
    let (events, error) = ask(&server.url).await;
    assert!(matches!(error, Some(ModelError::RateLimited { .. })));
    assert_eq!(retries(&events), 0);
}

#[tokio::test]
async fn q8_a_prompt_that_is_too_long_is_told_at_once() {
    for (message, counts) in [
        ("prompt is too long: 203052 tokens > 200000 maximum", (Some(203_052), Some(200_000))),
        ("prompt is too long", (None, None)),
    ] {
        // Even a server that would like another try gets none.
        let headers = "x-should-retry: true\r\n";
        let server =
            Server::start(vec![error(400, headers, "invalid_request_error", message)]).await;
        let (events, error) = ask(&server.url).await;
        let Some(ModelError::PromptTooLong { actual, maximum, .. }) = error else {
            panic!("{error:?}");
        };
        assert_eq!((actual, maximum), counts);
        assert_eq!(events, []);
    }
}

#[tokio::test]
async fn s5_no_error_holds_the_key() {
    let echo = format!("invalid x-api-key: {KEY}");
    let server = Server::start(vec![error(401, "", "authentication_error", &echo)]).await;
    let (events, error) = ask(&server.url).await;
    let error = error.unwrap();
    assert!(
        matches!(&error, ModelError::Authentication { hint, .. } if hint == "ANTHROPIC_API_KEY")
    );
    assert!(!format!("{error:?} {error}").contains(KEY), "{error}");
    assert_eq!(events, []);
    let server = Server::start(vec![error_page(KEY)]).await;
    let (events, error) = ask(&server.url).await;
    assert!(!format!("{events:?} {error:?}").contains(KEY));
    let provider = AnthropicProvider::new(&config(&server.url)).unwrap();
    assert!(!format!("{provider:?}").contains(KEY));
}

fn error_page(text: &str) -> Canned {
    whole(response(502, "content-type: text/html\r\n", text.as_bytes()))
}

#[tokio::test]
async fn s5_a_redirect_does_not_take_the_key_along() {
    let other = Server::start(vec![good()]).await;
    let location = format!("location: {}/v1/messages\r\n", other.url);
    let server = Server::start(vec![whole(response(307, &location, b""))]).await;
    let (_, error) = ask(&server.url).await;
    assert!(matches!(error, Some(ModelError::Refused { status: 307, .. })), "{error:?}");
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test]
async fn s6_garbage_is_broken_after_all_retries() {
    let start = frame(&json!({"type": "message_start", "message": {"id": "m", "model": "x"}}));
    let garbage = format!("{start}data: \u{0}<<<garbage\n\n");
    let server = Server::start(vec![sse(garbage.as_bytes())]).await;
    let (events, error) = ask(&server.url).await;
    assert!(matches!(error, Some(ModelError::Broken { .. })), "{error:?}");
    assert_eq!((retries(&events), restarts(&events)), (3, 3));
    let server = Server::start(vec![sse(b"\xFF\xFE\xFD no stream at all")]).await;
    let (_, error) = ask(&server.url).await;
    assert!(matches!(error, Some(ModelError::Broken { .. })));
}

#[tokio::test]
async fn s6_an_event_over_the_limit_is_broken() {
    let server = Server::start(vec![sse(format!("data: {}", "x".repeat(5_000)).as_bytes())]).await;
    let mut config = config(&server.url);
    config.limits.sse_event_bytes = 1_000;
    config.limits.max_retries = 0;
    let provider = AnthropicProvider::new(&config).unwrap();
    let (_, error) = events(&provider, call("{}")).await;
    let error = error.unwrap().to_string();
    assert!(error.contains("sse_event_bytes"), "{error}");
}

#[tokio::test]
async fn q8_an_error_within_a_stream_restarts_it() {
    let text = sample();
    let (first, _) = text.split_at(text.find("event: content_block_stop").unwrap());
    let busy =
        frame(&json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}));
    let server = Server::start(vec![sse(format!("{first}{busy}").as_bytes()), good()]).await;
    let (events, error) = ask(&server.url).await;
    assert_eq!(error, None);
    assert_eq!((restarts(&events), blocks(&events).len()), (1, 2));
}

#[tokio::test]
async fn q8_a_stream_that_stalls_is_cut() {
    let start = frame(&json!({"type": "message_start", "message": {"id": "m", "model": "x"}}));
    let stalled = response(200, "content-type: text/event-stream\r\n", start.as_bytes());
    let server = Server::start(vec![Canned::Stall(stalled), good()]).await;
    let mut config = config(&server.url);
    config.limits.stream_idle_s = 1;
    let provider = AnthropicProvider::new(&config).unwrap();
    let (events, error) = events(&provider, call("{}")).await;
    assert_eq!(error, None);
    assert_eq!((restarts(&events), blocks(&events).len()), (1, 2));
}

#[tokio::test]
async fn q8_a_server_that_is_not_there_is_unreachable() {
    let server = Server::start(vec![good()]).await;
    let url = server.url.clone();
    drop(server);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for url in [url, gone] {
        let mut config = config(&url);
        config.limits.max_retries = 1;
        let provider = AnthropicProvider::new(&config).unwrap();
        let (events, error) = events(&provider, call("{}")).await;
        assert!(matches!(error, Some(ModelError::Unreachable { .. })), "{error:?}");
        assert_eq!(retries(&events), 1);
    }
}

#[tokio::test]
async fn q8_a_web_page_is_no_answer() {
    let page = response(200, "content-type: text/html\r\n", b"<html>log in</html>");
    let server = Server::start(vec![whole(page)]).await;
    let (events, error) = ask(&server.url).await;
    assert!(error.unwrap().to_string().contains("check the base URL"));
    assert_eq!(retries(&events), 0);
}
