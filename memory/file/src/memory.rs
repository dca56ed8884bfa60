//! One memory as a file: what it says about itself, and its body.

use crate::frontmatter::{Fence, Frontmatter, FrontmatterFault, fence};
use crate::frontmatter::{Key, METADATA, Value, set};
use crate::taxonomy::MemoryType;

#[derive(Clone, Debug, PartialEq)]
pub struct Memory<'a> {
    /// What it says about itself.
    pub front: Frontmatter,
    /// The rest; all of the file, where there is no frontmatter.
    pub body: &'a str,
    /// What was wrong with the frontmatter, if anything.
    pub fault: Option<FrontmatterFault>,
}

impl<'a> Memory<'a> {
    /// Reads a file. Every text is a memory of some kind: this cannot fail.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        match fence(text) {
            Fence::Closed { yaml, body } => {
                let (front, fault) = Frontmatter::parse(text.get(yaml).unwrap_or_default());
                Self { front, body: text.get(body..).unwrap_or_default(), fault }
            }
            Fence::Unclosed { .. } => Self {
                front: Frontmatter::default(),
                body: text,
                fault: Some(FrontmatterFault::Unclosed),
            },
            Fence::None => Self {
                front: Frontmatter::default(),
                body: text.trim_start_matches('\u{feff}'),
                fault: None,
            },
        }
    }

    /// Reads the first lines of a file, of which more may follow: a
    /// frontmatter that goes on beyond them is read as far as it is there (R2).
    #[must_use]
    pub fn parse_head(text: &'a str, lines: usize) -> Self {
        let mut ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let end = match lines.checked_sub(1) {
            Some(last) => ends.nth(last).unwrap_or(text.len()),
            None => 0,
        };
        let head = text.get(..end).unwrap_or(text);
        match fence(head) {
            Fence::Unclosed { yaml } => {
                let (front, _) = Frontmatter::parse(head.get(yaml..).unwrap_or_default());
                Self { front, body: "", fault: Some(FrontmatterFault::Unclosed) }
            }
            _ => Self::parse(head),
        }
    }
}

/// A memory that somebody proposes, in the newer generation's form. What else
/// it says of itself (basis, evidence, dates) is put in by the judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDraft<'a> {
    /// A short name; the file is called after it.
    pub name: &'a str,
    /// One specific sentence: it is what recall reads.
    pub description: &'a str,
    pub kind: MemoryType,
    pub body: &'a str,
}

impl MemoryDraft<'_> {
    #[must_use]
    pub fn render(&self) -> String {
        let keys = [
            (Key::Top("name"), one_line(self.name)),
            (Key::Top("description"), one_line(self.description)),
            (Key::Under(METADATA, "node_type"), "memory".to_owned()),
            (Key::Under(METADATA, "type"), self.kind.as_str().to_owned()),
        ];
        let mut file = format!("---\n---\n\n{}\n", self.body.trim());
        for (key, value) in keys {
            // A fence that we wrote ourselves can always be spliced.
            file = set(&file, key, &Value::Text(value)).unwrap_or(file);
        }
        file
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
