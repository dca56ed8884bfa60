//! Failures, as servers word them.

use super::*;
use everfold_kernel::{Class, Classify};
use serde_json::json;

fn overflow(status: u16, body: &Value) -> Option<(Option<u64>, Option<u64>)> {
    match classify(status, body.to_string().as_bytes()) {
        ModelError::PromptTooLong { actual, maximum, .. } => Some((actual, maximum)),
        _ => None,
    }
}

fn message(text: &str) -> Value {
    json!({"type": "error", "error": {"type": "invalid_request_error", "message": text}})
}

#[test]
fn q8_a_prompt_that_is_too_long_is_known_by_many_wordings() {
    let both = |actual, maximum| Some((Some(actual), Some(maximum)));
    let cases = [
        ("prompt is too long: 203052 tokens > 200000 maximum", both(203_052, 200_000)),
        ("Prompt is too long: 203,052 tokens > 200,000 maximum", both(203_052, 200_000)),
        ("messages: prompt is too long", Some((None, None))),
        (
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
            both(210_000, 200_000),
        ),
        ("Input is too long for requested model.", Some((None, None))),
        ("capability_rejected: prompt_too_long", Some((None, None))),
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 10010 tokens.",
            both(10_010, 8_192),
        ),
        (
            "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
            both(5_000, 4_096),
        ),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            both(1_200_000, 1_048_576),
        ),
        (
            "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for m",
            None,
        ),
        (
            "'max_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 1000 input tokens",
            None,
        ),
        ("tools.0.name: too long", None),
    ];
    for (text, expected) in cases {
        assert_eq!(overflow(400, &message(text)), expected, "{text}");
    }
}

#[test]
fn q8_codes_and_counts_of_local_servers_are_read() {
    let llama = json!({"error": {"code": 400, "type": "exceed_context_size_error",
        "message": "the request exceeds the available context size, try increasing it",
        "n_prompt_tokens": 9000, "n_ctx": 4096}});
    assert_eq!(overflow(400, &llama), Some((Some(9_000), Some(4_096))));
    assert_eq!(overflow(500, &llama), Some((Some(9_000), Some(4_096))));
    let openai = json!({"error": {"message": "too much", "type": "invalid_request_error",
        "code": "context_length_exceeded"}});
    assert_eq!(overflow(400, &openai), Some((None, None)));
}

#[test]
fn q8_statuses_have_their_error() {
    let of = |status| classify(status, message("no").to_string().as_bytes());
    assert!(matches!(of(401), ModelError::Authentication { .. }));
    assert!(matches!(of(403), ModelError::Authentication { .. }));
    assert!(matches!(of(402), ModelError::Refused { status: 402, .. }));
    assert!(matches!(of(404), ModelError::Refused { status: 404, .. }));
    assert!(matches!(of(413), ModelError::RequestTooLarge { .. }));
    assert!(matches!(of(429), ModelError::RateLimited { .. }));
    assert!(matches!(of(529), ModelError::Overloaded { .. }));
    assert!(matches!(of(503), ModelError::Server { status: 503, .. }));
    assert!(matches!(of(408), ModelError::Server { .. }));
    assert_eq!(of(400).class(), Class::Stop);
}

#[test]
fn q8_a_spend_limit_is_told_apart() {
    let body = json!({"error": {"type": "rate_limit_error", "message": "no",
        "details": {"error_code": "enforced_spend_limit_reached"}}});
    assert!(is_spent(body.to_string().as_bytes()));
    assert!(!is_spent(message("slow down").to_string().as_bytes()));
}

#[test]
fn q8_errors_within_a_stream_are_the_same() {
    let of = |kind: &str| {
        classify_event(&json!({"type": "error", "error": {"type": kind, "message": "x"}}))
    };
    assert!(matches!(of("overloaded_error"), ModelError::Overloaded { .. }));
    assert!(matches!(of("rate_limit_error"), ModelError::RateLimited { .. }));
    assert!(matches!(of("api_error"), ModelError::Server { status: 500, .. }));
    assert!(matches!(of("invalid_request_error"), ModelError::Refused { .. }));
    assert!(matches!(of("strange"), ModelError::Server { .. }));
    assert!(matches!(
        classify_event(&json!({"error": {"code": 429, "message": "x"}})),
        ModelError::RateLimited { .. }
    ));
}

#[test]
fn s6_bodies_of_any_shape_give_a_short_message() {
    let long = "x".repeat(100_000);
    for body in [
        "",
        "<html>bad gateway</html>",
        "[]",
        "null",
        "{\"error\":\"model not found\"}",
        &long,
        "\u{0}",
    ] {
        let error = classify(502, body.as_bytes()).to_string();
        assert!(error.chars().count() < 800, "{error}");
    }
    let told = classify(404, b"{\"error\":\"model not found\"}").to_string();
    assert!(told.contains("(model not found)"), "{told}");
    let _ = classify(400, b"\xFF\xFE");
}

#[test]
fn q20_servers_on_ones_own_machine_are_understood() {
    let error = |status: u16, text: &str| {
        classify(status, json!({"error": {"message": text}}).to_string().as_bytes())
    };
    let no_model = [
        (404, "model 'qwen' not found"),
        (404, "model \"qwen\" not found, try pulling it first"),
        (404, "The model `qwen` does not exist."),
        (
            400,
            "No models loaded. Please load a model in the developer page or use the 'lms load' command.",
        ),
        (
            400,
            "litellm.BadRequestError: Invalid model name passed in model=qwen. Call `/v1/models`",
        ),
        (400, "qwen is not a valid model ID"),
    ];
    for (status, text) in no_model {
        assert!(matches!(error(status, text), ModelError::NoModel { .. }), "{text}");
    }
    let no_tools = [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        (
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        ),
        (500, "tools param requires --jinja flag"),
        (404, "No endpoints found that support tool use."),
    ];
    for (status, text) in no_tools {
        assert!(matches!(error(status, text), ModelError::NoTools { .. }), "{text}");
    }
    assert!(matches!(error(503, "Loading model"), ModelError::Loading { .. }));
    assert!(matches!(error(503, "no slot available"), ModelError::Overloaded { .. }));
    let long = [
        ("the input length exceeds the context length", None),
        (
            "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
            Some(4_096),
        ),
        (
            "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens",
            Some(8_192),
        ),
        ("litellm.ContextWindowExceededError: too long", None),
    ];
    for (text, most) in long {
        let found = error(400, text);
        assert!(
            matches!(found, ModelError::PromptTooLong { maximum, .. } if maximum == most),
            "{text}: {found:?}"
        );
    }
}
