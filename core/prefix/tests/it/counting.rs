//! The canonical count (T1, T7).

use crate::conversations::Log;
use everfold_kernel::{Block, Tokens, Usage};

/// A server that counts 3.1 bytes a token and 4 tokens a message.
fn true_tokens(text: &str) -> u64 {
    u64::try_from(text.len() * 10 / 31).unwrap() + 4
}

#[test]
fn t1_what_the_api_reported_and_an_estimate_of_the_rest() {
    let mut log = Log::started();
    log.user("hello");
    let usage =
        Usage { input: 10, cache_read: 1_000, cache_write_5m: 200, output: 90, ..Usage::default() };
    log.answer(vec![Block::text("answer")], usage);
    assert_eq!(log.fold().count().0, 1_300);
    log.user(&"x".repeat(400));
    let count = log.fold().count().0;
    assert!(count > 1_300 + 40 && count < 1_300 + 310, "{count}");
}

#[test]
fn t7_the_error_is_under_five_percent_after_the_third_request() {
    let mut log = Log::started();
    let mut truth = 900;
    for round in 0..12_usize {
        let prompt = "do the next thing, then say what you did. ".repeat(20 + 70 * (round % 4));
        log.user(&prompt);
        truth += true_tokens(&prompt);
        let counted = log.fold().count().0;
        if round >= 3 {
            let error = (counted.abs_diff(truth) * 1_000).div_ceil(truth);
            assert!(error < 50, "round {round}: {counted} for {truth}");
        }
        let answer = "done. ".repeat(30);
        let output = true_tokens(&answer);
        let usage = Usage { input: truth, output, ..Usage::default() };
        log.answer(vec![Block::text(answer)], usage);
        truth += output;
    }
}

#[test]
fn t7_another_model_starts_over() {
    let mut log = Log::started();
    log.user(&"x".repeat(4_000));
    log.answer(vec![Block::text("a")], Usage { input: 2_000, output: 1, ..Usage::default() });
    let before = *log.fold().calibration();
    let mut other = log.clone();
    for record in &mut other.records {
        if let everfold_kernel::Entry::Assistant(entry) = &mut record.entry {
            entry.model = "claude-opus-5".into();
            entry.usage.input = 1_000;
        }
    }
    assert_ne!(before, *other.fold().calibration());
}

#[test]
fn t1_a_server_that_reports_no_usage_leaves_the_estimate_as_it_is() {
    let mut log = Log::started();
    log.user(&"x".repeat(4_000)).says("done").user(&"x".repeat(4_000));
    let fold = log.fold();
    assert!(fold.count() > Tokens(2_000), "{:?}", fold.count());
    assert_eq!(fold.calibration().apply(Tokens(100)), Tokens(100));
}
