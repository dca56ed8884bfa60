//! The words of a text, counted once, so that a later query need not look at
//! the text again.
//!
//! Stemming every word of a text takes several times as long as reading it. So
//! it is done when a text is new or has changed, and what is kept is a number
//! for each stem and how often it is in each field. [`rank_known`] gives what
//! [`crate::rank()`] gives on the texts themselves.

use crate::rank::{Document, Ranking, by_found};
use crate::scan::{Found, Match};
use crate::text;
use crate::tuning::Tuning;
use crate::vectors::Sense;
use jiff::Timestamp;
use rust_stemmers::Stemmer;
use std::ops::Range;
use std::sync::Arc;

/// How words are cut, stemmed and counted. What was counted in another way is
/// counted again.
pub const WORDS_FORM: u8 = 2;

/// Places for words whose stems are known, a power of two.
const MEMO: usize = 1 << 14;

/// The words of one text.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// Sorted by stem.
    entries: Entries,
    /// Bytes of the text.
    length: u32,
    says_when: bool,
}

/// Entries as they are kept. Those of all texts of a file are parts of one
/// buffer: to copy them for 10,000 texts takes longer than a query.
#[derive(Clone, Debug, Default)]
struct Entries {
    all: Arc<Vec<u8>>,
    part: Range<usize>,
}

/// One stem in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    stem: u64,
    name: u8,
    description: u8,
    body: u16,
}

impl Entries {
    fn kept(&self) -> &[[u8; ENTRY_BYTES]] {
        self.all.get(self.part.clone()).unwrap_or_default().as_chunks().0
    }

    fn get(&self, stem: u64) -> Option<Entry> {
        let kept = self.kept();
        let at = kept.binary_search_by_key(&stem, |entry| Entry::read(entry).stem).ok()?;
        kept.get(at).map(Entry::read)
    }
}

impl From<Vec<Entry>> for Entries {
    fn from(entries: Vec<Entry>) -> Self {
        let mut all = Vec::with_capacity(entries.len() * ENTRY_BYTES);
        for entry in entries {
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
            && (self.length, self.says_when) == (other.length, other.says_when)
    }
}

impl Eq for Words {}

/// Bytes of an entry where it is kept.
const ENTRY_BYTES: usize = 12;

impl Words {
    fn find(&self, wanted: &[(usize, u64)], tuning: &Tuning) -> Found {
        let mut found =
            Found { length: self.length as usize, matches: Vec::new(), says_when: self.says_when };
        for (term, stem) in wanted {
            let Some(entry) = self.entries.get(*stem) else { continue };
            found.matches.push(Match {
                term: *term,
                count: f64::from(entry.name) * tuning.name
                    + f64::from(entry.description) * tuning.description
                    + f64::from(entry.body),
                in_head: entry.name > 0 || entry.description > 0,
            });
        }
        found
    }

    /// Whether the text has a stem, by its number.
    pub(crate) fn has(&self, stem: u64) -> bool {
        self.entries.get(stem).is_some()
    }

    /// Writes them for [`Words::decode`].
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.length.to_le_bytes());
        out.push(u8::from(self.says_when));
        let kept = self.entries.kept();
        let count = u32::try_from(kept.len()).unwrap_or(u32::MAX);
        out.extend(count.to_le_bytes());
        out.extend(kept.iter().take(count as usize).flatten());
    }

    /// Reads what was written at a place of a buffer, which it keeps a part of,
    /// and moves the place behind it; none if that is not it.
    #[must_use]
    pub fn decode(all: &Arc<Vec<u8>>, place: &mut usize) -> Option<Self> {
        let mut left = all.get(*place..)?;
        let length = u32::from_le_bytes(take(&mut left)?);
        let [when] = take(&mut left)?;
        let count = u32::from_le_bytes(take(&mut left)?) as usize;
        let bytes = count.checked_mul(ENTRY_BYTES).filter(|bytes| *bytes <= left.len())?;
        let start = all.len() - left.len();
        *place = start + bytes;
        let entries = Entries { all: Arc::clone(all), part: start..*place };
        Some(Self { entries, length, says_when: when == 1 })
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
    time: Vec<u64>,
    memo: Vec<Option<(Box<[u8]>, u64)>>,
}

impl Default for Counter {
    fn default() -> Self {
        let stemmer = text::stemmer();
        let stem = |word: &&str| number(&text::stem(&stemmer, word));
        let mut time: Vec<u64> = text::TIME_WORDS.iter().map(stem).collect();
        time.sort_unstable();
        Self { stemmer, time, memo: vec![None; MEMO] }
    }
}

impl Counter {
    /// The words of a text.
    pub fn count(&mut self, document: &Document<'_>) -> Words {
        // Stem and field; one number, so that sorting is quick.
        let mut met: Vec<(u64, u8)> = Vec::with_capacity(document.body.len() / 6 + 16);
        let fields = [document.name, document.description, document.body];
        for (field, text) in (0..).zip(fields) {
            text::each_word(text, |word| met.push((self.stem(word), field)));
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
        let is_time = |entry: &Entry| self.time.binary_search(&entry.stem).is_ok();
        let bytes: usize = fields.iter().map(|text| text.len()).sum();
        Words {
            says_when: entries.iter().any(is_time),
            length: u32::try_from(bytes).unwrap_or(u32::MAX),
            entries: entries.into(),
        }
    }

    fn stem(&mut self, word: &[u8]) -> u64 {
        let place = usize::try_from(mix(word, u8::to_ascii_lowercase)).unwrap_or_default() % MEMO;
        let slot = self.memo.get_mut(place);
        if let Some(Some((known, stem))) = &slot
            && known.eq_ignore_ascii_case(word)
        {
            return *stem;
        }
        let lower = String::from_utf8_lossy(word).to_ascii_lowercase();
        let stem = number(&text::stem(&self.stemmer, &lower));
        if let Some(slot) = slot {
            *slot = Some((word.into(), stem));
        }
        stem
    }
}

/// The number of a stem: FNV-1a. Two stems of the same number would be taken
/// for one word; among a million that happens to one in ten million.
pub(crate) fn number(stem: &str) -> u64 {
    mix(stem.as_bytes(), |byte| *byte)
}

fn mix(bytes: &[u8], map: impl Fn(&u8) -> u8) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(map(byte))).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Ranks texts whose words are known, and their meaning by `senses`; their
/// bodies may be left out.
#[must_use]
pub fn rank_known(
    query: &str,
    documents: &[(Document<'_>, &Words)],
    senses: &[Sense<'_>],
    now: Option<Timestamp>,
    tuning: &Tuning,
) -> Ranking {
    let texts: Vec<Document<'_>> = documents.iter().map(|(document, _)| *document).collect();
    by_found(query, &texts, senses, now, tuning, |query, _| {
        let stems = query.terms.iter().map(|term| number(&term.stem)).enumerate();
        let wanted: Vec<(usize, u64)> = stems.collect();
        documents.iter().map(|(_, words)| words.find(&wanted, tuning)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::rank;
    use proptest::prelude::*;

    #[test]
    fn what_was_written_is_read() {
        let document = Document { name: "Tea", body: "two teas, last week", ..Document::default() };
        let words = Counter::default().count(&document);
        assert!(words.says_when);
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
        fn r8_known_words_rank_as_the_texts_do(
            query in "(when )?([a-dé東]{1,3}(s|ing|ed|y)? ?){1,5}",
            texts in prop::collection::vec(
                ("[a-d ]{0,8}", "[a-d ]{0,12}", "([a-dA-Dé東]{1,3}(s|ing|ed|y)?[ ,—]?){0,20}( last week)?"), 0..8),
        ) {
            let documents: Vec<Document<'_>> = texts
                .iter()
                .map(|(name, description, body)| Document { name, description, body, ..Document::default() })
                .collect();
            let mut counter = Counter::default();
            let words: Vec<Words> = documents.iter().map(|text| counter.count(text)).collect();
            let known: Vec<(Document<'_>, &Words)> = documents
                .iter()
                .map(|text| Document { body: "", ..*text })
                .zip(&words)
                .collect();
            let (slow, fast) =
                (rank(&query, &documents, None, &Tuning::default()), rank_known(&query, &known, &[], None, &Tuning::default()));
            prop_assert_eq!(slow.hits.len(), fast.hits.len());
            for slow in &slow.hits {
                let fast = fast.hits.iter().find(|hit| hit.index == slow.index).unwrap();
                prop_assert!((slow.score - fast.score).abs() < 1e-9, "{} {}", slow.score, fast.score);
                prop_assert!((slow.evidence - fast.evidence).abs() < 1e-9);
                prop_assert_eq!(&slow.matched, &fast.matched);
            }
        }
    }
}
