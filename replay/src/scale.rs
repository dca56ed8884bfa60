//! Rounds gathered into the columns of a picture, on the terminal or drawn.

use crate::report::{Before, Round};
use std::ops::Range;

/// What a request is made of, from the bottom of a picture to its top.
pub const PARTS: [&str; 5] = ["system", "injected", "results", "model", "person"];

/// Some rounds side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// The tokens of its largest request, by part.
    pub parts: [u64; PARTS.len()],
    /// What its requests cost together.
    pub usd: f64,
    /// What happened in it, the weightiest first.
    pub before: Before,
    /// Tokens of its largest request that were read from the cache.
    pub read: u64,
    /// Tokens of its largest request that were written to it.
    pub written: u64,
    /// Its requests, as they are counted from 0.
    pub rounds: Range<usize>,
}

impl Column {
    /// Tokens of its largest request.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.parts.iter().sum()
    }

    fn take(&mut self, round: &Round) {
        let own = &round.shares;
        let parts =
            [round.prelude, own.injected, own.results, own.written, own.said].map(u64::from);
        if parts.iter().sum::<u64>() > self.total() {
            self.parts = parts;
            (self.read, self.written) = (round.read.into(), round.written.into());
        }
        self.usd += f64::from(round.usd);
        if weight(round.before) > weight(self.before) {
            self.before = round.before;
        }
    }
}

/// How much a reader wants to know of it.
fn weight(before: Before) -> u8 {
    match before {
        Before::Nothing | Before::Start => 0,
        Before::Clearing => 1,
        Before::Rewind => 2,
        Before::Change => 3,
        Before::Break => 4,
        Before::Expiry => 5,
        Before::Compaction => 6,
    }
}

/// At most so many columns of equally many rounds.
#[must_use]
pub fn columns(rounds: &[Round], most: usize) -> Vec<Column> {
    let each = rounds.len().div_ceil(most.max(1)).max(1);
    let column = |(number, rounds): (usize, &[Round])| {
        let from = number * each;
        let mut column = Column { rounds: from..from + rounds.len(), ..Column::default() };
        for round in rounds {
            column.take(round);
        }
        column
    };
    rounds.chunks(each).enumerate().map(column).collect()
}
