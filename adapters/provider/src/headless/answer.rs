//! What programs print when they ran without a person.

use super::HeadlessProgram;
use everfold_kernel::{ModelId, Usage};
use serde_json::Value;

/// What a program said.
#[derive(Debug, PartialEq)]
pub(super) enum Said {
    /// The model's answer, what it used, and which model it was.
    Answer { text: String, usage: Usage, by: Option<ModelId> },
    /// Why there is none.
    Refusal(String),
}

/// Reads what a program printed; none where it says nothing.
pub(super) fn read(program: HeadlessProgram, out: &str) -> Option<Said> {
    match program {
        HeadlessProgram::Claude => Some(claude(&object(out)?)),
        HeadlessProgram::Gemini => gemini(&object(out)?),
        HeadlessProgram::Codex => codex(out),
        HeadlessProgram::Opencode => opencode(out),
        HeadlessProgram::Pi => pi(out),
    }
}

/// The last JSON object of an output: notices may stand before it.
fn object(out: &str) -> Option<Value> {
    let whole = serde_json::from_str(out.trim()).ok();
    whole.or_else(|| {
        let start = out.find("\n{").map_or_else(|| out.find('{'), |at| Some(at + 1))?;
        serde_json::Deserializer::from_str(out.get(start..)?).into_iter().next()?.ok()
    })
}

fn claude(said: &Value) -> Said {
    let text = at(said, "/result").as_str().unwrap_or_default().to_owned();
    if *at(said, "/is_error") == true || *at(said, "/subtype") != "success" {
        let errors = at(said, "/errors").as_array().cloned().unwrap_or_default();
        let errors: Vec<&str> = errors.iter().filter_map(Value::as_str).collect();
        return Said::Refusal(if text.is_empty() { errors.join("; ") } else { text });
    }
    let used = at(said, "/usage");
    let usage = Usage {
        input: count(at(used, "/input_tokens")),
        cache_read: count(at(used, "/cache_read_input_tokens")),
        cache_write_5m: count(at(used, "/cache_creation_input_tokens")),
        output: count(at(used, "/output_tokens")),
        ..Usage::default()
    };
    let by = at(said, "/modelUsage").as_object().and_then(|models| models.keys().next());
    Said::Answer { text, usage, by: by.map(|model| ModelId::new(model.as_str())) }
}

fn gemini(said: &Value) -> Option<Said> {
    if let Some(error) = said.get("error").filter(|error| !error.is_null()) {
        let words = at(error, "/message").as_str().map_or_else(|| error.to_string(), str::to_owned);
        return Some(Said::Refusal(words));
    }
    let text = at(said, "/response").as_str()?.to_owned();
    let models = at(said, "/stats/models").as_object();
    let mut usage = Usage::default();
    for model in models.into_iter().flat_map(|models| models.values()) {
        let tokens = at(model, "/tokens");
        let cached = count(at(tokens, "/cached"));
        usage.cache_read += cached;
        usage.input += count(at(tokens, "/prompt")).saturating_sub(cached);
        usage.output += count(at(tokens, "/candidates")) + count(at(tokens, "/thoughts"));
    }
    let by = models.and_then(|models| models.keys().next());
    Some(Said::Answer { text, usage, by: by.map(|model| ModelId::new(model.as_str())) })
}

/// Codex prints an event a line.
fn codex(out: &str) -> Option<Said> {
    let (mut text, mut error, mut usage) = (None, None, Usage::default());
    for event in out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let item = at(&event, "/item");
        match at(&event, "/type").as_str().unwrap_or_default() {
            "item.completed" if *at(item, "/type") == "agent_message" => {
                text = at(item, "/text").as_str().map(str::to_owned);
            }
            "turn.completed" => {
                let used = at(&event, "/usage");
                let cached = count(at(used, "/cached_input_tokens"));
                usage.cache_read += cached;
                usage.input += count(at(used, "/input_tokens")).saturating_sub(cached);
                usage.output += count(at(used, "/output_tokens"));
            }
            "turn.failed" | "error" => {
                let words =
                    at(&event, "/error/message").as_str().or(at(&event, "/message").as_str());
                error = words.map(str::to_owned).or(error);
            }
            _ => {}
        }
    }
    match (text, error) {
        (Some(text), _) => Some(Said::Answer { text, usage, by: None }),
        (None, error) => error.map(Said::Refusal),
    }
}

/// So does opencode.
fn opencode(out: &str) -> Option<Said> {
    let (mut text, mut error, mut usage) = (String::new(), None, Usage::default());
    for event in out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        match at(&event, "/type").as_str().unwrap_or_default() {
            "text" => text.push_str(at(&event, "/part/text").as_str().unwrap_or_default()),
            "step_finish" => {
                let used = at(&event, "/part/tokens");
                usage.input += count(at(used, "/input"));
                usage.cache_read += count(at(used, "/cache/read"));
                usage.cache_write_5m += count(at(used, "/cache/write"));
                usage.output += count(at(used, "/output")) + count(at(used, "/reasoning"));
            }
            "error" => {
                let words = at(&event, "/error/data/message").as_str();
                error = words.or(at(&event, "/error/name").as_str()).map(str::to_owned);
            }
            _ => {}
        }
    }
    match error {
        None if text.is_empty() => None,
        None => Some(Said::Answer { text, usage, by: None }),
        Some(error) => Some(Said::Refusal(error)),
    }
}

/// And pi, whose messages have what they used.
fn pi(out: &str) -> Option<Said> {
    let (mut text, mut error, mut usage) = (String::new(), None, Usage::default());
    for event in out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let message = at(&event, "/message");
        let is_answer =
            *at(&event, "/type") == "message_end" && *at(message, "/role") == "assistant";
        if !is_answer {
            continue;
        }
        let parts = at(message, "/content").as_array().into_iter().flatten();
        parts.for_each(|part| text.push_str(at(part, "/text").as_str().unwrap_or_default()));
        error = at(message, "/errorMessage").as_str().map(str::to_owned).or(error);
        let used = at(message, "/usage");
        usage.input += count(at(used, "/input"));
        usage.cache_read += count(at(used, "/cacheRead"));
        usage.cache_write_5m += count(at(used, "/cacheWrite"));
        usage.output += count(at(used, "/output"));
    }
    match error {
        None if text.is_empty() => None,
        None => Some(Said::Answer { text, usage, by: None }),
        Some(error) => Some(Said::Refusal(error)),
    }
}

/// What is at a place; nothing where it is not there.
pub(super) fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x7_answers_usage_and_refusals_are_read() {
        let claude = r#"{"type":"result","subtype":"success","is_error":false,"result":"{\"memories\":[]}","usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":2,"output_tokens":5},"modelUsage":{"claude-haiku-4-5":{}}}"#;
        let Some(Said::Answer { text, usage, by }) = read(HeadlessProgram::Claude, claude) else {
            panic!("an answer")
        };
        assert_eq!((text.as_str(), usage.input, usage.output), ("{\"memories\":[]}", 10, 5));
        assert_eq!(by, Some(ModelId::new("claude-haiku-4-5")));
        let refused = r#"{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login"}"#;
        let wanted = Said::Refusal("Invalid API key · Please run /login".to_owned());
        assert_eq!(read(HeadlessProgram::Claude, refused), Some(wanted));

        let codex = "{\"type\":\"thread.started\"}\n{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"yes\"}}\n{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":10,\"cached_input_tokens\":4,\"output_tokens\":2}}\n";
        let Some(Said::Answer { text, usage, .. }) = read(HeadlessProgram::Codex, codex) else {
            panic!("an answer")
        };
        assert_eq!((text.as_str(), usage.input, usage.cache_read), ("yes", 6, 4));
        let failed = "{\"type\":\"turn.failed\",\"error\":{\"message\":\"no\"}}\n";
        assert_eq!(read(HeadlessProgram::Codex, failed), Some(Said::Refusal("no".to_owned())));

        let gemini = "Loaded cached credentials.\n{\n  \"response\": \"yes\",\n  \"stats\": {\"models\": {\"gemini-2.5-flash\": {\"tokens\": {\"prompt\": 9, \"candidates\": 1, \"cached\": 4, \"thoughts\": 2}}}}\n}\n";
        let Some(Said::Answer { usage, .. }) = read(HeadlessProgram::Gemini, gemini) else {
            panic!("an answer")
        };
        assert_eq!((usage.input, usage.output), (5, 3));
        assert_eq!(read(HeadlessProgram::Gemini, ""), None);

        let opencode = "{\"type\":\"step_start\"}\n{\"type\":\"text\",\"part\":{\"text\":\"yes\"}}\n{\"type\":\"step_finish\",\"part\":{\"tokens\":{\"input\":9,\"output\":1,\"reasoning\":2,\"cache\":{\"read\":4,\"write\":0}}}}\n";
        let Some(Said::Answer { text, usage, .. }) = read(HeadlessProgram::Opencode, opencode)
        else {
            panic!("an answer")
        };
        assert_eq!((text.as_str(), usage.input, usage.output), ("yes", 9, 3));
        let failed = "{\"type\":\"error\",\"error\":{\"name\":\"APIError\",\"data\":{\"message\":\"no\"}}}\n";
        assert_eq!(read(HeadlessProgram::Opencode, failed), Some(Said::Refusal("no".to_owned())));
        assert_eq!(read(HeadlessProgram::Opencode, "{\"type\":\"step_start\"}\n"), None);

        let asked = "{\"type\":\"message_end\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"?\"}]}}\n";
        let pi = asked.to_owned()
            + "{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"yes\"}],\"usage\":{\"input\":9,\"output\":3}}}\n";
        let Some(Said::Answer { text, usage, .. }) = read(HeadlessProgram::Pi, &pi) else {
            panic!("an answer")
        };
        assert_eq!((text.as_str(), usage.input, usage.output), ("yes", 9, 3));
        let failed = "{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[],\"errorMessage\":\"no\"}}\n";
        assert_eq!(read(HeadlessProgram::Pi, failed), Some(Said::Refusal("no".to_owned())));
        assert_eq!(read(HeadlessProgram::Pi, asked), None);
    }
}
