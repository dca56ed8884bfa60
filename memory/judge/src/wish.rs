//! What a person asked to keep, found by rule (L5.19, L5.37).
//!
//! An explicit wish, in any language of R15, is kept whole: the person's own
//! words, without those that ask. Where no model can be asked, plain standing
//! orders are kept too, and what is less certain waits in the inbox. Only what
//! the person typed counts: not questions, not jokes, not what is for now.

mod bars;
mod cues;
mod explicit;
mod offer;
mod piece;
mod scope;
mod standing;

use crate::testimony::Testimony;
use everfold_kernel::RecordId;
use everfold_kernel::limits::ExtractLimits;
use everfold_memory_file::MemoryType;
use piece::Piece;

pub(crate) use explicit::{has_cue, opens};
pub use offer::{offers, picked};
pub(crate) use standing::is_order;

/// Words of the name.
const NAME_WORDS: usize = 7;
/// Characters of the description.
const DESCRIPTION_CHARS: usize = 150;

/// A memory that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// What it is called.
    pub name: String,
    /// What it says, on a line.
    pub description: String,
    pub kind: MemoryType,
    /// Whom it holds for.
    pub tier: Tier,
    pub body: String,
    /// The rule that found it.
    pub rule: &'static str,
    /// Whether it can be kept without being asked about.
    pub certainty: Certainty,
    pub record: RecordId,
}

/// Whom a memory holds for (L5.38).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The person, in every project.
    Global,
    Project,
}

/// Whether a rule is certain (L5.37).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    Sure,
    /// It waits in the inbox.
    Unsure,
}

/// Which rules apply (L5.37).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WishRules {
    /// A model judges the rest.
    ExplicitOnly,
    /// There is no model: standing orders count, too.
    Standing,
}

/// What a rule found, before it has a name.
struct Found {
    body: String,
    everywhere: scope::Reach,
    rule: &'static str,
    certainty: Certainty,
    /// The sentence to go on with.
    next: usize,
}

/// What the person asked to keep, in order; each once.
#[must_use]
pub fn wishes(testimony: &Testimony, rules: WishRules, limits: &ExtractLimits) -> Vec<Wish> {
    let mut kept: Vec<Wish> = Vec::new();
    for said in testimony.by_person() {
        let piece = Piece::of(&said.text);
        let serious = rules == WishRules::Standing && !bars::is_jest(&piece.low);
        let (mut at, mut floor) = (0, 0);
        while at < piece.sentences.len() && kept.len() < limits.rule_memories {
            let found = explicit::find(&piece, at, floor)
                .or_else(|| standing::find(&piece, at, limits).filter(|_| serious));
            let Some(found) = found else {
                at += 1;
                continue;
            };
            at = found.next.max(at + 1);
            floor = at;
            let fits = found.body.len() <= limits.file_bytes / 2;
            if fits && kept.iter().all(|known| known.body != found.body) {
                kept.push(found.named(said.record.clone()));
            }
        }
    }
    kept
}

impl Found {
    fn named(self, record: RecordId) -> Wish {
        let (kind, tier) = scope::kind_and_tier(&self.body, self.everywhere);
        Wish {
            name: name(&self.body),
            description: cut(self.body.lines().next().unwrap_or_default(), DESCRIPTION_CHARS),
            kind,
            tier,
            body: self.body,
            rule: self.rule,
            certainty: self.certainty,
            record,
        }
    }
}

/// The rule by which a memory is kept that the person wrote as one.
const STATED: &str = "stated";

/// A memory as the person wrote it; none where it says nothing.
#[must_use]
pub fn stated(text: &str, record: RecordId) -> Option<Wish> {
    let body = capitalised(text.trim());
    let found = Found {
        everywhere: scope::Reach::of(&body),
        body,
        rule: STATED,
        certainty: Certainty::Sure,
        next: 0,
    };
    (!found.body.is_empty()).then(|| found.named(record))
}

/// The type and the tier of what a person said, for any door (L5.38).
#[must_use]
pub fn kind_and_tier(text: &str) -> (MemoryType, Tier) {
    scope::kind_and_tier(text, scope::Reach::of(text))
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

#[cfg(test)]
mod tests {
    use super::*;
    fn found(text: &str) -> Vec<(&'static str, String, MemoryType)> {
        let captured = wishes(
            &Testimony::typed(text, "r".into()),
            WishRules::Standing,
            &ExtractLimits::default(),
        );
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
