//! What a sentence is about, told by where its words stand.

use super::keys::CONTENT;
use super::words::{Kind, Word};

/// What a sentence is about.
pub(super) enum Subject<'a> {
    /// What stands before its verb.
    Named(Vec<&'a Word>),
    /// What stands behind it, where nothing is before.
    Object(Vec<&'a Word>),
}

/// Content words that name a subject where no verb is known.
const SUBJECT_WORDS: usize = 2;

pub(super) fn subject<'a>(words: impl Iterator<Item = &'a Word>) -> Subject<'a> {
    let is_verb =
        |word: &Word| word.kind == Kind::Generic || COPULAS.contains(&word.lower.as_str());
    let is_subject = |word: &Word| {
        word.kind.weight() >= CONTENT
            && !matches!(word.kind, Kind::Number | Kind::Time | Kind::Date | Kind::Weekday(..))
    };
    let is_bound = |word: &Word| PREPOSITIONS.contains(&word.lower.as_str());
    let mut before: Vec<&Word> = Vec::new();
    let mut behind: Vec<&Word> = Vec::new();
    let mut has_verb = false;
    let mut words = words.peekable();
    let is_pronoun = words.peek().is_some_and(|word| PRONOUNS.contains(&word.lower.as_str()));
    for word in words {
        if is_verb(word) {
            if !before.is_empty() {
                return Subject::Named(before);
            }
            if !behind.is_empty() {
                break;
            }
            has_verb = true;
        } else if is_bound(word) && has_verb && !behind.is_empty() {
            break;
        } else if is_subject(word) {
            if has_verb { behind.push(word) } else { before.push(word) }
        }
    }
    if has_verb {
        return Subject::Object(behind);
    }
    before.truncate(SUBJECT_WORDS);
    if is_pronoun { Subject::Object(before) } else { Subject::Named(before) }
}

/// The numbers and identifiers by which a subject is told from others of its
/// sort: "service 5", "floor no. 9", "db-1". A number before its noun counts things ("5 workers"), and one
/// behind a tool is its version: both are values that change.
pub(super) fn marks<'a>(words: impl Iterator<Item = &'a Word>) -> Vec<&'a Word> {
    let mut found = Vec::new();
    let mut before: Option<&Word> = None;
    for word in words {
        if COPULAS.contains(&word.lower.as_str()) {
            return found;
        }
        let names = |before: &Word| {
            NUMBERED.contains(&before.lower.as_str())
                || matches!(
                    before.kind,
                    Kind::Plain | Kind::Name | Kind::MaybeName | Kind::Identifier
                )
        };
        let is_number = word.kind == Kind::Number && before.is_some_and(names);
        if is_number || word.kind == Kind::Identifier {
            found.push(word);
        }
        before = Some(word);
    }
    // No verb is known: it may stand anywhere.
    Vec::new()
}

const NUMBERED: &[&str] = &["number", "no", "nr", "nummer", "numéro", "número", "numero"];
const COPULAS: &[&str] = &[
    "is", "are", "was", "were", "be", "can", "must", "should", "will", "has", "have", "ist",
    "sind", "wird", "werden", "hat", "muss", "est", "sont", "es", "son", "está", "están", "è",
    "sono", "é", "são", "zijn", "wordt", "heeft",
];
const PRONOUNS: &[&str] =
    &["we", "i", "you", "they", "wir", "ich", "man", "nous", "on", "je", "noi", "nós", "wij", "ik"];
const PREPOSITIONS: &[&str] = &[
    "to", "on", "in", "at", "from", "by", "for", "with", "through", "via", "auf", "zu", "nach",
    "von", "bei", "mit", "für", "à", "vers", "sur", "en", "a", "para", "por", "su", "per", "em",
    "naar", "op", "bij",
];
