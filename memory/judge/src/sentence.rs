//! Sentences of a text, with where they stand.
//!
//! As people end them: what is fenced or quoted is nobody's, and an abbreviation
//! ends nothing. Claims are cut more eagerly (`folding`), so that no order hides
//! behind another sentence; what a memory says, with its layout (`merge`).

use crate::pattern::patterns;
use crate::phrase::{fold, is_unspaced, part};
use std::ops::Range;

/// One sentence, or one line where lines do not end in full stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// Its bytes, without the space around it.
    pub(crate) range: Range<usize>,
    /// The paragraph that it is in, counted from the front.
    pub(crate) block: usize,
    pub(crate) end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Like a statement.
    Plain,
    /// With a question mark.
    Question,
    /// With a colon: something follows.
    Colon,
}

/// What may stand behind the mark that ends a sentence; a bracket last.
const CLOSING: [char; 6] = ['"', '\'', '”', '*', '!', ')'];

patterns! {
    /// Abbreviations whose full stop ends nothing.
    ABBREVIATION = r"(?:^|[\s(])(?:e\.?g|i\.?e|z\.\s?b|u\.\s?a|d\.\s?h|p\.\s?ex|etc|approx|vs|cf|ca|bzw|ggf|evtl|inkl|resp|dr|mr|mrs|ms|prof|st|nr|no|max|min|incl|fig|bijv|т\.\s?е|напр|np|tzn|[a-z]|\d{1,2})\.$";
}

/// The sentences of a text, in order; what is fenced or quoted is not among them.
pub(crate) fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut block = 0;
    let mut start = 0;
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        let trimmed = line.trim();
        let fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        fenced ^= fence;
        if fence || fenced || trimmed.is_empty() || trimmed.starts_with('>') {
            block += 1;
        } else {
            split_line(text, range, block, &mut found);
        }
    }
    found
}

fn split_line(text: &str, line: Range<usize>, block: usize, found: &mut Vec<Sentence>) {
    let body = part(text, line.clone());
    let mut from = line.start;
    let mut chars = body.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let wide = matches!(c, '。' | '！' | '？' | '｡');
        if !wide && !matches!(c, '.' | '!' | '?' | '…' | '؟') {
            continue;
        }
        let end = line.start + at + c.len_utf8();
        let next = chars.peek().map(|(_, next)| *next);
        let closes = match next {
            None => true,
            Some(next) => {
                wide && !matches!(next, '。' | '！' | '？' | '」' | '』' | '”')
                    || next.is_whitespace()
            }
        };
        if closes && (c != '.' || !is_abbreviation(text, from, end)) {
            push(text, from..end, block, found);
            from = end;
        }
    }
    push(text, from..line.end, block, found);
}

fn is_abbreviation(text: &str, from: usize, end: usize) -> bool {
    let near = text.floor_char_boundary(end.saturating_sub(12)).max(from);
    let tail = part(text, near..end);
    if tail.chars().any(is_unspaced) {
        return false;
    }
    ABBREVIATION.is_in(&fold(tail))
}

fn push(text: &str, range: Range<usize>, block: usize, found: &mut Vec<Sentence>) {
    let raw = part(text, range.clone());
    let lead = raw.len() - raw.trim_start().len();
    let body = raw.trim();
    if body.is_empty() {
        return;
    }
    let start = range.start + lead;
    let last = |closing: &[char]| body.trim_end_matches(closing).chars().next_back();
    // ":)" introduces nothing.
    let end = match (last(&CLOSING), last(CLOSING.split_last().map_or(&[], |(_, rest)| rest))) {
        (Some('?' | '？' | '؟'), _) => End::Question,
        (_, Some(':' | '：')) => End::Colon,
        _ => End::Plain,
    };
    found.push(Sentence { range: start..start + body.len(), block, end });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_people_end_them() {
        let cases: [(&str, &[&str]); 6] = [
            ("One. Two! Three?", &["One.", "Two!", "Three?"]),
            ("use v1.2, e.g. here. ok", &["use v1.2, e.g. here.", "ok"]),
            ("一つ。二つ", &["一つ。", "二つ"]),
            ("1. first\n2. second", &["1. first", "2. second"]),
            ("wait... what", &["wait...", "what"]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            let found: Vec<&str> =
                sentences(text).into_iter().map(|one| part(text, one.range)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
