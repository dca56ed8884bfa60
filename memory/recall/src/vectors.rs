//! By meaning (R14): texts as vectors, and how alike two of them are.
//!
//! Whatever makes vectors is a [`Embedder`]: the table of words in the program,
//! a sentence model that somebody has installed. A memory is cut into
//! [`passages`], each with a vector of its own, so that a long body is found by
//! the part that is about the matter. They are made once and kept
//! ([`Vectors`]); a query is one vector, made when it is asked.

mod passage_sum;

use crate::rank::Document;
pub use passage_sum::PassageSum;

/// Bytes of a body that make one passage: about what a sentence model reads.
const PASSAGE_BYTES: usize = 800;
/// Most passages of one memory; what comes later is found by its words.
const MAX_PASSAGES: usize = 16;
/// What a length of one is kept as.
const UNIT: f32 = 127.0;
const UNIT_SQUARED: f64 = 16_129.0;

/// Something that makes vectors of texts.
pub trait Embedder: Send + Sync {
    /// Its name and version. Vectors of another one tell nothing here.
    fn id(&self) -> &str;

    /// How many numbers a vector has.
    fn dims(&self) -> usize;

    /// The vector of a text; none where it knows nothing of it.
    fn embed(&self, text: &str) -> Option<Vec<f32>>;

    /// The words of a text, each with its own vector, where it has such: then the
    /// vector of a query is made of them, the rare ones foremost.
    fn words(&self, _text: &str) -> Vec<WordVector> {
        Vec::new()
    }
}

impl<T: Embedder + ?Sized> Embedder for &T {
    fn id(&self) -> &str {
        (**self).id()
    }

    fn dims(&self) -> usize {
        (**self).dims()
    }

    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        (**self).embed(text)
    }

    fn words(&self, text: &str) -> Vec<WordVector> {
        (**self).words(text)
    }
}

/// The texts of a memory that are given a vector each: what it is about, then the
/// same with the beginning of its body, then the rest of that, part by part.
#[must_use]
pub fn passages(document: &Document<'_>) -> Vec<String> {
    let mut passages = Vec::new();
    let fields = [document.name.trim(), document.description.trim()];
    let told = fields.into_iter().filter(|field| !field.is_empty());
    let head = told.collect::<Vec<_>>().join(". ");
    let mut rest = document.body.trim();
    // A name alone may be that of the file, which tells little.
    if !document.description.trim().is_empty() && !rest.is_empty() {
        passages.push(head.clone());
    }
    let mut passage = head;
    loop {
        let room = PASSAGE_BYTES.saturating_sub(passage.len()).max(PASSAGE_BYTES / 4);
        let (part, behind) = rest.split_at(cut(rest, room));
        if !passage.is_empty() {
            passage.push('\n');
        }
        passage.push_str(part.trim());
        passages.push(std::mem::take(&mut passage));
        rest = behind.trim_start();
        if rest.is_empty() || passages.len() == MAX_PASSAGES {
            return passages;
        }
    }
}

/// Where to end a part of so many bytes: at the end of a line, else of a word.
fn cut(text: &str, room: usize) -> usize {
    if text.len() <= room {
        return text.len();
    }
    let most = text.floor_char_boundary(room);
    let part = text.get(..most).unwrap_or_default();
    let line = part.rfind('\n').filter(|at| *at >= most / 2);
    line.or_else(|| part.rfind(' ')).filter(|at| *at > 0).unwrap_or(most)
}

/// The vectors of a memory's passages, as they are kept: a byte for each number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vectors {
    dims: usize,
    values: Vec<i8>,
}

impl Vectors {
    /// The vectors of a memory. Passages of which nothing is known have none.
    #[must_use]
    pub fn of(embedder: &dyn Embedder, document: &Document<'_>) -> Self {
        let mut vectors = Self { dims: embedder.dims(), values: Vec::new() };
        for passage in passages(document) {
            if let Some(vector) = embedder.embed(&passage) {
                vectors.add(&vector);
            }
        }
        vectors
    }

    /// Adds the vector of one more passage.
    pub fn add(&mut self, vector: &[f32]) {
        if self.dims == 0 {
            self.dims = vector.len();
        }
        let length = length(vector);
        if vector.len() == self.dims && length > 0.0 && length.is_finite() {
            self.values.extend(vector.iter().map(|value| small(value / length)));
        }
    }

    /// Whether nothing is known of the memory.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How alike the query and the passage nearest to it are, from -1 to 1;
    /// none where there is nothing to compare.
    #[must_use]
    pub fn likeness(&self, query: &QueryVector) -> Option<f64> {
        if self.dims == 0 || query.values.len() != self.dims {
            return None;
        }
        let passages = self.values.chunks_exact(self.dims);
        let best = passages.map(|passage| query.dot(passage)).max()?;
        Some(f64::from(best) / UNIT_SQUARED)
    }

    /// Writes them for [`Vectors::decode`].
    pub fn encode(&self, out: &mut Vec<u8>) {
        for number in [self.dims, self.values.len()] {
            out.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        }
        out.extend(self.values.iter().map(|value| value.cast_unsigned()));
    }

    /// Reads what was written, and goes on behind it; none if that is not it.
    #[must_use]
    pub fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (dims, rest) = bytes.split_first_chunk::<4>()?;
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let dims = u32::from_le_bytes(*dims) as usize;
        let (values, rest) = rest.split_at_checked(u32::from_le_bytes(*count) as usize)?;
        if values.len().checked_rem(dims).unwrap_or(values.len()) != 0 {
            return None;
        }
        *bytes = rest;
        Some(Self { dims, values: values.iter().map(|value| value.cast_signed()).collect() })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct WordVector {
    /// In lower case.
    pub word: String,
    /// Its vector; all zero where nothing is known of it.
    pub vector: Vec<f32>,
}

/// The vector of a query, in the form that it is compared in.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryVector {
    values: Vec<i8>,
    /// Its words, where each has a vector of its own.
    words: Vec<WordVector>,
}

impl QueryVector {
    /// The vector of a text; none where nothing is known of it.
    #[must_use]
    pub fn of(embedder: &dyn Embedder, text: &str) -> Option<Self> {
        let mut vectors = Vectors::default();
        vectors.add(&embedder.embed(text)?);
        let words = embedder.words(text);
        (!vectors.is_empty()).then_some(Self { values: vectors.values, words })
    }

    /// The same, each of its words counted by its weight: how rare a word is
    /// among the memories is known only where they are ranked.
    fn weighed(&self, weight: impl Fn(&str) -> f64) -> Vec<f32> {
        let plain = || self.values.iter().map(|value| f32::from(*value) / UNIT).collect();
        let Some(first) = self.words.first() else { return plain() };
        let mut sum = vec![0.0; first.vector.len()];
        for WordVector { word, vector } in &self.words {
            #[expect(clippy::cast_possible_truncation, reason = "a small weight")]
            let weight = weight(word) as f32;
            sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value * weight);
        }
        let length = length(&sum);
        if length == 0.0 {
            return plain();
        }
        sum.iter().map(|value| value / length).collect()
    }

    fn dot(&self, passage: &[i8]) -> i32 {
        dot(&self.values, passage)
    }
}

fn dot(one: &[i8], other: &[i8]) -> i32 {
    one.iter().zip(other).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum()
}

/// A passage beside two others, in one look at it.
fn dots(passage: &[i8], one: &[i16], other: &[i16]) -> (i32, i32) {
    let (mut by_one, mut by_other) = (0, 0);
    for ((value, one), other) in passage.iter().zip(one).zip(other) {
        let value = i32::from(*value);
        by_one += value * i32::from(*one);
        by_other += value * i32::from(*other);
    }
    (by_one, by_other)
}

pub(crate) fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|value| value * value).sum::<f32>().sqrt()
}

#[expect(clippy::cast_possible_truncation, reason = "a part of a vector of length one")]
fn small(value: f32) -> i8 {
    (value * UNIT).round().clamp(-UNIT, UNIT) as i8
}

/// One reading of all memories by meaning, beside that by words.
#[derive(Clone, Debug)]
pub struct Sense<'a> {
    /// What it counts beside the words, which count 1.
    pub weight: f64,
    pub query: QueryVector,
    /// The memories, in the order of the documents; none where it is not made yet.
    pub memories: Vec<Option<&'a Vectors>>,
    /// All passages of the place where these memories are.
    pub sum: PassageSum,
}

impl<'a> Sense<'a> {
    /// A reading of memories that are all there are.
    #[must_use]
    pub fn of_all(weight: f64, query: QueryVector, memories: Vec<Option<&'a Vectors>>) -> Self {
        let sum = PassageSum::of(memories.iter().copied().flatten());
        Self { weight, query, memories, sum }
    }

    /// How near the query is to what all memories have in common, from -1 to 1.
    pub(crate) fn nearness(&self) -> f64 {
        let (query, mean) = (self.query.weighed(|_| 1.0), self.sum.mean(1.0));
        let length = length(&mean);
        let along: f32 = query.iter().zip(&mean).map(|(query, mean)| query * mean).sum();
        if length > 0.0 { f64::from(along / length) } else { 0.0 }
    }

    /// How alike the query and each memory are, from 0 to 1, by the passage that
    /// is nearest. What all memories have in common is taken out as far as
    /// `common` says: among memories of one project it tells nothing.
    pub(crate) fn likenesses(&self, common: f32, weight: impl Fn(&str) -> f64) -> Vec<f64> {
        let mean = self.sum.mean(common);
        let mut query = self.query.weighed(weight);
        query.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
        let length = length(&query);
        if length == 0.0 || query.len() != mean.len() {
            return vec![0.0; self.memories.len()];
        }
        let query: Vec<i8> = query.iter().map(|value| small(value / length)).collect();
        let away = f64::from(mean.iter().map(|value| value * value).sum::<f32>());
        let own: Vec<i8> = mean.iter().map(|value| small(*value)).collect();
        let shift = f64::from(dot(&query, &own)) / UNIT_SQUARED;
        let wide = |values: &[i8]| values.iter().map(|value| i16::from(*value)).collect();
        let (query, own): (Vec<i16>, Vec<i16>) = (wide(&query), wide(&own));
        let likeness = |passage: &[i8]| {
            let (near, along) = dots(passage, &query, &own);
            let along = f64::from(along) / UNIT_SQUARED;
            let length = (1.0 - 2.0 * along + away).max(f64::EPSILON).sqrt();
            (f64::from(near) / UNIT_SQUARED - shift) / length
        };
        let best = |vectors: &Vectors| {
            let passages = vectors.values.chunks_exact(vectors.dims.max(1));
            passages.map(likeness).fold(0.0, f64::max)
        };
        let fits = |vectors: &&&Vectors| vectors.dims == query.len();
        self.memories
            .iter()
            .map(|one| one.as_ref().filter(fits).map_or(0.0, |one| best(one)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Letters;

    impl Embedder for Letters {
        fn id(&self) -> &'static str {
            "letters"
        }

        fn dims(&self) -> usize {
            3
        }

        fn embed(&self, text: &str) -> Option<Vec<f32>> {
            let count = |letter| f32::from(u16::try_from(text.matches(letter).count()).unwrap());
            let vector = vec![count('a'), count('b'), count('c')];
            vector.iter().any(|value| *value > 0.0).then_some(vector)
        }
    }

    fn body(body: &str) -> Document<'_> {
        Document { body, ..Document::default() }
    }

    #[test]
    fn r14_a_long_memory_is_found_by_its_nearest_part() {
        let long = format!("{}{}", "aaaa ".repeat(400), "bbbb ".repeat(100));
        let query = QueryVector::of(&Letters, "b").unwrap();
        let likeness = |text: &str| Vectors::of(&Letters, &body(text)).likeness(&query);
        assert!(likeness(&long).unwrap() > 0.9);
        assert!(likeness("aaaa").unwrap() < 0.1);
        assert_eq!(likeness("xyz"), None);
    }

    #[test]
    fn r14_vectors_that_are_none_are_not_read() {
        let vectors = Vectors::of(&Letters, &body("abc abc"));
        let mut bytes = Vec::new();
        vectors.encode(&mut bytes);
        bytes.push(9);
        let mut rest = bytes.as_slice();
        assert_eq!(Vectors::decode(&mut rest), Some(vectors));
        assert_eq!(rest, [9]);
        for cut in 0..bytes.len() - 1 {
            assert_eq!(Vectors::decode(&mut &bytes[..cut]), None);
        }
        let other = QueryVector { values: vec![1; 64], words: Vec::new() };
        assert_eq!(Vectors::of(&Letters, &body("a")).likeness(&other), None);
    }

    proptest! {
        #[test]
        fn passages_hold_the_beginning_and_have_an_end(text in "[a-zé \n]{0,5000}") {
            let all = passages(&body(&text));
            prop_assert!(!all.is_empty() && all.len() <= MAX_PASSAGES);
            let joined: String = all.concat().split_whitespace().collect();
            let whole: String = text.split_whitespace().collect();
            prop_assert!(all.len() == MAX_PASSAGES || joined.trim_start_matches('.') == whole);
        }
    }
}
