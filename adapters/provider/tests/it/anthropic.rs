//! Anthropic's API: what is sent, and answers that come, break and come again.

use crate::server::{Canned, Server, response, sample, sse, whole};
use crate::{KEY, ask, blocks, call, config, events, restarts, retries};
use everfold_kernel::ports::{Model, ModelCall, ModelEvent};
use everfold_kernel::record::CacheTtl;
use everfold_provider::{AnthropicProvider, Auth, parse_headers};
use futures_util::StreamExt;
use serde_json::json;

#[tokio::test]
async fn q8_a_stream_is_asked_for_and_assembled() {
    let server = Server::start(vec![sse(sample().as_bytes())]).await;
    let mut config = config(&format!("{}/v1/", server.url));
    config.betas = vec!["b-1".into()];
    config.headers = parse_headers("X-Team: blue");
    let provider = AnthropicProvider::new(&config).unwrap();
    let body = r#"{"model":"m","cache_control":{"type":"ephemeral","ttl":"1h"}}"#;
    let call = ModelCall { cache: Some(CacheTtl::OneHour), ..call(body) };
    let (events, error) = events(&provider, call).await;
    assert_eq!(error, None);
    let found = blocks(&events);
    assert_eq!(found[0].plain_text(), "Grüße 😀");
    assert_eq!(found[1].as_map()["input"], json!({"file_path": "/a"}));
    let Some(ModelEvent::Finished { stop_reason, usage }) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!(stop_reason, "tool_use");
    // The server gave no split, and the request asked for an hour.
    assert_eq!((usage.cache_write_1h, usage.output), (7, 9));
    let Some(ModelEvent::Started { request_id, .. }) = events.first() else {
        panic!("{events:?}");
    };
    assert_eq!(request_id.as_ref().unwrap().as_str(), "req_1");

    let request = &server.requests()[0];
    assert!(request.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{request}");
    for header in [
        "anthropic-version: 2023-06-01",
        "anthropic-beta: b-1,b-2",
        "content-type: application/json",
        "x-team: blue",
        &format!("x-api-key: {KEY}"),
    ] {
        assert!(request.contains(&format!("{header}\r\n")), "{header}");
    }
    assert!(request.ends_with(body));
}

#[tokio::test]
async fn q8_a_token_is_sent_as_bearer() {
    let server = Server::start(vec![sse(sample().as_bytes())]).await;
    let mut config = config(&server.url);
    config.auth = Auth::Bearer;
    let provider = AnthropicProvider::new(&config).unwrap();
    events(&provider, call("{}")).await;
    let request = &server.requests()[0];
    assert!(request.contains(&format!("authorization: Bearer {KEY}\r\n")));
    assert!(!request.contains("x-api-key"));
}

#[tokio::test]
async fn s6_characters_split_over_packets_and_a_bom_are_taken() {
    let head = response(200, "content-type: text/event-stream\r\n", b"\xEF\xBB\xBF");
    let text = sample().replace('\n', "\r\n");
    let pieces = std::iter::once(head).chain(text.as_bytes().chunks(3).map(<[u8]>::to_vec));
    let server = Server::start(vec![Canned::Pieces(pieces.collect())]).await;
    let (events, error) = ask(&server.url).await;
    assert_eq!(error, None);
    assert_eq!(blocks(&events)[0].plain_text(), "Grüße 😀");
}

#[tokio::test]
async fn q8_a_cut_stream_is_asked_for_again() {
    let text = sample();
    let bytes = text.as_bytes();
    let started = text.find("content_block_start").unwrap();
    for cut in [10, started, bytes.len() / 2, bytes.len() - 40, bytes.len() - 1] {
        let server = Server::start(vec![sse(&bytes[..cut]), sse(bytes)]).await;
        let (events, error) = ask(&server.url).await;
        assert_eq!(error, None, "cut at {cut}");
        assert_eq!(blocks(&events).len(), 2, "cut at {cut}");
        assert_eq!(retries(&events), 1);
        assert_eq!(restarts(&events), usize::from(cut >= started), "cut at {cut}");
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn q8_a_connection_that_breaks_within_a_chunk_is_a_broken_stream() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n400\r\n";
    let text = sample();
    let cut = format!("{head}{}", &text[..400]);
    let server = Server::start(vec![whole(cut.into_bytes()), sse(text.as_bytes())]).await;
    let (events, error) = ask(&server.url).await;
    assert_eq!(error, None);
    assert_eq!((restarts(&events), blocks(&events).len()), (1, 2));
}

#[tokio::test]
async fn q8_an_answer_in_one_piece_becomes_events() {
    let body = json!({"id": "msg_2", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": "whole"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 2}});
    let json = "content-type: application/json; charset=utf-8\r\n";
    let server = Server::start(vec![whole(response(200, json, body.to_string().as_bytes()))]).await;
    let (events, error) = ask(&server.url).await;
    assert_eq!(error, None);
    assert_eq!(blocks(&events)[0].plain_text(), "whole");
    assert!(matches!(events.last(), Some(ModelEvent::Finished { .. })));
}

#[tokio::test]
async fn q8_dropping_the_stream_ends_the_call() {
    let head = response(200, "content-type: text/event-stream\r\n", b"");
    let text = sample();
    let (first, _) = text.split_at(text.find("event: content_block_start").unwrap());
    let stalled = [head, first.as_bytes().to_vec()].concat();
    let server = Server::start(vec![Canned::Stall(stalled), sse(sample().as_bytes())]).await;
    let provider = AnthropicProvider::new(&config(&server.url)).unwrap();
    let mut stream = provider.call(call("{}")).await.unwrap();
    assert!(matches!(stream.next().await, Some(Ok(ModelEvent::Started { .. }))));
    drop(stream);
    // The server takes one connection at a time: it is free only if we hung up.
    let (events, error) = events(&provider, call("{}")).await;
    assert_eq!(error, None);
    assert_eq!(blocks(&events).len(), 2);
}
