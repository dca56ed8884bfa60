//! One memory as a file: what it says about itself, and its body.

use crate::dates;
use crate::frontmatter::{Basis, Fault, Fence, Frontmatter, Trust, fence};
use crate::frontmatter::{Key, METADATA, Value, set};
use crate::taxonomy::MemoryType;
use everfold_kernel::ids::{RecordId, SessionId};
use jiff::Timestamp;
use jiff::civil::Date;

/// How much of a file a list is made from (R2).
pub const HEAD_LINES: usize = 30;

/// A memory, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory<'a> {
    /// What it says about itself.
    pub front: Frontmatter,
    /// The rest; all of the file, where there is no frontmatter.
    pub body: &'a str,
    /// What was wrong with the frontmatter, if anything.
    pub fault: Option<Fault>,
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
            Fence::Unclosed { .. } => {
                Self { front: Frontmatter::default(), body: text, fault: Some(Fault::Unclosed) }
            }
            Fence::None => Self {
                front: Frontmatter::default(),
                body: text.trim_start_matches('\u{feff}'),
                fault: None,
            },
        }
    }

    /// Reads the first lines of a file, of which more may follow: a
    /// frontmatter that goes on beyond them is read as far as it is there.
    #[must_use]
    pub fn parse_head(head: &'a str) -> Self {
        let end = head.match_indices('\n').nth(HEAD_LINES - 1).map_or(head.len(), |(at, _)| at + 1);
        let head = head.get(..end).unwrap_or(head);
        match fence(head) {
            Fence::Unclosed { yaml } => {
                let (front, _) = Frontmatter::parse(head.get(yaml..).unwrap_or_default());
                Self { front, body: "", fault: Some(Fault::Unclosed) }
            }
            _ => Self::parse(head),
        }
    }
}

/// A memory that is about to be written, in the newer generation's form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// A short name; the file is called after it.
    pub name: String,
    /// One specific sentence: it is what recall reads.
    pub description: String,
    /// Its type.
    pub kind: MemoryType,
    /// What it says.
    pub body: String,
    /// How sure it is.
    pub basis: Basis,
    /// The session that it came from.
    pub session: Option<SessionId>,
    /// The messages that it rests on.
    pub messages: Vec<RecordId>,
    /// The branch that it holds for, if only there.
    pub branch: Option<String>,
    /// The worktree that it holds for, if only there.
    pub worktree: Option<String>,
    /// Whether it rests on data from strangers.
    pub trust: Trust,
    /// The rule that captured it, if no model did.
    pub rule: Option<String>,
}

impl Draft {
    /// The file's text. Relative dates become absolute (L5.6); `today` is the
    /// person's day, `at` the moment of writing.
    #[must_use]
    pub fn render(&self, today: Date, at: Timestamp) -> String {
        let text = |value: &str| Value::Text(value.to_owned());
        let mut keys = vec![
            (Key::Top("name"), text(&self.name)),
            (
                Key::Top("description"),
                Value::Text(dates::absolute(&one_line(&self.description), today)),
            ),
            (Key::Under(METADATA, "node_type"), text("memory")),
            (Key::Under(METADATA, "type"), text(self.kind.as_str())),
        ];
        let mut put = |key, value: Option<Value>| {
            keys.extend(value.map(|value| (Key::Under(METADATA, key), value)));
        };
        put("originSessionId", self.session.as_ref().map(|id| text(id.as_str())));
        let messages: Vec<String> = self.messages.iter().map(ToString::to_string).collect();
        put("messages", (!messages.is_empty()).then_some(Value::List(messages)));
        put("date", Some(Value::Text(today.to_string())));
        put("basis", Some(text(self.basis.as_str())));
        put("branch", self.branch.as_deref().map(text));
        put("worktree", self.worktree.as_deref().map(text));
        put("tainted", (self.trust == Trust::Tainted).then_some(Value::Flag(true)));
        put("rule", self.rule.as_deref().map(text));
        put("modified", Some(Value::Text(at.to_string())));
        let mut file = format!("\n{}\n", dates::absolute(self.body.trim(), today));
        file.insert_str(0, "---\n---\n");
        for (key, value) in keys {
            // A fence that we wrote ourselves can always be spliced.
            file = set(&file, key, &value).unwrap_or(file);
        }
        file
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
