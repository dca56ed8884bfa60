//! Rounds gathered into the columns of a picture.

use everfold_replay::{Before, Round};

/// What a request is made of, from the bottom of a picture to its top.
pub(super) const PARTS: [&str; 5] = ["system", "injected", "results", "model", "person"];

/// Some rounds side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Column {
    /// The tokens of its largest request, by part.
    pub(super) parts: [u64; PARTS.len()],
    /// What its requests cost together.
    pub(super) usd: f64,
    /// What happened in it, the weightiest first.
    pub(super) before: Before,
}

impl Column {
    /// Tokens of its largest request.
    pub(super) fn total(&self) -> u64 {
        self.parts.iter().sum()
    }

    fn take(&mut self, round: &Round) {
        let own = &round.shares;
        let parts =
            [round.prelude, own.injected, own.results, own.written, own.said].map(u64::from);
        if parts.iter().sum::<u64>() > self.total() {
            self.parts = parts;
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
pub(super) fn columns(rounds: &[Round], most: usize) -> Vec<Column> {
    let each = rounds.len().div_ceil(most.max(1)).max(1);
    let column = |rounds: &[Round]| {
        let mut column = Column::default();
        for round in rounds {
            column.take(round);
        }
        column
    };
    rounds.chunks(each).map(column).collect()
}
