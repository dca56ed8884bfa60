//! What holds for any session.

use crate::logs::{Log, touched};
use everfold_kernel::Flag;
use everfold_kernel::record::CacheTtl;
use everfold_prune::{CacheEdits, is_clearable};
use proptest::prelude::*;

const TOOLS: [&str; 6] = ["Read", "Bash", "Edit", "mcp__a__Read", "Task", "ResultRead"];

/// One step of a session.
#[derive(Clone, Debug)]
enum Step {
    Call { tool: usize, chars: usize },
    Turn,
    Wait(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..TOOLS.len(), prop_oneof![0_usize..60, 0_usize..9_000])
            .prop_map(|(tool, chars)| Step::Call { tool, chars }),
        1 => Just(Step::Turn),
        1 => (0_i64..5_000).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 0..60)
}

#[derive(Clone, Copy, Debug)]
struct World {
    ttl: Option<CacheTtl>,
    keep: u64,
    rounds: u64,
    edits: bool,
}

fn world() -> impl Strategy<Value = World> {
    let ttl =
        prop_oneof![Just(None), Just(Some(CacheTtl::FiveMinutes)), Just(Some(CacheTtl::OneHour))];
    (ttl, 0_u64..7, 0_u64..200, any::<bool>()).prop_map(|(ttl, keep, rounds, edits)| World {
        ttl,
        keep,
        rounds,
        edits,
    })
}

fn start(world: World) -> Log {
    let mut log = Log::started(world.ttl);
    log.limits.prune.keep_results = world.keep;
    log.limits.prune.edit_keep_results = world.keep;
    log.limits.prune.expected_rounds = world.rounds;
    log.flags.set(Flag::PruneCacheEdit, world.edits);
    log.cache_edits = CacheEdits::Offered;
    log
}

fn take(log: &mut Log, step: &Step, number: usize) {
    match step {
        Step::Call { tool, chars } => {
            log.call(&format!("c{number}"), TOOLS[*tool], &"x".repeat(*chars));
        }
        Step::Turn => {
            log.says("done").prompt("next");
        }
        Step::Wait(seconds) => {
            log.wait(*seconds);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn l2_1_only_old_clearable_results_are_touched_and_the_count_only_shrinks(
        world in world(), steps in steps(),
    ) {
        let mut log = start(world);
        for (number, step) in steps.iter().enumerate() {
            take(&mut log, step, number);
            let before = log.fold();
            let Some(decision) = log.run() else { continue };
            let ids = touched(&decision);
            let results = before.results();
            let clearable: Vec<&str> = results.iter()
                .filter(|result| is_clearable(result.tool))
                .map(|result| result.tool_use_id)
                .collect();
            let keep = usize::try_from(world.keep.max(1)).unwrap();
            let old = &clearable[..clearable.len().saturating_sub(keep)];
            prop_assert!(!ids.is_empty());
            prop_assert!(ids.iter().all(|id| old.contains(&id.as_str())), "{ids:?} of {old:?}");
            if matches!(decision, everfold_kernel::Decision::Cleared(_)) {
                prop_assert!(log.fold().count() < before.count());
            }
        }
    }

    #[test]
    fn l2_7_what_was_decided_is_not_decided_again(world in world(), steps in steps()) {
        let mut log = start(world);
        for (number, step) in steps.iter().enumerate() {
            take(&mut log, step, number);
            if let Some(first) = log.run() {
                let first = touched(&first);
                if let Some(second) = log.plan() {
                    let second = touched(&second);
                    prop_assert!(second.iter().all(|id| !first.contains(id)), "{first:?} {second:?}");
                    prop_assert!(false, "{first:?}, then {second:?}");
                }
            }
        }
    }

    #[test]
    fn l2_2_cleared_bytes_stay_as_they_are(world in world(), steps in steps()) {
        let mut log = start(world);
        let mut markers: Vec<(usize, String)> = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            take(&mut log, step, number);
            log.run();
            log.limits.prune.restorable_chars += 10;
            let shown = log.shown();
            for (index, marker) in &markers {
                prop_assert_eq!(&shown[*index], marker);
            }
            let is_marker = |text: &&String| text.starts_with(everfold_prune::CLEARED);
            markers = (0..).zip(&shown).filter(|(_, text)| is_marker(text))
                .map(|(index, text)| (index, text.clone())).collect();
        }
        let once = log.fold().request(None).map(|request| request.body);
        prop_assert_eq!(once, log.fold().request(None).map(|request| request.body));
    }
}
