//! The sets that recall is measured on, as unlike as there are (R12). All are
//! read from `shared/data` beside the repository.

mod locomo;
mod pastes;

use anyhow::{Context, Result};
use everfold_memory_recall::{
    Counter, Document, Embedder, PromptPart, QueryVector, Ranking, RecallPrompt, Sense,
    TABLE_WEIGHT, Tuning, Vectors, WordTable, Words, rank_known,
};
use serde_json::Value;
use std::path::Path;

/// A set by its name.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) directories: Vec<Directory>,
}

/// Memories, and what is asked of them.
pub(crate) struct Directory {
    pub(crate) memories: Vec<MemoryText>,
    pub(crate) prompts: Vec<PromptCase>,
}

/// A memory as its file has it.
pub(crate) struct MemoryText {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) body: String,
    words: Words,
    vectors: Vectors,
}

/// A message, and the memories that it calls for.
pub(crate) struct PromptCase {
    pub(crate) text: String,
    pub(crate) kind: String,
    pub(crate) wanted: Vec<usize>,
}

impl MemoryText {
    fn new(counter: &mut Counter, name: &str, description: &str, body: &str) -> Self {
        let document = Document { name, description, body, ..Document::default() };
        let table = WordTable::get();
        Self {
            words: counter.count(&document),
            vectors: table.map(|table| Vectors::of(table, &document)).unwrap_or_default(),
            name: name.to_owned(),
            description: description.to_owned(),
            body: body.to_owned(),
        }
    }

    fn document(&self) -> Document<'_> {
        Document {
            name: &self.name,
            description: &self.description,
            body: &self.body,
            ..Document::default()
        }
    }
}

/// Whether memories are read by meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Words,
    Table,
}

impl Directory {
    /// Ranks its memories by a message, as it is done for a prompt.
    pub(crate) fn rank(&self, text: &str, reading: Reading, tuning: &Tuning) -> Ranking {
        let parts = everfold_memory_judge::words::split(text, &[]);
        let prompt = RecallPrompt::new(parts.split(text).map(|(whose, part)| {
            let whose = if whose.is_typed() { PromptPart::Typed } else { PromptPart::Pasted };
            (whose, part)
        }));
        let documents: Vec<(Document<'_>, &Words)> =
            self.memories.iter().map(|one| (one.document(), &one.words)).collect();
        let table = WordTable::get().filter(|_| reading == Reading::Table);
        let sense = |table: &'static WordTable| {
            let query = QueryVector::of(table as &dyn Embedder, text)?;
            let memories = self.memories.iter().map(|one| Some(&one.vectors)).collect();
            Some(Sense { weight: TABLE_WEIGHT, query, memories })
        };
        let senses: Vec<Sense<'_>> = table.and_then(sense).into_iter().collect();
        rank_known(&prompt, &documents, &senses, None, tuning)
    }
}

/// All sets that there is data for.
pub(crate) fn load(data: &Path) -> Result<Vec<Set>> {
    let json = |file: &str| -> Result<Value> {
        let path = data.join(file);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("failed to read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
    };
    let judgement = judgement(&json("judgement/recall.json")?);
    let talk = json("locomo-dev.json")?;
    let pastes = pastes::of(&data.join("transcripts"), &judgement)?;
    Ok(vec![
        Set { name: "prompts of developers", directories: judgement },
        Set { name: "chat turns", directories: locomo::turns(&talk) },
        Set { name: "turns among long messages", directories: locomo::among_long_messages(&talk) },
        Set { name: "blocks of turns", directories: locomo::blocks(&talk) },
        Set { name: "pastes", directories: pastes },
    ])
}

/// Four projects of a made-up company each.
fn judgement(data: &Value) -> Vec<Directory> {
    let mut counter = Counter::default();
    let projects = data.get("projects").and_then(Value::as_array);
    let mut project = |project: &Value| {
        let ids: Vec<&str> = list(project, "memories").map(|one| field(one, "id")).collect();
        let memories = list(project, "memories").map(|one| {
            MemoryText::new(
                &mut counter,
                field(one, "name"),
                field(one, "description"),
                field(one, "body"),
            )
        });
        let memories = memories.collect();
        let prompt = |one: &Value| PromptCase {
            text: field(one, "text").to_owned(),
            kind: field(one, "kind").to_owned(),
            wanted: list(one, "wants")
                .filter_map(|id| ids.iter().position(|known| Some(*known) == id.as_str()))
                .collect(),
        };
        Directory { memories, prompts: list(project, "prompts").map(prompt).collect() }
    };
    projects.into_iter().flatten().map(&mut project).collect()
}

pub(crate) fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

pub(crate) fn field<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
