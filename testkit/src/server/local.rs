//! Servers on one's own machine: what each says that it has, and its words for
//! what it refuses.

use super::state::Shared;
use crate::check::Refusal;
use crate::received::Received;
use crate::scenario::{LocalServer, ServerProgram};
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;

/// `GET /v1/models`, by whoever is not asked for the models of the cloud.
pub(super) fn models(local: &LocalServer, window: u64) -> Value {
    let entry = |id: &String| match local.program {
        ServerProgram::LlamaCpp => json!({"id": id, "object": "model", "owned_by": "llamacpp",
            "meta": {"n_ctx_train": 131_072}}),
        ServerProgram::Ollama => json!({"id": id, "object": "model", "owned_by": "library"}),
        ServerProgram::LmStudio => {
            json!({"id": id, "object": "model", "owned_by": "organization_owner"})
        }
        ServerProgram::Vllm => json!({"id": id, "object": "model", "owned_by": "vllm",
            "max_model_len": window}),
        ServerProgram::Plain => json!({"id": id, "object": "model"}),
    };
    json!({"object": "list", "data": local.models.iter().map(entry).collect::<Vec<_>>()})
}

/// `GET /props`, as llama.cpp has it.
pub(super) async fn props(State(shared): State<Arc<Shared>>) -> Response<Body> {
    let window = shared.rules.window;
    told(
        &shared,
        ServerProgram::LlamaCpp,
        |_| json!({"default_generation_settings": {"n_ctx": window}, "total_slots": 1}),
    )
}

/// `GET /api/v0/models`, as LM Studio has it.
pub(super) async fn studio(State(shared): State<Arc<Shared>>) -> Response<Body> {
    let window = shared.rules.window;
    told(&shared, ServerProgram::LmStudio, |local| {
        let entry = |id: &String| {
            json!({"id": id, "type": "llm", "max_context_length": 131_072,
                "loaded_context_length": window})
        };
        json!({"data": local.models.iter().map(entry).collect::<Vec<_>>()})
    })
}

/// `GET /api/ps`, as Ollama has it: nothing is loaded yet.
pub(super) async fn ps(State(shared): State<Arc<Shared>>) -> Response<Body> {
    told(&shared, ServerProgram::Ollama, |_| json!({"models": []}))
}

/// `POST /api/show`, as Ollama has it.
pub(super) async fn show(State(shared): State<Arc<Shared>>, _raw: Bytes) -> Response<Body> {
    let window = shared.rules.window;
    told(&shared, ServerProgram::Ollama, |_| {
        json!({"parameters": format!("num_ctx    {window}"),
            "model_info": {"qwen2.context_length": 131_072}})
    })
}

fn told(
    shared: &Shared,
    program: ServerProgram,
    answer: impl FnOnce(&LocalServer) -> Value,
) -> Response<Body> {
    match shared.rules.local.as_ref().filter(|local| local.program == program) {
        Some(local) => json_body(StatusCode::OK, &answer(local)),
        None => json_body(StatusCode::NOT_FOUND, &json!({"error": "not found"})),
    }
}

/// An answer that is no answer of a model, and is not counted as one.
pub(super) fn json_body(status: StatusCode, value: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = status;
    super::answer::set(&mut response, "content-type", "application/json");
    response
}

/// What such a server refuses in its own words.
pub(super) fn check(
    local: &LocalServer,
    request: &Received,
    prompt: u64,
    window: u64,
) -> Result<(), Refusal> {
    let model = request.model();
    if !local.models.is_empty() && !local.models.iter().any(|own| own == model) {
        return Err(no_model(local.program, model));
    }
    let has_tools = request.body.get("tools").is_some();
    if has_tools && !local.tools {
        return Err(no_tools(local.program, model));
    }
    let most = request.body.get("max_tokens").and_then(Value::as_u64).unwrap_or_default();
    if local.program == ServerProgram::Vllm && prompt + most > window {
        let message = format!(
            "'max_tokens' or 'max_completion_tokens' is too large: {most}. This model's maximum \
             context length is {window} tokens and your request has {prompt} input tokens"
        );
        let only_output = prompt < window;
        let long = format!(
            "This model's maximum context length is {window} tokens. However, you requested \
             {prompt} tokens in the messages. Please reduce the length of the messages."
        );
        return Err(Refusal::new(
            400,
            Some("BadRequestError"),
            if only_output { message } else { long },
        ));
    }
    if prompt > window {
        return Err(too_long(local.program, prompt, window));
    }
    Ok(())
}

fn no_model(program: ServerProgram, model: &str) -> Refusal {
    let (status, kind, message) = match program {
        ServerProgram::Ollama => (404, "api_error", format!("model '{model}' not found")),
        ServerProgram::LmStudio => (
            400,
            "invalid_request_error",
            "No models loaded. Please load a model in the developer page or use the 'lms load' \
             command."
                .to_owned(),
        ),
        ServerProgram::Vllm => {
            (404, "NotFoundError", format!("The model `{model}` does not exist."))
        }
        ServerProgram::LlamaCpp | ServerProgram::Plain => {
            (404, "invalid_request_error", format!("model not found: {model}"))
        }
    };
    Refusal::new(status, Some(kind), message)
}

fn no_tools(program: ServerProgram, model: &str) -> Refusal {
    let (status, message) = match program {
        ServerProgram::Ollama => {
            (400, format!("registry.ollama.ai/library/{model} does not support tools"))
        }
        ServerProgram::Vllm => (
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be \
             set"
            .to_owned(),
        ),
        _ => (500, "tools param requires --jinja flag".to_owned()),
    };
    Refusal::new(status, Some("invalid_request_error"), message)
}

fn too_long(program: ServerProgram, prompt: u64, window: u64) -> Refusal {
    let (kind, message) = match program {
        ServerProgram::LlamaCpp => (
            "exceed_context_size_error",
            format!(
                "request ({prompt} tokens) exceeds the available context size ({window} tokens), \
                 try increasing it"
            ),
        ),
        ServerProgram::Ollama => {
            ("api_error", "the input length exceeds the context length".to_owned())
        }
        ServerProgram::LmStudio => (
            "invalid_request_error",
            format!(
                "Trying to keep the first {prompt} tokens when context the overflows. However, \
                 the model is loaded with context length of only {window} tokens, which is not \
                 enough."
            ),
        ),
        ServerProgram::Vllm | ServerProgram::Plain => (
            "invalid_request_error",
            format!(
                "This model's maximum context length is {window} tokens. However, your messages \
                 resulted in {prompt} tokens."
            ),
        ),
    };
    Refusal::new(400, Some(kind), message)
}
