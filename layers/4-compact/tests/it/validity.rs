//! What the API asks of a conversation.

use everfold_kernel::{RecordId, Role};
use everfold_prefix::Fold;
use everfold_prefix::message::PieceOrigin;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Pairs, order, no empty message, the user first.
pub(crate) fn is_valid(messages: &Value) -> Result<(), String> {
    let messages = messages.as_array().ok_or("no messages")?;
    if messages.first().is_some_and(|message| message["role"] != "user") {
        return Err("the first message is not the user's".into());
    }
    let mut before: Vec<&Value> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let content = message["content"].as_array().ok_or("no content")?;
        if content.is_empty() {
            return Err(format!("message {index} is empty"));
        }
        let results: Vec<&Value> = content
            .iter()
            .filter(|block| block["type"] == "tool_result")
            .map(|block| &block["tool_use_id"])
            .collect();
        let first = content.iter().take_while(|block| block["type"] == "tool_result").count();
        if first != results.len() {
            return Err(format!("message {index}: results are not first"));
        }
        let same: BTreeSet<String> = before.iter().map(ToString::to_string).collect();
        let answered: BTreeSet<String> = results.iter().map(ToString::to_string).collect();
        if same != answered || before.len() != results.len() {
            return Err(format!("message {index}: calls {before:?}, results {results:?}"));
        }
        before = content
            .iter()
            .filter(|block| block["type"] == "tool_use" && message["role"] == "assistant")
            .map(|block| &block["id"])
            .collect();
    }
    if before.is_empty() { Ok(()) } else { Err(format!("open calls {before:?}")) }
}

/// The records of each response in view.
fn responses(fold: &Fold) -> BTreeMap<String, BTreeSet<RecordId>> {
    let mut all: BTreeMap<String, BTreeSet<RecordId>> = BTreeMap::new();
    for piece in fold.messages().iter().flat_map(everfold_prefix::Message::pieces) {
        if let PieceOrigin::Assistant(id) = &piece.origin {
            all.entry(id.to_string()).or_default().insert(piece.record.clone());
        }
    }
    all
}

/// Whether every response that is left is whole: thinking with its message.
pub(crate) fn keeps_responses_whole(before: &Fold, after: &Fold) -> bool {
    let all = responses(before);
    responses(after).iter().all(|(id, records)| all.get(id) == Some(records))
}

pub(crate) fn last_speaker(fold: &Fold) -> Option<Role> {
    fold.messages().last().map(everfold_prefix::Message::role)
}
