//! What stays beside the notes.

use crate::logs::{Log, steps, write};
use everfold_kernel::{BlockView, RecordId, Role};
use everfold_notes::{Nothing, keep_from};
use everfold_prefix::{Message, Piece};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn pieces(log: &Log) -> Vec<&Piece> {
    log.fold().messages().iter().flat_map(Message::pieces).collect()
}

fn position(log: &Log, record: &RecordId) -> usize {
    pieces(log).iter().position(|piece| piece.record == *record).unwrap()
}

#[test]
fn l3_6_expanded_backwards_to_tokens_and_texts() {
    let mut log = Log::started();
    for _ in 0..10 {
        log.user(100);
        log.says(900);
    }
    let covered = log.says(1);
    log.user(10);
    let kept = keep_from(log.fold(), &covered, &log.limits).unwrap();
    let tokens: u64 =
        pieces(&log).iter().skip(position(&log, &kept)).map(|piece| piece.tokens.0).sum();
    assert!((10_000..=12_000).contains(&tokens), "{tokens}");
    log.limits.notes.keep_tokens = 0;
    let kept = keep_from(log.fold(), &covered, &log.limits).unwrap();
    assert_eq!(pieces(&log).len() - position(&log, &kept), 5);
}

#[test]
fn l3_6_notes_that_are_too_far_behind_give_nothing() {
    let mut log = Log::started();
    log.user(100);
    let covered = log.says(1);
    log.user(10);
    log.calls(&[20_000]);
    assert!(matches!(
        keep_from(log.fold(), &covered, &log.limits),
        Err(Nothing::Behind { most: 40_000, .. })
    ));
    assert_eq!(keep_from(log.fold(), &"ghost".into(), &log.limits), Err(Nothing::Unknown));
}

#[test]
fn l3_6_a_short_conversation_stays_as_it_is() {
    let mut log = Log::started();
    log.user(10);
    let covered = log.says(10);
    assert_eq!(keep_from(log.fold(), &covered, &log.limits), Err(Nothing::AllStays));
}

#[test]
fn l3_6_a_round_that_went_on_is_not_covered() {
    let mut log = Log::started();
    log.user(12_000);
    log.says(10);
    log.user(8_000);
    let half = log.calls(&[10, 10]);
    log.user(6_000);
    log.limits.notes.keep_messages = 0;
    let kept = keep_from(log.fold(), &half, &log.limits).unwrap();
    let first = pieces(&log)[position(&log, &kept)];
    assert!(matches!(first.block.view(), BlockView::Thinking(_)), "the whole round stays");
}

proptest! {
    #[test]
    fn l3_6_nothing_uncovered_is_lost_and_no_pair_is_split(
        steps in steps(), at in any::<prop::sample::Index>(), (least, texts, most) in (0_u64..20_000, 0_u64..8, 0_u64..60_000),
    ) {
        let mut log = Log::started();
        log.limits.notes.keep_tokens = least;
        log.limits.notes.keep_messages = texts;
        log.limits.notes.keep_most_tokens = most;
        let ends = write(&mut log, &steps);
        let covered = &ends[at.index(ends.len())];
        let all = pieces(&log);
        let through = all.iter().rposition(|piece| piece.record == *covered).unwrap();
        let uncovered: u64 = all.iter().skip(through + 1).map(|piece| piece.tokens.0).sum();
        match keep_from(log.fold(), covered, &log.limits) {
            Ok(first) => {
                let start = position(&log, &first);
                prop_assert!(start > 0, "something goes");
                prop_assert!(start <= through + 1, "all that is not covered stays");
                let kept: u64 = all.iter().skip(start).map(|piece| piece.tokens.0).sum();
                prop_assert!(kept <= most, "{kept}");
                let calls: BTreeSet<&str> = all.iter().skip(start).filter_map(|piece| match piece.block.view() {
                    BlockView::ToolUse { id, .. } => Some(id),
                    _ => None,
                }).collect();
                for piece in all.iter().skip(start) {
                    if let BlockView::ToolResult { id, .. } = piece.block.view() {
                        prop_assert!(calls.contains(id), "a result without its call");
                    }
                }
                let message = log.fold().messages().iter().find(|m| m.pieces().iter().any(|p| p.record == first)).unwrap();
                prop_assert_eq!(&message.pieces()[0].record, &first, "a message stays whole");
                let answers = message.pieces().iter().any(|p| matches!(p.block.view(), BlockView::ToolResult { .. }));
                prop_assert!(message.role() == Role::Assistant || !answers);
            }
            Err(Nothing::Behind { tokens, .. }) => prop_assert!(tokens >= uncovered && tokens > most),
            Err(Nothing::AllStays | Nothing::Unknown) => {}
        }
    }
}
