//! Tool calls that are written as text (Q18).
//!
//! A model that was trained to call tools writes its calls in a form of its own;
//! a server that does not know the form passes them on as text. And a server
//! that takes no tools at all can still be asked in text. Four forms are
//! understood: `<tool_call>` (Qwen, Hermes), fenced or bare JSON, Mistral's
//! `[TOOL_CALLS]`, Llama's `<|python_tag|>` and `<function=…>`. A call counts
//! only where it names a tool that there is.

use crate::input;
use everfold_kernel::{Block, BlockView};
use serde_json::{Map, Value};

/// Calls in a text, and what is left of it without them.
#[derive(Clone, Debug, PartialEq)]
pub struct TextCalls {
    /// The text around the calls.
    pub rest: String,
    /// Names and arguments, in order; never empty.
    pub calls: Calls,
}

/// Names and arguments.
type Calls = Vec<(String, Value)>;

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";
const FENCE: &str = "```";
const FUNCTION: &str = "<function=";
/// What may stand before the JSON of a call, and what goes with it after it.
const MARKERS: [(&str, &str); 4] =
    [(OPEN, CLOSE), ("[TOOL_CALLS]", ""), ("<|python_tag|>", "<|eom_id|>"), (FENCE, FENCE)];
/// Words that follow the opening of a fence.
const FENCE_WORDS: [&str; 6] = ["json", "tool_call", "tool_code", "tool", "xml", ""];

/// Finds calls of these tools in a text; none where there are none.
#[must_use]
pub fn find(text: &str, names: &[&str]) -> Option<TextCalls> {
    let mut calls = Vec::new();
    let mut rest = String::new();
    let mut left = text;
    while let Some((at, found, after)) = next(left, names) {
        rest.push_str(left.get(..at)?);
        calls.extend(found);
        left = left.get(after..)?;
    }
    rest.push_str(left);
    (!calls.is_empty()).then(|| TextCalls { rest: rest.trim().to_owned(), calls })
}

/// The first calls in a text: where they begin, what they are, where they end.
fn next(text: &str, names: &[&str]) -> Option<(usize, Calls, usize)> {
    let marked = MARKERS.iter().filter_map(|(open, close)| {
        let mut from = 0;
        while let Some(at) = text.get(from..)?.find(open).map(|at| from + at) {
            if let Some((calls, end)) = behind(text, at + open.len(), close, names) {
                return Some((at, calls, end));
            }
            from = at + open.len();
        }
        None
    });
    let bare = text.find(['{', '[']).filter(|at| {
        // Bare JSON is a call only where it is all there is.
        text.get(..*at).is_some_and(|before| before.trim().is_empty())
    });
    let bare = bare.and_then(|at| {
        let (calls, end) = json_calls(text, at, names)?;
        text.get(end..)?.trim().is_empty().then_some((at, calls, end))
    });
    marked.chain(bare).chain(function(text, names)).min_by_key(|(at, ..)| *at)
}

/// The calls behind a marker.
fn behind(text: &str, from: usize, close: &str, names: &[&str]) -> Option<(Calls, usize)> {
    let tail = text.get(from..)?;
    let start = tail.find(['{', '['])?;
    let between = tail.get(..start)?.trim();
    // Mistral's newer form: the name, then the arguments.
    if let Some(name) = known(between.trim_end_matches("[ARGS]").trim(), names) {
        let at = if tail.get(start..)?.starts_with("[ARGS]") { tail.find('{')? } else { start };
        let (value, end) = json_at(text, from + at)?;
        return Some((vec![(name, input::from_value(value))], closed(text, end, close)));
    }
    if !FENCE_WORDS.contains(&between) {
        return None;
    }
    let (calls, end) = json_calls(text, from + start, names)?;
    Some((calls, closed(text, end, close)))
}

/// `<function=Name>{…}</function>`.
fn function(text: &str, names: &[&str]) -> Option<(usize, Calls, usize)> {
    let at = text.find(FUNCTION)?;
    let tail = text.get(at + FUNCTION.len()..)?;
    let (name, _) = tail.split_once('>')?;
    let name_of = known(name, names)?;
    let (value, end) = json_at(text, at + FUNCTION.len() + name.len() + 1)?;
    Some((at, vec![(name_of, input::from_value(value))], closed(text, end, "</function>")))
}

/// Where a call ends, its closing mark included.
fn closed(text: &str, end: usize, close: &str) -> usize {
    let tail = text.get(end..).unwrap_or_default();
    let trimmed = tail.trim_start();
    let space = tail.len() - trimmed.len();
    if !close.is_empty() && trimmed.starts_with(close) { end + space + close.len() } else { end }
}

/// The calls that a JSON value is, and where it ends.
fn json_calls(text: &str, at: usize, names: &[&str]) -> Option<(Calls, usize)> {
    let (value, end) = json_at(text, at)?;
    let values = match value {
        Value::Array(values) => values,
        other => vec![other],
    };
    let calls: Option<Vec<_>> = values.into_iter().map(|value| call(value, names)).collect();
    calls.filter(|calls| !calls.is_empty()).map(|calls| (calls, end))
}

fn json_at(text: &str, at: usize) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text.get(at..)?).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, at + values.byte_offset()))
}

/// A call, where an object is one of a tool that there is and nothing else.
fn call(value: Value, names: &[&str]) -> Option<(String, Value)> {
    const ARGUMENTS: [&str; 4] = ["arguments", "parameters", "input", "args"];
    let Value::Object(mut map) = value else { return None };
    if let Some(Value::Object(inner)) = map.remove("function") {
        map = inner;
    }
    let name = known(map.get("name").or_else(|| map.get("tool"))?.as_str()?, names)?;
    let is_known = |key: &String| {
        ["name", "tool", "type", "id"].contains(&key.as_str()) || ARGUMENTS.contains(&key.as_str())
    };
    if !map.keys().all(is_known) {
        return None;
    }
    let arguments = ARGUMENTS.iter().find_map(|key| map.remove(*key));
    Some((name, input::from_value(arguments.unwrap_or_else(|| Value::Object(Map::new())))))
}

/// The tool that a name means, by its exact name or by another case of it.
fn known(name: &str, names: &[&str]) -> Option<String> {
    let exact = names.iter().find(|own| **own == name);
    let like = || names.iter().find(|own| own.eq_ignore_ascii_case(name));
    exact.or_else(like).map(|own| (*own).to_owned())
}

/// What a model is told of its tools where they cannot be declared.
#[must_use]
pub fn describe(tools: &[Value]) -> String {
    let lines = tools.iter().filter_map(|tool| {
        let name = tool.get("name")?.as_str()?;
        let about = tool.get("description").and_then(Value::as_str).unwrap_or_default();
        let schema = tool.get("input_schema").cloned().unwrap_or_default();
        Some(format!("- {name}: {about} Arguments: {schema}"))
    });
    let lines: Vec<String> = lines.collect();
    format!(
        "You have tools. To call one, write a JSON object with its name and arguments between \
         {OPEN} and {CLOSE}, and stop there; the result comes in the next message.\n\n{}",
        lines.join("\n")
    )
}

/// A block as it is sent where calls are text.
#[must_use]
pub fn as_text(block: &Block) -> Block {
    match block.view() {
        BlockView::ToolUse { name, input, .. } => {
            let call = serde_json::json!({"name": name, "arguments": input});
            Block::text(format!("{OPEN}\n{call}\n{CLOSE}"))
        }
        BlockView::ToolResult { content, .. } => {
            let text = match content {
                Value::String(text) => text.clone(),
                other => super::render::texts_of(Some(other)),
            };
            Block::text(format!("<tool_response>\n{text}\n</tool_response>"))
        }
        _ => block.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const NAMES: [&str; 3] = ["Read", "Bash", "Grep"];

    #[test]
    fn q18_calls_are_found_in_every_form_that_models_write() {
        let read = json!({"file_path": "a.txt"});
        for text in [
            "<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"file_path\": \"a.txt\"}}\n</tool_call>",
            "<tool_call>{\"name\":\"Read\",\"arguments\":{\"file_path\":\"a.txt\"}}",
            "```json\n{\"name\": \"Read\", \"arguments\": {\"file_path\": \"a.txt\"}}\n```",
            "```\n{\"name\": \"read\", \"parameters\": {\"file_path\": \"a.txt\"}}\n```",
            "{\"name\": \"Read\", \"arguments\": \"{\\\"file_path\\\": \\\"a.txt\\\"}\"}",
            "{\"type\": \"function\", \"function\": {\"name\": \"Read\", \"arguments\": {\"file_path\": \"a.txt\"}}}",
            "[TOOL_CALLS] [{\"name\": \"Read\", \"arguments\": {\"file_path\": \"a.txt\"}}]",
            "[TOOL_CALLS]Read[ARGS]{\"file_path\": \"a.txt\"}",
            "<|python_tag|>{\"name\": \"Read\", \"parameters\": {\"file_path\": \"a.txt\"}}<|eom_id|>",
            "<function=Read>{\"file_path\": \"a.txt\"}</function>",
        ] {
            let found = find(text, &NAMES).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(found.calls, [("Read".to_owned(), read.clone())], "{text}");
            assert_eq!(found.rest, "", "{text}");
        }
    }

    #[test]
    fn q18_words_around_calls_stay_and_several_calls_are_several() {
        let one = "<tool_call>{\"name\":\"Read\",\"arguments\":{}}</tool_call>";
        let two = "<tool_call>{\"name\":\"Bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>";
        let found = find(&format!("I look.\n{one}\n{two}\n"), &NAMES).unwrap();
        assert_eq!(found.rest, "I look.");
        let names: Vec<&str> = found.calls.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Read", "Bash"]);
    }

    #[test]
    fn q18_what_is_no_call_stays_text() {
        for text in [
            "{\"name\": \"Ada\", \"arguments\": {}}",
            "```json\n{\"name\": \"Read\", \"version\": \"1.0\"}\n```",
            "A package: {\"name\": \"Read\", \"arguments\": {}} is what you write.",
            "```rust\nfn main() {}\n```",
            "<tool_call>not json</tool_call>",
            "[1, 2]",
            "",
        ] {
            assert_eq!(find(text, &NAMES), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn q18_no_text_breaks_it(text in "(<tool_call>|\\{|\\}|\\[|\"name\"|:|\"Read\"|```|json|é| ){0,24}") {
            let _ = find(&text, &NAMES);
        }
    }
}
