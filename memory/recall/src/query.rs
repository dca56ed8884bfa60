//! What is looked for: the words of a message, told apart by who wrote them.

use crate::language::Language;
use crate::lexicon::Interpreter;
use crate::pasted::{DistinctTokens, is_telling};
use crate::table::WordTable;
use crate::text::{self, Token, TokenKind};
use crate::tuning::Tuning;
use crate::vectors::length;
use crate::words::number;
use rust_stemmers::Stemmer;
use std::collections::BTreeSet;

/// From which length of its vector on a word tells as much as any.
const TELLING: f64 = 13.0;
/// What the smallest word is worth.
const LEAST_WORTH: f64 = 0.3;

/// A message that memories are looked up for. Pasted text is not the query: from
/// it only distinctive words count, such as codes, symbols and names (R13).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallPrompt<'a> {
    parts: Vec<(PromptPart, &'a str)>,
}

/// Whose words a part of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptPart {
    Typed,
    /// Somebody else's, or a program's.
    Pasted,
}

impl<'a> RecallPrompt<'a> {
    /// A message of parts.
    pub fn new(parts: impl IntoIterator<Item = (PromptPart, &'a str)>) -> Self {
        Self { parts: parts.into_iter().collect() }
    }

    /// The words that a person typed.
    pub(crate) fn typed(&self) -> String {
        let typed = self.parts.iter().filter(|(part, _)| *part == PromptPart::Typed);
        typed.map(|(_, text)| *text).collect::<Vec<_>>().join(" ")
    }
}

impl<'a> From<&'a str> for RecallPrompt<'a> {
    fn from(text: &'a str) -> Self {
        Self { parts: vec![(PromptPart::Typed, text)] }
    }
}

/// A query, taken apart.
pub(crate) struct Query {
    /// The words to look for, each stem once.
    pub(crate) terms: Vec<Term>,
}

/// One word to look for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// The word, as the query has it.
    pub(crate) word: String,
    /// The numbers of its stems; a text has the word if it has one of them.
    pub(crate) stems: Vec<u64>,
    /// What it counts, from 0 to 1.
    pub(crate) weight: f64,
    /// How much it tells whatever the memories are, from 0 to 1: numbers and
    /// words of every day tell little.
    pub(crate) worth: f64,
    pub(crate) kind: TokenKind,
    /// Whether few texts of the world have it: a code, a symbol, a rare word.
    pub(crate) is_distinctive: bool,
    /// Whether it may be of a language that the memories are not in.
    pub(crate) is_foreign: bool,
    /// What it was taken for, where it is misspelt.
    pub(crate) meant: Option<String>,
}

impl Query {
    /// Takes a message apart. Words are stemmed by each language that the
    /// memories have. Of a long message, the first and the last words stay.
    pub(crate) fn parse(
        prompt: &RecallPrompt<'_>,
        languages: &BTreeSet<Language>,
        tuning: &Tuning,
    ) -> Self {
        let spoken = Language::of(&prompt.typed());
        let is_foreign = !languages.contains(&spoken);
        let mut stemmers: Vec<Stemmer> = vec![Language::default().stemmer()];
        let others = languages.iter().filter(|language| **language != Language::default());
        stemmers.extend(others.map(|language| language.stemmer()));
        let interpreter = Interpreter::of(&prompt.typed());
        let mut terms: Vec<Term> = Vec::new();
        let mut take = |token: Token<'_>| {
            let is_small = text::is_stop_word(token.text) || spoken.is_small(token.text);
            let stems = stems(token.text, token.kind, &stemmers);
            if !is_small && !terms.iter().any(|term| term.stems.first() == stems.first()) {
                let is_foreign =
                    token.kind == TokenKind::Signs || is_foreign && token.kind == TokenKind::Word;
                let mut term = Term { is_foreign, ..Term::new(token, stems, tuning) };
                if let Some(interpreter) = &interpreter {
                    let english = interpreter.english(token.text, token.kind);
                    let english = english.into_iter().take(tuning.english_words);
                    term.translate(english, &stemmers);
                }
                terms.push(term);
            }
        };
        for (part, text) in &prompt.parts {
            match part {
                PromptPart::Typed => text::each_token(text, &mut take),
                PromptPart::Pasted => DistinctTokens::of(text).each_telling(&mut take),
            }
        }
        let most = tuning.query_words;
        if terms.len() > most {
            let tail = terms.split_off(terms.len() - most / 2);
            terms.truncate(most - most / 2);
            terms.extend(tail);
        }
        Self { terms }
    }
}

impl Term {
    fn new(token: Token<'_>, stems: Vec<u64>, tuning: &Tuning) -> Self {
        let filler = if text::is_filler_word(token.text) { tuning.filler } else { 1.0 };
        let name = if token.kind == TokenKind::Name { tuning.whole_name } else { 1.0 };
        Self {
            word: token.text.to_owned(),
            stems,
            weight: filler * name,
            worth: worth(token.text, token.kind),
            kind: token.kind,
            is_distinctive: is_telling(token.text, token.kind),
            is_foreign: false,
            meant: None,
        }
    }

    /// Looks for the English for a word besides. It tells as much as that does.
    fn translate(&mut self, english: impl Iterator<Item = &'static str>, stemmers: &[Stemmer]) {
        let mut most: Option<f64> = None;
        for word in english.filter(|word| !text::is_stop_word(word)) {
            most = Some(most.unwrap_or(0.0).max(worth(word, TokenKind::Word)));
            let found = stems(word, TokenKind::Word, stemmers);
            let new: Vec<u64> = found.into_iter().filter(|one| !self.stems.contains(one)).collect();
            self.stems.extend(new);
        }
        self.worth = most.unwrap_or(self.worth);
    }
}

fn stems(word: &str, kind: TokenKind, stemmers: &[Stemmer]) -> Vec<u64> {
    let mut stems: Vec<u64> = Vec::new();
    for stemmer in stemmers {
        let stem = match kind {
            TokenKind::Word => number(&text::stem(stemmer, word)),
            TokenKind::Signs | TokenKind::Name => number(word),
        };
        if !stems.contains(&stem) {
            stems.push(stem);
        }
    }
    stems
}

/// How long the vector of a word is says how much it tells.
fn worth(word: &str, kind: TokenKind) -> f64 {
    let table = WordTable::get().filter(|_| kind == TokenKind::Word);
    let length = table.map_or(0.0, |table| f64::from(length(&table.word(word))));
    if length > 0.0 { (length / TELLING).clamp(LEAST_WORTH, 1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(prompt: &RecallPrompt<'_>) -> Vec<String> {
        let query = Query::parse(prompt, &BTreeSet::new(), &Tuning::default());
        query.terms.into_iter().map(|term| term.word).collect()
    }

    #[test]
    fn a_query_keeps_each_stem_once_and_no_stop_words() {
        assert_eq!(words(&"What did the tests test, and how is it tested?".into()), ["tests"]);
    }

    #[test]
    fn r15_small_words_of_its_own_language_are_left_out() {
        let german = "kann ich heute noch auf den server deployen?";
        assert_eq!(words(&german.into()), ["heute", "server", "deployen"]);
    }

    #[test]
    fn r15_words_are_foreign_where_no_memory_is_in_their_language() {
        let foreign = |text: &str, memories: &str| -> Vec<String> {
            let languages = BTreeSet::from([Language::of(memories)]);
            let query = Query::parse(&text.into(), &languages, &Tuning::default());
            let foreign = query.terms.into_iter().filter(|term| term.is_foreign);
            foreign.map(|term| term.word).collect()
        };
        let german = "kann ich heute noch auf den server deployen?";
        assert_eq!(foreign(german, "We deploy on Fridays"), ["heute", "server", "deployen"]);
        assert!(foreign(german, "Wir liefern nur am Freitag aus, und nicht danach").is_empty());
        assert!(foreign("can we deploy the server?", "We deploy on Fridays").is_empty());
        assert_eq!(foreign("CI が落ちた", "We deploy on Fridays"), ["が落", "落ち", "ちた"]);
    }

    #[test]
    fn a_long_message_keeps_both_its_ends() {
        let text: Vec<String> = (0..900).map(|number| format!("w{number}")).collect();
        let text = text.join(" ");
        let words = words(&text.as_str().into());
        assert_eq!(words.len(), Tuning::default().query_words);
        assert_eq!(words.first().unwrap(), "w0");
        assert_eq!(words.last().unwrap(), "w899");
    }

    #[test]
    fn r13_of_pasted_text_only_distinctive_words_count() {
        let log = "ERROR the notification was rejected: invalid hmac in verify_raw (E0463)";
        let prompt = RecallPrompt::new([
            (PromptPart::Typed, "what is the reason?"),
            (PromptPart::Pasted, log),
        ]);
        assert_eq!(words(&prompt), ["reason", "hmac", "verifyraw", "e0463"]);
    }
}
