//! Handlers that are no programs: what a model or a server is told, and what
//! its answer means.

use crate::answer::{HandlerExit, Ran};
use serde_json::{Map, Value};

/// The hole in a prompt for what happened.
const ARGUMENTS: &str = "$ARGUMENTS";
/// Characters of an answer that cannot be understood which are told.
const SHOWN_CHARS: usize = 200;

/// A prompt with what happened put in; at its end where it has no place for it.
#[must_use]
pub fn filled_prompt(prompt: &str, input: &str) -> String {
    if prompt.contains(ARGUMENTS) {
        prompt.replace(ARGUMENTS, input)
    } else {
        format!("{prompt}\n\n{input}")
    }
}

/// The arguments of a server's tool, with every `${path}` in a text filled in
/// from what happened: `${tool_input.file_path}`. A text that is nothing but
/// one hole becomes the value itself; what is not there becomes empty.
#[must_use]
pub fn filled_arguments(arguments: &Map<String, Value>, input: &Value) -> Map<String, Value> {
    arguments.iter().map(|(key, value)| (key.clone(), filled(value, input))).collect()
}

fn filled(value: &Value, input: &Value) -> Value {
    match value {
        Value::String(text) => filled_text(text, input),
        Value::Array(items) => items.iter().map(|item| filled(item, input)).collect(),
        Value::Object(map) => Value::Object(filled_arguments(map, input)),
        other => other.clone(),
    }
}

fn filled_text(text: &str, input: &Value) -> Value {
    let whole = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    if let Some(path) = whole.filter(|path| !path.contains('}')) {
        return at(input, path).cloned().unwrap_or(Value::Null);
    }
    let mut parts = text.split("${");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let Some((path, rest)) = part.split_once('}') else {
            out.push_str("${");
            out.push_str(part);
            continue;
        };
        match at(input, path) {
            Some(Value::String(text)) => out.push_str(text),
            Some(Value::Null) | None => {}
            Some(other) => out.push_str(&other.to_string()),
        }
        out.push_str(rest);
    }
    Value::String(out)
}

fn at<'a>(input: &'a Value, path: &str) -> Option<&'a Value> {
    path.trim().split('.').try_fold(input, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    })
}

/// What a model's judgement means: `{"ok": true}` goes along, `{"ok": false,
/// "reason": "…"}` blocks. Words around the object do not matter; anything
/// else has no say.
#[must_use]
pub fn judgement(text: &str) -> Ran {
    let start = text.find('{').unwrap_or(text.len());
    let end = text.rfind('}').map_or(start, |end| end + 1);
    let object = text.get(start..end).unwrap_or_default();
    let value: Value = serde_json::from_str(object).unwrap_or(Value::Null);
    let reason = value.get("reason").and_then(Value::as_str).unwrap_or_default();
    let ended = match value.get("ok").and_then(Value::as_bool) {
        Some(true) => HandlerExit::Code(0),
        Some(false) => HandlerExit::Code(2),
        None => {
            let shown: String = text.trim().chars().take(SHOWN_CHARS).collect();
            HandlerExit::NotRun(format!("its answer is not a decision: {shown:?}"))
        }
    };
    Ran { ended, stdout: String::new(), stderr: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn q7_arguments_are_filled_in_from_what_happened() {
        let input = json!({"tool_input": {"file_path": "/a b", "n": 3}, "tool_calls": [{"id": 1}]});
        let given = json!({"path": "${tool_input.file_path}", "n": "${tool_input.n}",
            "deep": ["x ${tool_input.n} y ${nowhere} ${tool_calls.0.id}", 7], "open": "${tool_"});
        let given = given.as_object().unwrap();
        let expected = json!({"path": "/a b", "n": 3, "deep": ["x 3 y  1", 7], "open": "${tool_"});
        assert_eq!(Value::Object(filled_arguments(given, &input)), expected);
        // What comes in is not filled in again.
        let sly = json!({"tool_input": {"file_path": "${session_id}"}, "session_id": "s"});
        let given = json!({"path": "at ${tool_input.file_path}"});
        let filled = filled_arguments(given.as_object().unwrap(), &sly);
        assert_eq!(filled["path"], "at ${session_id}");
    }

    #[test]
    fn q7_a_judgement_is_an_object_with_ok() {
        assert_eq!(judgement("Sure: {\"ok\": true}").ended, HandlerExit::Code(0));
        let no = judgement("```json\n{\"ok\": false, \"reason\": \"untested\"}\n```");
        assert_eq!((no.ended, no.stderr.as_str()), (HandlerExit::Code(2), "untested"));
        for garbage in ["", "yes", "{", "}{", "{\"ok\": \"true\"}", "[true]", "{} {\"ok\": true}"] {
            assert!(matches!(judgement(garbage).ended, HandlerExit::NotRun(_)), "{garbage}");
        }
    }

    #[test]
    fn q7_a_prompt_without_a_hole_gets_what_happened_at_its_end() {
        assert_eq!(filled_prompt("Look at $ARGUMENTS.", "{}"), "Look at {}.");
        assert_eq!(filled_prompt("Look.", "{}"), "Look.\n\n{}");
    }
}
