//! How long one ranking takes, over made-up memories.

use everfold_memory_recall::{Document, Tuning, rank};
use std::time::{Duration, Instant};

/// Memory files in the store that is made up.
const FILES: usize = 10_000;
/// Words of each body, as an average memory has.
const WORDS: usize = 150;
/// Rankings that are timed.
const ROUNDS: usize = 9;

const QUERY: &str = "why do the session tests time out against redis in staging since the \
                     last deployment of the ingestion pipeline";

/// Prints the median time of ranking all files for one query.
pub(crate) fn print(vocabulary: &[&str], tuning: &Tuning) {
    let texts: Vec<(String, String)> = (0..FILES)
        .map(|file| (made_up(vocabulary, file, 12), made_up(vocabulary, file + FILES, WORDS)))
        .collect();
    let documents: Vec<Document<'_>> = texts
        .iter()
        .map(|(description, body)| Document { description, body, ..Document::default() })
        .collect();
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(rank(QUERY, &documents, None, tuning));
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let bytes: usize = texts.iter().map(|(head, body)| head.len() + body.len()).sum();
    let median = times.get(ROUNDS / 2).copied().unwrap_or_default();
    println!("\nspeed: {FILES} files, {bytes} bytes, one query: {median:.1?} (median of {ROUNDS})");
}

/// Words drawn from the vocabulary by a fixed rule.
fn made_up(vocabulary: &[&str], seed: usize, words: usize) -> String {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let drawn = (0..words).filter_map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        vocabulary.get((state >> 33) % vocabulary.len().max(1)).copied()
    });
    drawn.collect::<Vec<_>>().join(" ")
}
