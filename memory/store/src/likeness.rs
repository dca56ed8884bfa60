//! What every memory is about, so that near-copies of a text are found without
//! reading any (R16): the file `.everfold/likeness.bin`.
//!
//! A name with a version and the size up to which it was written at once, then
//! one record after the other: a mark, a length, a sum, and the memory's path,
//! size, time and [`sketch`]. Records are appended; the last for a path counts.
//! A record that is damaged is passed over and tells that the file has to be
//! made good. Nothing waits for the disk, since all of it can be made anew.

pub(crate) mod sketch;

use crate::checksum::sum;
use crate::error::Error;
use everfold_disk::Root;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) const FILE: &str = "likeness.bin";
/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 30;
/// The form of the file, and of how words are counted.
const NAME: &[u8; 8] = b"evflike\x02";
/// Bytes before the first record.
const HEAD_BYTES: u64 = 16;
/// How every record starts.
const MARK: &[u8; 4] = b"\xF0\x1Dmm";
/// Instead of a count of numbers: the memory is gone.
const GONE: u8 = u8::MAX;
/// What most records have at least, in bytes.
const RECORD_BYTES: usize = 96;
/// Bytes that may be added before the file is written anew, besides as many
/// as it had then.
const ADDED_BYTES: u64 = 256 * 1024;

/// What is known of one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) path: String,
    /// The file's size and time, by which it is known again.
    pub(crate) seen: (u64, u64),
    /// None: it is gone.
    pub(crate) sketch: Option<Vec<u32>>,
}

impl Note {
    /// A memory that is gone.
    pub(crate) fn gone(path: &str) -> Self {
        Self { path: path.to_owned(), seen: (0, 0), sketch: None }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::with_capacity(24 + self.path.len() + 4 * sketch::MOST);
        body.extend(self.seen.0.to_le_bytes());
        body.extend(self.seen.1.to_le_bytes());
        let numbers = self.sketch.as_deref().unwrap_or_default();
        let count = u8::try_from(numbers.len()).unwrap_or(GONE - 1).min(GONE - 1);
        body.push(if self.sketch.is_some() { count } else { GONE });
        for number in numbers.iter().take(usize::from(count)) {
            body.extend(number.to_le_bytes());
        }
        body.extend(self.path.as_bytes());
        out.extend(MARK);
        out.extend(u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend(sum(&body).to_le_bytes());
        out.extend(body);
    }
}

/// The records of notes, to be appended.
fn records(notes: &[Note]) -> Vec<u8> {
    let mut out = Vec::new();
    for note in notes {
        note.encode(&mut out);
    }
    out
}

/// A whole file.
pub(crate) fn file_of(notes: &[Note]) -> Vec<u8> {
    let records = records(notes);
    let mut out = NAME.to_vec();
    out.extend((HEAD_BYTES + records.len() as u64).to_le_bytes());
    out.extend(records);
    out
}

/// What is to be done with a file of this head and size that is appended to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Grows,
    /// Much of it may be superseded: it is written anew.
    Thins,
    /// It is none of ours: it begins anew.
    Begins,
}

fn fate(head: &[u8], bytes: u64) -> Fate {
    let base = head.split_first_chunk::<8>().filter(|(name, _)| *name == NAME);
    let base = base.and_then(|(_, rest)| rest.first_chunk::<8>());
    match base.map(|base| u64::from_le_bytes(*base)) {
        None => Fate::Begins,
        Some(base) if bytes > base.saturating_mul(2).saturating_add(ADDED_BYTES) => Fate::Thins,
        Some(_) => Fate::Grows,
    }
}

/// The file as it stands, if it can be read.
pub(crate) fn noted(own: &Root) -> Option<Vec<u8>> {
    own.read(Path::new(FILE), MAX_BYTES).ok()
}

/// Adds notes to the file. Called with the store's lock held.
pub(crate) fn add(own: &Root, notes: &[Note]) -> Result<(), Error> {
    let name = Path::new(FILE);
    let there = own.stat(name)?;
    let head = own.head(name, HEAD_BYTES).unwrap_or_default();
    match fate(&head, there.map_or(0, |there| there.bytes)) {
        Fate::Grows => Ok(own.append(name, &records(notes))?),
        Fate::Thins => {
            let bytes = noted(own).unwrap_or_default();
            let mut all = Likeness::read(&bytes).notes();
            all.extend(notes.iter().map(|note| (note.path.clone(), note.clone())));
            all.retain(|_, note| note.sketch.is_some());
            Ok(own.write_lazily(name, &file_of(&all.into_values().collect::<Vec<_>>()))?)
        }
        // All other memories have to be looked at; whoever asks first does.
        Fate::Begins => match own.remove_lazily(name) {
            Ok(()) | Err(everfold_disk::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        },
    }
}

#[derive(Clone, Copy, Debug)]
struct Record<'a> {
    path: &'a str,
    seen: (u64, u64),
    numbers: &'a [[u8; 4]],
    is_gone: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Likeness<'a> {
    /// By path; of each the last.
    records: Vec<Record<'a>>,
    /// Whether a part of the file could not be read.
    pub(crate) is_damaged: bool,
}

impl<'a> Likeness<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Self {
        let head = bytes.split_first_chunk::<8>().filter(|(name, _)| *name == NAME);
        let head = head.and_then(|(_, rest)| rest.split_first_chunk::<8>());
        let Some((base, mut left)) = head else {
            return Self { is_damaged: true, ..Self::default() };
        };
        let base = usize::try_from(u64::from_le_bytes(*base)).unwrap_or_default();
        let records = Vec::with_capacity(bytes.len() / RECORD_BYTES);
        let mut found = Self { records, is_damaged: false };
        let mut added = None;
        while !left.is_empty() {
            if bytes.len() - left.len() >= base {
                added.get_or_insert(found.records.len());
            }
            if let Some((record, rest)) = record(left) {
                left = rest;
                found.records.push(record);
            } else {
                found.is_damaged = true;
                left = next_mark(left);
            }
        }
        // What was written at once has each path once. A damaged file is not
        // believed in that.
        let added = if found.is_damaged { 0 } else { added.unwrap_or(found.records.len()) };
        found.keep_last(added);
        found
    }

    /// Leaves of each path the last record, where it is not that the memory is
    /// gone. Those before `added` have each path once.
    fn keep_last(&mut self, added: usize) {
        let later = self.records.get(added..).unwrap_or_default().iter().enumerate();
        let mut last: BTreeMap<&str, usize> = BTreeMap::new();
        last.extend(later.map(|(at, record)| (record.path, added + at)));
        let mut at = 0;
        self.records.retain(|record| {
            let is_last = last.get(record.path).is_none_or(|last| *last == at);
            at += 1;
            is_last && !record.is_gone
        });
    }

    /// What is known, by path.
    pub(crate) fn notes(&self) -> BTreeMap<String, Note> {
        let numbers = |record: &Record<'_>| {
            record.numbers.iter().map(|number| u32::from_le_bytes(*number)).collect()
        };
        let note = |record: &Record<'_>| {
            let path = record.path.to_owned();
            let note =
                Note { path: path.clone(), seen: record.seen, sketch: Some(numbers(record)) };
            (path, note)
        };
        self.records.iter().map(note).collect()
    }

    /// The memories that share the most with a text, best first: words that
    /// few memories have count for more.
    pub(crate) fn closest(&self, text: &str, most: usize) -> Vec<&'a str> {
        let asked = sketch::of_question(text);
        let sieve = Sieve::of(&asked);
        let mut spread = vec![0_u32; asked.len()];
        let mut hits: Vec<(usize, usize)> = Vec::new();
        for (at, record) in self.records.iter().enumerate() {
            for number in record.numbers {
                let number = u32::from_le_bytes(*number);
                if !sieve.may_hold(number) {
                    continue;
                }
                let Ok(word) = asked.binary_search(&number) else { continue };
                hits.push((at, word));
                if let Some(count) = spread.get_mut(word) {
                    *count += 1;
                }
            }
        }
        let all = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        let weight = |word: usize| {
            let count = spread.get(word).copied().unwrap_or(1).max(1);
            (f64::from(all) / f64::from(count)).ln_1p()
        };
        let mut scored: Vec<(f64, &str)> = hits
            .chunk_by(|one, other| one.0 == other.0)
            .filter_map(|own| {
                let record = self.records.get(own.first()?.0)?;
                Some((own.iter().map(|(_, word)| weight(*word)).sum(), record.path))
            })
            .collect();
        scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
        scored.into_iter().take(most).map(|(_, path)| path).collect()
    }
}

fn record(bytes: &[u8]) -> Option<(Record<'_>, &[u8])> {
    let (_, rest) = bytes.split_first_chunk::<4>().filter(|(mark, _)| *mark == MARK)?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (kept, rest) = rest.split_first_chunk::<8>()?;
    let (body, after) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    if sum(body) != u64::from_le_bytes(*kept) {
        return None;
    }
    let (size, body) = body.split_first_chunk::<8>()?;
    let (time, body) = body.split_first_chunk::<8>()?;
    let (count, body) = body.split_first()?;
    let numbers = if *count == GONE { 0 } else { usize::from(*count) };
    let (numbers, path) = body.split_at_checked(numbers * 4)?;
    let record = Record {
        path: std::str::from_utf8(path).ok()?,
        seen: (u64::from_le_bytes(*size), u64::from_le_bytes(*time)),
        numbers: numbers.as_chunks::<4>().0,
        is_gone: *count == GONE,
    };
    Some((record, after))
}

/// Where the next record may start.
fn next_mark(bytes: &[u8]) -> &[u8] {
    let later = bytes.get(1..).unwrap_or_default();
    let at = later.windows(MARK.len()).position(|part| part == MARK);
    at.and_then(|at| later.get(at..)).unwrap_or_default()
}

/// Tells most numbers that are not among some at once.
struct Sieve([u64; 1024]);

impl Sieve {
    fn of(numbers: &[u32]) -> Self {
        let mut bits = [0_u64; 1024];
        for number in numbers {
            if let Some(part) = bits.get_mut(place(*number)) {
                *part |= 1 << (number & 63);
            }
        }
        Self(bits)
    }

    fn may_hold(&self, number: u32) -> bool {
        self.0.get(place(number)).is_some_and(|part| part >> (number & 63) & 1 == 1)
    }
}

fn place(number: u32) -> usize {
    (number as usize >> 6) & 1023
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(path: &str, words: &str) -> Note {
        let sketch = Some(sketch::of_memory(words));
        Note { path: path.into(), seen: (1, 2), sketch }
    }

    #[test]
    fn r16_the_last_record_counts_and_rare_words_count_for_more() {
        let mut file = file_of(&[
            note("a.md", "deploys happen on Thursdays"),
            note("b.md", "deploys use the blue cluster"),
            note("c.md", "deploys are announced"),
            note("d.md", "tea"),
        ]);
        let found = |file: &[u8], text| {
            Likeness::read(file).closest(text, 9).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(found(&file, "deploy on Thursday"), ["a.md", "b.md", "c.md"]);
        file.extend(records(&[
            note("a.md", "coffee"),
            Note { path: "c.md".into(), seen: (0, 0), sketch: None },
        ]));
        assert_eq!(found(&file, "deploy on Thursday"), ["b.md"]);
        assert_eq!(found(&file, "coffee"), ["a.md"]);
        assert_eq!(Likeness::read(&file).notes().len(), 3);
        assert!(!Likeness::read(&file).is_damaged);
        assert_eq!(Likeness::read(&file).closest("tea coffee", 1).len(), 1);
    }

    #[test]
    fn s6_a_damaged_file_gives_what_is_whole_and_says_so() {
        let whole = file_of(&[note("a.md", "apples"), note("b.md", "boats"), note("c.md", "cats")]);
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            let read = Likeness::read(&bytes);
            // The size of the base is only a hint.
            if !(8..16).contains(&at) {
                assert!(read.is_damaged, "byte {at}");
            }
            assert!(read.records.len() >= 2 || at < 8, "byte {at}: the others are there");
            let cut = Likeness::read(&whole[..at]);
            assert!(cut.records.len() <= 2);
        }
        assert!(Likeness::read(b"").is_damaged);
        assert!(Likeness::read(&[0; 4096]).closest("apples", 3).is_empty());
    }

    #[test]
    fn r16_a_file_that_grew_too_much_is_written_anew() {
        let file = file_of(&[note("a.md", "apples")]);
        let bytes = file.len() as u64;
        assert_eq!(fate(&file[..16], bytes), Fate::Grows);
        assert_eq!(fate(&file[..16], 2 * bytes + ADDED_BYTES + 1), Fate::Thins);
        assert_eq!(fate(b"something else..", bytes), Fate::Begins);
        assert_eq!(fate(b"", 0), Fate::Begins);
    }
}
