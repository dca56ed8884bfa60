//! Top-level fields, parameters, tools and beta names.

use super::{Endpoint, Refusal, VERSION_2026};
use crate::received::Received;
use everfold_kernel::{ModelId, ModelTable};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const MESSAGES_FIELDS: &[&str] = &[
    "model",
    "messages",
    "max_tokens",
    "cache_control",
    "container",
    "diagnostics",
    "inference_geo",
    "metadata",
    "output_config",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "thinking",
    "tool_choice",
    "tools",
];

const COUNT_FIELDS: &[&str] = &[
    "messages",
    "model",
    "cache_control",
    "compaction",
    "context_management",
    "mcp_servers",
    "output_config",
    "speed",
    "system",
    "thinking",
    "tool_choice",
    "tools",
];

const SAMPLING_FIELDS: &[&str] = &["temperature", "top_p", "top_k"];

/// Fields that need a beta, by what its name starts with.
const BETA_FIELDS: &[(&str, &[&str])] = &[
    ("compaction", &["compact-2026-09"]),
    ("context_management", &["context-management-", "compact-"]),
    ("fallback_credit_token", &["fallback-credit-"]),
    ("fallbacks", &["server-side-fallback-"]),
    ("mcp_servers", &["mcp-client-"]),
    ("thread", &["message-threads-"]),
    ("output_format", &["structured-outputs-"]),
];

/// Betas that exist, by the name before the date.
const BETAS: &[&str] = &[
    "message-batches",
    "prompt-caching",
    "prompt-caching-scope",
    "token-counting",
    "output-128k",
    "output-300k",
    "files-api",
    "mcp-client",
    "interleaved-thinking",
    "extended-cache-ttl",
    "context-1m",
    "context-management",
    "model-context-window-exceeded",
    "skills",
    "structured-outputs",
    "compact",
    "fast-mode",
    "advisor-tool",
    "advanced-tool-use",
    "task-budgets",
    "managed-agents",
    "cache-diagnosis",
    "dreaming",
    "thinking-token-count",
    "server-side-fallback",
    "fallback-credit",
    "mid-conversation-tool-changes",
    "mid-conversation-output-config",
    "mid-conversation-system",
    "mid-conversation-system-clear-at",
    "agent-memory",
    "thinking-binding-controls",
    "message-threads",
    "thinking-display-updates",
    "redact-thinking",
    "inline-tools",
    "oauth",
    "effort",
];

/// The beta names of a request; one that does not exist is refused.
pub(super) fn betas(request: &Received) -> Result<Vec<String>, Refusal> {
    let named: Vec<String> = request
        .headers
        .iter()
        .filter(|(name, _)| name == "anthropic-beta")
        .flat_map(|(_, value)| value.split(','))
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    for name in &named {
        // `-2026-09-04` is eleven characters.
        let stem = name.len().checked_sub(11).and_then(|end| name.get(..end)).unwrap_or(name);
        if !BETAS.contains(&stem) && name != "claude-code-20250219" {
            return Err(Refusal::invalid(format!(
                "Unexpected value(s) `{name}` for the `anthropic-beta` header"
            )));
        }
    }
    Ok(named)
}

/// Every field has to be known, by itself or through a beta.
pub(super) fn top_level(
    body: &Map<String, Value>,
    endpoint: Endpoint,
    version: &str,
    betas: &[String],
) -> Result<(), Refusal> {
    let known = match endpoint {
        Endpoint::Messages => MESSAGES_FIELDS,
        Endpoint::CountTokens => COUNT_FIELDS,
    };
    for field in body.keys() {
        let enabled = BETA_FIELDS.iter().any(|(name, needs)| {
            name == field
                && needs.iter().any(|stem| betas.iter().any(|beta| beta.starts_with(stem)))
        });
        let sampling = endpoint == Endpoint::Messages
            && version != VERSION_2026
            && SAMPLING_FIELDS.contains(&field.as_str());
        if !known.contains(&field.as_str()) && !enabled && !sampling {
            return Err(extra(field));
        }
    }
    Ok(())
}

/// The refusal of a field that is not known.
pub(super) fn extra(path: &str) -> Refusal {
    Refusal::invalid(format!("{path}: Extra inputs are not permitted"))
}

/// Required fields and limits of numbers.
pub(super) fn parameters(
    body: &Map<String, Value>,
    endpoint: Endpoint,
    models: &ModelTable,
) -> Result<(), Refusal> {
    let required = |field: &str| Refusal::invalid(format!("{field}: Field required"));
    let model = body
        .get("model")
        .and_then(Value::as_str)
        .filter(|model| !model.is_empty())
        .ok_or_else(|| required("model"))?;
    if body.get("messages").and_then(Value::as_array).is_none() {
        return Err(required("messages"));
    }
    if endpoint == Endpoint::CountTokens {
        return Ok(());
    }
    let max_tokens =
        body.get("max_tokens").and_then(Value::as_u64).ok_or_else(|| required("max_tokens"))?;
    let spec = models.spec(&ModelId::new(model));
    if spec.window.is_some() && max_tokens > spec.max_output {
        return Err(Refusal::invalid(format!(
            "max_tokens: {max_tokens} > {}, which is the maximum allowed number of output tokens \
             for {model}",
            spec.max_output
        )));
    }
    let streams = body.get("stream") == Some(&Value::Bool(true));
    if max_tokens == 0 && streams {
        return Err(Refusal::invalid("max_tokens: 0 is not allowed with stream"));
    }
    thinking_parameter(body.get("thinking"), max_tokens)
}

fn thinking_parameter(thinking: Option<&Value>, max_tokens: u64) -> Result<(), Refusal> {
    let Some(thinking) = thinking else {
        return Ok(());
    };
    match thinking.get("type").and_then(Value::as_str) {
        Some("adaptive" | "disabled" | "between_tools") => Ok(()),
        Some("enabled") => match thinking.get("budget_tokens").and_then(Value::as_u64) {
            Some(budget) if budget >= max_tokens => {
                Err(Refusal::invalid("`max_tokens` must be greater than `thinking.budget_tokens`"))
            }
            Some(1_024..) => Ok(()),
            _ => Err(Refusal::invalid(
                "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
            )),
        },
        _ => Err(Refusal::invalid("thinking.type: not a kind of thinking")),
    }
}

const TOOL_FIELDS: &[&str] = &[
    "name",
    "description",
    "input_schema",
    "type",
    "cache_control",
    "defer_loading",
    "strict",
    "eager_input_streaming",
    "input_examples",
    "allowed_callers",
];

/// Tools have a name of their own and an object as arguments. Tools of the
/// server (`type` other than `custom`) are left alone.
pub(super) fn tools(body: &Map<String, Value>) -> Result<(), Refusal> {
    let mut names = BTreeSet::new();
    let tools = body.get("tools").and_then(Value::as_array);
    for (at, tool) in tools.into_iter().flatten().enumerate() {
        let text = |key: &str| tool.get(key).and_then(Value::as_str);
        super::blocks::marker(tool, &format!("tools.{at}"))?;
        if !names.insert(text("name").unwrap_or("")) {
            return Err(Refusal::invalid("tools: Tool names must be unique."));
        }
        if !matches!(text("type"), None | Some("custom")) {
            continue;
        }
        let fields = tool.as_object().into_iter().flat_map(Map::keys);
        for field in fields {
            if !TOOL_FIELDS.contains(&field.as_str()) {
                return Err(extra(&format!("tools.{at}.custom.{field}")));
            }
        }
        let name = text("name").unwrap_or("");
        let valid = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > 128 || !name.chars().all(valid) {
            return Err(Refusal::invalid(format!(
                "tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )));
        }
        let schema = tool.get("input_schema");
        let kind = schema.and_then(|schema| schema.get("type"));
        if kind.and_then(Value::as_str) != Some("object") {
            return Err(Refusal::invalid(format!(
                "tools.{at}.custom.input_schema.type: Field required"
            )));
        }
        let root = ["anyOf", "oneOf", "allOf"];
        if root.iter().any(|key| schema.is_some_and(|s| s.get(key).is_some())) {
            return Err(Refusal::invalid(format!(
                "tools.{at}.custom.input_schema: input_schema does not support oneOf, allOf, or \
                 anyOf at the top level"
            )));
        }
    }
    Ok(())
}
