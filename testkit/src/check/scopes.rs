//! For whom a cached prefix is (PC5): a breakpoint may say that what it closes
//! is for everybody, on a server that knows scopes and under their beta. Nothing
//! before it may be for one person alone.

use super::Refusal;
use super::fields::extra;
use crate::scenario::ServerRules;
use serde_json::{Map, Value};

const BETA: &str = "prompt-caching-scope-";

/// Whether every scope may stand where it stands.
pub(super) fn check(
    body: &Map<String, Value>,
    betas: &[String],
    rules: &ServerRules,
) -> Result<(), Refusal> {
    let is_known = rules.cache_scopes && betas.iter().any(|beta| beta.starts_with(BETA));
    let mut own = false;
    for marker in markers(body) {
        match marker.get("scope") {
            Some(_) if !is_known => return Err(extra("cache_control.scope")),
            Some(Value::String(scope)) if scope == "global" && !own => {}
            Some(Value::String(scope)) if scope == "global" => {
                return Err(Refusal::invalid(
                    "cache_control.scope: a global block must not come after one that is not",
                ));
            }
            Some(_) => {
                return Err(Refusal::invalid("cache_control.scope: Input should be 'global'"));
            }
            None => own = true,
        }
    }
    Ok(())
}

/// How many pieces of the prefix are for everybody: tools, then blocks of the
/// system prompt.
pub(crate) fn shared(body: &Value) -> usize {
    let all = pieces(body.as_object());
    let is_shared = |piece: &&Value| piece.pointer("/cache_control/scope").is_some();
    all.iter().rposition(is_shared).map_or(0, |last| last + 1)
}

/// The breakpoints of a request, in the order of the prefix.
fn markers(body: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let messages = body.get("messages").and_then(Value::as_array);
    let said = messages.into_iter().flatten().filter_map(|message| message.get("content"));
    let said = said.filter_map(Value::as_array).flatten();
    let all = pieces(Some(body)).into_iter().chain(said);
    all.filter_map(|piece| piece.get("cache_control")).filter(|marker| !marker.is_null())
}

fn pieces(body: Option<&Map<String, Value>>) -> Vec<&Value> {
    let list = |key: &str| body.and_then(|body| body.get(key)).and_then(Value::as_array);
    let is_loaded = |tool: &&Value| tool.get("defer_loading") != Some(&Value::Bool(true));
    let tools = list("tools").into_iter().flatten().filter(is_loaded);
    tools.chain(list("system").into_iter().flatten()).collect()
}
