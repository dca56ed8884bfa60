//! A whole new text for a memory: what it leaves out and does not contradict
//! is put back (L5.35).

use super::clauses::clause_is_in;
use super::comparison::{Stand, compared};
use super::heard::Heard;
use super::old::Old;
use super::sentences::{Part, Sentence, sentences};
use crate::gate::Known;

/// The new body with what the old one said besides, and what that was.
pub(super) fn rewritten(old_body: &str, new_body: &str) -> (String, Vec<String>) {
    let new = sentences(new_body);
    let lost: Vec<Sentence> = sentences(old_body)
        .into_iter()
        .filter(|sentence| {
            !is_told(sentence, old_body, &new, new_body)
                && !is_contradicted(sentence, old_body, &new, new_body)
        })
        .collect();
    if lost.is_empty() {
        return (new_body.to_owned(), Vec::new());
    }
    let reasons_at = reasons_start(&new, new_body);
    let (head, tail) = new_body.split_at_checked(reasons_at).unwrap_or((new_body, ""));
    let mut main = head.trim_end().to_owned();
    let mut reasons = tail.trim_end().to_owned();
    for sentence in &lost {
        let text = sentence.text(old_body);
        match sentence.part {
            Part::Main => put(&mut main, sentence, text),
            Part::Reason | Part::Fixed => {
                let at = if reasons.is_empty() && sentence.part == Part::Fixed {
                    &mut main
                } else {
                    &mut reasons
                };
                put_line(at, text);
            }
        }
    }
    let gap = if main.is_empty() || reasons.is_empty() { "" } else { "\n\n" };
    let end = if new_body.ends_with('\n') { "\n" } else { "" };
    let told = lost.iter().map(|sentence| sentence.text(old_body).to_owned()).collect();
    (format!("{main}{gap}{reasons}{end}"), told)
}

/// Where the reasons of a text start, with the bullet before them.
fn reasons_start(sentences: &[Sentence], text: &str) -> usize {
    let first = sentences.iter().find(|sentence| sentence.part == Part::Reason);
    let Some(start) = first.map(|sentence| sentence.start) else { return text.len() };
    let before = text.get(..start).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let is_bare = !before.get(line..).is_some_and(|line| line.contains(char::is_alphanumeric));
    if is_bare { line } else { start }
}

fn put(text: &mut String, sentence: &Sentence, lost: &str) {
    if !sentence.bullet.trim().is_empty() {
        put_line(text, &format!("{}{lost}", sentence.bullet));
        return;
    }
    let ends_plain = text.ends_with(|c: char| c.is_alphanumeric());
    let on_new_line = text
        .lines()
        .last()
        .is_some_and(|line| line.trim_start().starts_with(['-', '*', '#', '|', '`', '>']));
    match (text.is_empty(), on_new_line, ends_plain) {
        (true, ..) => {}
        (_, true, _) => text.push_str("\n\n"),
        (.., true) => text.push_str(". "),
        _ => text.push(' '),
    }
    text.push_str(lost);
}

fn put_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

fn is_told(sentence: &Sentence, old: &str, new: &[Sentence], new_body: &str) -> bool {
    let text = sentence.text(old);
    if new_body.contains(text) {
        return true;
    }
    let has_words = sentence.words().any(|word| word.kind.weight() > 0);
    has_words
        && sentence.part != Part::Fixed
        && sentence.clauses.iter().all(|clause| clause_is_in(clause, new))
}

/// Whether a new sentence says otherwise.
fn is_contradicted(sentence: &Sentence, old: &str, new: &[Sentence], new_body: &str) -> bool {
    if sentence.part != Part::Main {
        return false;
    }
    let known = Known {
        file: String::new(),
        name: String::new(),
        description: String::new(),
        body: sentence.text(old).to_owned(),
        basis: None,
    };
    let known = Old::of(&known);
    new.iter().filter(|sentence| sentence.part == Part::Main).any(|sentence| {
        let heard = Heard::of("", sentence.text(new_body));
        compared(&heard, &known)
            .is_some_and(|finding| matches!(finding.stand, Stand::Supersedes { .. }))
    })
}
