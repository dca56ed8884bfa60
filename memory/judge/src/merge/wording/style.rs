//! Sentences as they are written into a memory.

use super::Edit;
use crate::merge::sentences::{Sentence, sentences};
use crate::merge::words::Kind;

/// A text without the punctuation that lost its words.
pub(super) fn tidied(text: &str) -> String {
    let mut text = text.replace("()", "").replace("（）", "");
    for (from, to) in [
        ("  ", " "),
        (" ,", ","),
        (",,", ","),
        (", ,", ","),
        (" .", "."),
        (",.", "."),
        (", .", "."),
        (";.", "."),
        ("，，", "，"),
        ("，。", "。"),
    ] {
        text = text.replace(from, to);
    }
    let text = text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, ',' | ';' | ':' | '，' | '；' | '、' | '-' | '–' | '—')
    });
    let text =
        ["but ", "and ", "sondern ", "aber ", "und ", "sino ", "pero ", "mais ", "maar ", "so "]
            .iter()
            .find_map(|word| text.strip_prefix(word))
            .unwrap_or(text);
    text.trim_start_matches(['.', ' ']).to_owned()
}

/// A sentence as it goes into a memory.
pub(super) fn finished(text: &str) -> String {
    capitalised(&finished_small(text))
}

pub(super) fn finished_small(text: &str) -> String {
    let text = tidied(text);
    let text = text.trim_end_matches([',', ';', ':', ' ', '-']).replace(" i ", " I ");
    let wide = text.chars().next_back().is_some_and(|c| ('\u{3040}'..='\u{9fff}').contains(&c));
    match text.chars().next_back() {
        None | Some('.' | '!' | '?' | '。' | '！' | '？' | '…' | ':') => text,
        _ if wide => format!("{text}。"),
        _ => format!("{text}."),
    }
}

/// The same, but that a sentence without an end stays without one.
pub(super) fn finished_as(text: &str, body: &str, sentence: &Sentence) -> String {
    let was_open = !sentence.text(body).ends_with(['.', '!', '?', '。', '！', '？']);
    let is_last = body.get(sentence.end..).is_none_or(|rest| rest.trim().is_empty());
    if was_open && !is_last { capitalised(text.trim()) } else { finished(text) }
}

pub(super) fn capitalised(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_name = first.contains(['_', '/', '.', '=', '`', '-']) && !first.ends_with(['.', ','])
        || first.chars().any(char::is_uppercase);
    let mut chars = text.chars();
    match chars.next() {
        Some(start) if !is_name => start.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

/// A sentence that goes on another: its first word is small unless it is a
/// name.
pub(super) fn uncapitalised(text: &str) -> String {
    let first =
        sentences(text).first().and_then(|sentence| sentence.words().next().map(|word| word.kind));
    let is_word = matches!(first, Some(Kind::Stop | Kind::Generic));
    let mut chars = text.chars();
    match chars.next() {
        Some(start) if is_word && !text.starts_with("I ") => {
            start.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// At most so many characters, cut between words.
pub(super) fn cut(text: &str, chars: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= chars {
        return text.to_owned();
    }
    let end = text.char_indices().nth(chars - 1).map_or(text.len(), |(at, _)| at);
    let head = text.get(..end).unwrap_or(text);
    let head = head.rsplit_once(' ').map_or(head, |(head, _)| head);
    format!("{}…", head.trim_end_matches([',', ';', ':', ' ', '(']))
}

/// A text with its edits made; where two overlap the first one holds.
pub(super) fn applied(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(start, end, _)| (*start, *end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (start, end, new) in edits {
        if start < at || end > text.len() {
            continue;
        }
        out.push_str(text.get(at..start).unwrap_or_default());
        out.push_str(&new);
        at = end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
