//! What was said, and by whom: all that a memory can rest on.

use crate::ids::RecordId;
use crate::provenance::{BlockProvenance, Provenance};

/// One piece of a conversation, of one provenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Utterance {
    /// The record that brought it.
    pub record: RecordId,
    /// Whose words it is.
    pub by: Provenance,
    pub text: String,
}

/// What was said where a memory is proposed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Testimony {
    /// The pieces, in order.
    pub said: Vec<Utterance>,
    /// What instruction files say: nobody needs a memory of it (L5.5).
    pub instructions: String,
}

impl Testimony {
    /// What the person typed, and nothing else.
    pub fn typed(text: impl Into<String>, record: RecordId) -> Self {
        let said = Utterance { record, by: Provenance::PERSON, text: text.into() };
        Self { said: vec![said], instructions: String::new() }
    }

    /// Takes in a block, part by part.
    pub fn hear(&mut self, record: &RecordId, provenance: &BlockProvenance, text: &str) {
        for (by, part) in provenance.split(text) {
            self.said.push(Utterance { record: record.clone(), by, text: part.to_owned() });
        }
    }

    /// What the person typed, piece by piece.
    pub fn by_person(&self) -> impl Iterator<Item = &Utterance> {
        self.said.iter().filter(|said| said.by.is_typed())
    }

    /// Whether the person typed something.
    #[must_use]
    pub fn has_person(&self) -> bool {
        self.by_person().next().is_some()
    }
}
