//! When a compaction is due.

use crate::logs::{Log, window};
use everfold_compact::policy::{ConversationKind, Due, due, threshold};
use everfold_kernel::record::{FailedSummary, Keeps};
use everfold_kernel::{Boundary, Decision, Entry, Flag, Flags, QuerySource, Tokens, Usage, Window};

fn log() -> Log {
    let mut log = Log::started();
    log.user(&"x".repeat(40_000));
    log
}

fn failed(by: FailedSummary) -> Decision {
    Decision::CompactionFailed { reason: "no".into(), by }
}

fn by_model() -> Boundary {
    let way = [("way".to_owned(), "model".into())];
    Boundary {
        trigger: "auto".into(),
        pre_tokens: 1,
        last_before: None,
        preserved: Vec::new(),
        keeps: Keeps::Suffix,
        metadata: way.into_iter().collect(),
    }
}

fn ask(log: &Log, flags: &Flags, origin: ConversationKind) -> Due {
    due(&log.fold(), &window(5_000), flags, &log.limits, origin)
}

#[test]
fn l4_1_over_the_threshold_it_is_due() {
    let log = log();
    assert_eq!(ask(&log, &Flags::default(), ConversationKind::MainThread), Due::Yes);
    assert_eq!(ask(&log, &Flags::default(), ConversationKind::SubAgent), Due::Yes);
    let limits = &log.limits;
    let roomy =
        due(&log.fold(), &window(20_000), &Flags::default(), limits, ConversationKind::MainThread);
    assert_eq!(roomy, Due::No);
}

#[test]
fn t1_what_the_api_reported_counts() {
    let mut log = Log::started();
    log.user("short");
    let usage = Usage { input: 9_000, ..Usage::default() };
    log.answer(vec![everfold_kernel::Block::text("ok")], usage);
    assert_eq!(ask(&log, &Flags::default(), ConversationKind::MainThread), Due::Yes);
}

#[test]
fn l4_13_never_on_together_with_collapse() {
    let flags = Flags::default().with(Flag::Collapse, true);
    assert_eq!(ask(&log(), &flags, ConversationKind::MainThread), Due::No);
    let off = Flags::default().with(Flag::AutoCompact, false);
    assert_eq!(ask(&log(), &off, ConversationKind::MainThread), Due::No);
}

#[test]
fn l4_9_never_from_inside_a_background_fork() {
    for source in [
        QuerySource::Compact,
        QuerySource::SessionMemory,
        QuerySource::Extract,
        QuerySource::Dream,
        QuerySource::AgentSummary,
    ] {
        let origin = ConversationKind::from(&source);
        assert_eq!(ask(&log(), &Flags::default(), origin), Due::No, "{source}");
    }
    assert_eq!(
        ConversationKind::from(&QuerySource::Agent("explore".into())),
        ConversationKind::SubAgent
    );
}

#[test]
fn l4_2_three_failures_open_the_breaker_and_a_success_closes_it() {
    let mut log = log();
    for _ in 0..3 {
        assert_eq!(ask(&log, &Flags::default(), ConversationKind::MainThread), Due::Yes);
        log.decide(failed(FailedSummary::Model));
        log.says("well");
        log.compact(&window(5_000)).unwrap();
        log.user(&"y".repeat(40_000));
    }
    assert_eq!(ask(&log, &Flags::default(), ConversationKind::MainThread), Due::BreakerOpen);
    let resumed = log.fold().summaries().model_failures;
    assert_eq!(resumed, 3, "summaries of our own in between say nothing of models");
    log.entry(Entry::Boundary(by_model()));
    log.user(&"y".repeat(40_000));
    assert_eq!(ask(&log, &Flags::default(), ConversationKind::MainThread), Due::Yes);
}

#[test]
fn l4_15_once_even_the_local_summary_failed_nothing_more_is_tried() {
    let mut log = log();
    for _ in 0..3 {
        assert_ne!(ask(&log, &Flags::default(), ConversationKind::MainThread), Due::No);
        log.decide(failed(FailedSummary::Local));
    }
    assert_eq!(ask(&log, &Flags::default(), ConversationKind::MainThread), Due::No);
}

#[test]
fn t4_a_window_smaller_than_its_buffer_still_has_a_threshold() {
    let small = Window { auto_compact: Tokens(0), effective: Tokens(4_000), ..window(1) };
    assert_eq!(threshold(&small), Tokens(4_000));
}
