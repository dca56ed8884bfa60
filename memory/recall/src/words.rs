//! The words of a text, counted once, so that a later query need not look at
//! the text again.
//!
//! Stemming every word of a text takes several times as long as reading it. So
//! it is done when a text is new or has changed, and what is kept is a number
//! for each stem and how often it is in each field.

use crate::language::Language;
use crate::rank::Document;
use crate::text::{self, Token, TokenKind};
use crate::tuning::Tuning;
use rust_stemmers::Stemmer;
use std::ops::Range;
use std::sync::Arc;

/// How words are cut, stemmed and counted. What was counted in another way is
/// counted again.
pub const WORDS_FORM: u8 = 4;

/// Places for words whose stems are known, a power of two.
const MEMO: usize = 1 << 14;

/// The words of one text.
#[derive(Clone, Debug)]
pub struct Words {
    /// Sorted by stem.
    entries: Entries,
    /// How many there are in each field.
    lengths: [u32; FIELDS],
    language: Language,
}

/// Name, description, body.
const FIELDS: usize = 3;

/// Entries as they are kept, a sieve before them. Those of all texts of a file
/// are parts of one buffer: to copy them for 10,000 texts takes longer than a
/// query.
#[derive(Clone, Debug)]
struct Entries {
    all: Arc<Vec<u8>>,
    part: Range<usize>,
}

/// Bytes of a sieve: a bit for each stem that a text has. Most texts have not
/// most words of a query, and one look at a bit says so, where a search among the
/// entries takes eight.
const SIEVE_BYTES: usize = 128;

/// Byte and bit of a stem in a sieve.
fn sieve_place(stem: u64) -> (usize, u8) {
    let place = usize::try_from(stem % (SIEVE_BYTES as u64 * 8)).unwrap_or_default();
    (place / 8, 1 << (place % 8))
}

/// One stem in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) stem: u64,
    pub(crate) name: u8,
    pub(crate) description: u8,
    pub(crate) body: u16,
}

impl Entries {
    fn whole(&self) -> &[u8] {
        self.all.get(self.part.clone()).unwrap_or_default()
    }

    fn kept(&self) -> &[[u8; ENTRY_BYTES]] {
        self.whole().get(SIEVE_BYTES..).unwrap_or_default().as_chunks().0
    }

    fn get(&self, stem: u64) -> Option<Entry> {
        let (byte, bit) = sieve_place(stem);
        if self.whole().get(byte)? & bit == 0 {
            return None;
        }
        let kept = self.kept();
        let at = kept.binary_search_by_key(&stem, |entry| Entry::read(entry).stem).ok()?;
        kept.get(at).map(Entry::read)
    }
}

impl From<Vec<Entry>> for Entries {
    fn from(entries: Vec<Entry>) -> Self {
        let mut all = vec![0; SIEVE_BYTES];
        all.reserve_exact(entries.len() * ENTRY_BYTES);
        for entry in entries {
            let (byte, bit) = sieve_place(entry.stem);
            if let Some(byte) = all.get_mut(byte) {
                *byte |= bit;
            }
            all.extend(entry.stem.to_le_bytes());
            all.extend([entry.name, entry.description]);
            all.extend(entry.body.to_le_bytes());
        }
        Self { part: 0..all.len(), all: Arc::new(all) }
    }
}

impl Entry {
    fn read(kept: &[u8; ENTRY_BYTES]) -> Self {
        let [stem @ .., name, description, low, high] = *kept;
        let body = u16::from_le_bytes([low, high]);
        Self { stem: u64::from_le_bytes(stem), name, description, body }
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.entries.kept() == other.entries.kept()
            && (self.lengths, self.language) == (other.lengths, other.language)
    }
}

impl Eq for Words {}

/// Bytes of an entry where it is kept.
const ENTRY_BYTES: usize = 12;

impl Words {
    pub(crate) fn get(&self, stem: u64) -> Option<Entry> {
        self.entries.get(stem)
    }

    /// Whether the text has a stem, by its number.
    pub(crate) fn has(&self, stem: u64) -> bool {
        self.entries.get(stem).is_some()
    }

    /// Every stem that it has.
    pub(crate) fn stems(&self) -> impl Iterator<Item = u64> {
        self.entries.kept().iter().map(|entry| Entry::read(entry).stem)
    }

    /// How many different stems it has.
    pub(crate) fn count(&self) -> usize {
        self.entries.kept().len()
    }

    /// Its length in words, each field by its weight.
    pub(crate) fn length(&self, tuning: &Tuning) -> f64 {
        let [name, description, body] = self.lengths.map(f64::from);
        name * tuning.name + description * tuning.description + body
    }

    pub(crate) fn language(&self) -> Language {
        self.language
    }

    /// Writes them for [`Words::decode`].
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.lengths.iter().for_each(|length| out.extend(length.to_le_bytes()));
        out.push(self.language.code());
        let count = u32::try_from(self.entries.kept().len()).unwrap_or(u32::MAX);
        out.extend(count.to_le_bytes());
        out.extend(self.entries.whole().iter().take(SIEVE_BYTES + count as usize * ENTRY_BYTES));
    }

    /// Reads what was written at a place of a buffer, which it keeps a part of,
    /// and moves the place behind it; none if that is not it.
    #[must_use]
    pub fn decode(all: &Arc<Vec<u8>>, place: &mut usize) -> Option<Self> {
        let mut left = all.get(*place..)?;
        let mut lengths = [0; FIELDS];
        for length in &mut lengths {
            *length = u32::from_le_bytes(take(&mut left)?);
        }
        let [language] = take(&mut left)?;
        let count = u32::from_le_bytes(take(&mut left)?) as usize;
        let bytes = count.checked_mul(ENTRY_BYTES)?.checked_add(SIEVE_BYTES)?;
        let bytes = Some(bytes).filter(|bytes| *bytes <= left.len())?;
        let start = all.len() - left.len();
        *place = start + bytes;
        let entries = Entries { all: Arc::clone(all), part: start..*place };
        Some(Self { entries, lengths, language: Language::from_code(language) })
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

/// Counts words. It remembers the stems of those that it met.
pub struct Counter {
    stemmer: Stemmer,
    memo: Vec<Option<(Box<str>, u64)>>,
}

impl Default for Counter {
    fn default() -> Self {
        Self { stemmer: text::stemmer(), memo: vec![None; MEMO] }
    }
}

impl Counter {
    /// The words of a text. Those that carry no meaning are not counted.
    pub fn count(&mut self, document: &Document<'_>) -> Words {
        let fields = [document.name, document.description, document.body];
        let language = Language::of(&fields.join(" "));
        let own = (language != Language::default()).then(|| language.stemmer());
        // Stem and field; one number, so that sorting is quick.
        let mut met: Vec<(u64, u8)> = Vec::with_capacity(document.body.len() / 6 + 16);
        let mut lengths = [0_u32; FIELDS];
        for ((field, text), length) in (0..).zip(fields).zip(&mut lengths) {
            text::each_token(text, |token| {
                if text::is_stop_word(token.text) || language.is_small(token.text) {
                    return;
                }
                *length = length.saturating_add(1);
                let stem = match &own {
                    Some(stemmer) if token.kind == TokenKind::Word => {
                        number(&text::stem(stemmer, token.text))
                    }
                    _ => self.stem(token),
                };
                met.push((stem, field));
            });
        }
        met.sort_unstable();
        let mut entries: Vec<Entry> = Vec::new();
        for (stem, field) in met {
            if entries.last().is_none_or(|last| last.stem != stem) {
                entries.push(Entry { stem, name: 0, description: 0, body: 0 });
            }
            if let Some(entry) = entries.last_mut() {
                match field {
                    0 => entry.name = entry.name.saturating_add(1),
                    1 => entry.description = entry.description.saturating_add(1),
                    _ => entry.body = entry.body.saturating_add(1),
                }
            }
        }
        Words { entries: entries.into(), lengths, language }
    }

    fn stem(&mut self, token: Token<'_>) -> u64 {
        if token.kind != TokenKind::Word {
            return number(token.text);
        }
        let place = usize::try_from(number(token.text)).unwrap_or_default() % MEMO;
        let slot = self.memo.get_mut(place);
        if let Some(Some((known, stem))) = &slot
            && **known == *token.text
        {
            return *stem;
        }
        let stem = number(&text::stem(&self.stemmer, token.text));
        if let Some(slot) = slot {
            *slot = Some((token.text.into(), stem));
        }
        stem
    }
}

/// The number of a stem: FNV-1a. Two stems of the same number would be taken
/// for one word; among a million that happens to one in ten million.
pub(crate) fn number(stem: &str) -> u64 {
    stem.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_written_is_read() {
        let document = Document { name: "Tea", body: "two teas, last week", ..Document::default() };
        let words = Counter::default().count(&document);
        let mut bytes = Vec::new();
        words.encode(&mut bytes);
        bytes.push(7);
        let mut place = 0;
        assert_eq!(Words::decode(&Arc::new(bytes.clone()), &mut place), Some(words));
        assert_eq!(place, bytes.len() - 1);
        for cut in 0..bytes.len() - 1 {
            assert_eq!(Words::decode(&Arc::new(bytes[..cut].to_vec()), &mut 0), None);
        }
    }

    proptest! {
        #[test]
        fn r16_what_a_text_has_passes_its_sieve(stems in proptest::collection::btree_set(any::<u64>(), 0..300), other: u64) {
            let entry = |stem: &u64| Entry { stem: *stem, name: 0, description: 1, body: 0 };
            let entries = Entries::from(stems.iter().map(entry).collect::<Vec<_>>());
            prop_assert!(stems.iter().all(|stem| entries.get(*stem) == Some(entry(stem))));
            prop_assert_eq!(entries.get(other).is_some(), stems.contains(&other));
        }
    }

    #[test]
    fn r15_a_memory_is_stemmed_by_its_own_language() {
        let body = "Die Rückerstattungen werden nur bis zum Monatsende gebucht, und nicht danach";
        let words = Counter::default().count(&Document { body, ..Document::default() });
        let german = words.language().stemmer();
        assert!(words.has(number(&text::stem(&german, "rückerstattung"))));
        assert!(!words.has(number("nicht")));
    }
}
