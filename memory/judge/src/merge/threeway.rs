//! Two changes of one memory, made apart (F1, L5.35).
//!
//! What one of them added, the other does not lose; what one of them took out
//! is out. Where both said something else about the same, or where a part of
//! either would be lost, that is for a person to decide.

use super::comparison::{Stand, compared};
use super::heard::Heard;
use super::old::Old;
use super::rewrite::rewritten;
use super::sentences::{Part, Sentence, sentences};
use crate::gate::Known;

/// The body that has both changes, if there is one.
pub(super) fn joined(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let (old, mine, other) = (sentences(base), sentences(ours), sentences(theirs));
    let fresh = |sentence: &&Sentence, whole: &str| !base.contains(sentence.text(whole));
    let added: Vec<&Sentence> = mine.iter().filter(|s| fresh(s, ours)).collect();
    let came: Vec<&Sentence> = other.iter().filter(|s| fresh(s, theirs)).collect();
    let contradicts = |a: &&Sentence, b: &&Sentence| {
        let (a, b) = (a.text(ours), b.text(theirs));
        a != b && (says_otherwise(a, b) || says_otherwise(b, a))
    };
    if added.iter().any(|a| came.iter().any(|b| contradicts(a, b))) {
        return None;
    }
    // Both changed the same statement, each in another way.
    let is_gone = |s: &&Sentence, body: &str| !body.contains(s.text(base));
    let both_changed = |s: &&Sentence| is_gone(s, ours) && is_gone(s, theirs);
    let is_shared = |s: &Sentence| s.part == Part::Main && !s.words().all(|w| w.kind.weight() == 0);
    if !added.is_empty()
        && !came.is_empty()
        && old.iter().filter(|s| is_shared(s)).any(|s| both_changed(&s))
        && added.iter().any(|a| !theirs.contains(a.text(ours)))
    {
        return None;
    }
    let mut body = theirs.to_owned();
    for gone in old.iter().filter(|sentence| is_gone(sentence, ours)) {
        body = without(&body, gone.text(base));
    }
    let (body, _) = rewritten(&lines_of(&added, ours), &body);
    let keeps = |sentences: &[&Sentence], whole: &str| {
        sentences.iter().all(|sentence| body.contains(sentence.text(whole)))
    };
    (keeps(&added, ours) && keeps(&came, theirs)).then_some(body)
}

/// Whether one sentence says something else about what another is about.
fn says_otherwise(new: &str, old: &str) -> bool {
    let known = Known {
        file: String::new(),
        name: String::new(),
        description: String::new(),
        body: old.to_owned(),
        basis: None,
    };
    compared(&Heard::of("", new), &Old::of(&known))
        .is_some_and(|finding| matches!(finding.stand, Stand::Supersedes { .. }))
}

/// A text without a sentence; a line that has nothing else goes with it.
fn without(text: &str, sentence: &str) -> String {
    let Some((before, after)) = text.split_once(sentence) else { return text.to_owned() };
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_bare = !line.contains(char::is_alphanumeric);
    match after.strip_prefix('\n') {
        Some(after) if is_bare => {
            let before = before.strip_suffix(line).unwrap_or(before);
            format!("{before}{after}")
        }
        _ => format!("{}{}", before, after.strip_prefix(' ').unwrap_or(after)),
    }
}

/// Sentences as a text of their own, each with its bullet.
fn lines_of(sentences: &[&Sentence], whole: &str) -> String {
    let line = |s: &&Sentence| format!("{}{}\n", s.bullet, s.text(whole));
    sentences.iter().map(line).collect()
}
