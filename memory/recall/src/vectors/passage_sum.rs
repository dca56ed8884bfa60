//! What all memories of a place have in common by meaning.

use super::{UNIT, Vectors};

/// So many passages have half of what they have in common taken out.
const FEW: f32 = 4.0;
/// Of so many passages the sum fits into 16 bits, which adds up twice as fast.
const SMALL_SUM: usize = 256;

/// The passages of many memories, added up: what they have in common. It is kept
/// for as long as the memories stay as they are; to add them up takes as long as
/// to compare them with a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassageSum {
    values: Vec<i32>,
    passages: usize,
}

impl PassageSum {
    /// That of some memories' passages. The first says how many numbers each has.
    #[must_use]
    pub fn of<'a>(memories: impl Iterator<Item = &'a Vectors>) -> Self {
        let mut memories = memories.filter(|vectors| !vectors.is_empty()).peekable();
        let dims = memories.peek().map_or(0, |vectors| vectors.dims);
        let (mut values, mut part) = (vec![0_i32; dims], vec![0_i16; dims]);
        let mut passages = 0;
        let all = memories.filter(|vectors| vectors.dims == dims);
        let mut all = all.flat_map(|vectors| vectors.values.chunks_exact(dims.max(1))).peekable();
        while all.peek().is_some() {
            for passage in all.by_ref().take(SMALL_SUM) {
                part.iter_mut().zip(passage).for_each(|(sum, value)| *sum += i16::from(*value));
                passages += 1;
            }
            values.iter_mut().zip(&part).for_each(|(sum, value)| *sum += i32::from(*value));
            part.fill(0);
        }
        Self { values, passages }
    }

    /// Adds those of other memories.
    pub fn add(&mut self, other: &Self) {
        if self.passages == 0 {
            self.clone_from(other);
        } else if self.values.len() == other.values.len() {
            self.values.iter_mut().zip(&other.values).for_each(|(sum, value)| *sum += value);
            self.passages += other.passages;
        }
    }

    /// Their mean, as far as it is taken out. What a few have in common may be all
    /// that they say.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^24 passages")]
    pub(super) fn mean(&self, common: f32) -> Vec<f32> {
        let all = self.passages as f32 + FEW;
        self.values.iter().map(|sum| *sum as f32 / UNIT / all * common).collect()
    }
}
