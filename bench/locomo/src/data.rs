//! `LoCoMo` as a retrieval task: a turn is a document, its session a group.

use anyhow::{Context, Result};
use jiff::civil::{Date, DateTime};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// One conversation, with its questions.
pub(crate) struct Conversation {
    pub(crate) turns: Vec<Turn>,
    pub(crate) questions: Vec<Question>,
}

/// One turn of a conversation.
pub(crate) struct Turn {
    /// What was said, with the caption of the picture that was shared.
    pub(crate) text: String,
    pub(crate) speaker: String,
    pub(crate) session: u32,
    /// The date as the data has it.
    pub(crate) date_text: String,
    pub(crate) date: Option<Date>,
}

/// A question, and the turns that answer it.
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) category: i64,
    pub(crate) evidence: Vec<usize>,
}

/// Reads the file. Questions without a turn that exists are left out.
pub(crate) fn load(path: &Path) -> Result<Vec<Conversation>> {
    let text = std::fs::read_to_string(path)?;
    let data: Value = serde_json::from_str(&text).context("the file is not JSON")?;
    let conversations = data.as_array().context("the file is not a list of conversations")?;
    Ok(conversations.iter().map(conversation).collect())
}

fn conversation(value: &Value) -> Conversation {
    let mut turns = Vec::new();
    let mut places = BTreeMap::new();
    for session in 1_u32.. {
        let key = format!("session_{session}");
        let Some(said) = value.pointer(&format!("/conversation/{key}")).and_then(Value::as_array)
        else {
            break;
        };
        let date = value.pointer(&format!("/conversation/{key}_date_time"));
        let date_text = date.and_then(Value::as_str).unwrap_or_default();
        for turn in said {
            places.insert(field(turn, "dia_id").to_owned(), turns.len());
            turns.push(Turn {
                text: format!("{}\n{}", field(turn, "blip_caption"), field(turn, "text")),
                speaker: field(turn, "speaker").to_owned(),
                session,
                date_text: date_text.to_owned(),
                date: DateTime::strptime("%I:%M %p on %d %B, %Y", date_text)
                    .ok()
                    .map(DateTime::date),
            });
        }
    }
    let asked = value.get("qa").and_then(Value::as_array);
    let questions = asked.into_iter().flatten().filter_map(|qa| question(qa, &places)).collect();
    Conversation { turns, questions }
}

fn question(qa: &Value, places: &BTreeMap<String, usize>) -> Option<Question> {
    // A few entries hold several ids in one text.
    let named = qa.get("evidence")?.as_array()?.iter().filter_map(Value::as_str);
    let named = named.flat_map(|ids| ids.split([';', ',', ' ']));
    let mut evidence: Vec<usize> = named.filter_map(|id| places.get(id)).copied().collect();
    evidence.sort_unstable();
    evidence.dedup();
    let text = field(qa, "question").to_owned();
    let category = qa.get("category")?.as_i64()?;
    (!evidence.is_empty()).then_some(Question { text, category, evidence })
}

fn field<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
