//! From the body of an Anthropic request to the pieces of its prefix.
//!
//! Cache markers are taken out of what is hashed, so that moving one changes
//! nothing. A string of content is the same as one text block, and the blocks
//! of consecutive messages of one role the same as those of one message. Key
//! order counts, as it does on the server. Tools that are loaded later
//! (`defer_loading`) are not part of the prefix.
//!
//! Parameters that the server renders into a layer are hashed with the first
//! piece of that layer: `speed` with the system prompt; `tool_choice`,
//! `thinking`, `effort` and whether there are pictures with the messages.

use super::{SimError, SimPiece, short};
use everfold_kernel::Tokens;
use everfold_kernel::record::CacheTtl;
use serde_json::{Map, Value, json};

/// Splits a request body into pieces, counting each with `count`, which is
/// given the tool or block without its cache marker. What is not of the form
/// that the API takes is passed over: this is no validation.
///
/// # Errors
///
/// [`SimError::AutomaticTtl`] where the top-level marker and the last block's
/// have different lifetimes.
pub fn pieces_of(
    body: &Value,
    count: &dyn Fn(&Value) -> Tokens,
) -> Result<Vec<SimPiece>, SimError> {
    let mut splitter =
        Splitter { count, salt: String::new(), pieces: Vec::new(), last_cacheable: None };
    for tool in items(body.get("tools")) {
        if tool.get("defer_loading").and_then(Value::as_bool) != Some(true) {
            splitter.push("tool", tool);
        }
    }
    splitter.salt_with(&[body.get("speed")]);
    for block in blocks(body.get("system")) {
        splitter.push("system", &block);
    }
    let pictures = Value::Bool(has_pictures(body));
    splitter.salt_with(&[
        body.get("tool_choice"),
        body.get("thinking"),
        body.pointer("/output_config/effort"),
        Some(&pictures),
    ]);
    for message in items(body.get("messages")) {
        let role = message.get("role").and_then(Value::as_str).unwrap_or("");
        for block in blocks(message.get("content")) {
            splitter.push(role, &block);
        }
    }
    splitter.automatic(body)
}

struct Splitter<'a> {
    count: &'a dyn Fn(&Value) -> Tokens,
    /// Parameters that go into the hash of the next piece.
    salt: String,
    pieces: Vec<SimPiece>,
    /// The last piece on which the automatic marker may stand.
    last_cacheable: Option<usize>,
}

impl Splitter<'_> {
    fn salt_with(&mut self, parameters: &[Option<&Value>]) {
        for parameter in parameters {
            self.salt.push_str(&parameter.unwrap_or(&Value::Null).to_string());
            self.salt.push('\n');
        }
    }

    fn push(&mut self, layer: &str, block: &Value) {
        let (plain, breakpoint) = without_marker(block);
        let mut hasher = blake3::Hasher::new();
        for part in [layer, &plain.to_string(), &std::mem::take(&mut self.salt)] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        if is_cacheable(&plain) {
            self.last_cacheable = Some(self.pieces.len());
        }
        self.pieces.push(SimPiece {
            content: short(&hasher.finalize()),
            tokens: (self.count)(&plain),
            breakpoint,
        });
    }

    /// Sets the automatic marker, where the body asks for it.
    fn automatic(mut self, body: &Value) -> Result<Vec<SimPiece>, SimError> {
        let Some(ttl) = body.get("cache_control").and_then(marker_ttl) else {
            return Ok(self.pieces);
        };
        let last = self.last_cacheable.and_then(|at| self.pieces.get_mut(at));
        if let Some(piece) = last {
            if piece.breakpoint.is_some_and(|other| other != ttl) {
                return Err(SimError::AutomaticTtl);
            }
            piece.breakpoint = Some(ttl);
        }
        Ok(self.pieces)
    }
}

fn items(list: Option<&Value>) -> &[Value] {
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The blocks of a content: a string is one text block.
fn blocks(content: Option<&Value>) -> Vec<Value> {
    match content {
        Some(Value::String(text)) => vec![json!({"type": "text", "text": text})],
        Some(Value::Array(list)) => list.clone(),
        _ => Vec::new(),
    }
}

/// The block without its marker, and without those of a tool result's parts.
fn without_marker(block: &Value) -> (Value, Option<CacheTtl>) {
    let Value::Object(map) = block else {
        return (block.clone(), None);
    };
    let mut map = map.clone();
    let mut ttl = take_marker(&mut map);
    if map.get("type").and_then(Value::as_str) == Some("tool_result")
        && let Some(Value::Array(parts)) = map.get_mut("content")
    {
        for part in parts.iter_mut().filter_map(Value::as_object_mut) {
            ttl = take_marker(part).or(ttl);
        }
    }
    (Value::Object(map), ttl)
}

fn take_marker(map: &mut Map<String, Value>) -> Option<CacheTtl> {
    // The order of the other keys is content: it has to stay.
    map.shift_remove("cache_control").as_ref().and_then(marker_ttl)
}

fn marker_ttl(marker: &Value) -> Option<CacheTtl> {
    let marker = marker.as_object()?;
    match marker.get("ttl").and_then(Value::as_str) {
        Some("1h") => Some(CacheTtl::OneHour),
        _ => Some(CacheTtl::FiveMinutes),
    }
}

fn is_cacheable(block: &Value) -> bool {
    match block.get("type").and_then(Value::as_str) {
        Some("thinking" | "redacted_thinking") => false,
        Some("text") => block.get("text").and_then(Value::as_str) != Some(""),
        _ => true,
    }
}

fn has_pictures(body: &Value) -> bool {
    let is_picture = |block: &Value| block.get("type").and_then(Value::as_str) == Some("image");
    items(body.get("messages"))
        .iter()
        .flat_map(|message| items(message.get("content")))
        .any(|block| is_picture(block) || items(block.get("content")).iter().any(is_picture))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(_: &Value) -> Tokens {
        Tokens(1)
    }

    fn of(body: &Value) -> Vec<SimPiece> {
        pieces_of(body, &one).unwrap()
    }

    fn contents(body: &Value) -> Vec<crate::sim::Hash> {
        of(body).iter().map(|piece| piece.content).collect()
    }

    #[test]
    fn pc7_markers_are_not_content() {
        let plain = json!({"tools": [{"name": "a", "x": 1}], "system": [{"type": "text", "text": "s"}],
            "messages": [{"role": "user", "content": "hi"}]});
        let marked = json!({"tools": [{"name": "a", "cache_control": {"type": "ephemeral"}, "x": 1}],
            "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]});
        assert_eq!(contents(&plain), contents(&marked));
        let ttls: Vec<_> = of(&marked).iter().map(|piece| piece.breakpoint).collect();
        assert_eq!(ttls, [Some(CacheTtl::FiveMinutes), Some(CacheTtl::OneHour), None]);
    }

    #[test]
    fn pc7_messages_of_one_role_are_one_turn_and_key_order_counts() {
        let split = json!({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]});
        let joined = json!({"messages": [{"role": "user", "content": [
            {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]});
        assert_eq!(contents(&split), contents(&joined));
        let call = |input: Value| {
            json!({"messages": [{"role": "assistant", "content": [
            {"type": "tool_use", "id": "t", "name": "n", "input": input}]}]})
        };
        assert_ne!(
            contents(&call(json!({"a": 1, "b": 2}))),
            contents(&call(json!({"b": 2, "a": 1})))
        );
        assert_ne!(
            contents(&json!({"messages": [{"role": "user", "content": "a"}]})),
            contents(&json!({"messages": [{"role": "assistant", "content": "a"}]}))
        );
    }

    #[test]
    fn pc7_a_parameter_touches_its_layer_and_what_comes_after() {
        let body = |extra: Value| {
            let mut body = json!({"tools": [{"name": "a"}], "system": "s",
                "messages": [{"role": "user", "content": "hi"}]});
            let map = body.as_object_mut().unwrap();
            map.extend(extra.as_object().unwrap().clone());
            contents(&body)
        };
        let changed = |extra: Value| {
            let (before, after) = (body(json!({})), body(extra));
            let same = |at: usize| before[at] == after[at];
            (same(0), same(1), same(2))
        };
        assert_eq!(changed(json!({"tool_choice": {"type": "any"}})), (true, true, false));
        assert_eq!(changed(json!({"thinking": {"type": "adaptive"}})), (true, true, false));
        assert_eq!(changed(json!({"speed": "fast"})), (true, false, true));
        assert_eq!(changed(json!({"max_tokens": 5})), (true, true, true));
    }

    #[test]
    fn pc7_the_automatic_marker_stands_on_the_last_cacheable_block() {
        let body = |marker: Value| {
            json!({"cache_control": {"type": "ephemeral", "ttl": "1h"},
            "messages": [{"role": "user", "content": [{"type": "text", "text": "q", "cache_control": marker}]},
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "s"}]}]})
        };
        let same = of(&body(json!({"type": "ephemeral", "ttl": "1h"})));
        assert_eq!(same[0].breakpoint, Some(CacheTtl::OneHour));
        assert_eq!(same[1].breakpoint, None);
        assert_eq!(
            pieces_of(&body(json!({"type": "ephemeral"})), &one),
            Err(SimError::AutomaticTtl)
        );
    }

    #[test]
    fn pc7_deferred_tools_are_outside_the_prefix_and_nested_markers_count() {
        let body = json!({"tools": [{"name": "a"}, {"name": "b", "defer_loading": true}],
            "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t",
                "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]}]}]});
        let pieces = of(&body);
        assert_eq!(pieces.len(), 2);
        assert_eq!(pieces[1].breakpoint, Some(CacheTtl::FiveMinutes));
    }
}
