//! The rows of the model table, as public documentation gives them.

use super::{LongPrices, Prices, Thinking};

/// Models that share their figures.
pub(super) struct Row {
    pub(super) ids: &'static [&'static str],
    pub(super) window: u64,
    pub(super) max_output: u64,
    pub(super) cache_minimum: u64,
    pub(super) thinking: Thinking,
    pub(super) prices: Option<Prices>,
    pub(super) long_prices: Option<LongPrices>,
}

const fn row(ids: &'static [&'static str], minimum: u64, prices: Prices) -> Row {
    Row {
        ids,
        window: 1_000_000,
        max_output: 128_000,
        cache_minimum: minimum,
        thinking: Thinking::Adaptive,
        prices: Some(prices),
        long_prices: None,
    }
}

const fn small(ids: &'static [&'static str], minimum: u64, prices: Prices) -> Row {
    Row {
        window: 200_000,
        max_output: 64_000,
        thinking: Thinking::Budget,
        ..row(ids, minimum, prices)
    }
}

/// Minimums of the 5.1, 5.2 and 5.5 models are not published; 1,024 is assumed.
pub(super) static ROWS: &[Row] = &[
    Row {
        prices: None,
        ..row(&["claude-fable-5-2", "claude-mythos-5-2"], 1_024, Prices::per_million(0.0, 0.0, 0.0))
    },
    row(&["claude-fable-5-1", "claude-mythos-5-1"], 1_024, Prices::per_million(10.0, 0.25, 50.0)),
    row(&["claude-fable-5", "claude-mythos-5"], 512, Prices::per_million(10.0, 1.0, 50.0)),
    row(&["claude-opus-5-5"], 1_024, Prices::per_million(4.0, 0.20, 20.0)),
    row(&["claude-opus-5"], 512, Prices::per_million(5.0, 0.50, 25.0)),
    row(&["claude-opus-4-8"], 1_024, Prices::per_million(5.0, 0.50, 25.0)),
    row(&["claude-opus-4-7"], 2_048, Prices::per_million(5.0, 0.50, 25.0)),
    row(&["claude-opus-4-6"], 4_096, Prices::per_million(5.0, 0.50, 25.0)),
    small(&["claude-opus-4-5"], 4_096, Prices::per_million(5.0, 0.50, 25.0)),
    row(&["claude-sonnet-5-5"], 1_024, Prices::per_million(2.0, 0.10, 10.0)),
    row(&["claude-sonnet-5"], 1_024, Prices::per_million(2.0, 0.20, 10.0)),
    row(&["claude-sonnet-4-6"], 1_024, Prices::per_million(3.0, 0.30, 15.0)),
    small(&["claude-sonnet-4-5", "claude-sonnet-4"], 1_024, Prices::per_million(3.0, 0.30, 15.0)),
    Row {
        long_prices: Some(LongPrices {
            above: 100_000,
            prices: Prices::per_million(0.50, 0.05, 2.50),
        }),
        ..row(&["claude-haiku-5-5"], 1_024, Prices::per_million(0.10, 0.01, 0.50))
    },
    small(&["claude-haiku-4-5"], 4_096, Prices::per_million(1.0, 0.10, 5.0)),
    Row {
        max_output: 32_000,
        ..small(&["claude-opus-4-1", "claude-opus-4"], 1_024, Prices::per_million(15.0, 1.5, 75.0))
    },
    Row {
        max_output: 8_192,
        thinking: Thinking::Off,
        ..small(&["claude-3-5-haiku"], 2_048, Prices::per_million(0.8, 0.08, 4.0))
    },
    // Rules cost nothing.
    Row {
        thinking: Thinking::Off,
        ..small(&["offline"], 1_024, Prices::per_million(0.0, 0.0, 0.0))
    },
];

/// Models that cannot be told to think less, or on a budget.
pub(super) static ALWAYS_THINK: &[&str] = &[
    "claude-fable-5",
    "claude-fable-5-1",
    "claude-fable-5-2",
    "claude-mythos-5",
    "claude-mythos-5-1",
    "claude-mythos-5-2",
    "claude-opus-5-5",
];
