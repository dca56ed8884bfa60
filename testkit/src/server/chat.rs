//! OpenAI's chat completions, as local servers speak them.

use super::answer::{Answer, Api, refusal, refuse, request_id, set, slices};
use super::delivery::{body, broken, plan};
use super::state::Shared;
use crate::check::{Refusal, chat};
use crate::count::count_chat;
use crate::received::{Received, kind};
use crate::scenario::{LocalServer, ServerFault, ServerProgram};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use bytes::Bytes;
use everfold_kernel::Usage;
use serde_json::{Value, json};
use std::sync::Arc;

/// `POST /v1/chat/completions`.
pub(super) async fn completions(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    raw: Bytes,
) -> Response<Body> {
    let request = shared.receive("POST", "/v1/chat/completions", &headers, raw);
    respond(&shared, &request).unwrap_or_else(|refusal| {
        shared.refused(&request, &refusal);
        refuse(&request, &refusal, Api::Chat)
    })
}

fn respond(shared: &Shared, request: &Received) -> Result<Response<Body>, Refusal> {
    chat::check(request)?;
    let prompt = count_chat(&request.body, &shared.rules).0;
    let window = shared.rules.window;
    if let Some(local) = &shared.rules.local {
        super::local::check(local, request, prompt, window)?;
    }
    if prompt > window {
        return Err(chat::too_long(prompt, window));
    }
    let (reply, number) = shared.decide(request);
    if let Some(refusal) = refusal(&reply, Api::Chat, prompt, window) {
        return Err(refusal);
    }
    let answer = Answer::new(&reply, number, &shared.rules);
    let estimate = Usage { input: prompt, output: answer.output_tokens, ..Usage::default() };
    let usage = reply.usage.unwrap_or(estimate);
    shared.answered(request, &answer.blocks, usage);
    if reply.faults.contains(&ServerFault::CloseBeforeHeaders) {
        return Ok(Response::new(broken()));
    }
    let streams = request.body.get("stream") == Some(&Value::Bool(true));
    let (events, content_type) = if streams {
        (stream(shared, request, &answer, &usage), "text/event-stream")
    } else {
        let completion = completion(request, &answer, &usage);
        (vec![completion.to_string()], "application/json")
    };
    let mut response = Response::new(body(plan(events, &reply, error_event), shared));
    set(&mut response, "content-type", content_type);
    set(&mut response, "x-request-id", &request_id(request));
    for (name, value) in &reply.headers {
        set(&mut response, name, value);
    }
    Ok(response)
}

fn error_event(error_type: &str, message: &str) -> String {
    let error = json!({"error": {"type": error_type, "message": message}});
    format!("data: {error}\n\n")
}

fn finish_reason(answer: &Answer) -> &str {
    match answer.stop_reason.as_str() {
        "tool_use" => "tool_calls",
        "end_turn" | "stop_sequence" => "stop",
        "max_tokens" => "length",
        other => other,
    }
}

fn usage_json(usage: &Usage) -> Value {
    json!({"prompt_tokens": usage.input, "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output})
}

/// The texts of the blocks of one kind, joined.
fn joined(answer: &Answer, wanted: &str, key: &str) -> String {
    let blocks = answer.blocks.iter().filter(|block| kind(block) == wanted);
    blocks.filter_map(|block| block.get(key)?.as_str()).collect()
}

/// The tool calls as (id, name, arguments).
fn calls(answer: &Answer) -> Vec<(String, String, String)> {
    let mut instead = answer.tool_json.clone();
    let blocks = answer.blocks.iter().filter(|block| kind(block) == "tool_use");
    blocks
        .map(|block| {
            let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
            let input = block.get("input").unwrap_or(&Value::Null).to_string();
            (text("id"), text("name"), instead.take().unwrap_or(input))
        })
        .collect()
}

fn completion(request: &Received, answer: &Answer, usage: &Usage) -> Value {
    let text = joined(answer, "text", "text");
    let calls: Vec<Value> = calls(answer)
        .into_iter()
        .map(|(id, name, arguments)| {
            json!({"id": id, "type": "function",
                "function": {"name": name, "arguments": arguments}})
        })
        .collect();
    let content = if text.is_empty() { Value::Null } else { json!(text) };
    let mut message = json!({"role": "assistant", "content": content});
    if let Some(map) = message.as_object_mut() {
        if !calls.is_empty() {
            map.insert("tool_calls".into(), json!(calls));
        }
        let thinking = joined(answer, "thinking", "thinking");
        if !thinking.is_empty() {
            map.insert("reasoning_content".into(), json!(thinking));
        }
    }
    json!({"id": format!("chatcmpl-test-{:04}", answer.number), "object": "chat.completion",
        "created": request.at.as_second(), "model": request.model(),
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(answer)}],
        "usage": usage_json(usage)})
}

fn stream(shared: &Shared, request: &Received, answer: &Answer, usage: &Usage) -> Vec<String> {
    let chars = shared.rules.delta_chars;
    let mut deltas = vec![(json!({"role": "assistant", "content": ""}), Value::Null)];
    let mut push = |delta: Value| deltas.push((delta, Value::Null));
    for text in slices(&joined(answer, "thinking", "thinking"), chars) {
        push(json!({"reasoning_content": text}));
    }
    for text in slices(&joined(answer, "text", "text"), chars) {
        push(json!({"content": text}));
    }
    for (index, (id, name, arguments)) in calls(answer).into_iter().enumerate() {
        push(json!({"tool_calls": [{"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": ""}}]}));
        for part in slices(&arguments, chars) {
            push(json!({"tool_calls": [{"index": index, "function": {"arguments": part}}]}));
        }
    }
    deltas.push((json!({}), json!(finish_reason(answer))));
    let chunk = |choices: Value, usage: Value| {
        let chunk = json!({"id": format!("chatcmpl-test-{:04}", answer.number),
            "object": "chat.completion.chunk", "created": request.at.as_second(),
            "model": request.model(), "choices": choices, "usage": usage});
        format!("data: {chunk}\n\n")
    };
    let mut events: Vec<String> = deltas
        .into_iter()
        .map(|(delta, reason)| {
            let choice = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
            chunk(choice, Value::Null)
        })
        .collect();
    let is_asked = request.body.get("return_progress") == Some(&Value::Bool(true));
    let is_llama = |local: &LocalServer| local.program == ServerProgram::LlamaCpp;
    if is_asked && shared.rules.local.as_ref().is_some_and(is_llama) {
        let progress = json!({"choices": [{"index": 0, "delta": {"role": "assistant",
            "content": null}, "finish_reason": null}], "prompt_progress":
            {"total": usage.input, "cache": 0, "processed": usage.input / 2, "time_ms": 40}});
        events.insert(0, format!("data: {progress}\n\n"));
    }
    let wants_usage = request.body.pointer("/stream_options/include_usage");
    if wants_usage == Some(&Value::Bool(true)) {
        events.push(chunk(json!([]), usage_json(usage)));
    }
    events.push("data: [DONE]\n\n".into());
    events
}
