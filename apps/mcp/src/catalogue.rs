//! The tools as clients see them. All descriptions together stay under 2 KB:
//! that is what a client shows of a server.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use std::sync::Arc;

/// What a model is told of the server as a whole.
pub const INSTRUCTIONS: &str = "Memories of earlier sessions, for this project and for the person. \
Look with memory_search before you start on something that may have come up before; read what helps \
with memory_read. What you find is from the past: check it against the present. When the person asks \
you to remember something, or corrects how you work, use memory_save: one fact each, with why it holds.";

/// The tools, always in this order.
#[must_use]
pub fn tools() -> Vec<Tool> {
    vec![search(), read(), save(), forget(), sessions(), result()]
}

fn tool(name: &'static str, about: &'static str, input: &Value, output: &Value) -> Tool {
    Tool::new(name, about, object(input)).with_raw_output_schema(object(output))
}

fn object(value: &Value) -> Arc<JsonObject> {
    Arc::new(value.as_object().cloned().unwrap_or_default())
}

fn looking(title: &str) -> ToolAnnotations {
    ToolAnnotations::with_title(title).read_only(true).idempotent(true).open_world(false)
}

fn search() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words of what you want to know"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "At most so many; 8 where not given"},
        },
        "required": ["query"],
    });
    let output = json!({
        "type": "object",
        "properties": {
            "memories": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "name": {"type": "string"},
                    "description": {"type": "string"},
                    "type": {"type": "string"},
                    "age_days": {"type": "integer"},
                    "score": {"type": "number"},
                },
                "required": ["id", "name", "description", "age_days", "score"],
            }},
            "looked_at": {"type": "integer"},
        },
        "required": ["memories", "looked_at"],
    });
    let about = "Finds memories by words, best first: id, name, description and age of each. \
                 Read one whole with memory_read.";
    tool("memory_search", about, &input, &output).with_annotations(looking("Search memories"))
}

fn read() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {"id": {"type": "string", "description": "As memory_search gives it"}},
        "required": ["id"],
    });
    let output = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "text": {"type": "string"},
            "age_days": {"type": "integer"},
        },
        "required": ["id", "text", "age_days"],
    });
    let about = "Reads one memory whole. It is an observation of the past, of the age given.";
    tool("memory_read", about, &input, &output).with_annotations(looking("Read a memory"))
}

fn save() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "A few words; the file is called after it"},
            "description": {"type": "string", "description": "One specific sentence, by which it is found"},
            "type": {"type": "string", "enum": ["user", "feedback", "project", "reference"]},
            "text": {"type": "string", "description": "The fact, then why it holds and how to apply it"},
            "scope": {"type": "string", "enum": ["project", "global"], "description": "global: true of the person in every project"},
            "id": {"type": "string", "description": "A memory to change, instead of a new one"},
        },
        "required": ["name", "description", "type", "text"],
    });
    let output = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "state": {"type": "string", "enum": ["saved", "waiting", "unchanged"]},
            "note": {"type": "string"},
        },
        "required": ["id", "state", "note"],
    });
    let about = "Saves one fact for later sessions: who the person is (user), how they want work \
                 done (feedback), what goes on and why (project), where things are kept (reference). \
                 Not what code, git or instruction files already say, and no secrets. To change a \
                 memory, give its id.";
    let hints = ToolAnnotations::with_title("Save a memory")
        .read_only(false)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    tool("memory_save", about, &input, &output).with_annotations(hints)
}

fn forget() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "As memory_search gives it"},
            "reason": {"type": "string", "description": "Why it no longer holds"},
        },
        "required": ["id", "reason"],
    });
    let output = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "state": {"type": "string", "enum": ["forgotten", "waiting"]},
            "note": {"type": "string"},
        },
        "required": ["id", "state", "note"],
    });
    let about = "Removes a memory that is wrong or out of date. The person can undo it; what \
                 the person wrote waits for their word.";
    let hints = ToolAnnotations::with_title("Forget a memory")
        .read_only(false)
        .destructive(true)
        .idempotent(true)
        .open_world(false);
    tool("memory_forget", about, &input, &output).with_annotations(hints)
}

fn sessions() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words that the message has, all of them"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "At most so many; 10 where not given"},
        },
        "required": ["query"],
    });
    let output = json!({
        "type": "object",
        "properties": {
            "messages": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "session": {"type": "string"},
                    "at": {"type": "string"},
                    "who": {"type": "string"},
                    "excerpt": {"type": "string"},
                },
                "required": ["id", "session", "at", "who", "excerpt"],
            }},
            "more": {"type": "integer"},
        },
        "required": ["messages", "more"],
    });
    let about = "Finds messages and tool results of earlier conversations in this project, newest \
                 first. Use few and rare words. Read one whole with result_read.";
    tool("session_search", about, &input, &output).with_annotations(looking("Search conversations"))
}

fn result() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "As session_search gives it, or the id of a tool call"},
            "offset": {"type": "integer", "minimum": 0, "description": "Characters to pass over"},
        },
        "required": ["id"],
    });
    let output = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "text": {"type": "string"},
            "total_chars": {"type": "integer"},
            "next_offset": {"type": ["integer", "null"]},
        },
        "required": ["id", "text", "total_chars", "next_offset"],
    });
    let about =
        "Reads a message or a tool's result of an earlier conversation in full, page by page.";
    tool("result_read", about, &input, &output).with_annotations(looking("Read a result"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x3_six_tools_described_in_less_than_two_kilobytes() {
        let tools = tools();
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(
            names,
            [
                "memory_search",
                "memory_read",
                "memory_save",
                "memory_forget",
                "session_search",
                "result_read"
            ]
        );
        let about: usize =
            tools.iter().filter_map(|tool| tool.description.as_ref()).map(|text| text.len()).sum();
        assert!(about + INSTRUCTIONS.len() < 2_048, "{about} + {}", INSTRUCTIONS.len());
        for tool in &tools {
            assert!(tool.output_schema.is_some() && tool.annotations.is_some(), "{}", tool.name);
            let root = &tool.input_schema;
            assert!(!["anyOf", "oneOf", "allOf"].iter().any(|key| root.contains_key(*key)));
        }
    }
}
