//! What a person asked to keep, found by rule (L5.19).
//!
//! It serves where no model can be asked. Only plain sentences of the person's
//! count: not questions, not code, not what they pasted. The words are kept as
//! they stand, marked with the rule that found them.

use crate::plan::{Review, Who};
use everfold_kernel::RecordId;
use everfold_kernel::limits::ExtractLimits;
use everfold_memfile::MemoryType;
use regex::Regex;
use std::sync::LazyLock;

/// Words of the name.
const NAME_WORDS: usize = 7;
/// Characters of the description.
const DESCRIPTION_CHARS: usize = 150;
/// Fewest words that say something.
const LEAST_WORDS: usize = 2;

/// A memory that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// What it is called.
    pub name: String,
    /// What it says, on a line.
    pub description: String,
    /// Its type.
    pub kind: MemoryType,
    /// What it says.
    pub body: String,
    /// The rule that found it.
    pub rule: &'static str,
    /// The message.
    pub record: RecordId,
}

/// What the person asked to keep, in order; each sentence once.
#[must_use]
pub fn captured(review: &Review, limits: &ExtractLimits) -> Vec<Captured> {
    let mut found: Vec<Captured> = Vec::new();
    for said in review.by(Who::Person) {
        for sentence in sentences(&said.text) {
            if sentence.chars().count() > limits.rule_chars {
                continue;
            }
            if let Some((rule, statement, kind)) = matched(sentence)
                && found.iter().all(|known| known.body != statement)
            {
                found.push(Captured {
                    name: name(&statement),
                    description: cut(&statement, DESCRIPTION_CHARS),
                    kind,
                    body: statement,
                    rule,
                    record: said.record.clone(),
                });
            }
        }
    }
    found.truncate(limits.rule_memories);
    found
}

/// The rule by which a memory is kept that the person wrote as one.
const STATED: &str = "stated";

/// A memory as the person wrote it; none where it says nothing.
#[must_use]
pub fn stated(text: &str, record: RecordId) -> Option<Captured> {
    let body = capitalised(text.trim());
    let first = body.lines().next().unwrap_or_default().to_owned();
    (!first.is_empty()).then(|| Captured {
        name: name(&first),
        description: cut(&first, DESCRIPTION_CHARS),
        kind: kind_of(&body),
        body,
        rule: STATED,
        record,
    })
}

/// Plain sentences of a text: no code, no quotes, no questions.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            in_code = !in_code;
        } else if !in_code && !line.starts_with(['>', '|', '#', '<', '{', '[']) {
            found.extend(split(line));
        }
    }
    found
}

/// A line cut after full stops and exclamation marks that end a sentence.
fn split(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = line;
    while let Some(at) = END.as_ref().and_then(|end| end.find(rest)) {
        let (part, tail) = rest.split_at_checked(at.end()).unwrap_or((rest, ""));
        parts.push(part.trim());
        rest = tail;
    }
    parts.push(rest.trim());
    parts.retain(|part| !part.is_empty() && !part.ends_with('?'));
    parts
}

/// The rule that a sentence follows, what it states, and its type.
fn matched(sentence: &str) -> Option<(&'static str, String, MemoryType)> {
    for rule in RULES.iter() {
        let Some(captures) = rule.pattern.as_ref().and_then(|p| p.captures(sentence)) else {
            continue;
        };
        let statement = captures
            .name("what")
            .or_else(|| captures.name("rest"))
            .map_or(sentence, |what| what.as_str());
        let statement = statement.trim().trim_end_matches(['.', '!', ',', ';', ':']).trim();
        if statement.split_whitespace().count() < LEAST_WORDS || is_mood(statement) {
            return None;
        }
        let kind = rule.kind.unwrap_or_else(|| kind_of(statement));
        return Some((rule.name, capitalised(statement), kind));
    }
    None
}

/// "I am a bit lost" says nothing that lasts.
fn is_mood(statement: &str) -> bool {
    MOOD.as_ref().is_some_and(|pattern| pattern.is_match(statement))
}

fn kind_of(statement: &str) -> MemoryType {
    let is = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|p| p.is_match(statement));
    if is(&OUTSIDE) {
        MemoryType::Reference
    } else if is(&ABOUT_ME) {
        MemoryType::User
    } else if is(&HOW_TO_WORK) {
        MemoryType::Feedback
    } else {
        MemoryType::Project
    }
}

fn name(statement: &str) -> String {
    let words: Vec<&str> = statement.split_whitespace().take(NAME_WORDS).collect();
    cut(&words.join(" "), DESCRIPTION_CHARS)
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text).trim_end()),
        None => text.to_owned(),
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

struct Rule {
    name: &'static str,
    pattern: Option<Regex>,
    kind: Option<MemoryType>,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |name, pattern: &str, kind| Rule {
        name,
        pattern: Regex::new(&format!(
            "(?i)^(?:please,? |and |also,? |so,? |ok(?:ay)?,? )*{pattern}"
        ))
        .ok(),
        kind,
    };
    vec![
        rule(
            "remember",
            r"(?:remember|keep in mind|don'?t forget|do not forget|bear in mind|note|make a note|for the record)(?: for (?:next time|later|the future))?(?:(?:,? that\b|\s*:|,| this:)\s*(?P<what>.+)|\s+(?P<rest>(?:i|we|my|our|the|always|never|to|not to)\b.+))$",
            None,
        ),
        rule("always", r"(?P<what>always\s.+)$", Some(MemoryType::Feedback)),
        rule("never", r"(?P<what>(?:never|do(?:n'?t| not) ever)\s.+)$", Some(MemoryType::Feedback)),
        rule(
            "from now on",
            r"(?:from now on|in (?:the )?future|going forward|next time),?\s+(?P<what>.+)$",
            Some(MemoryType::Feedback),
        ),
        rule(
            "i am",
            r"(?P<what>(?:i am|i'm|i’m) (?:a|an|the|new to|responsible for|in charge of|based in|from)\s.+)$",
            Some(MemoryType::User),
        ),
        rule(
            "i prefer",
            r"(?P<what>i (?:always |usually |generally )?(?:prefer|work as|work for|work with|speak|live in)\s.+|my name is\s.+|call me\s.+)$",
            Some(MemoryType::User),
        ),
    ]
});

static END: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[.!?]+\s+").ok());
static MOOD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(i am|i'm|i’m) (a|an|the) (bit|little|lot|tad|touch|few|one|same|first|last|only)\b",
    )
    .ok()
});
static OUTSIDE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)https?://|\b(dashboard|wiki|tracker|jira|linear|slack|confluence|notion|grafana|channel|runbook)\b").ok()
});
static ABOUT_ME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)^(i|i'm|i’m|my|me)\b").ok());
static HOW_TO_WORK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(always|never|don'?t|do not|to|not to|use|avoid|prefer|you should|when|before|after|only)\b").ok()
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Said;

    fn found(text: &str) -> Vec<(&'static str, String, MemoryType)> {
        let said = Said { record: "r".into(), who: Who::Person, text: text.into() };
        let review = Review { said: vec![said], ..Review::default() };
        let captured = captured(&review, &ExtractLimits::default());
        captured.into_iter().map(|c| (c.rule, c.body, c.kind)).collect()
    }

    #[test]
    fn l5_19_what_a_person_asks_to_keep_is_found_by_rule() {
        let cases = [
            (
                "Remember that we deploy on Fridays.",
                "remember",
                "We deploy on Fridays",
                MemoryType::Project,
            ),
            ("please remember: I like tea", "remember", "I like tea", MemoryType::User),
            (
                "Keep in mind that never to push on Friday",
                "remember",
                "Never to push on Friday",
                MemoryType::Feedback,
            ),
            (
                "remember the outages are written up in the wiki",
                "remember",
                "The outages are written up in the wiki",
                MemoryType::Reference,
            ),
            (
                "Hello! Always run the linter before you commit!",
                "always",
                "Always run the linter before you commit",
                MemoryType::Feedback,
            ),
            (
                "never use mocks for the database",
                "never",
                "Never use mocks for the database",
                MemoryType::Feedback,
            ),
            (
                "From now on, answer in German",
                "from now on",
                "Answer in German",
                MemoryType::Feedback,
            ),
            (
                "I am a data scientist at a bank.",
                "i am",
                "I am a data scientist at a bank",
                MemoryType::User,
            ),
            (
                "I'm new to Rust, so explain more",
                "i am",
                "I'm new to Rust, so explain more",
                MemoryType::User,
            ),
            ("I prefer short answers", "i prefer", "I prefer short answers", MemoryType::User),
        ];
        for (text, rule, body, kind) in cases {
            assert_eq!(found(text), [(rule, body.to_owned(), kind)], "{text}");
        }
    }

    #[test]
    fn l5_19_what_only_looks_like_it_is_not() {
        for text in [
            "do you remember that we deploy on Fridays?",
            "remember when this broke",
            "I am a bit lost here",
            "I am trying to fix the build",
            "why does it always fail",
            "```\nalways use tabs\n```",
            "> never do this",
            "Remember that",
            "I'm sure the test is wrong",
            "",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn l5_19_each_once_and_not_too_many() {
        let text = "Always test. Always test. Always test!";
        assert_eq!(found(text).len(), 1);
        let many: Vec<String> = (0..50).map(|n| format!("Always do thing {n}.")).collect();
        let many = many.join("\n");
        assert_eq!(found(&many).len(), ExtractLimits::default().rule_memories);
    }
}
