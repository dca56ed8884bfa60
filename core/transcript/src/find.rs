//! Looking for words in what was said (R10).
//!
//! A transcript is searched in two steps, so that most of it is never parsed:
//! a line whose bytes have all the words is a candidate ([`SearchTerms::maybe`]); then
//! its record is read, and the words have to stand in what was said
//! ([`said`], [`SearchTerms::all_in`]), not in names and ids around it.

use everfold_kernel::ports::MemoryHead;
use everfold_kernel::{Block, BlockView, Entry, Record, UserOrigin};
use regex::bytes;
use regex::{Regex, RegexBuilder};
use serde_json::Value;

/// What a line has whose text is compressed: any word can be in it.
const PACKED: &str = r#""packed":{"bytes":"#;

/// Characters of an excerpt that stand before the word.
const LEAD_CHARS: usize = 60;
/// Words of a query beyond which more are left out.
const MOST_WORDS: usize = 16;

/// The words of a query; all have to be there, in any case. Words in double
/// quotes are one phrase.
///
/// ```
/// use everfold_transcript::find::SearchTerms;
///
/// let terms = SearchTerms::parse("\"staging key\" rotated").unwrap();
/// assert!(terms.all_in("We ROTATED the staging key."));
/// assert!(!terms.all_in("The key of staging was rotated."));
/// ```
#[derive(Clone, Debug)]
pub struct SearchTerms {
    words: Vec<Regex>,
    /// What the bytes of a line must have, the most telling first.
    raw: Vec<bytes::Regex>,
    /// What a compressed line has.
    packed: bytes::Regex,
    /// The first of the words, or that.
    place: bytes::Regex,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Person,
    Assistant,
    Tool,
    /// A summary of what came before.
    Summary,
}

impl Who {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Summary => "summary",
        }
    }
}

impl SearchTerms {
    /// Reads a query; none where it has no words.
    #[must_use]
    pub fn parse(query: &str) -> Option<Self> {
        let mut texts: Vec<String> = split(query);
        texts.truncate(MOST_WORDS);
        // The longest is the rarest, as far as one can tell without looking.
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let words: Vec<Regex> = texts.iter().filter_map(|text| insensitive(text)).collect();
        let runs = texts.iter().filter_map(|text| {
            let run = text.split(is_escaped).max_by_key(|run| run.len())?;
            Some(format!("(?i:{})", regex::escape(run)))
        });
        let runs: Vec<String> = runs.collect();
        let raw = runs.iter().filter_map(|run| bytes::Regex::new(run).ok()).collect();
        let packed = regex::escape(PACKED);
        let place = bytes::Regex::new(&format!("{}|{packed}", runs.first()?)).ok()?;
        let packed = bytes::Regex::new(&packed).ok()?;
        (!words.is_empty()).then_some(Self { words, raw, packed, place })
    }

    /// The first place from which on a line may have all words; for a look at
    /// many lines at once.
    #[must_use]
    pub fn next_place(&self, bytes: &[u8]) -> Option<usize> {
        self.place.find(bytes).map(|found| found.start())
    }

    /// Whether a line may have all words somewhere: its bytes do, or a part of
    /// it is compressed.
    #[must_use]
    pub fn maybe(&self, line: &[u8]) -> bool {
        self.maybe_in_bytes(line) || self.packed.is_match(line)
    }

    /// Whether bytes have all words somewhere.
    #[must_use]
    pub fn maybe_in_bytes(&self, bytes: &[u8]) -> bool {
        self.raw.iter().all(|word| word.is_match(bytes))
    }

    /// Whether a text has all words.
    #[must_use]
    pub fn all_in(&self, text: &str) -> bool {
        self.words.iter().all(|word| word.is_match(text))
    }

    /// The excerpt of a memory that has all words in its name, description or
    /// body.
    #[must_use]
    pub fn in_memory(&self, memory: &MemoryHead, chars: usize) -> Option<String> {
        let all = [&*memory.name, &*memory.description, &*memory.body].join("\n");
        self.all_in(&all).then(|| self.excerpt(&all, chars))
    }

    /// A part of a text around the first word, on one line.
    #[must_use]
    pub fn excerpt(&self, text: &str, chars: usize) -> String {
        let at = self.words.first().and_then(|word| word.find(text)).map_or(0, |m| m.start());
        let (before, after) = text.split_at_checked(at).unwrap_or(("", text));
        let lead_chars = LEAD_CHARS.min(chars / 2);
        let start =
            before.char_indices().rev().nth(lead_chars).map_or(0, |(at, c)| at + c.len_utf8());
        let lead = before.get(start..).unwrap_or_default();
        let rest: String = after.chars().take(chars.saturating_sub(lead.chars().count())).collect();
        let cut_before = if start > 0 { "…" } else { "" };
        let cut_after = if rest.len() < after.len() { "…" } else { "" };
        let words: Vec<&str> =
            lead.split_inclusive(char::is_whitespace).chain([rest.as_str()]).collect();
        let line: Vec<String> = words.concat().split_whitespace().map(str::to_owned).collect();
        format!("{cut_before}{}{cut_after}", line.join(" "))
    }
}

/// What a record says to a person who looks for it, and who said it. What was
/// injected is not part of what was said.
#[must_use]
pub fn said(record: &Record) -> Option<(Who, String)> {
    let (who, text) = match &record.entry {
        Entry::User(user) => {
            let who = match user.origin {
                UserOrigin::Human => Who::Person,
                UserOrigin::ToolResult => Who::Tool,
                UserOrigin::CompactSummary => Who::Summary,
                UserOrigin::Meta => return None,
            };
            (who, joined(user.content.iter().map(Block::plain_text)))
        }
        Entry::Assistant(assistant) => match assistant.block.view() {
            BlockView::ToolUse { name, input, .. } => {
                let mut texts = vec![name.to_owned()];
                strings(input, &mut texts);
                (Who::Assistant, texts.join(" "))
            }
            BlockView::Text(text) => (Who::Assistant, text.to_owned()),
            _ => return None,
        },
        _ => return None,
    };
    (!text.trim().is_empty()).then_some((who, text))
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn strings(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(map) => map.values().for_each(|item| strings(item, into)),
        _ => {}
    }
}

/// Words and quoted phrases.
fn split(query: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, part) in query.split('"').enumerate() {
        if number % 2 == 1 {
            found.push(part.trim().to_owned());
        } else {
            found.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    found.retain(|text| !text.is_empty());
    found
}

fn insensitive(text: &str) -> Option<Regex> {
    RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build().ok()
}

/// What JSON writes in another way than it reads.
fn is_escaped(c: char) -> bool {
    matches!(c, '"' | '\\' | '/') || c.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn r10_all_words_have_to_be_there_in_any_case() {
        let terms = SearchTerms::parse("deploy Friday").unwrap();
        assert!(terms.all_in("no FRIDAY deploys"));
        assert!(!terms.all_in("deploy on Monday"));
        assert!(SearchTerms::parse("  \"\" ").is_none());
    }

    #[test]
    fn r10_an_excerpt_is_one_line_around_the_word() {
        let text = format!("{} the needle\nis here {}", "before ".repeat(50), "after ".repeat(50));
        let excerpt = SearchTerms::parse("NEEDLE").unwrap().excerpt(&text, 120);
        assert!(excerpt.starts_with('…') && excerpt.ends_with('…'), "{excerpt}");
        assert!(excerpt.contains("the needle is here after"), "{excerpt}");
        assert!(!excerpt.contains('\n') && excerpt.chars().count() <= 122);
    }

    proptest! {
        #[test]
        fn r10_no_line_that_says_the_words_is_passed_over(
            text in "[ -~äßΩ\n\"\\\\]{0,60}",
            from in 0usize..60,
            len in 1usize..20,
        ) {
            let word: String = text.chars().skip(from).take(len).collect();
            let Some(terms) = SearchTerms::parse(&word) else { return Ok(()) };
            let line = serde_json::to_string(&text).unwrap();
            if terms.all_in(&text) {
                prop_assert!(terms.maybe(line.as_bytes()));
            }
            let _ = terms.excerpt(&text, 10);
        }
    }
}
