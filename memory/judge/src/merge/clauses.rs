//! One clause beside another: whether it says the same, or turns it round.

use super::keys::CONTENT;
use super::sentences::{Clause, Sentence};
use super::words::{Kind, Word};

/// The words of a clause that say something.
pub(super) fn content(clause: &Clause) -> impl Iterator<Item = &Word> {
    clause.words.iter().filter(|word| word.kind.weight() >= CONTENT)
}

const OPPOSITES: &[(&str, &str)] = &[
    ("before", "after"),
    ("above", "below"),
    ("over", "under"),
    ("more", "less"),
    ("always", "sometimes"),
    ("vor", "nach"),
    ("über", "unter"),
    ("avant", "après"),
    ("antes", "después"),
    ("prima", "dopo"),
    ("antes", "depois"),
    ("voor", "na"),
];

pub(super) fn opposed(one: &Clause, other: &Clause) -> bool {
    let has = |clause: &Clause, word: &str| clause.words.iter().any(|known| known.lower == word);
    OPPOSITES.iter().any(|(a, b)| {
        let turns =
            |a: &str, b: &str| has(one, a) && !has(one, b) && has(other, b) && !has(other, a);
        turns(a, b) || turns(b, a)
    })
}

/// "Ada reports to Bob", "Bob reports to Ada".
pub(super) fn swapped(one: &Clause, other: &Clause) -> bool {
    let words =
        |clause: &Clause| clause.words.iter().map(|word| word.lower.clone()).collect::<Vec<_>>();
    let names = |clause: &Clause| {
        let names = clause
            .words
            .iter()
            .filter(|word| matches!(word.kind, Kind::Name | Kind::MaybeName | Kind::Tool(_)));
        names.map(|word| word.key.clone()).collect::<Vec<_>>()
    };
    let (mut a, mut b) = (words(one), words(other));
    a.sort();
    b.sort();
    a == b && names(one) != names(other)
}

/// Whether one of the sentences says what a clause says.
pub(super) fn clause_is_in(clause: &Clause, sentences: &[Sentence]) -> bool {
    if content(clause).next().is_none() && clause.words.iter().all(|word| word.kind.weight() == 0) {
        return true;
    }
    sentences.iter().any(|sentence| {
        let keys = &sentence.keys;
        let all = clause.words.iter().all(|word| match word.kind {
            Kind::Stop => true,
            // A verb of another kind says the same, but not alone.
            Kind::Generic => content(clause).next().is_some() || keys.has(word),
            _ => keys.has(word),
        });
        let same = |known: &Clause| {
            known.is_negative == clause.is_negative
                && !opposed(clause, known)
                && !swapped(clause, known)
        };
        let meets = |known: &&Clause| content(clause).any(|word| known.keys.has(word));
        all && sentence.clauses.iter().filter(meets).all(same)
    })
}
