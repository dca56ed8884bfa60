//! The Messages API: answers, token counts, the list of models.

use super::answer::{Answer, Api, refusal, refuse, request_id, set, slices};
use super::delivery::{Act, body, broken, plan};
use super::local;
use super::prompt::Prompt;
use super::state::Shared;
use crate::check::{Endpoint, Refusal};
use crate::received::{Received, kind};
use crate::scenario::{Reply, ServerFault};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode};
use bytes::Bytes;
use everfold_kernel::Usage;
use everfold_kernel::models::ModelSpec;
use everfold_prefix::sim::SimPiece;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// `POST /v1/messages`.
pub(super) async fn messages(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    raw: Bytes,
) -> Response<Body> {
    let request = shared.receive("POST", MESSAGES_PATH, &headers, raw);
    match answer(&shared, &request) {
        Ok(answered) => response(&shared, &request, &answered),
        Err(refusal) => {
            shared.refused(&request, &refusal);
            refuse(&request, &refusal, Api::Anthropic)
        }
    }
}

/// Where messages are posted to.
pub(super) const MESSAGES_PATH: &str = "/v1/messages";

/// An answer with what it was made from.
pub(super) struct Answered {
    reply: Reply,
    answer: Answer,
    usage: Usage,
}

impl Answered {
    pub(super) fn faults(&self) -> &[ServerFault] {
        &self.reply.faults
    }

    pub(super) fn headers(&self) -> &BTreeMap<String, String> {
        &self.reply.headers
    }
}

/// What happens to the body of a streamed answer.
pub(super) fn acts(shared: &Shared, request: &Received, answered: &Answered) -> VecDeque<Act> {
    let Answered { reply, answer, usage } = answered;
    plan(stream(shared, request, answer, usage), reply, error_event)
}

/// Checks a request, and splits its prompt.
fn checked(shared: &Shared, request: &Received, endpoint: Endpoint) -> Result<Prompt, Refusal> {
    shared.check(request, endpoint)?;
    let prompt = Prompt::of(request, &shared.rules)?;
    shared.markers(&prompt.pieces)?;
    Ok(prompt)
}

/// Checks a request, and decides on its answer.
pub(super) fn answer(shared: &Shared, request: &Received) -> Result<Answered, Refusal> {
    let given = checked(shared, request, Endpoint::Messages)?;
    let prompt = given.tokens();
    let Prompt { pieces, applied } = given;
    let window = shared.rules.window;
    if prompt > window {
        return Err(Refusal::too_long(prompt, window));
    }
    if request.body.get("max_tokens") == Some(&json!(0)) {
        return warmed(shared, request, &pieces);
    }
    let (reply, number) = shared.decide(request);
    if let Some(refusal) = refusal(&reply, Api::Anthropic, prompt, window) {
        return Err(refusal);
    }
    let usage = shared.cached(request, &pieces)?;
    let mut answer = Answer::new(&reply, number, &shared.rules);
    answer.context_edits = applied;
    let searched = |block: &&Value| {
        kind(block) == "server_tool_use" && block.get("name") == Some(&json!("web_search"))
    };
    let web_searches = answer.blocks.iter().filter(searched).count() as u64;
    let usage = Usage { output: answer.output_tokens, web_searches, ..usage };
    shared.answered(request, &answer.blocks, usage);
    Ok(Answered { reply, answer, usage })
}

/// `max_tokens: 0` fills the cache and asks for no answer.
fn warmed(shared: &Shared, request: &Received, pieces: &[SimPiece]) -> Result<Answered, Refusal> {
    let usage = shared.cached(request, pieces)?;
    shared.answered(request, &[], usage);
    let reply = Reply::default().stop_reason("max_tokens");
    let answer = Answer::new(&reply, 0, &shared.rules);
    Ok(Answered { reply, answer, usage })
}

fn response(shared: &Shared, request: &Received, answered: &Answered) -> Response<Body> {
    let Answered { reply, answer, usage } = answered;
    if reply.faults.contains(&ServerFault::CloseBeforeHeaders) {
        return Response::new(broken());
    }
    let streams = request.body.get("stream") == Some(&Value::Bool(true));
    let (acts, content_type) = if streams {
        (acts(shared, request, answered), "text/event-stream; charset=utf-8")
    } else {
        let mut message = message(request, answer, usage);
        set_field(&mut message, "content", json!(answer.blocks));
        set_field(&mut message, "stop_reason", json!(answer.stop_reason));
        add_edits(&mut message, answer);
        (plan(vec![message.to_string()], reply, error_event), "application/json")
    };
    let mut response = Response::new(body(acts, shared));
    set(&mut response, "content-type", content_type);
    set(&mut response, "request-id", &request_id(request));
    if shared.rules.rate_limit_headers {
        for (name, value) in RATE_LIMITS {
            set(&mut response, name, value);
        }
    }
    for (name, value) in &reply.headers {
        set(&mut response, name, value);
    }
    response
}

const RATE_LIMITS: &[(&str, &str)] = &[
    ("anthropic-ratelimit-requests-limit", "1000"),
    ("anthropic-ratelimit-requests-remaining", "999"),
    ("anthropic-ratelimit-requests-reset", "2026-06-01T12:01:00Z"),
    ("anthropic-ratelimit-input-tokens-limit", "2000000"),
    ("anthropic-ratelimit-input-tokens-remaining", "1999000"),
    ("anthropic-ratelimit-input-tokens-reset", "2026-06-01T12:01:00Z"),
];

fn set_field(message: &mut Value, key: &str, value: Value) {
    if let Some(map) = message.as_object_mut() {
        map.insert(key.into(), value);
    }
}

/// Says what the server cleared, where it was asked to.
fn add_edits(value: &mut Value, answer: &Answer) {
    if let Some(edits) = &answer.context_edits {
        set_field(value, "context_management", json!({"applied_edits": edits}));
    }
}

/// The message as it is at its start: no content, no reason to stop.
fn message(request: &Received, answer: &Answer, usage: &Usage) -> Value {
    json!({
        "id": format!("msg_test_{:04}", answer.number),
        "type": "message",
        "role": "assistant",
        "model": request.model(),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write(),
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": usage.cache_write_5m,
                "ephemeral_1h_input_tokens": usage.cache_write_1h,
            },
            "output_tokens": usage.output,
            "service_tier": "standard",
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        },
    })
}

fn event(name: &str, mut data: Value) -> String {
    set_field(&mut data, "type", json!(name));
    format!("event: {name}\ndata: {data}\n\n")
}

fn error_event(error_type: &str, message: &str) -> String {
    event("error", json!({"type": "error", "error": {"type": error_type, "message": message}}))
}

/// The events of a streamed answer.
fn stream(shared: &Shared, request: &Received, answer: &Answer, usage: &Usage) -> Vec<String> {
    let at_start = Usage { output: usage.output.min(1), ..*usage };
    let start = message(request, answer, &at_start);
    let mut events = vec![
        event("message_start", json!({"type": "", "message": start})),
        event("ping", json!({"type": ""})),
    ];
    let mut tool_json = answer.tool_json.clone();
    for (index, block) in answer.blocks.iter().enumerate() {
        block_events(index, block, shared.rules.delta_chars, &mut tool_json, &mut events);
    }
    let mut last = json!({"type": "",
    "delta": {"stop_reason": answer.stop_reason, "stop_sequence": null},
    "usage": {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write(),
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "server_tool_use": {"web_search_requests": usage.web_searches},
    }});
    add_edits(&mut last, answer);
    events.push(event("message_delta", last));
    events.push(event("message_stop", json!({"type": ""})));
    events
}

fn block_events(
    index: usize,
    block: &Value,
    chars: usize,
    tool_json: &mut Option<String>,
    events: &mut Vec<String>,
) {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or("");
    let (start, deltas) = match kind(block) {
        "text" => {
            let deltas = slices(text("text"), chars).into_iter();
            let deltas = deltas.map(|text| json!({"type": "text_delta", "text": text}));
            let cited = block.get("citations").and_then(Value::as_array).into_iter().flatten();
            let cited = cited.map(|one| json!({"type": "citations_delta", "citation": one}));
            (json!({"type": "text", "text": ""}), deltas.chain(cited).collect())
        }
        "thinking" => {
            let deltas = slices(text("thinking"), chars).into_iter();
            let signed = json!({"type": "signature_delta", "signature": text("signature")});
            (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                deltas
                    .map(|text| json!({"type": "thinking_delta", "thinking": text}))
                    .chain([signed])
                    .collect(),
            )
        }
        "tool_use" | "server_tool_use" => {
            let input = block.get("input").unwrap_or(&Value::Null).to_string();
            let given = if kind(block) == "tool_use" { tool_json.take() } else { None };
            let input = given.unwrap_or(input);
            let parts = [String::new()].into_iter().chain(slices(&input, chars));
            let mut start = block.clone();
            set_field(&mut start, "input", json!({}));
            (
                start,
                parts
                    .map(|part| json!({"type": "input_json_delta", "partial_json": part}))
                    .collect(),
            )
        }
        _ => (block.clone(), Vec::new()),
    };
    events.push(event(
        "content_block_start",
        json!({"type": "", "index": index, "content_block": start}),
    ));
    for delta in deltas {
        events.push(event(
            "content_block_delta",
            json!({"type": "", "index": index, "delta": delta}),
        ));
    }
    events.push(event("content_block_stop", json!({"type": "", "index": index})));
}

/// `POST /v1/messages/count_tokens`.
pub(super) async fn count_tokens(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    raw: Bytes,
) -> Response<Body> {
    let request = shared.receive("POST", "/v1/messages/count_tokens", &headers, raw);
    match checked(&shared, &request, Endpoint::CountTokens) {
        Ok(prompt) => json_response(&request, &json!({"input_tokens": prompt.tokens()})),
        Err(refusal) => {
            shared.refused(&request, &refusal);
            refuse(&request, &refusal, Api::Anthropic)
        }
    }
}

/// `GET /v1/models`, in the form of both APIs.
pub(super) async fn models(State(shared): State<Arc<Shared>>) -> Response<Body> {
    if let Some(own) = &shared.rules.local {
        return local::json_body(StatusCode::OK, &local::models(own, shared.rules.window));
    }
    let entry = |(id, spec): (&str, &ModelSpec)| {
        json!({"type": "model", "object": "model", "id": id, "display_name": id,
            "max_input_tokens": spec.window, "max_tokens": spec.max_output})
    };
    let data: Vec<Value> = shared.models.iter().map(entry).collect();
    let list = json!({"object": "list", "data": data, "has_more": false});
    local::json_body(StatusCode::OK, &list)
}

pub(super) fn json_response(request: &Received, value: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(value.to_string()));
    set(&mut response, "content-type", "application/json");
    set(&mut response, "request-id", &request_id(request));
    response
}
