//! The tables of all languages, read once, and what of them matches where.

use super::phrase::{self, Class, Mark, Meaning, Slot};
use super::token::{self, Gap, Token, UNKNOWN};
use super::word::{Word, is_at, longest};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// One table for each language. Where two match alike, the first one counts.
const TABLES: &[&str] = &[
    include_str!("words/english.txt"),
    include_str!("words/german.txt"),
    include_str!("words/french.txt"),
    include_str!("words/spanish.txt"),
    include_str!("words/italian.txt"),
    include_str!("words/portuguese.txt"),
    include_str!("words/dutch.txt"),
    include_str!("words/swedish.txt"),
    include_str!("words/danish.txt"),
    include_str!("words/norwegian.txt"),
    include_str!("words/finnish.txt"),
    include_str!("words/russian.txt"),
    include_str!("words/turkish.txt"),
    include_str!("words/romanian.txt"),
    include_str!("words/hungarian.txt"),
    include_str!("words/greek.txt"),
    include_str!("words/polish.txt"),
    include_str!("words/chinese.txt"),
    include_str!("words/japanese.txt"),
    include_str!("words/korean.txt"),
];

pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::read);

/// A phrase by its place, and what its second token can be, as a set of ids
/// modulo the bits: most phrases that begin with "the" are ruled out by it.
type Start = (u64, u16);

#[derive(Debug, Default)]
pub(super) struct Tongue {
    /// Stands before a day where the words had a preposition ("in ten days").
    pub(super) on: &'static str,
    /// Stands before a month or a year.
    pub(super) during: &'static str,
    pub(super) week: &'static str,
    pub(super) weekend: &'static str,
    classes: BTreeMap<Class, Vec<(Word, i16)>>,
}

#[derive(Clone, Debug)]
enum Part {
    Words(Arc<[Word]>),
    Kept(Arc<[Word]>),
    Class(Class),
}

#[derive(Debug)]
pub(super) struct Phrase {
    pub(super) tongue: usize,
    pub(super) meaning: Meaning,
    pub(super) wants_language: bool,
    pub(super) wording: &'static str,
    parts: Vec<Part>,
}

/// A phrase found in a text, with what its slots hold.
#[derive(Clone, Debug)]
pub(super) struct Hit<'a> {
    pub(super) phrase: &'a Phrase,
    pub(super) first: usize,
    /// Behind its last token.
    pub(super) end: usize,
    pub(super) day: Option<i16>,
    pub(super) month: Option<i16>,
    pub(super) unit: Option<i16>,
    pub(super) number: Option<i16>,
    pub(super) nth: Option<i16>,
    /// The tokens that stay.
    pub(super) kept: Option<(usize, usize)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Marked {
    pub(super) mark: Mark,
    pub(super) tongue: usize,
    pub(super) first: usize,
    pub(super) end: usize,
}

#[derive(Debug, Default)]
pub(super) struct Lexicon {
    /// The ids of words, by their first bytes: comparing numbers is what makes
    /// the lookup of every word of a text cheap.
    ids: BTreeMap<(u64, Cow<'static, str>), u16>,
    words: u16,
    pub(super) tongues: Vec<Tongue>,
    phrases: Vec<Phrase>,
    /// The phrases that begin with a word, by its id.
    starts: Vec<(u16, Start)>,
    /// Those that begin with digits.
    digits: Vec<Start>,
    /// What no line form fits; a test wants none.
    pub(super) faults: Vec<&'static str>,
}

impl Lexicon {
    fn read() -> Self {
        let mut lexicon = Self::default();
        for table in TABLES {
            lexicon.add(table);
        }
        lexicon.index();
        lexicon
    }

    fn add(&mut self, table: &'static str) {
        let tongue = self.tongues.len();
        self.tongues.push(Tongue::default());
        for text in table.lines().map(str::trim) {
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let is_read = match text.split_once('=') {
                Some((name, value)) => self.set(tongue, name.trim(), value.trim()),
                None => self.phrases(tongue, text),
            };
            if is_read.is_none() {
                self.faults.push(text);
            }
        }
    }

    /// `name = value`: a setting of the language or a class of words.
    fn set(&mut self, tongue: usize, name: &str, value: &'static str) -> Option<()> {
        let class = match name {
            "on" => return self.tongues.get_mut(tongue).map(|it| it.on = value),
            "during" => return self.tongues.get_mut(tongue).map(|it| it.during = value),
            "week" => return self.tongues.get_mut(tongue).map(|it| it.week = value),
            "weekend" => return self.tongues.get_mut(tongue).map(|it| it.weekend = value),
            "days" => Class::Day,
            "months" => Class::Month,
            "units" => Class::Unit,
            "numbers" => Class::Number,
            "nths" => Class::Nth,
            _ => return None,
        };
        let mut words = Vec::new();
        for (at, group) in (1_i16..).zip(value.split_whitespace()) {
            // A group has its own number, or its place.
            let (number, group) = match group.split_once('/') {
                Some((number, group)) => (number.parse().ok()?, group),
                None => (at, group),
            };
            words.extend(group.split('|').map(|word| (self.word(word), number)));
        }
        words.sort_by_key(|(word, _): &(Word, i16)| std::cmp::Reverse(word.rest.len()));
        self.tongues.get_mut(tongue)?.classes.entry(class).or_default().extend(words);
        Some(())
    }

    fn phrases(&mut self, tongue: usize, text: &'static str) -> Option<()> {
        let line = phrase::line(text)?;
        for pattern in line.patterns {
            let parts: Vec<_> =
                pattern.into_iter().map(|(slot, presence)| (self.part(slot), presence)).collect();
            self.phrases.extend(phrase::variants(&parts).into_iter().map(|parts| Phrase {
                tongue,
                meaning: line.meaning,
                wants_language: line.wants_language,
                wording: line.wording,
                parts,
            }));
        }
        Some(())
    }

    fn part(&mut self, slot: Slot<'static>) -> Part {
        match slot {
            Slot::Words(words) => Part::Words(words.split('|').map(|it| self.word(it)).collect()),
            Slot::Kept(words) => Part::Kept(words.split('|').map(|it| self.word(it)).collect()),
            Slot::Class(class) => Part::Class(class),
        }
    }

    fn word(&mut self, text: &'static str) -> Word {
        let is_plain = |sign: char| sign.is_lowercase() && !token::is_signed(sign);
        if !text.is_empty() && text.chars().all(is_plain) {
            return Word { first: self.known(text), rest: Vec::new() };
        }
        // As long as before: a blank has one byte, too.
        let spaced = text.replace('_', " ");
        let mut found = token::tokens(&spaced, &[], |_| UNKNOWN).into_iter().map(|token| {
            let raw = text.get(token.start..token.end).unwrap_or_default();
            (self.known(raw), token.gap)
        });
        let first = found.next().map_or(UNKNOWN, |(first, _)| first);
        Word { first, rest: found.collect() }
    }

    /// The id of a word, which is known from now on.
    fn known(&mut self, word: &'static str) -> u16 {
        let is_small = !word.chars().any(char::is_uppercase);
        let word = if is_small { Cow::Borrowed(word) } else { Cow::Owned(word.to_lowercase()) };
        let new = self.words + 1;
        let id = *self.ids.entry((head(&word), word)).or_insert(new);
        self.words = self.words.max(id);
        id
    }

    fn index(&mut self) {
        let mut starts: Vec<(u16, Start)> = Vec::new();
        for (at, phrase) in (0_u16..).zip(&self.phrases) {
            let start = (self.seconds(phrase), at);
            match phrase.parts.first() {
                Some(Part::Words(words) | Part::Kept(words)) => {
                    starts.extend(words.iter().map(|word| (word.first, start)));
                }
                Some(Part::Class(class)) => {
                    let tongue = self.tongues.get(phrase.tongue);
                    let words = tongue.and_then(|tongue| tongue.classes.get(class));
                    let words = words.into_iter().flatten();
                    starts.extend(words.map(|(word, _)| (word.first, start)));
                    if matches!(class, Class::Number | Class::Nth) {
                        self.digits.push(start);
                    }
                }
                None => {}
            }
        }
        starts.sort_unstable_by_key(|(word, (_, at))| (*word, *at));
        starts.dedup();
        self.starts = starts;
    }

    /// The phrases that begin with a word.
    fn starts(&self, word: u16) -> &[(u16, Start)] {
        let first = self.starts.partition_point(|(other, _)| *other < word);
        let from = self.starts.get(first..).unwrap_or_default();
        let count = from.iter().take_while(|(other, _)| *other == word).count();
        from.get(..count).unwrap_or_default()
    }

    /// The first tokens that a part can have.
    fn firsts(&self, tongue: usize, part: &Part) -> u64 {
        let union = |words: &mut dyn Iterator<Item = &Word>| {
            words.fold(0, |all, word| all | bit(word.first))
        };
        match part {
            Part::Words(words) | Part::Kept(words) => union(&mut words.iter()),
            Part::Class(class) => {
                let words = self.tongues.get(tongue).and_then(|it| it.classes.get(class));
                union(&mut words.into_iter().flatten().map(|(word, _)| word))
            }
        }
    }

    fn seconds(&self, phrase: &Phrase) -> u64 {
        let Some(second) = phrase.parts.get(1) else { return u64::MAX };
        let behind = self.firsts(phrase.tongue, second);
        match phrase.parts.first() {
            Some(Part::Words(words) | Part::Kept(words)) => words
                .iter()
                .fold(0, |all, word| all | word.rest.first().map_or(behind, |(id, _)| bit(*id))),
            Some(Part::Class(class)) => {
                let words = self.tongues.get(phrase.tongue).and_then(|it| it.classes.get(class));
                let longer = words.into_iter().flatten().filter_map(|(word, _)| word.rest.first());
                longer.fold(behind, |all, (id, _)| all | bit(*id))
            }
            None => u64::MAX,
        }
    }

    pub(super) fn id(&self, word: &str) -> u16 {
        self.ids.get(&(head(word), Cow::Borrowed(word))).copied().unwrap_or(UNKNOWN)
    }

    /// The phrases of a text from left to right, the longest at each place, and
    /// the marks wherever they are.
    pub(super) fn matches(&self, tokens: &[Token]) -> (Vec<Hit<'_>>, Vec<Marked>) {
        let mut hits = Vec::new();
        let mut marks = Vec::new();
        let mut free = 0;
        for (at, token) in tokens.iter().enumerate() {
            let known = if token.id == UNKNOWN { &[] } else { self.starts(token.id) };
            let digits = token.number.is_some().then_some(&self.digits);
            let second = match tokens.get(at + 1) {
                Some(next) if next.number.is_some() => u64::MAX,
                Some(next) if next.id != UNKNOWN => bit(next.id) | ALONE,
                _ => ALONE,
            };
            let mut best: Option<Hit<'_>> = None;
            let starts = known.iter().map(|(_, start)| start).chain(digits.into_iter().flatten());
            for (_, index) in starts.filter(|(seconds, _)| seconds & second != 0) {
                let Some(phrase) = self.phrases.get(usize::from(*index)) else { continue };
                let Some(hit) = self.hit(phrase, tokens, at) else { continue };
                if let Meaning::Mark(mark) = phrase.meaning {
                    marks.push(Marked { mark, tongue: phrase.tongue, first: at, end: hit.end });
                } else if best.as_ref().is_none_or(|best| hit.end > best.end) {
                    best = Some(hit);
                }
            }
            let Some(hit) = best else { continue };
            // "On the 31st" gives way to "the 31st of next month".
            let is_longer = |last: &mut Hit<'_>| {
                last.phrase.meaning.is_weak()
                    && hit.end > last.end
                    && hit.end - hit.first > last.end - last.first
            };
            let may_take = hit.phrase.meaning != Meaning::Keep;
            if at < free && (!may_take || hits.pop_if(is_longer).is_none()) {
                continue;
            }
            free = hit.end;
            hits.push(hit);
        }
        hits.retain(|hit| hit.phrase.meaning != Meaning::Keep);
        (hits, marks)
    }

    fn hit<'a>(&'a self, phrase: &'a Phrase, tokens: &[Token], first: usize) -> Option<Hit<'a>> {
        let (day, month, unit, number, nth) = (None, None, None, None, None);
        let kept = None;
        let mut hit = Hit { phrase, first, end: first, day, month, unit, number, nth, kept };
        for part in &phrase.parts {
            let next = tokens.get(hit.end)?;
            let is_near = match next.gap {
                _ if hit.end == first => true,
                Gap::Glued | Gap::Space => true,
                Gap::Dot => hit.nth.is_some(),
                Gap::Other => false,
            };
            if !is_near {
                return None;
            }
            let rest = tokens.get(hit.end..)?;
            let start = hit.end;
            match part {
                Part::Words(words) => hit.end += longest(words, rest)?,
                Part::Kept(words) => {
                    hit.end += longest(words, rest)?;
                    hit.kept = Some((hit.kept.map_or(start, |(start, _)| start), hit.end));
                }
                Part::Class(class) => {
                    let (length, value) = self.value(phrase.tongue, *class, rest)?;
                    hit.end += length;
                    match class {
                        Class::Day => hit.day = Some(value),
                        Class::Month => hit.month = Some(value),
                        Class::Unit => hit.unit = Some(value),
                        Class::Number => hit.number = Some(value),
                        Class::Nth => hit.nth = Some(value),
                    }
                }
            }
        }
        Some(hit)
    }

    fn value(&self, tongue: usize, class: Class, rest: &[Token]) -> Option<(usize, i16)> {
        let first = rest.first()?;
        match class {
            Class::Number if first.is_number => return Some((1, first.number?)),
            Class::Nth if first.is_ordinal => return Some((1, first.number?)),
            _ => {}
        }
        let words = self.tongues.get(tongue)?.classes.get(&class)?;
        words.iter().find(|(word, _)| is_at(word, rest)).map(|(word, value)| (word.len(), *value))
    }

    /// Whether a token is a weekday of the language.
    pub(super) fn is_day(&self, tongue: usize, token: &Token) -> bool {
        self.value(tongue, Class::Day, std::slice::from_ref(token)).is_some()
    }
}

/// Set for phrases of a single word, whatever follows.
const ALONE: u64 = 1 << 63;

/// The first bytes of a word.
fn head(word: &str) -> u64 {
    word.bytes().take(8).fold(0, |all, byte| all << 8 | u64::from(byte))
}

fn bit(id: u16) -> u64 {
    1 << (id % 63)
}
