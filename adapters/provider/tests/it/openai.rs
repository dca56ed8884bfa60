//! Servers that speak chat completions.

use crate::server::{Server, error, response, sse, whole};
use crate::{blocks, call, events, limits, restarts, retries};
use everfold_kernel::Secret;
use everfold_kernel::ports::{Model, ModelError, ModelEvent};
use everfold_kernel::record::Dialect;
use everfold_provider::{OpenAiProvider, Progress, ProviderConfig};
use serde_json::{Value, json};

fn provider(url: &str, key: Option<Secret>) -> OpenAiProvider {
    let mut config = ProviderConfig::openai(Some(format!("{url}/v1")), key);
    config.limits = limits();
    OpenAiProvider::new(&config, Progress::Unasked).unwrap()
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let value = json!({"id": "chatcmpl-1", "model": "qwen",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    format!("data: {value}\n\n")
}

fn sample() -> String {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 4,
        "prompt_tokens_details": {"cached_tokens": 8}}});
    [
        chunk(&json!({"role": "assistant", "content": "Let me see."}), None),
        chunk(
            &json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function",
            "function": {"name": "Read", "arguments": "{\"file_path\":"}}]}),
            None,
        ),
        chunk(&json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"/a\"}"}}]}), None),
        chunk(&json!({}), Some("tool_calls")),
        format!("data: {usage}\n\ndata: [DONE]\n\n"),
    ]
    .concat()
}

#[tokio::test]
async fn q8_a_local_server_streams_text_and_calls() {
    let server = Server::start(vec![sse(sample().as_bytes())]).await;
    let provider = provider(&server.url, None);
    assert_eq!(provider.dialect(), Dialect::OpenAi);
    let (events, error) = events(&provider, call("{\"model\":\"qwen\"}")).await;
    assert_eq!(error, None);
    let found = blocks(&events);
    assert_eq!(found[0].plain_text(), "Let me see.");
    assert_eq!(found[1].as_map()["input"], json!({"file_path": "/a"}));
    let Some(ModelEvent::Finished { stop_reason, usage }) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!(stop_reason, "tool_use");
    assert_eq!((usage.input, usage.cache_read), (12, 8));
    let request = &server.requests()[0];
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(!request.contains("authorization") && !request.contains("anthropic"));
}

#[tokio::test]
async fn q8_ids_that_a_server_repeats_are_made_unique() {
    let server = Server::start(vec![sse(sample().as_bytes())]).await;
    let provider = provider(&server.url, Some(Secret::new("key-1234567")));
    let mut ids = Vec::new();
    for _ in 0..2 {
        let (events, _) = events(&provider, call("{}")).await;
        let Some(ModelEvent::Started { message_id, .. }) = events.first() else {
            panic!("{events:?}");
        };
        ids.push(message_id.clone());
    }
    assert_ne!(ids[0], ids[1]);
    assert!(server.requests()[0].contains("authorization: Bearer key-1234567\r\n"));
}

#[tokio::test]
async fn q8_cuts_and_overflows_are_the_same_as_everywhere() {
    let text = sample();
    let server = Server::start(vec![
        sse(&text.as_bytes()[..200]),
        error(503, "", "unavailable_error", "Loading model"),
        sse(text.as_bytes()),
    ])
    .await;
    let (found, end) = events(&provider(&server.url, None), call("{}")).await;
    assert_eq!(end, None);
    assert_eq!((restarts(&found), retries(&found)), (1, 2));
    assert_eq!(blocks(&found).len(), 2);

    let body = json!({"error": {"code": 400, "type": "exceed_context_size_error",
        "message": "too much", "n_prompt_tokens": 9000, "n_ctx": 4096}});
    let server = Server::start(vec![whole(response(400, "", body.to_string().as_bytes()))]).await;
    let (_, end) = events(&provider(&server.url, None), call("{}")).await;
    assert!(matches!(end, Some(ModelError::PromptTooLong { actual: Some(9000), .. })), "{end:?}");
}

#[tokio::test]
async fn q8_a_completion_in_one_piece_becomes_events() {
    let body = json!({"id": "x", "model": "qwen", "choices": [{"finish_reason": "stop",
        "message": {"role": "assistant", "content": "whole"}}]});
    let json = "content-type: application/json\r\n";
    let server = Server::start(vec![whole(response(200, json, body.to_string().as_bytes()))]).await;
    let (found, end) = events(&provider(&server.url, None), call("{}")).await;
    assert_eq!(end, None);
    assert_eq!(blocks(&found)[0].plain_text(), "whole");
}
