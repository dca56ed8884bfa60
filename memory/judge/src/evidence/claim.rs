//! What a memory claims, sentence by sentence.

use super::facets::{Facets, Specific, shown};
use super::specifics::specifics;
use crate::folding::sentences;
use crate::orders::tells_to_act;
use everfold_memory_file::Memory;
use everfold_memory_file::frontmatter::METADATA;
use serde_json::Value;

/// Keys of a memory that are not what it says.
const KEPT: &[&str] = &[
    "name",
    "description",
    "metadata",
    "evidence",
    "type",
    "node_type",
    "originSessionId",
    "messages",
    "date",
    "basis",
    "branch",
    "worktree",
    "tainted",
    "rule",
    "modified",
    "created",
    "scope",
    "provenance",
    "standing",
];

/// Where a sentence stands in a memory, which decides what is asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The name, a reason, how to apply it, other keys: a model's own words,
    /// that may add nothing specific.
    Aside,
    Description,
    Body,
}

#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) part: Part,
    pub(super) facets: Facets,
    pub(super) specifics: Vec<Specific>,
    /// Whether it tells its reader to act.
    pub(super) manner: Manner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    Fact,
    Order,
}

/// All that a memory claims.
pub(super) fn claims(memory: &Memory<'_>) -> Vec<Claim> {
    let front = &memory.front;
    let mut texts: Vec<(Part, String)> = Vec::new();
    let mut put = |part: Part, text: &str| {
        texts.extend(sentences(text).into_iter().map(|sentence| (part, sentence.to_owned())));
    };
    // A name may be a slug, whose words are words.
    put(Part::Aside, &front.name.as_deref().unwrap_or_default().replace(['_', '-'], " "));
    put(Part::Description, front.description.as_deref().unwrap_or_default());
    let below = front.all.get(METADATA).and_then(Value::as_object);
    for (key, value) in front.all.iter().chain(below.into_iter().flatten()) {
        if !KEPT.contains(&key.as_str()) {
            put(Part::Aside, &strings(value));
        }
    }
    texts.extend(body(memory.body));
    let mut seen: Vec<(Part, String)> = Vec::new();
    for (part, text) in texts {
        if !seen.iter().any(|(_, known)| *known == text) || part == Part::Body {
            seen.push((part, text));
        }
    }
    let whole =
        Facets::of(&seen.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n"));
    let claim = |(part, text): &(Part, String)| {
        let mut facets = Facets::of(text);
        facets.tongue = facets.tongue.or(whole.tongue);
        let manner = if tells_to_act(text).is_some() { Manner::Order } else { Manner::Fact };
        Claim { part: *part, specifics: specifics(&shown(text), facets.tongue), facets, manner }
    };
    seen.iter().map(claim).collect()
}

fn strings(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(strings).collect::<Vec<_>>().join("\n"),
        Value::Object(all) => all.values().map(strings).collect::<Vec<_>>().join("\n"),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// The sentences of a body. Lines of code stand between marks of code.
fn body(text: &str) -> Vec<(Part, String)> {
    let mut found = Vec::new();
    let mut in_code = false;
    let mut part = Part::Body;
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            in_code = !in_code;
        } else if in_code {
            found.push((part, format!("`{}`", bare.replace('`', " "))));
        } else if bare.is_empty() {
            part = Part::Body;
        } else {
            let (kind, rest) = aside(bare);
            if kind == Part::Aside {
                part = Part::Aside;
            }
            found.extend(sentences(rest).into_iter().map(|sentence| (part, sentence.to_owned())));
        }
    }
    found
}

/// Whether a line gives a reason or says how to apply it, and the rest of it.
fn aside(line: &str) -> (Part, &str) {
    let plain = line.trim_start_matches(['*', '_', '#', '-', '>', ' ']);
    let lower = plain.to_ascii_lowercase();
    for lead in ["why", "how to apply", "reason", "when to apply", "how", "warum", "anwendung"] {
        if let Some(rest) = lower.strip_prefix(lead)
            && rest.trim_start_matches(['*', '_', ' ']).starts_with(':')
        {
            let rest = plain.split_once(':').map_or("", |(_, rest)| rest);
            return (Part::Aside, rest.trim_start_matches(['*', '_', ' ']));
        }
    }
    (Part::Body, line.trim_start_matches(['*', '#', '-', '>', ' ', '•']))
}
