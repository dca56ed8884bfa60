//! What stands between the two `---` of a memory (L5.4, CONTRACTS 3.6).
//!
//! Both generations that Claude Code has written are read: `type`,
//! `originSessionId` and `modified` at the top, or under `metadata`. Broken
//! frontmatter is read as far as it goes and says so with a [`FrontmatterFault`]; it is
//! never a reason to lose the body. Writing is by [`set`] and [`remove`], which
//! change one key and keep every other byte.

pub use everfold_frontmatter::{Fence, FrontmatterFault, Key, Value, fence, remove, set};

use crate::taxonomy::MemoryType;
use everfold_frontmatter as values;
use everfold_kernel::ids::{RecordId, SessionId};
use everfold_kernel::provenance::{Provenance, Source};
use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::Map;

/// The block that the newer generation keeps its keys in.
pub const METADATA: &str = "metadata";

/// How sure a memory is (L5.23). What a person stated outranks the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// Concluded by a model.
    Inferred,
    /// Concluded, and then confirmed by the person.
    Confirmed,
    /// Said by the person.
    Stated,
}

impl Basis {
    /// The word in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inferred => "inferred",
            Self::Confirmed => "confirmed",
            Self::Stated => "stated",
        }
    }

    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let all = [Self::Inferred, Self::Confirmed, Self::Stated];
        all.into_iter().find(|basis| name.eq_ignore_ascii_case(basis.as_str()))
    }
}

/// The keys of a memory that mean something to us; all others are in `all`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frontmatter {
    /// What it is called: a title, or a slug.
    pub name: Option<String>,
    /// What it says in one sentence; recall reads this.
    pub description: Option<String>,
    /// Its type; anything unknown reads as none.
    pub kind: Option<MemoryType>,
    /// The session that it came from (L5.16).
    pub session: Option<SessionId>,
    /// The messages that it rests on (L5.16).
    pub messages: Vec<RecordId>,
    /// The day it was learned (L5.16).
    pub date: Option<Date>,
    /// When it was last written.
    pub modified: Option<Timestamp>,
    /// How sure it is (L5.23).
    pub basis: Option<Basis>,
    /// The branch that it holds for, if only there (L5.25).
    pub branch: Option<String>,
    /// The worktree that it holds for, if only there (L5.25).
    pub worktree: Option<String>,
    /// Whose words it rests on, where they are not the person's (L5.33).
    pub provenance: Option<Provenance>,
    /// The words that it rests on.
    pub evidence: Option<String>,
    /// The rule that captured it, if no model did (L5.19).
    pub rule: Option<String>,
    /// Every key as it was read, known or not.
    pub all: Map<String, serde_json::Value>,
}

impl Frontmatter {
    /// Reads the text between the fences.
    #[must_use]
    pub fn parse(yaml: &str) -> (Self, Option<FrontmatterFault>) {
        let (all, fault) = values::read(yaml);
        (Self::of(all), fault)
    }

    fn of(all: Map<String, serde_json::Value>) -> Self {
        let below = |key: &str| all.get(METADATA).and_then(|metadata| metadata.get(key));
        let either = |key: &str| below(key).or_else(|| all.get(key));
        let text = |key: &str| either(key).and_then(values::text);
        let top = |key: &str| all.get(key).and_then(values::text);
        // A type that is unknown in one place may still be known in the other.
        let kind = |value: Option<&serde_json::Value>| {
            value.and_then(values::text).and_then(|name| MemoryType::by_name(&name))
        };
        let messages = either("messages").map(values::texts).unwrap_or_default();
        Self {
            name: top("name"),
            description: top("description"),
            kind: kind(below("type")).or_else(|| kind(all.get("type"))),
            session: text("originSessionId").map(SessionId::from),
            messages: messages.into_iter().map(RecordId::from).collect(),
            date: text("date").and_then(|date| date.parse().ok()),
            modified: text("modified").and_then(|time| time.parse().ok()),
            basis: text("basis").and_then(|name| Basis::by_name(&name)),
            branch: text("branch"),
            worktree: text("worktree"),
            // Older ones only say that strangers had a part in it.
            provenance: text("provenance").and_then(|name| name.parse().ok()).or_else(|| {
                let tainted = text("tainted");
                matches!(tainted.as_deref(), Some("true" | "yes")).then(|| Source::Web.into())
            }),
            evidence: text("evidence"),
            rule: text("rule"),
            all,
        }
    }
}
