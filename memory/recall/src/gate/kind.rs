//! What kind of message it is, by how it is worded and what its words mean:
//! whether people who write such messages mean something of their own project, or
//! something that anybody could answer.
//!
//! It is a direction among marks of wording ([`super::marks`]) and vectors of the
//! table, fitted on messages of both kinds (`bench/recall/kinds.txt`), so it also
//! knows words that were not among them. It is one of several things that speak
//! for a call.

use super::marks::{PLACES, kind_marks};
use crate::lexicon::Interpreter;
use crate::table::WordTable;
use crate::text::{self, TokenKind};
use crate::vectors::{Embedder as _, length};
use std::sync::OnceLock;

static BYTES: &[u8] = include_bytes!("../../table/kind.bin");
/// Words that a message begins with.
const OPENING: usize = 4;
/// Words that are looked at.
const MOST: usize = 256;

/// What marks and vectors weigh, and where zero is.
struct Direction {
    bias: f32,
    /// By their places.
    marks: Weights,
    vector: Weights,
}

/// A byte for each, and what a one of them stands for.
struct Weights {
    scale: f32,
    values: &'static [u8],
}

impl Direction {
    fn get() -> Option<&'static Self> {
        static DIRECTION: OnceLock<Option<Direction>> = OnceLock::new();
        DIRECTION.get_or_init(|| Self::read(BYTES)).as_ref()
    }

    fn read(mut bytes: &'static [u8]) -> Option<Self> {
        let [bias, of_marks, of_vector] =
            [number(&mut bytes)?, number(&mut bytes)?, number(&mut bytes)?];
        let (marks, vector) = bytes.split_at_checked(PLACES)?;
        Some(Self {
            bias,
            marks: Weights { scale: of_marks, values: marks },
            vector: Weights { scale: of_vector, values: vector },
        })
    }
}

fn number(bytes: &mut &'static [u8]) -> Option<f32> {
    let (first, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(f32::from_le_bytes(*first))
}

impl Weights {
    fn of(&self, values: impl Iterator<Item = (usize, f32)>) -> f32 {
        let weight = |place: usize| self.values.get(place).copied().unwrap_or_default();
        let each = values.map(|(place, value)| value * f32::from(weight(place).cast_signed()));
        self.scale * each.sum::<f32>()
    }
}

/// How far a message is one about its own project: the odds.
pub(super) fn score(typed: &str) -> f64 {
    let Some(direction) = Direction::get() else { return 0.0 };
    let by_marks = direction.marks.of(kind_marks(typed).into_iter());
    let by_vector = direction.vector.of(kind_vector(typed).into_iter().enumerate());
    f64::from(direction.bias + by_marks + by_vector)
}

/// The vector that tells the kind of a message: that of all its words, small ones
/// too, each counted alike, and behind it that of the first few.
#[must_use]
pub fn kind_vector(text: &str) -> Vec<f32> {
    let Some(table) = WordTable::get() else { return Vec::new() };
    let (mut all, mut opening) = (vec![0.0; table.dims()], vec![0.0; table.dims()]);
    let mut count = 0;
    let interpreter = Interpreter::of(text);
    text::each_token(text, |token| {
        if token.kind == TokenKind::Name || count == MOST {
            return;
        }
        let word = unit(table.word_in(interpreter.as_ref(), token));
        add(&mut all, &word);
        if count < OPENING {
            add(&mut opening, &word);
        }
        count += 1;
    });
    let mut vector = unit(all);
    vector.extend(unit(opening));
    vector
}

fn add(sum: &mut [f32], vector: &[f32]) {
    sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = length(&vector);
    if length > 0.0 {
        for value in &mut vector {
            *value /= length;
        }
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r13_the_direction_is_whole() {
        let dims = WordTable::get().unwrap().dims();
        let direction = Direction::get().unwrap();
        assert_eq!(direction.marks.values.len(), PLACES);
        assert_eq!(direction.vector.values.len(), dims * 2);
        assert_eq!(kind_vector("").len(), dims * 2);
    }

    #[test]
    fn r13_what_belongs_to_a_project_is_told_from_what_anybody_could_answer() {
        for (own, anybodys) in [
            ("which server do we deploy the nightly build to?", "what does a linked list do?"),
            ("add an endpoint for refunds", "thanks, that was quick"),
            ("who owns the billing schema", "write a limerick about coffee"),
        ] {
            assert!(score(own) > score(anybodys) + 0.3, "{own} | {anybodys}");
        }
    }
}
