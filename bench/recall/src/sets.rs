//! The sets that recall is measured on, as unlike as there are (R12). All are
//! read from `shared/data` beside the repository.

mod locomo;
mod pastes;
mod projects;
mod silent;

use anyhow::{Context, Result};
use everfold_memory_recall::{
    Counter, Document, Embedder, MODEL_WEIGHT, PromptPart, QueryVector, Ranking, RecallPrompt,
    Sense, TABLE_WEIGHT, TABLE_WEIGHT_BESIDE_MODEL, Tuning, Vectors, WordTable, Words, rank_known,
};
use serde_json::Value;
use std::cell::OnceCell;
use std::path::Path;
use std::rc::Rc;

/// A set by its name.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) directories: Vec<Directory>,
}

/// Memories, and what is asked of them.
pub(crate) struct Directory {
    pub(crate) memories: Rc<Vec<MemoryText>>,
    pub(crate) prompts: Vec<PromptCase>,
}

/// A memory as its file has it.
pub(crate) struct MemoryText {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) body: String,
    words: Words,
    vectors: Vectors,
    /// Made when it is asked for: it takes long.
    by_model: OnceCell<Vectors>,
}

/// A message, and the memories that it calls for.
#[derive(Clone)]
pub(crate) struct PromptCase {
    pub(crate) text: String,
    pub(crate) kind: String,
    pub(crate) wanted: Vec<usize>,
}

impl PromptCase {
    /// A message that wants nothing.
    fn silent(kind: &str, text: &str) -> Self {
        Self { text: text.to_owned(), kind: kind.to_owned(), wanted: Vec::new() }
    }
}

impl MemoryText {
    fn new(counter: &mut Counter, name: &str, description: &str, body: &str) -> Self {
        let document = Document { name, description, body, ..Document::default() };
        let table = WordTable::get();
        Self {
            words: counter.count(&document),
            vectors: table.map(|table| Vectors::of(table, &document)).unwrap_or_default(),
            by_model: OnceCell::new(),
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
    /// The table, and the sentence model that was given.
    Model,
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
        let table = WordTable::get().filter(|_| reading != Reading::Words);
        let by_table = |table: &'static WordTable| {
            let weight = match reading {
                Reading::Model => TABLE_WEIGHT_BESIDE_MODEL,
                Reading::Words | Reading::Table => TABLE_WEIGHT,
            };
            let query = QueryVector::of(table as &dyn Embedder, text)?;
            let memories = self.memories.iter().map(|one| Some(&one.vectors)).collect();
            Some(Sense::of_all(weight, query, memories))
        };
        let by_model = |model: &'static dyn Embedder| {
            let query = QueryVector::of(model, text)?;
            let vectors = |one: &MemoryText| Vectors::of(model, &one.document());
            let memories = self.memories.iter();
            let memories = memories.map(|one| Some(one.by_model.get_or_init(|| vectors(one))));
            Some(Sense::of_all(MODEL_WEIGHT, query, memories.collect()))
        };
        let model = crate::model::get().filter(|_| reading == Reading::Model);
        let senses: Vec<Sense<'_>> =
            table.and_then(by_table).into_iter().chain(model.and_then(by_model)).collect();
        rank_known(&prompt, &documents, &senses, None, tuning)
    }
}

/// The words of a message that a person typed.
pub(crate) fn typed(text: &str) -> String {
    let parts = everfold_memory_judge::words::split(text, &[]);
    let typed = parts.split(text).filter(|(whose, _)| whose.is_typed());
    typed.map(|(_, part)| part).collect::<Vec<_>>().join(" ")
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
    let sessions = data.join("transcripts");
    let pastes = pastes::of(&sessions, &judgement)?;
    let own = judgement_of(OWN)?;
    let fitted = projects::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("projects"))?;
    Ok(vec![
        Set { name: "strangers to fit on", directories: silent::strangers(&fitted) },
        Set { name: "prompts to fit on", directories: fitted },
        Set { name: "our own prompts", directories: own },
        Set {
            name: "turns of keep.json",
            directories: silent::turns(&json("judgement/keep.json")?, &judgement),
        },
        Set {
            name: "prompts of sessions",
            directories: silent::prompts(&pastes::sessions(&sessions)?, &judgement)?,
        },
        Set { name: "prompts of other projects", directories: silent::strangers(&judgement) },
        Set { name: "prompts of developers", directories: judgement },
        Set { name: "chat turns", directories: locomo::turns(&talk) },
        Set { name: "turns among long messages", directories: locomo::among_long_messages(&talk) },
        Set { name: "blocks of turns", directories: locomo::blocks(&talk) },
        Set { name: "pastes", directories: pastes },
    ])
}

/// A set of our own that nothing is ever fitted on: what carries over shows there.
const OWN: &str = include_str!("../../../testkit/judged/recall.json");

fn judgement_of(text: &str) -> Result<Vec<Directory>> {
    Ok(judgement(&serde_json::from_str(text).context("not JSON")?))
}

/// Made-up projects, and what their developers type.
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
        let memories = Rc::new(memories.collect());
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
