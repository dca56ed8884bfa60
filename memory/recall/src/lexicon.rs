//! English for the words of other languages (R15): so a message in one language
//! finds a memory in another, by word and by meaning.
//!
//! `table/lexicon.py` makes it, of programs that exist in many languages. It knows
//! what such programs talk about. A word that it does not know, in a language
//! that joins words, is tried as two. Nothing is read before it is asked for.

use crate::language::Language;
use crate::text::{self, TokenKind};
use rust_stemmers::Stemmer;
use std::cmp::Ordering;

/// A line for each stem, in the order of their bytes, under a line for the language.
static TEXT: &str = include_str!("../table/lexicon.txt");
/// Languages that write two words as one.
const JOINING: [&str; 4] = ["de", "nl", "sv", "da"];
/// Shortest part of such a word, in bytes.
const LEAST_PART: usize = 4;
/// Longest word that is tried as two, in bytes.
const MOST_BYTES: usize = 40;

/// The lines of a language.
fn section(code: &str) -> Option<&'static str> {
    let (_, lines) = TEXT.split_once(&format!("={code}\n"))?;
    lines.split('=').next()
}

/// Tells the English for the words of a text.
pub(crate) struct Interpreter {
    section: &'static str,
    /// None of scripts that are cut into pairs of signs.
    stemmer: Option<Stemmer>,
    language: Language,
}

impl Interpreter {
    /// For the language of a text; none where it is English, or not known.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let script = if text.is_ascii() { None } else { text::paired_script(text) };
        if let Some(code) = script {
            let language = Language::default();
            return Some(Self { section: section(code)?, stemmer: None, language });
        }
        let language = Language::of(text);
        if language == Language::default() {
            return None;
        }
        let section = section(language.name())?;
        Some(Self { section, stemmer: Some(language.stemmer()), language })
    }

    /// Whether a word carries no meaning of its own.
    pub(crate) fn is_small(&self, word: &str) -> bool {
        self.language.is_small(word)
    }

    /// The English words for one.
    pub(crate) fn english(&self, word: &str, kind: TokenKind) -> Vec<&'static str> {
        let stem = match (&self.stemmer, kind) {
            (Some(stemmer), TokenKind::Word) => text::stem(stemmer, word),
            (None, TokenKind::Signs) => word.into(),
            _ => return Vec::new(),
        };
        if let Some(known) = self.find(&stem) {
            return known.split(' ').collect();
        }
        let is_joined = JOINING.contains(&self.language.name()) && word.len() <= MOST_BYTES;
        is_joined.then(|| self.of_two(word)).flatten().unwrap_or_default()
    }

    /// What stands behind a stem, halving the lines that it can be in.
    fn find(&self, stem: &str) -> Option<&'static str> {
        let mut rest = self.section;
        while !rest.is_empty() {
            let middle = rest.floor_char_boundary(rest.len() / 2);
            let start = rest.get(..middle)?.rfind('\n').map_or(0, |at| at + 1);
            let (before, from) = rest.split_at_checked(start)?;
            let (line, behind) = from.split_once('\n')?;
            let (known, english) = line.split_once('\t')?;
            match known.cmp(stem) {
                Ordering::Equal => return Some(english),
                Ordering::Less => rest = behind,
                Ordering::Greater => rest = before,
            }
        }
        None
    }

    /// What a word of two means; the longest first part counts. What joins them
    /// may be an s.
    fn of_two(&self, word: &str) -> Option<Vec<&'static str>> {
        let stemmer = self.stemmer.as_ref()?;
        let places = (LEAST_PART..word.len().saturating_sub(LEAST_PART - 1)).rev();
        let cuts = places.filter_map(|at| word.split_at_checked(at));
        let found = cuts.filter_map(|(first, second)| {
            let first = self
                .find(&text::stem(stemmer, first))
                .or_else(|| self.find(&text::stem(stemmer, first.strip_suffix('s')?)))?;
            Some([first, self.find(&text::stem(stemmer, second))?])
        });
        found.map(|two| two.iter().flat_map(|one| one.split(' ')).collect()).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r15_the_lexicon_is_in_order() {
        for code in ["de", "fr", "es", "it", "pt", "nl", "sv", "da", "tr", "ru", "ja", "zh", "ko"] {
            let lines = section(code).unwrap();
            let stems = lines.lines().map(|line| line.split_once('\t').unwrap().0);
            assert!(stems.clone().count() > 1_000, "{code}");
            assert!(stems.is_sorted(), "{code}");
        }
        assert!((500_000..1_500_000).contains(&TEXT.len()));
    }

    #[test]
    fn r15_words_of_other_languages_have_english() {
        for (text, word, english) in [
            ("wann ist die nächste zahlung für den kunden", "zahlungen", "payment"),
            ("quand est-ce que le remboursement est fait", "remboursements", "refund"),
            ("¿dónde está la base de datos de los usuarios?", "usuarios", "user"),
            ("можно ли удалить пользователя", "пользователя", "user"),
        ] {
            let known = Interpreter::of(text).unwrap().english(word, TokenKind::Word);
            assert!(known.iter().any(|known| known.starts_with(english)), "{word}: {known:?}");
        }
        let signs = Interpreter::of("支払いのエラー").unwrap();
        assert!(!signs.english("支払", TokenKind::Signs).is_empty());
        let german = Interpreter::of("wie ist das mit der bildgröße und so").unwrap();
        let two = german.english("bildgröße", TokenKind::Word);
        assert!(two.len() > 1, "{two:?}");
        assert!(german.english("xyzzyx", TokenKind::Word).is_empty());
        assert!(Interpreter::of("when is the next payment due?").is_none());
    }
}
