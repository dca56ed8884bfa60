//! The table of word vectors in the program (R14).
//!
//! It is `WordLlama`'s, quantised (`table/make.py` makes it, `table/NOTICE` has its
//! licence). A word is cut into the pieces that the table knows, the same way
//! as its makers did; its vector is their sum. How long the vector of a piece is
//! says how much it tells: small words are short. Nothing is read before the
//! first word is asked for.

use crate::lexicon::Interpreter;
use crate::text::{self, Token, TokenKind};
use crate::vectors::{Embedder, WordVector};
use std::sync::OnceLock;

static BYTES: &[u8] = include_bytes!("../table/words.bin");
/// What a vector made by this table is known by.
const ID: &str = "wordllama-256-3-lexicon-1";
/// The mark of a word's beginning, in the table's own way.
const BEGIN: char = '\u{2581}';
/// Bytes of a word that are looked at; what is longer is no word.
const WORD_BYTES: usize = 40;
/// Words of a text that are looked at: what a message is about shows by then.
const MOST_WORDS: usize = 2_048;
/// What three bits stand for: best for values that are spread like a bell.
const LEVELS: [f32; 8] = [-2.152, -1.344, -0.756, -0.2451, 0.2451, 0.756, 1.344, 2.152];
const BITS: usize = 3;

#[derive(Debug)]
pub struct WordTable {
    dims: usize,
    /// By their bytes: rank, and text.
    pieces: Vec<(u16, &'static [u8])>,
    scales: &'static [[u8; 4]],
    values: &'static [u8],
}

impl WordTable {
    /// The table in the program; none if it is not what it should be, which a
    /// test would have seen.
    #[must_use]
    pub fn get() -> Option<&'static Self> {
        static TABLE: OnceLock<Option<WordTable>> = OnceLock::new();
        TABLE.get_or_init(|| Self::read(BYTES)).as_ref()
    }

    fn read(bytes: &'static [u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(b"EFWT\x01\x03")?;
        let (dims, rest) = rest.split_first_chunk::<2>()?;
        let (count, mut rest) = rest.split_first_chunk::<4>()?;
        let dims = usize::from(u16::from_le_bytes(*dims));
        let count = u32::from_le_bytes(*count) as usize;
        let mut pieces = Vec::with_capacity(count.min(1 << 16));
        for _ in 0..count {
            let ([low, high, length], behind) = rest.split_first_chunk::<3>()?;
            let (text, behind) = behind.split_at_checked(usize::from(*length))?;
            pieces.push((u16::from_le_bytes([*low, *high]), text));
            rest = behind;
        }
        let (scales, values) = rest.split_at_checked(count * 4)?;
        let (scales, _) = scales.as_chunks::<4>();
        let is_whole =
            values.len() == count * (dims * BITS).div_ceil(8) && (dims * BITS).is_multiple_of(8);
        is_whole.then_some(Self { dims, pieces, scales, values })
    }

    fn find(&self, piece: &[u8]) -> Option<usize> {
        self.pieces.binary_search_by_key(&piece, |(_, text)| text).ok()
    }

    /// The pieces of a word. Signs that the table does not know are left out.
    fn pieces(&self, word: &str) -> Vec<usize> {
        let mut whole = String::with_capacity(word.len() + BEGIN.len_utf8());
        whole.push(BEGIN);
        whole.push_str(word);
        if let Some(one) = self.find(whole.as_bytes()) {
            return vec![one];
        }
        let mut parts: Vec<&[u8]> = Vec::new();
        let mut rest = whole.get(..whole.floor_char_boundary(WORD_BYTES)).unwrap_or_default();
        while let Some(sign) = rest.chars().next() {
            let (part, behind) = rest.split_at(sign.len_utf8());
            parts.push(part.as_bytes());
            rest = behind;
        }
        self.join(&mut parts, whole.as_bytes());
        parts.into_iter().filter_map(|part| self.find(part)).collect()
    }

    /// Joins the two neighbours that make the piece of the lowest rank, until
    /// none do.
    fn join<'a>(&self, parts: &mut Vec<&'a [u8]>, whole: &'a [u8]) {
        loop {
            let mut best: Option<(u16, usize, &'a [u8])> = None;
            let mut start = 0;
            for (at, pair) in parts.windows(2).enumerate() {
                let [one, other] = pair else { break };
                let end = start + one.len() + other.len();
                let joined = whole.get(start..end).unwrap_or_default();
                let rank =
                    self.find(joined).and_then(|at| self.pieces.get(at)).map(|(rank, _)| *rank);
                if let Some(rank) = rank.filter(|rank| best.is_none_or(|(least, ..)| *rank < least))
                {
                    best = Some((rank, at, joined));
                }
                start += one.len();
            }
            let Some((_, at, joined)) = best else { return };
            parts.remove(at + 1);
            if let Some(part) = parts.get_mut(at) {
                *part = joined;
            }
        }
    }

    /// Adds the vector of a word, so many times.
    fn add(&self, word: &str, weight: f32, sum: &mut [f32]) {
        let width = self.dims * BITS / 8;
        for piece in self.pieces(word) {
            let scale = self.scales.get(piece).copied().map_or(0.0, f32::from_le_bytes) * weight;
            let packed = self.values.get(piece * width..(piece + 1) * width).unwrap_or_default();
            let (groups, _) = packed.as_chunks::<BITS>();
            let (eights, _) = sum.as_chunks_mut::<8>();
            for ([a, b, c], eight) in groups.iter().zip(eights) {
                let mut bits = u32::from_le_bytes([*a, *b, *c, 0]);
                for value in eight {
                    let level = LEVELS.get((bits & 7) as usize).copied().unwrap_or_default();
                    *value += level * scale;
                    bits >>= BITS;
                }
            }
        }
    }

    /// The vector of a word; all zero where nothing is known of it.
    pub(crate) fn word(&self, word: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dims];
        self.add(word, 1.0, &mut vector);
        vector
    }

    /// The vector of a word of another language: that of the English for it, so far
    /// as that is known.
    pub(crate) fn word_in(&self, interpreter: Option<&Interpreter>, token: Token<'_>) -> Vec<f32> {
        let known = interpreter.map(|one| one.english(token.text, token.kind)).unwrap_or_default();
        if known.is_empty() {
            return self.word(token.text);
        }
        let mut vector = vec![0.0; self.dims];
        #[expect(clippy::cast_precision_loss, reason = "a few words")]
        let share = 1.0 / known.len() as f32;
        for word in known {
            self.add(word, share, &mut vector);
        }
        vector
    }

    /// Whether a word is one that everybody uses: the table has it in one piece.
    pub(crate) fn is_common(&self, word: &str) -> bool {
        self.pieces(word).len() <= 1
    }
}

impl Embedder for WordTable {
    fn id(&self) -> &str {
        ID
    }

    fn dims(&self) -> usize {
        self.dims
    }

    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let mut sum = vec![0.0; self.dims];
        let mut left = MOST_WORDS;
        let interpreter = Interpreter::of(text);
        text::each_token(text, |token| {
            let is_small = |word: &str| interpreter.as_ref().is_some_and(|one| one.is_small(word));
            let is_small = text::is_stop_word(token.text) || is_small(token.text);
            if left == 0 || token.kind == TokenKind::Name || is_small {
                return;
            }
            match &interpreter {
                None => self.add(token.text, 1.0, &mut sum),
                other => {
                    let vector = self.word_in(other.as_ref(), token);
                    sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
                }
            }
            left -= 1;
        });
        sum.iter().any(|value| *value != 0.0).then_some(sum)
    }

    fn words(&self, text: &str) -> Vec<WordVector> {
        let mut all: Vec<WordVector> = Vec::new();
        let interpreter = Interpreter::of(text);
        text::each_token(text, |token| {
            let is_new = !all.iter().any(|known| known.word == token.text);
            if token.kind != TokenKind::Name && is_new && !text::is_stop_word(token.text) {
                let vector = self.word_in(interpreter.as_ref(), token);
                all.push(WordVector { word: token.text.to_owned(), vector });
            }
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::{QueryVector, Vectors};

    #[test]
    fn r14_the_table_is_whole_and_small() {
        let table = WordTable::get().unwrap();
        assert_eq!((table.dims, table.pieces.len()), (256, 31_741));
        assert!(table.pieces.is_sorted_by_key(|(_, text)| *text));
        assert!((2_000_000..4_000_000).contains(&BYTES.len()));
    }

    #[test]
    fn r14_words_are_cut_as_the_makers_of_the_table_do() {
        let table = WordTable::get().unwrap();
        let cut = |word: &str| -> Vec<String> {
            let text = |at: usize| String::from_utf8_lossy(table.pieces[at].1).into_owned();
            table.pieces(word).into_iter().map(text).collect()
        };
        assert_eq!(cut("deploy"), ["▁deploy"]);
        assert_eq!(cut("idempotency"), ["▁ide", "mp", "ot", "ency"]);
        assert_eq!(cut("kubernetes"), ["▁k", "ubernetes"]);
        assert_eq!(cut("zahlungen"), ["▁zahl", "ungen"]);
        assert!(table.is_common("release") && !table.is_common("hmac"));
    }

    #[test]
    fn r14_what_means_the_same_is_near() {
        let table = WordTable::get().unwrap();
        let near = |one: &str, other: &str| {
            let mut vectors = Vectors::default();
            vectors.add(&table.embed(other).unwrap());
            vectors.likeness(&QueryVector::of(table, one).unwrap()).unwrap()
        };
        assert!(near("deploy", "release") > near("deploy", "invoice") + 0.1);
        assert!(near("database", "postgres") > near("database", "holiday") + 0.1);
        assert!(near("zahlung", "payment") > near("zahlung", "garden"));
    }
}
