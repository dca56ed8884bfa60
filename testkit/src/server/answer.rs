//! From a reply to the blocks and figures of an answer, and error responses.

use crate::check::{Refusal, chat, sign};
use crate::count::count;
use crate::received::{Received, kind};
use crate::scenario::{Content, Reply, ServerFault, ServerRules};
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

/// An answer, before it is put on the wire.
pub(super) struct Answer {
    pub(super) number: u64,
    pub(super) blocks: Vec<Value>,
    pub(super) stop_reason: String,
    pub(super) output_tokens: u64,
    /// What stands in place of the first tool call's arguments.
    pub(super) tool_json: Option<String>,
    /// What the server cleared of the prompt; none where nobody asked it to.
    pub(super) context_edits: Option<Vec<Value>>,
}

impl Answer {
    pub(super) fn new(reply: &Reply, number: u64, rules: &ServerRules) -> Self {
        let mut calls = 0_usize;
        let blocks: Vec<Value> =
            reply.content.iter().map(|content| block(content, number, &mut calls)).collect();
        let uses_tools = blocks.iter().any(|block| kind(block) == "tool_use");
        let by_content = if uses_tools { "tool_use" } else { "end_turn" };
        let stop_reason = reply.stop_reason.clone();
        let tool_json = reply.faults.iter().find_map(|fault| match fault {
            ServerFault::InvalidToolJson(text) => Some(text.clone()),
            _ => None,
        });
        Self {
            number,
            output_tokens: blocks.iter().map(|block| count(block, rules).0).sum(),
            blocks,
            stop_reason: stop_reason.unwrap_or_else(|| by_content.into()),
            tool_json,
            context_edits: None,
        }
    }
}

fn block(content: &Content, number: u64, calls: &mut usize) -> Value {
    match content {
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Thinking(text) => {
            json!({"type": "thinking", "thinking": text, "signature": sign(text)})
        }
        Content::ToolUse { name, input, id } => {
            let made = format!("toolu_{number:04}_{calls}");
            *calls += 1;
            let input = match input {
                Value::Null => json!({}),
                input => input.clone(),
            };
            let id = id.clone().unwrap_or(made);
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        Content::Raw(block) => block.clone(),
    }
}

/// Which API a response is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    Anthropic,
    Chat,
}

/// The refusal that a fault of the reply asks for.
pub(super) fn refusal(reply: &Reply, api: Api, prompt: u64, window: u64) -> Option<Refusal> {
    reply.faults.iter().find_map(|fault| match fault {
        ServerFault::Error { status, error_type, message, headers } => {
            let mut refusal = Refusal::new(*status, error_type.as_deref(), message);
            refusal.headers.clone_from(headers);
            Some(refusal)
        }
        ServerFault::PromptTooLong { with_numbers } => Some(match (api, with_numbers) {
            (Api::Anthropic, true) => Refusal::too_long(prompt.max(window + 1), window),
            (Api::Anthropic, false) => Refusal::invalid("Prompt is too long"),
            (Api::Chat, true) => chat::too_long(prompt.max(window + 1), window),
            (Api::Chat, false) => Refusal::invalid("the request exceeds the context length"),
        }),
        _ => None,
    })
}

/// The body of a refusal, in the API's form.
pub(super) fn refusal_body(request: &Received, refusal: &Refusal, api: Api) -> Value {
    match api {
        Api::Anthropic => json!({"type": "error",
            "error": {"type": refusal.error_type, "message": refusal.message},
            "request_id": request_id(request)}),
        Api::Chat => json!({"error": {"message": refusal.message, "type": refusal.error_type,
            "param": null, "code": null}}),
    }
}

/// The response of a refusal.
pub(super) fn refuse(request: &Received, refusal: &Refusal, api: Api) -> Response<Body> {
    let body = refusal_body(request, refusal, api);
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() =
        StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    set(&mut response, "content-type", "application/json");
    set(&mut response, "request-id", &request_id(request));
    for (name, value) in &refusal.headers {
        set(&mut response, name, value);
    }
    response
}

pub(super) fn request_id(request: &Received) -> String {
    format!("req_test_{:04}", request.index + 1)
}

/// Sets a header; one that HTTP cannot carry is left out.
pub(super) fn set(response: &mut Response<Body>, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
        response.headers_mut().insert(name, value);
    }
}

/// A text in slices of so many characters.
pub(super) fn slices(text: &str, chars: usize) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    all.chunks(chars.max(1)).map(|slice| slice.iter().collect()).collect()
}
