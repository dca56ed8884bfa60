//! When the notes are due.

use crate::logs::{Log, Step, steps, write};
use everfold_kernel::{Boundary, Entry, Flag, Flags, Tokens};
use everfold_notes::policy::is_kept;
use everfold_notes::{Due, due};
use proptest::prelude::*;

#[test]
fn l3_2_first_at_ten_thousand_tokens() {
    let mut log = Log::started();
    log.user(4_999);
    assert_eq!(due(log.fold(), None, &log.limits), Due::No);
    log.says(1);
    assert_eq!(log.fold().count(), Tokens(10_000));
    assert_eq!(due(log.fold(), None, &log.limits), Due::Yes);
}

#[test]
fn l3_2_then_after_five_thousand_and_three_calls_or_an_answer_without_one() {
    let mut log = Log::started();
    let since = log.user(6_000);
    log.calls(&[2_600]);
    assert_eq!(due(log.fold(), Some(&since), &log.limits), Due::No, "one call, in mid-turn");
    log.calls(&[1, 1]);
    assert_eq!(due(log.fold(), Some(&since), &log.limits), Due::Yes, "three calls");
    let since = log.calls(&[1]);
    log.calls(&[2_600]);
    assert_eq!(due(log.fold(), Some(&since), &log.limits), Due::No);
    log.says(1);
    assert_eq!(due(log.fold(), Some(&since), &log.limits), Due::Yes, "at rest");
}

#[test]
fn l3_2_the_token_condition_always_holds() {
    let mut log = Log::started();
    let since = log.user(6_000);
    for _ in 0..20 {
        log.calls(&[1, 1, 1]);
    }
    log.says(1);
    assert_eq!(due(log.fold(), Some(&since), &log.limits), Due::No);
}

#[test]
fn l3_2_after_a_compaction_what_is_in_view_counts() {
    let mut log = Log::started();
    let since = log.user(6_000);
    log.says(1);
    log.entry(Entry::Boundary(Boundary {
        trigger: "auto".into(),
        pre_tokens: 0,
        last_before: None,
        preserved: Vec::new(),
        keeps: everfold_kernel::record::Keeps::Suffix,
        metadata: serde_json::Map::new(),
    }));
    log.user(100);
    log.says(1);
    assert_eq!(due(log.fold(), Some(&since), &log.limits), Due::No);
    log.user(2_500);
    log.says(1);
    assert_eq!(due(log.fold(), Some(&since), &log.limits), Due::Yes);
}

#[test]
fn l3_8_only_where_auto_compact_is_on() {
    let flags = Flags::default();
    assert!(is_kept(&flags));
    for (flag, on) in
        [(Flag::SessionMemory, false), (Flag::AutoCompact, false), (Flag::Collapse, true)]
    {
        assert!(!is_kept(&flags.clone().with(flag, on)), "{}", flag.name());
    }
}

proptest! {
    #[test]
    fn l3_2_never_due_without_growth(steps in steps(), more in steps()) {
        let mut log = Log::started();
        let since = write(&mut log, &steps).pop().unwrap();
        let before: u64 = log.fold().messages().iter().map(|m| m.tokens().0).sum();
        write(&mut log, &more);
        let after: u64 = log.fold().messages().iter().map(|m| m.tokens().0).sum();
        let is_due = due(log.fold(), Some(&since), &log.limits) == Due::Yes;
        prop_assert!(!is_due || after - before >= 5_000);
        let rests = matches!(more.iter().rev().find(|step| !matches!(step, Step::Prompt(_))), Some(Step::Answer(_)));
        prop_assert!(is_due || !rests || after - before < 5_000);
    }
}
