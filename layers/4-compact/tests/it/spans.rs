//! Ranges out of view: snipped and collapsed.

use crate::chance::{rounds, write};
use crate::logs::{Log, body, texts, window};
use crate::validity::is_valid;
use everfold_compact::collapse::{
    CollapseCandidate, Pressure, ask, candidates, commit, pressure, stage,
};
use everfold_compact::{Error, snip};
use everfold_kernel::effect::AskShape;
use everfold_kernel::{Block, Decision, Effect, Flag, Flags, RecordId, Usage};
use proptest::prelude::*;
use serde_json::json;

#[test]
fn l4_14_a_range_goes_with_a_marker_and_comes_back() {
    let mut log = Log::started();
    log.user("start");
    let (call, result) = log.tool("Bash", json!({"command": "ls"}), "many files");
    log.says("done");
    let whole = body(&mut log.fold());
    let decision = snip::snip(&log.fold(), &result, &result).unwrap();
    let Decision::Snipped { from, to, .. } = &decision else { panic!() };
    assert_eq!((from, to), (&call, &result), "a result goes with its call");
    let snipped = log.decide(decision);
    let shown = texts(&log.fold());
    assert!(shown[1].contains("from record r2 to record r3"), "{}", shown[1]);
    assert_eq!(shown.len(), 3);
    assert_eq!(is_valid(&body(&mut log.fold())["messages"]), Ok(()));
    log.decide(snip::undo(&snipped));
    assert_eq!(body(&mut log.fold()), whole);
}

#[test]
fn l4_14_pins_open_calls_and_wrong_ranges_are_refused() {
    let mut log = Log::started();
    let first = log.user("start");
    let (_, result) = log.tool("Bash", json!({"command": "ls"}), "many files");
    log.decide(Decision::Pinned { record: result.clone() });
    let fold = log.fold();
    assert!(matches!(snip::snip(&fold, &first, &result), Err(Error::HoldsPin { .. })));
    assert!(matches!(snip::snip(&fold, &result, &first), Err(Error::Backwards { .. })));
    assert!(matches!(snip::snip(&fold, &first, &"x".into()), Err(Error::UnknownRecord { .. })));
    let id = log.call_id();
    let open = log.answer(vec![Block::tool_use(&id, "Bash", json!({}))], Usage::default());
    assert!(matches!(snip::snip(&log.fold(), &open[0], &open[0]), Err(Error::OpenCall)));
}

fn busy() -> Log {
    let mut log = Log::started();
    log.user("start");
    for number in 0..20 {
        let input = json!({"command": format!("make {number}")});
        log.tool("Bash", input, &format!("{number} ").repeat(8_000));
        if number == 9 {
            log.user("in between");
        }
    }
    log
}

#[test]
fn l4_13_spans_are_finished_rounds_and_never_what_the_person_said() {
    let log = busy();
    let spans = candidates(&log.fold(), &log.limits);
    assert!(spans.len() >= 2);
    assert_eq!(spans[0].from, RecordId::new("r2"));
    let at = |id: &RecordId| id.as_str()[1..].parse::<usize>().unwrap();
    let said = (0..log.records.len()).find(|n| texts_of(&log, *n).contains("in between")).unwrap();
    assert!(spans.iter().all(|span| !(at(&span.from)..=at(&span.to)).contains(&said)));
    let newest = at(&spans.last().unwrap().to);
    assert!(newest + 8 < log.records.len(), "the newest four rounds stay");
}

fn texts_of(log: &Log, number: usize) -> String {
    format!("{:?}", log.records[number].entry)
}

#[test]
fn l4_13_staged_spans_are_committed_near_the_limit() {
    let mut log = busy();
    let flags = Flags::default().with(Flag::Collapse, true);
    let fold = log.fold();
    let count = fold.count().0;
    let near = |percent: u64| window((count * 100 / percent).saturating_sub(13_000));
    assert_eq!(pressure(&fold, &near(50), &flags, &log.limits), Pressure::Stage);
    assert_eq!(pressure(&fold, &near(92), &flags, &log.limits), Pressure::Commit);
    assert_eq!(pressure(&fold, &near(97), &flags, &log.limits), Pressure::Refuse);
    assert_eq!(pressure(&fold, &near(97), &Flags::default(), &log.limits), Pressure::Off);

    let spans = candidates(&fold, &log.limits);
    let Ok(Effect::Ask(question)) = ask(&fold, &spans[0], &log.limits) else { panic!() };
    let AskShape::Side { prompt, .. } = question.shape else { panic!() };
    assert!(prompt.contains("[assistant] Bash make 0") && question.max_tokens == 500);
    let staged: Vec<_> = spans
        .iter()
        .enumerate()
        .map(|(n, span)| {
            let answer = (n == 0).then_some("All steps were made.");
            stage(&fold, span.clone(), answer, &log.limits).unwrap()
        })
        .collect();
    assert!(staged[1].summary.contains("Bash `make"), "{}", staged[1].summary);
    assert_eq!(commit(&fold, &near(50), &flags, &staged, &log.limits), []);
    let decisions = commit(&fold, &near(92), &flags, &staged, &log.limits);
    assert_eq!(decisions.len(), staged.len());
    let whole = body(&mut log.fold());
    let records: Vec<RecordId> = decisions.into_iter().map(|d| log.decide(d)).collect();
    let mut after = log.fold();
    assert!(after.count().0 < count / 2);
    assert_eq!(is_valid(&body(&mut after)["messages"]), Ok(()));
    assert!(texts(&after).iter().any(|text| text == "in between"));
    assert!(candidates(&after, &log.limits).is_empty(), "a stand-in is not collapsed again");
    for record in &records {
        log.decide(snip::undo(record));
    }
    assert_eq!(body(&mut log.fold()), whole, "expanded again");
}

#[test]
fn l4_13_a_pin_that_came_later_keeps_its_span() {
    let mut log = busy();
    let flags = Flags::default().with(Flag::Collapse, true);
    let spans = candidates(&log.fold(), &log.limits);
    let staged: Vec<_> = spans
        .into_iter()
        .take(1)
        .map(|span| stage(&log.fold(), span, None, &log.limits).unwrap())
        .collect();
    log.decide(Decision::Pinned { record: staged[0].span.from.clone() });
    assert_eq!(commit(&log.fold(), &window(1), &flags, &staged, &log.limits), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn l4_14_any_snip_leaves_a_valid_conversation(rounds in rounds(25), a in any::<usize>(), b in any::<usize>()) {
        let mut log = Log::started();
        log.user("start");
        write(&mut log, &rounds, 0);
        let fold = log.fold();
        let all: Vec<RecordId> = fold.messages().iter().flat_map(everfold_prefix::Message::pieces)
            .map(|piece| piece.record.clone()).collect();
        let (a, b) = (a % all.len(), b % all.len());
        if let Ok(decision) = snip::snip(&fold, &all[a.min(b)], &all[a.max(b)]) {
            log.decide(decision);
            prop_assert_eq!(is_valid(&body(&mut log.fold())["messages"]), Ok(()));
        }
    }

    #[test]
    fn l4_13_collapsing_all_that_can_be_leaves_a_valid_conversation(rounds in rounds(40)) {
        let mut log = Log::started();
        log.user("start");
        write(&mut log, &rounds, 0);
        let fold = log.fold();
        let flags = Flags::default().with(Flag::Collapse, true);
        let spans: Vec<CollapseCandidate> = candidates(&fold, &log.limits);
        let staged: Vec<_> = spans.into_iter()
            .map(|span| stage(&fold, span, None, &log.limits).unwrap()).collect();
        for decision in commit(&fold, &window(0), &flags, &staged, &log.limits) {
            log.decide(decision);
        }
        let mut after = log.fold();
        prop_assert_eq!(is_valid(&body(&mut after)["messages"]), Ok(()));
        prop_assert!(after.count() <= fold.count());
    }
}
