//! The model that is none.

use crate::{blocks, call, events};
use everfold_kernel::ports::{Model, ModelError, ModelEvent};
use everfold_kernel::record::Dialect;
use everfold_kernel::{Block, BlockView};
use everfold_provider::{OFFLINE_MODEL, Offline};
use serde_json::{Value, json};

fn tools() -> Value {
    json!([{"name": "Read"}, {"name": "Grep"}, {"name": "Glob"}, {"name": "Bash"}])
}

async fn answer(body: &Value) -> (Vec<ModelEvent>, Vec<Block>) {
    let offline = Offline::numbered_from(1);
    let (events, error) = events(&offline, call(&body.to_string())).await;
    assert_eq!(error, None);
    let blocks = blocks(&events);
    (events, blocks)
}

async fn said(body: &Value) -> String {
    let (_, blocks) = answer(body).await;
    assert_eq!(blocks.len(), 1, "{blocks:?}");
    blocks[0].plain_text()
}

fn prompt(text: &str) -> Value {
    json!({"model": "offline", "tools": tools(), "messages": [{"role": "user", "content": text}]})
}

fn after(text: &str, tool: &str, result: &Value) -> Value {
    let mut result = result.clone();
    result["type"] = "tool_result".into();
    result["tool_use_id"] = "t".into();
    json!({"tools": tools(), "messages": [
        {"role": "user", "content": [{"type": "text", "text": text}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": tool, "input": {}}]},
        {"role": "user", "content": [result]}]})
}

#[tokio::test]
async fn q8_offline_calls_the_tools_that_are_on_offer() {
    for (text, tool, input) in [
        ("read README.md", "Read", json!({"file_path": "README.md"})),
        ("summarise README.md", "Read", json!({"file_path": "README.md"})),
        (
            "search for main in src",
            "Grep",
            json!({"pattern": "main", "output_mode": "content", "-n": true, "path": "src"}),
        ),
        ("list files in docs", "Glob", json!({"pattern": "**/*", "path": "docs"})),
    ] {
        let (events, blocks) = answer(&prompt(text)).await;
        let BlockView::ToolUse { name, input: found, .. } = blocks[1].view() else {
            panic!("{blocks:?}");
        };
        assert_eq!((name, found), (tool, &input), "{text}");
        let Some(ModelEvent::Finished { stop_reason, usage }) = events.last() else {
            panic!("{events:?}");
        };
        assert_eq!(stop_reason, "tool_use");
        assert!(usage.input > 0 && usage.output > 0);
        let Some(ModelEvent::Started { message_id, model, .. }) = events.first() else {
            panic!("{events:?}");
        };
        assert_eq!((message_id.as_str(), model.as_str()), ("msg_offline_1", OFFLINE_MODEL));
    }
    let mut bare = prompt("run ls -l");
    let (_, blocks) = answer(&bare).await;
    assert_eq!(blocks[1].as_map()["input"]["command"], "ls -l");
    bare["tools"] = json!([]);
    assert!(said(&bare).await.contains("Bash tool, which is not available"));
}

#[tokio::test]
async fn q8_offline_shows_what_a_tool_gave() {
    let text = said(&after("read a.txt", "Read", &json!({"content": "1\thello"}))).await;
    assert!(text.contains("a.txt") && text.contains("hello"), "{text}");
    let failed = json!({"content": "a.txt does not exist", "is_error": true});
    let text = said(&after("read a.txt", "Read", &failed)).await;
    assert!(text.contains("did not work") && text.contains("does not exist"));
    let text = said(&after("find nothing", "Grep", &json!({"content": ""}))).await;
    assert_eq!(text, "No matches.");
    let file = json!({"content": [{"type": "text", "text": "1\t# Title\n2\t\n3\tOne. Two."}]});
    let text = said(&after("summarise a.md", "Read", &file)).await;
    assert!(text.contains("- Title") && text.contains("- One.") && !text.contains("Two."));
}

#[tokio::test]
async fn q8_offline_says_that_it_is_no_model() {
    for text in ["hello", "why is the sky blue?", "run the tests", "remember that I like tea"] {
        let text = said(&prompt(text)).await;
        assert!(text.contains("not a language model"), "{text}");
        assert!(text.contains("ANTHROPIC_API_KEY") && text.contains("OPENAI_BASE_URL"));
    }
    let help = said(&prompt("What can you do?")).await;
    assert!(help.contains("`read FILE`") && help.contains("not a language model"));
}

#[tokio::test]
async fn q8_offline_answers_have_ids_of_their_own() {
    let offline = Offline::new();
    assert_eq!(offline.dialect(), Dialect::Anthropic);
    let mut ids = Vec::new();
    for _ in 0..3 {
        let (events, _) = events(&offline, call(&prompt("hi").to_string())).await;
        let Some(ModelEvent::Started { message_id, .. }) = events.first() else {
            panic!("{events:?}");
        };
        ids.push(message_id.to_string());
    }
    ids.dedup();
    assert_eq!(ids.len(), 3);
    let (_, error) = events(&offline, call("not json")).await;
    assert!(matches!(error, Some(ModelError::Refused { .. })));
}
