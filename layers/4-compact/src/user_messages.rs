//! What the person said, as it goes through compactions.
//!
//! Every message stands in `<said id="…">` tags, word for word, so that the
//! next compaction finds it again in the summary of this one. Together they
//! hold `user_message_tokens`, newest first; a message that is over becomes an
//! excerpt with the id that brings it back (L4.11).

use crate::RECALL_TOOL;
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::{Limits, RecordId};
use std::iter;

/// One message of the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserMessage {
    /// The record; none where an earlier summary does not name it.
    pub record: Option<RecordId>,
    pub text: String,
    /// Whether this is all of it.
    pub part: MessageExtent,
}

/// How much of a message is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageExtent {
    Whole,
    Excerpt,
}

const OPEN: &str = "<said";
const CLOSE: &str = "</said>";
/// Between an excerpt and how much is left out of it.
const MORE: &str = " […";
/// How often excerpts are halved before any message is left out.
const HALVINGS: u32 = 3;

impl UserMessage {
    /// The message in its tags.
    #[must_use]
    pub fn render(&self) -> String {
        let id = self.record.as_ref().map_or_else(String::new, |id| format!(" id=\"{id}\""));
        let excerpt = if self.part == MessageExtent::Excerpt { " excerpt" } else { "" };
        format!("{OPEN}{id}{excerpt}>\n{}\n{CLOSE}", self.text.replace(CLOSE, "&lt;/said>"))
    }

    /// Its first characters, and how many more there are.
    fn excerpt(&self, chars: usize) -> Self {
        let (text, left) = self.said();
        let start: String = text.chars().take(chars).collect();
        if start.len() == text.len() {
            return self.clone();
        }
        let left = left + text.chars().count() - chars;
        // The id stands in the tag: a small window has no room for it twice.
        let how = match &self.record {
            Some(_) => format!("{RECALL_TOOL} with this id"),
            None => "in the transcript".to_owned(),
        };
        let text = format!("{start}{MORE}{left} more characters; {how}]");
        Self { record: self.record.clone(), text, part: MessageExtent::Excerpt }
    }

    /// The words that are there, and how many characters more were said.
    pub(crate) fn said(&self) -> (&str, usize) {
        let cut = self.text.rsplit_once(MORE).filter(|_| self.part == MessageExtent::Excerpt);
        let left = |tail: &str| tail.split_once(' ').and_then(|(left, _)| left.parse().ok());
        cut.map_or((&self.text, 0), |(text, tail)| (text, left(tail).unwrap_or(0)))
    }
}

/// The text with the tags of this module broken, wherever they occur in
/// something that the person did not say (S4). The tag stays readable.
#[must_use]
pub fn unmark(text: &str) -> String {
    text.replace(OPEN, "&lt;said").replace("</said", "&lt;/said")
}

/// The messages that fit into so many tokens, newest first whole, then as
/// excerpts, in their order. Where they are too many, excerpts are shorter, and
/// in a small window a message that takes half of the room is one too; what does
/// not fit even then is left out.
#[must_use]
pub fn choose(said: &[UserMessage], tokens: u64, limits: &Limits) -> Vec<UserMessage> {
    let chars = limits.compact.excerpt_chars;
    let longest = tokens.saturating_mul(limits.compact.user_message_percent) / 100;
    let tries = (0..=HALVINGS).map(|halvings| (longest, chars >> halvings));
    let mut best = Vec::new();
    for (longest, chars) in iter::once((tokens, chars)).chain(tries) {
        best = chosen(said, tokens, longest, chars, limits);
        if best.len() == said.len() {
            break;
        }
    }
    best
}

/// Those that fit where none is longer than so many tokens, and excerpts have so
/// many characters.
fn chosen(
    said: &[UserMessage],
    tokens: u64,
    longest: u64,
    chars: usize,
    limits: &Limits,
) -> Vec<UserMessage> {
    let mut left = tokens;
    let mut whole_ones = true;
    let mut chosen: Vec<UserMessage> = Vec::new();
    for message in said.iter().rev() {
        let whole = estimate_text(&message.render(), limits).0;
        let is_short = message.part == MessageExtent::Whole || message.said().0.len() <= chars;
        if whole_ones && is_short && whole <= left.min(longest) {
            left -= whole;
            chosen.push(message.clone());
            continue;
        }
        // One long paste must not turn all that came before it into excerpts.
        whole_ones = whole > longest || !is_short;
        let excerpt = message.excerpt(chars);
        let size = estimate_text(&excerpt.render(), limits).0;
        if size <= left {
            left -= size;
            chosen.push(excerpt);
        }
    }
    chosen.reverse();
    chosen
}

/// The messages that a summary gives in their tags.
#[must_use]
pub fn find(summary: &str) -> Vec<UserMessage> {
    let mut found = Vec::new();
    let mut rest = summary;
    while let Some((_, tail)) = rest.split_once(OPEN) {
        let Some((attributes, body)) = tail.split_once('>') else { break };
        rest = body;
        // A tag that is only spoken of has no body.
        let named = attributes.is_empty() || attributes.starts_with(' ');
        let Some((text, after)) = body.split_once(CLOSE).filter(|_| named) else { continue };
        rest = after;
        let id = attributes.split_once("id=\"").and_then(|(_, id)| id.split_once('"'));
        let part = if attributes.ends_with(" excerpt") {
            MessageExtent::Excerpt
        } else {
            MessageExtent::Whole
        };
        let text = text.trim_matches('\n').to_owned();
        if !text.trim().is_empty() {
            found.push(UserMessage { record: id.map(|(id, _)| id.into()), text, part });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(id: &str, text: &str) -> UserMessage {
        UserMessage { record: Some(id.into()), text: text.into(), part: MessageExtent::Whole }
    }

    #[test]
    fn l4_11_messages_stay_word_for_word_newest_first() {
        let limits = Limits::default();
        let long = "x".repeat(4_000);
        let all = [said("1", "first"), said("2", &long), said("3", "last  one\nhere")];
        let chosen = choose(&all, 500, &limits);
        assert_eq!(chosen[0].text, "first");
        assert_eq!(chosen[1].part, MessageExtent::Excerpt);
        assert!(chosen[1].text.contains("ResultRead with this id"), "{}", chosen[1].text);
        assert_eq!(chosen[2].text, "last  one\nhere");
    }

    #[test]
    fn l4_12_what_was_said_is_found_again_in_a_summary() {
        let all = [said("1", "a </said> b"), said("2", "two\nlines")];
        let text: Vec<String> = all.iter().map(UserMessage::render).collect();
        let found = find(&format!("6. in <said> tags\n{}", text.join("\n")));
        assert_eq!(found.last().unwrap(), &all[1]);
        assert!(find("nothing <said").is_empty());
    }
}
