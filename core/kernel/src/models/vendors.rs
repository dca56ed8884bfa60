//! Models of other vendors: what their answers cost, for the sessions of
//! agents that use them (PC10). Figures of `LiteLLM`'s table (MIT), version
//! 1.108, of November 2026; `everfold.prices` sets others.

use super::builtin::Row;
use super::{LongPrices, Prices, Thinking};

/// Servers of these vendors cache of their own accord: what is written costs
/// what input does.
const fn prices(input: f64, read: f64, output: f64) -> Prices {
    Prices {
        cache_write_5m: input,
        cache_write_1h: input,
        ..Prices::per_million(input, read, output)
    }
}

const fn row(ids: &'static [&'static str], window: u64, own: Prices) -> Row {
    Row {
        ids,
        window,
        max_output: 128_000,
        cache_minimum: 1_024,
        thinking: Thinking::Off,
        prices: Some(own),
        long_prices: None,
    }
}

/// A row whose long prompts cost more.
const fn long(own: &Row, above: u64, prices: Prices) -> Row {
    Row { long_prices: Some(LongPrices { above, prices }), ..*own }
}

pub(super) static ROWS: &[Row] = &[
    row(
        &["gpt-5", "gpt-5-codex", "gpt-5.1", "gpt-5.1-codex", "gpt-5.1-codex-max"],
        400_000,
        prices(1.25, 0.125, 10.0),
    ),
    row(&["gpt-5-mini", "gpt-5.1-codex-mini"], 400_000, prices(0.25, 0.025, 2.0)),
    row(&["gpt-5-nano"], 400_000, prices(0.05, 0.005, 0.4)),
    row(&["gpt-5.2", "gpt-5.2-codex", "gpt-5.3-codex"], 400_000, prices(1.75, 0.175, 14.0)),
    long(&row(&["gpt-5.4"], 1_050_000, prices(2.5, 0.25, 15.0)), 272_000, prices(5.0, 0.5, 22.5)),
    row(&["gpt-5.4-mini"], 400_000, prices(0.75, 0.075, 4.5)),
    row(&["gpt-5.4-nano"], 400_000, prices(0.2, 0.02, 1.25)),
    long(&row(&["gpt-5.5"], 1_050_000, prices(5.0, 0.5, 30.0)), 272_000, prices(10.0, 1.0, 45.0)),
    long(
        &row(&["gpt-5.6", "gpt-5.6-sol"], 1_050_000, prices(4.0, 0.4, 20.0)),
        272_000,
        prices(8.0, 0.8, 30.0),
    ),
    long(
        &row(&["gpt-5.6-terra"], 1_050_000, prices(2.0, 0.2, 12.0)),
        272_000,
        prices(4.0, 0.4, 18.0),
    ),
    long(
        &row(&["gpt-5.6-luna"], 1_050_000, prices(0.2, 0.02, 1.2)),
        272_000,
        prices(0.4, 0.04, 1.8),
    ),
    row(&["gpt-4.1"], 1_047_576, prices(2.0, 0.5, 8.0)),
    row(&["gpt-4.1-mini"], 1_047_576, prices(0.4, 0.1, 1.6)),
    row(&["o3"], 200_000, prices(2.0, 0.5, 8.0)),
    row(&["o4-mini"], 200_000, prices(1.1, 0.275, 4.4)),
    long(
        &row(&["gemini-2.5-pro"], 1_048_576, prices(1.25, 0.125, 10.0)),
        200_000,
        prices(2.5, 0.25, 15.0),
    ),
    row(&["gemini-2.5-flash"], 1_048_576, prices(0.3, 0.03, 2.5)),
    row(&["gemini-2.5-flash-lite"], 1_048_576, prices(0.1, 0.01, 0.4)),
    row(&["gemini-3-flash-preview"], 1_048_576, prices(0.5, 0.05, 3.0)),
    long(
        &row(&["gemini-3.1-pro-preview"], 1_048_576, prices(2.0, 0.2, 12.0)),
        200_000,
        prices(4.0, 0.4, 18.0),
    ),
    row(&["gemini-3.1-flash-lite"], 1_048_576, prices(0.25, 0.025, 1.5)),
    row(&["gemini-3.5-flash"], 1_048_576, prices(1.5, 0.15, 9.0)),
    row(
        &["gemini-3.6-flash", "gemini-3.7-flash", "gemini-3.8-flash"],
        1_048_576,
        prices(0.75, 0.075, 3.75),
    ),
];
