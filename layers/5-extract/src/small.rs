//! A review by the small model, on the new messages alone (E2): one question,
//! whose answer is a list of memories.

use crate::plan::ReviewSpan;
use everfold_kernel::limits::EconomyLimits;
use everfold_kernel::ports::{Haste, MemoryAuthor, MemoryPlacement, MemoryProposal, MemoryScope};
use everfold_kernel::provenance::Source;
use everfold_memory_file::frontmatter::{Key, METADATA, Value as FrontValue, set};
use everfold_memory_file::{MemoryDraft, MemoryType};
use everfold_memory_recall::Manifest;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Characters of each answer of the assistant that are shown.
const ANSWER_CHARS: usize = 600;

/// How what the person typed is marked in the question.
const PERSON: &str = "person";

/// What the small model is told about the task.
#[must_use]
pub fn system_prompt() -> &'static str {
    include_str!("small.md").trim_end()
}

/// The form of its answer.
#[must_use]
pub fn answer_schema() -> Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {"memories": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "name": text, "description": text,
                "type": {"type": "string", "enum": ["user", "feedback", "project", "reference"]},
                "global": {"type": "boolean"}, "evidence": text, "body": text,
            },
            "required": ["name", "description", "type", "global", "evidence", "body"],
            "additionalProperties": false,
        }}},
        "required": ["memories"],
        "additionalProperties": false,
    })
}

/// The question: which memories there are, and what was said since. What tools
/// brought is nobody's word and is left out; where all is too long, the oldest
/// goes.
#[must_use]
pub fn question(found: &ReviewSpan, manifest: &Manifest, limits: &EconomyLimits) -> String {
    let mut said = String::new();
    for part in &found.testimony.said {
        let who = match part.by.source {
            Source::Person => PERSON,
            Source::Pasted => "pasted by the person, not their words",
            Source::Model => "assistant",
            _ => continue,
        };
        let most = if part.by.is_typed() { limits.review_chars } else { ANSWER_CHARS };
        let text: String = part.text.trim().chars().take(most).collect();
        let _ = writeln!(said, "{who}: {text}\n");
    }
    let excess = said.chars().count().saturating_sub(limits.review_chars);
    let said: String = said.chars().skip(excess).collect();
    let known = match manifest.render().trim() {
        "" => "There are no memories yet.".to_owned(),
        lines => format!("Memories that there are:\n{lines}"),
    };
    format!("{known}\n\nWhat was said:\n\n{}", said.trim_end())
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    memories: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    name: String,
    description: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    global: bool,
    #[serde(default)]
    evidence: String,
    body: String,
}

/// The memories of an answer, as they are proposed; none where it is not a list.
#[must_use]
pub fn proposals(
    answer: &str,
    found: &ReviewSpan,
    by: &MemoryAuthor,
) -> Option<Vec<MemoryProposal>> {
    let start = answer.find('{')?;
    let mut values = serde_json::Deserializer::from_str(answer.get(start..)?).into_iter();
    let answer: Answer = values.next()?.ok()?;
    let usable = answer.memories.into_iter().filter(|own| !own.body.trim().is_empty());
    let proposal = |own: Found| {
        let kind = MemoryType::by_name(&own.kind)?;
        let (name, description, body) = (&own.name, &own.description, &own.body);
        let mut text = MemoryDraft { name, description, kind, body }.render();
        let evidence = unmarked(&own.evidence);
        if !evidence.is_empty() {
            let key = Key::Under(METADATA, "evidence");
            text = set(&text, key, &FrontValue::Text(evidence.to_owned())).unwrap_or(text);
        }
        Some(MemoryProposal {
            text,
            place: MemoryPlacement::Anywhere { scope: own.global.then_some(MemoryScope::Global) },
            testimony: found.testimony.clone(),
            by: by.clone(),
            haste: Haste::AtOnce,
        })
    };
    Some(usable.filter_map(proposal).collect())
}

/// The words themselves: weak models copy who said them as well.
fn unmarked(evidence: &str) -> &str {
    let words = evidence.trim();
    let words = words.strip_prefix(PERSON).and_then(|rest| rest.strip_prefix(':')).unwrap_or(words);
    words.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q18_evidence_is_taken_without_the_mark_of_who_said_it() {
        assert_eq!(unmarked("person: use pnpm, not npm "), "use pnpm, not npm");
        assert_eq!(unmarked(" personal keys: none"), "personal keys: none");
        assert_eq!(unmarked("person:"), "");
    }
}
