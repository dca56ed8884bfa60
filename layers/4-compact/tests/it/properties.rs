//! What holds for every conversation.

use crate::chance::{Round, rounds, write};
use crate::logs::{Log, body, window};
use crate::validity::{is_valid, keeps_responses_whole, last_speaker};
use everfold_compact::apply::{CompactionContext, Extras, settle, settle_local};
use everfold_compact::policy::{ConversationKind, Due, due};
use everfold_compact::strip::{Stripped, TooLong};
use everfold_compact::{
    AppliedCompaction, CompactionScope, Plan, SpanFacts, Summariser, Summary, Trigger, files, pins,
    user_messages,
};
use everfold_kernel::{Entry, Flags, Limits, Role, Window};
use everfold_prefix::Fold;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Pins may hold 20,000 tokens, and more once the estimate turns out to have
/// been low; no smaller threshold can be promised.
const LEAST_THRESHOLD: u64 = 40_000;

fn log_of(rounds: &[Round]) -> Log {
    let mut log = Log::started();
    log.user("start");
    write(&mut log, rounds, 0);
    log
}

fn ids(fold: &Fold) -> Vec<String> {
    let pieces = fold.messages().iter().flat_map(everfold_prefix::Message::pieces);
    pieces.map(|piece| piece.record.to_string()).collect()
}

/// What must hold of a compaction, whoever wrote the summary.
fn holds(before: &Log, applied: &AppliedCompaction, plan: &Plan) -> Result<(), TestCaseError> {
    let old = before.fold();
    let mut after = before.clone();
    after.append(applied);
    let mut new = after.fold();
    prop_assert_eq!(is_valid(&body(&mut new)["messages"]), Ok(()));
    prop_assert!(keeps_responses_whole(&old, &new));
    if last_speaker(&old) == Some(Role::User) {
        prop_assert_eq!(last_speaker(&new), Some(Role::User));
    }
    let pieces = |fold: &Fold| -> Vec<(String, Value)> {
        let all = fold.messages().iter().flat_map(everfold_prefix::Message::pieces);
        all.map(|p| (p.record.to_string(), json!(p.block))).collect()
    };
    let now = pieces(&new);
    for kept in pieces(&old).into_iter().filter(|(id, _)| {
        plan.preserved.iter().any(|own| own.as_str() == id) || old.pins().any(|p| p.as_str() == id)
    }) {
        prop_assert!(now.contains(&kept), "lost {kept:?}");
    }
    prop_assert_eq!(new.count().0, applied.report.after);
    reachable(&old, &new, applied)
}

/// Everything that went lies in a span whose ends are named, and the summary
/// names the ends of all.
fn reachable(old: &Fold, new: &Fold, applied: &AppliedCompaction) -> Result<(), TestCaseError> {
    let here: BTreeSet<String> = ids(new).into_iter().collect();
    let order = ids(old);
    let at = |id: &str| order.iter().position(|own| own == id).unwrap();
    let spans = &applied.report.dropped;
    for id in order.iter().filter(|id| !here.contains(*id)) {
        let inside = spans.iter().any(|span| {
            let last = order.iter().rposition(|own| own == span.to.as_str()).unwrap();
            (at(span.from.as_str())..=last).contains(&at(id))
        });
        prop_assert!(inside, "{id} cannot be reached");
    }
    let Some(Entry::User(summary)) = applied.entries.get(1) else { panic!("no summary") };
    let text = summary.content[0].plain_text();
    let (first, last) = (spans.first().unwrap(), spans.last().unwrap());
    prop_assert!(text.contains(first.from.as_str()) && text.contains(last.to.as_str()));
    Ok(())
}

fn scope(log: &Log, kind: u8, at: usize) -> CompactionScope {
    let all = ids(&log.fold());
    let pivot = all[at % all.len()].as_str().into();
    match kind % 3 {
        0 => CompactionScope::All,
        1 => CompactionScope::From(pivot),
        _ => CompactionScope::UpTo(pivot),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn l4_11_a_local_summary_leaves_a_valid_conversation(
        rounds in rounds(30), kind in any::<u8>(), at in any::<usize>(),
    ) {
        let log = log_of(&rounds);
        let fold = log.fold();
        let scope = scope(&log, kind, at);
        let Ok(plan) = Plan::new(&fold, scope, Trigger::Auto) else { return Ok(()) };
        let window = window(2_000_000);
        let setting = CompactionContext { fold: &fold, window: &window, limits: &log.limits };
        if let Ok(applied) = settle_local(setting, &plan, &Extras::default()) {
            let Entry::Boundary(boundary) = &applied.entries[0] else { panic!() };
            let used = Plan { preserved: boundary.preserved.clone(), ..plan };
            holds(&log, &applied, &used)?;
        }
    }

    #[test]
    fn l4_12_a_models_summary_leaves_a_valid_conversation(
        rounds in rounds(30), kind in any::<u8>(), at in any::<usize>(), text in "[a-z <>/é\n]{0,200}",
    ) {
        let log = log_of(&rounds);
        let fold = log.fold();
        let scope = scope(&log, kind, at);
        let Ok(plan) = Plan::new(&fold, scope, Trigger::Manual) else { return Ok(()) };
        let past = plan.past(&fold, &log.limits);
        let window = window(2_000_000);
        let setting = CompactionContext { fold: &fold, window: &window, limits: &log.limits };
        let summary = Summary::checked(setting, &past, &text, Summariser::Model);
        prop_assert!((0.0..=1.0).contains(&summary.retention));
        let read = [("/p/src/f0.rs".into(), "one\ntwo\n".to_owned())];
        let extras = Extras { restored: files::attach(&read, &log.limits), ..Extras::default() };
        if let Ok(applied) = settle(setting, &plan, &summary, &extras) {
            holds(&log, &applied, &plan)?;
        }
    }

    #[test]
    fn l4_11_user_messages_stay_word_for_word_up_to_the_cap(rounds in rounds(30)) {
        let mut log = log_of(&rounds);
        log.tool("Bash", json!({"command": "cat big"}), &"filler\n".repeat(60_000));
        let fold = log.fold();
        let past = log.plan().past(&fold, &log.limits);
        log.compact(&window(2_000_000)).unwrap();
        let said = SpanFacts::of(&log.fold(), &log.limits).said;
        let mut tokens = 0;
        for message in past.said.iter().rev() {
            tokens += (message.render().len() as u64).div_ceil(4);
            if tokens > log.limits.compact.user_message_tokens {
                break;
            }
            let text = message.text.replace("</said>", "&lt;/said>");
            prop_assert!(said.iter().any(|own| own.text == text.trim_matches('\n')), "{text}");
        }
    }

    #[test]
    fn l4_15_compacting_again_and_again_ends_under_the_threshold(
        parts in prop::collection::vec(rounds(20), 1..5), threshold in LEAST_THRESHOLD..90_000,
        percent in 70_u64..140,
    ) {
        let mut log = Log::started();
        log.percent = percent;
        log.user("start");
        let window: Window = window(threshold);
        let limits = Limits::default();
        for (number, part) in parts.iter().enumerate() {
            write(&mut log, part, number * 100);
            let mut tries = 0;
            while due(&log.fold(), &window, &Flags::default(), &limits, ConversationKind::MainThread) != Due::No {
                tries += 1;
                prop_assert!(tries <= 1, "a compaction that was accepted is followed by another");
                let pins: Vec<_> = log.fold().pins().cloned().collect();
                let applied = log.compact(&window);
                prop_assert!(applied.is_ok(), "{applied:?} with {} pins", pins.len());
            }
            prop_assert!(log.fold().count().0 <= threshold);
            prop_assert_eq!(is_valid(&body(&mut log.fold())["messages"]), Ok(()));
        }
    }

    #[test]
    fn l4_8_a_stripped_conversation_is_valid_however_much_is_left_out(
        rounds in rounds(30), gaps in prop::collection::vec(prop::option::of(1_u64..40_000), 0..5),
        kind in any::<u8>(), at in any::<usize>(),
    ) {
        let log = log_of(&rounds);
        let fold = log.fold();
        let scope = scope(&log, kind, at);
        let Ok(plan) = Plan::new(&fold, scope, Trigger::Auto) else { return Ok(()) };
        let mut stripped = Stripped::of(&fold, &plan, &log.limits);
        let mut tries = 0;
        for gap in std::iter::once(&None).chain(&gaps) {
            let messages: Vec<Value> = stripped.messages().iter()
                .map(|(role, blocks)| json!({"role": role, "content": blocks})).collect();
            prop_assert_eq!(is_valid(&json!(messages)), Ok(()));
            prop_assert!(!json!(messages).to_string().contains("\"type\":\"image\""));
            let refused = TooLong { actual: gap.map(|gap| gap + 100), maximum: gap.map(|_| 100) };
            let Some(smaller) = stripped.shrink(refused, &log.limits) else { break };
            prop_assert!(smaller.rounds() < stripped.rounds());
            stripped = smaller;
            tries += 1;
        }
        prop_assert!(tries <= 3);
    }

    #[test]
    fn l4_16_pins_never_hold_more_than_their_limit(rounds in rounds(30)) {
        let log = log_of(&rounds);
        prop_assert!(pins::tokens(&log.fold()).0 <= log.limits.compact.pin_tokens);
    }

    #[test]
    fn said_never_takes_more_than_its_tokens(rounds in rounds(30), tokens in 0_u64..5_000) {
        let log = log_of(&rounds);
        let past = SpanFacts::of(&log.fold(), &log.limits);
        let chosen = user_messages::choose(&past.said, tokens, &log.limits);
        let size: u64 = chosen.iter().map(|s| (s.render().len() as u64).div_ceil(4)).sum();
        prop_assert!(size <= tokens);
    }
}
