//! What a failure means, for both dialects.
//!
//! Servers say the same thing in many words. A prompt that does not fit is
//! found by its wording wherever it occurs, because status codes differ; the
//! rest goes by status. The wording of a message is never relied on for
//! anything else.

mod overflow;
mod wordings;

use everfold_kernel::ports::ModelError;
use serde_json::Value;
use wordings::Trouble;

/// Most characters of a server's words that are repeated.
const MESSAGE_CHARS: usize = 600;

/// Error codes of limits that waiting does not lift.
const SPENT: [&str; 2] = ["enforced_spend_limit_reached", "insufficient_quota"];

/// What an HTTP response with an error status means.
///
/// ```
/// use everfold_kernel::ports::ModelError;
///
/// let body = br#"{"error":{"message":"prompt is too long: 203052 tokens > 200000 maximum"}}"#;
/// let error = everfold_wire::classify(400, body);
/// assert!(matches!(error, ModelError::PromptTooLong { actual: Some(203_052), .. }));
/// ```
#[must_use]
pub fn classify(status: u16, body: &[u8]) -> ModelError {
    let value: Option<Value> = serde_json::from_slice(body).ok();
    let said = Said::read(value.as_ref(), body);
    said.classify(status)
}

/// Whether a response says that a spend limit or a quota is used up: a wait
/// does not help, so it is not tried again.
#[must_use]
pub fn is_spent(body: &[u8]) -> bool {
    let value: Option<Value> = serde_json::from_slice(body).ok();
    let said = Said::read(value.as_ref(), body);
    SPENT
        .iter()
        .any(|code| said.codes.iter().any(|held| held == code) || said.message.contains(code))
}

/// Whether a JSON value is an error object of either dialect.
pub(crate) fn is_error(value: &Value) -> bool {
    value.get("type").and_then(Value::as_str) == Some("error")
        || value.get("error").is_some_and(|error| !error.is_null())
}

/// What an error object within a stream means: its type stands for the status.
pub(crate) fn classify_event(value: &Value) -> ModelError {
    let said = Said::read(Some(value), b"");
    let status = said.codes.iter().find_map(|code| status_of(code)).unwrap_or(500);
    said.classify(status)
}

fn status_of(code: &str) -> Option<u16> {
    Some(match code {
        "invalid_request_error" | "exceed_context_size_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "conflict_error" => 409,
        "request_too_large" => 413,
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        "api_error" | "server_error" => 500,
        other => return other.parse().ok().filter(|code| (400..600).contains(code)),
    })
}

/// What a server said, whatever its shape.
struct Said {
    message: String,
    codes: Vec<String>,
    tokens: Option<(u64, u64)>,
}

impl Said {
    fn read(value: Option<&Value>, body: &[u8]) -> Self {
        let Some(value) = value else {
            return Self {
                message: shorten(&String::from_utf8_lossy(body)),
                codes: Vec::new(),
                tokens: None,
            };
        };
        let error = value.get("error").unwrap_or(value);
        let message = error
            .as_str()
            .or_else(|| error.get("message").and_then(Value::as_str))
            .or_else(|| value.get("message").and_then(Value::as_str))
            .map_or_else(|| shorten(&value.to_string()), shorten);
        let details = error.get("details").unwrap_or(&Value::Null);
        let codes = [details.get("error_code"), error.get("type"), error.get("code")];
        let count = |key: &str| error.get(key).and_then(Value::as_u64);
        Self {
            message,
            codes: codes
                .into_iter()
                .flatten()
                .filter_map(|code| match code {
                    Value::String(text) => Some(text.clone()),
                    Value::Number(number) => Some(number.to_string()),
                    _ => None,
                })
                .collect(),
            tokens: count("n_prompt_tokens").zip(count("n_ctx")),
        }
    }

    fn classify(self, status: u16) -> ModelError {
        let has = |code: &str| self.codes.iter().any(|held| held == code);
        let overflow = match status {
            401..=403 | 429 => None,
            _ => overflow::find(&self.message, &self.codes, self.tokens),
        };
        if let Some(found) = overflow {
            return ModelError::PromptTooLong {
                actual: found.actual,
                maximum: found.maximum,
                message: self.message,
            };
        }
        let overloaded = status == 529 || has("overloaded_error");
        let trouble = wordings::find(&self.message, &self.codes);
        let message = self.message;
        match status {
            _ if overloaded => ModelError::Overloaded { message },
            400 | 404 | 422 if trouble == Some(Trouble::NoModel) => ModelError::NoModel { message },
            400..=599 if trouble == Some(Trouble::NoTools) => ModelError::NoTools { message },
            500..=599 if trouble == Some(Trouble::Loading) => ModelError::Loading { message },
            429 | 500..=599 if trouble == Some(Trouble::NoSlot) => {
                ModelError::Overloaded { message }
            }
            401 | 403 => ModelError::Authentication { message, hint: "the API key".into() },
            413 => ModelError::RequestTooLarge { message },
            429 => ModelError::RateLimited { retry_after: None, message },
            408 | 409 | 500.. => ModelError::Server { status, message },
            _ => ModelError::Refused { status, message },
        }
    }
}

fn shorten(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() {
        return "no message".to_owned();
    }
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(MESSAGE_CHARS).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
