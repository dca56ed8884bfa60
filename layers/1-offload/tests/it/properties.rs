//! What holds for any batch of results.

use crate::logs::{Disk, Log};
use everfold_kernel::Effect;
use everfold_offload::{ResultCap, cap, plan};
use everfold_prefix::Showing;
use proptest::prelude::*;
use serde_json::{Value, json};

const TOOLS: [&str; 5] = ["Read", "Bash", "Grep", "WebFetch", "mcp__x__y"];

/// Results as (tool, content), with limits that are small.
fn batch() -> impl Strategy<Value = Vec<(usize, Value)>> {
    let text = (0_usize..300, "[a-zé漢\n</>-]{1,4}").prop_map(|(n, unit)| unit.repeat(n));
    let content = prop_oneof![
        6 => text.clone().prop_map(Value::String),
        1 => text.clone().prop_map(|text| json!([{"type": "text", "text": text}])),
        1 => text.prop_map(|text| json!([{"type": "text", "text": text}, {"type": "image"}])),
    ];
    prop::collection::vec((0..TOOLS.len(), content), 0..12)
}

fn log_of(batches: &[Vec<(usize, Value)>], disk: Disk) -> Log {
    let mut log = Log::started();
    log.limits.bash_chars = 200;
    log.limits.grep_chars = 100;
    log.limits.default_chars = 400;
    log.limits.message_chars = 900;
    log.limits.preview_bytes = 50;
    for (turn, batch) in batches.iter().enumerate() {
        let ids: Vec<String> = (0..batch.len()).map(|index| format!("t{turn}_{index}")).collect();
        let calls: Vec<(&str, &str, Value)> = ids
            .iter()
            .zip(batch)
            .map(|(id, (tool, content))| (id.as_str(), TOOLS[*tool], content.clone()))
            .collect();
        log.round(&calls);
        log.run(disk);
    }
    log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn l1_3_after_the_layer_every_result_is_under_its_cap_and_nothing_is_left_to_decide(
        batches in prop::collection::vec(batch(), 1..4),
    ) {
        let log = log_of(&batches, Disk::Works);
        let fold = log.fold();
        for result in fold.results() {
            let content = &result.piece.block.as_map()["content"];
            let media = content.to_string().contains("\"image\"");
            if result.piece.shown == Showing::Whole && !media
                && let ResultCap::Chars(most) = cap(result.tool, &log.limits) {
                prop_assert!(result.piece.block.plain_text().chars().count() as u64 <= most);
            }
            let exempt = result.tool == "Read" || media;
            prop_assert!(!(exempt && result.piece.shown != Showing::Whole));
        }
        prop_assert!(plan(&fold, &log.limits).is_empty());
    }

    #[test]
    fn l1_4_what_was_shown_once_is_shown_the_same_for_ever(
        batches in prop::collection::vec(batch(), 1..5),
    ) {
        let all = log_of(&batches, Disk::Works).shown();
        for turns in 1..batches.len() {
            let earlier = log_of(&batches[..turns], Disk::Works).shown();
            prop_assert!(all.starts_with(&earlier));
        }
    }

    #[test]
    fn l1_7_nothing_is_dropped_silently(batch in batch()) {
        let mut log = log_of(std::slice::from_ref(&batch), Disk::Full);
        for (shown, (_, content)) in log.shown().iter().zip(&batch) {
            let whole = match content {
                Value::String(text) => text.clone(),
                other => other[0]["text"].as_str().unwrap().to_owned(),
            };
            prop_assert!(*shown == whole || shown.contains("[Cut here: "));
        }
        let planned = plan(&log.fold(), &log.limits);
        prop_assert_eq!(&planned, &plan(&log.fold(), &log.limits), "same input, same bytes");
        for spill in planned {
            let is_name = matches!(&spill.effect, Effect::Spill { file, .. } if !file.contains('/'));
            prop_assert!(is_name);
        }
        log.run(Disk::Works);
        prop_assert!(plan(&log.fold(), &log.limits).is_empty());
    }
}
