//! A dream by a weak model (Q18): it is shown two memories at a time and says
//! whether they state the same. All else is done by rule.
//!
//! With tools and a directory, a small model loses more than it tidies. One
//! pair, one word of answer and examples as a dialogue are what it does well;
//! joining keeps every line that only one of the two had, and what contradicts
//! the other is left alone, whatever it says.

use crate::tidy::{self, Tidied};
use crate::{DreamRules, Texts};
use everfold_kernel::limits::DreamLimits;
use everfold_kernel::ports::Stored;
use everfold_kernel::{Block, Role};
use everfold_memory_file::Memory;
use serde_json::{Value, json};

/// The field of the answer.
const FACT: &str = "fact";
const SAME: &str = "same";
const FACTS: [&str; 2] = [SAME, "different"];
/// Most tokens of an answer.
pub const ANSWER_TOKENS: u64 = 16;
/// Characters of a memory that are shown.
const SHOWN_CHARS: usize = 400;

/// Two memories that may say the same: the one that would stay, and the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AkinPair {
    pub stays: String,
    pub goes: String,
}

/// What the model is told about the task.
#[must_use]
pub fn system_prompt() -> &'static str {
    include_str!("pair.md").trim_end()
}

/// The form of its answer.
#[must_use]
pub fn answer_schema() -> Value {
    json!({
        "type": "object",
        "properties": {FACT: {"type": "string", "enum": FACTS}},
        "required": [FACT],
        "additionalProperties": false,
    })
}

/// The pairs to ask about, those that are most alike first.
#[must_use]
pub fn questions<'a>(tidied: &'a Tidied, limits: &DreamLimits) -> &'a [AkinPair] {
    tidied.akin.get(..limits.weak_pairs).unwrap_or(&tidied.akin)
}

/// The examples as a dialogue, and a pair at its end.
#[must_use]
pub fn dialogue(pair: &AkinPair, texts: &Texts) -> Vec<(Role, Vec<Block>)> {
    let examples = include_str!("pair_examples.md").lines();
    let asked =
        |one: &str, other: &str| (Role::User, vec![Block::text(format!("1: {one}\n2: {other}"))]);
    let turns = examples.filter_map(|line| {
        let (pair, fact) = line.strip_prefix("- ")?.split_once(" → ")?;
        let (one, other) = pair.split_once(" | ")?;
        let answer = json!({FACT: fact}).to_string();
        Some([asked(one, other), (Role::Assistant, vec![Block::text(answer)])])
    });
    let last = asked(&shown(&pair.stays, texts), &shown(&pair.goes, texts));
    turns.flatten().chain([last]).collect()
}

/// A memory on one line.
fn shown(path: &str, texts: &Texts) -> String {
    let body = Memory::parse(texts.get(path).map(String::as_str).unwrap_or_default()).body;
    let words: Vec<&str> = body.split_whitespace().collect();
    words.join(" ").chars().take(SHOWN_CHARS).collect()
}

/// Whether an answer says that both state the same; none where it is no answer.
#[must_use]
pub fn says_same(answer: &str) -> Option<bool> {
    let start = answer.find('{')?;
    let mut values = serde_json::Deserializer::from_str(answer.get(start..)?).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let fact = value.get(FACT)?.as_str()?;
    FACTS.contains(&fact).then_some(fact == SAME)
}

/// The store with these pairs joined, where that loses nothing.
#[must_use]
pub fn joined(tidied: Tidied, same: &[AkinPair], stored: &Stored, rules: DreamRules<'_>) -> Tidied {
    tidy::joined(tidied, same, stored, rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q18_the_examples_are_a_dialogue_that_ends_with_the_pair() {
        let memory = |body: &str| format!("---\nname: x\ndescription: y\n---\n\n{body}\n");
        let texts = Texts::from([
            ("a.md".to_owned(), memory("We ship\non Mondays.")),
            ("b.md".to_owned(), memory(&"Long. ".repeat(500))),
        ]);
        let pair = AkinPair { stays: "a.md".into(), goes: "b.md".into() };
        let turns = dialogue(&pair, &texts);
        assert!(turns.len() > 14 && turns.len() % 2 == 1, "{}", turns.len());
        for (role, blocks) in &turns {
            let text = blocks[0].plain_text();
            assert_eq!(*role == Role::Assistant, says_same(&text).is_some(), "{text}");
        }
        let last = turns.last().unwrap().1[0].plain_text();
        assert!(last.starts_with("1: We ship on Mondays.\n2: Long. "), "{last}");
        assert!(last.len() < 450, "{}", last.len());
    }

    #[test]
    fn q18_an_answer_says_same_or_different_or_is_none() {
        assert_eq!(says_same(r#"{"fact":"same"}"#), Some(true));
        assert_eq!(says_same("Sure: {\"fact\": \"different\"}"), Some(false));
        for nothing in ["", "same", r#"{"fact":"alike"}"#, r#"{"fact":3}"#, "{"] {
            assert_eq!(says_same(nothing), None, "{nothing}");
        }
    }
}
