//! What the server refuses, as the API does.
//!
//! Each rule answers with a [`Refusal`] that names the place, in the API's
//! manner, so that a failing test reads like a failing request. The rules are
//! those that a client which edits history could break.

mod blocks;
pub(crate) mod chat;
pub(crate) mod edits;
mod fields;
pub(crate) mod scopes;
mod thinking;
mod turns;

pub(crate) use thinking::{Issued, sign};

use crate::received::Received;
use crate::scenario::ServerRules;
use everfold_kernel::ModelTable;
use everfold_prefix::sim::SimError;
use std::collections::BTreeMap;

/// An error response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) error_type: String,
    pub(crate) message: String,
    pub(crate) headers: BTreeMap<String, String>,
}

impl Refusal {
    pub(crate) fn new(status: u16, error_type: Option<&str>, message: impl Into<String>) -> Self {
        Self {
            status,
            error_type: error_type.unwrap_or_else(|| error_type_of(status)).into(),
            message: message.into(),
            headers: BTreeMap::new(),
        }
    }

    /// A request that is not valid.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, None, message)
    }

    /// A prompt that does not fit.
    pub(crate) fn too_long(tokens: u64, window: u64) -> Self {
        Self::invalid(format!("prompt is too long: {tokens} tokens > {window} maximum"))
    }
}

impl From<SimError> for Refusal {
    fn from(error: SimError) -> Self {
        Self::invalid(match error {
            SimError::TooManyBreakpoints { found, max } => format!(
                "A maximum of {max} blocks with cache_control may be provided. Found {found}."
            ),
            SimError::TtlOrder { position } => format!(
                "cache_control.ttl of block {position}: a ttl='1h' cache_control block must not \
                 come after a ttl='5m' cache_control block"
            ),
            SimError::AutomaticTtl => "cache_control: the last block already has a cache_control \
                 with another ttl"
                .into(),
        })
    }
}

/// The error type that goes with a status.
fn error_type_of(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    }
}

/// Which form a body has to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Messages,
    CountTokens,
}

/// Most bytes of a body.
pub(crate) const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// The version under which sampling parameters are gone.
const VERSION_2026: &str = "2026-10-21";

/// Checks a request of the Anthropic API, but for its cache markers' number
/// and order, which the simulator checks.
pub(crate) fn anthropic(
    request: &Received,
    endpoint: Endpoint,
    models: &ModelTable,
    rules: &ServerRules,
    issued: &Issued,
) -> Result<(), Refusal> {
    let version = headers(request)?;
    let betas = fields::betas(request)?;
    if request.raw.len() > MAX_BODY_BYTES {
        return Err(Refusal::new(413, None, "Request exceeds the maximum size of 32 MB"));
    }
    let Some(body) = request.body.as_object() else {
        return Err(Refusal::invalid("The request body is not valid JSON"));
    };
    fields::top_level(body, endpoint, version, &betas)?;
    fields::parameters(body, endpoint, models)?;
    fields::tools(body)?;
    blocks::system(body)?;
    blocks::messages(body, version, rules)?;
    scopes::check(body, &betas, rules)?;
    edits::check(request.messages())?;
    turns::check(request.messages())?;
    thinking::check(request.messages(), issued)
}

/// Checks key and version, and answers with the version.
fn headers(request: &Received) -> Result<&str, Refusal> {
    let key = request.header("x-api-key").is_some_and(|key| !key.is_empty());
    let bearer = request.header("authorization").is_some_and(|value| value.starts_with("Bearer "));
    if !key && !bearer {
        return Err(Refusal::new(401, None, "x-api-key header is required"));
    }
    match request.header("anthropic-version") {
        Some(version @ ("2023-06-01" | VERSION_2026)) => Ok(version),
        Some(other) => {
            Err(Refusal::invalid(format!("anthropic-version: {other:?} is not a valid version")))
        }
        None => Err(Refusal::invalid("anthropic-version: header is required")),
    }
}
