//! What a model is asked.

use crate::logs::{Log, window};
use everfold_compact::plan::sending;
use everfold_compact::strip::{Stripped, TooLong};
use everfold_compact::{CompactionScope, Guidance, Plan, Sending, Trigger, files};
use everfold_kernel::effect::{Ask, AskShape};
use everfold_kernel::record::CacheState;
use everfold_kernel::{Block, Effect, QuerySource, Role, Usage, UserOrigin};
use serde_json::json;
use std::path::PathBuf;

fn asked(effect: Effect) -> Ask {
    match effect {
        Effect::Ask(ask) => ask,
        other => panic!("{other:?}"),
    }
}

#[test]
fn l4_4_the_summary_is_asked_for_by_a_fork() {
    let mut log = Log::started();
    log.user("go");
    log.says("done");
    let guidance = Guidance { person: Some("mind the SQL"), standing: None };
    let ask = asked(log.plan().ask(&log.fold(), guidance, &log.limits).unwrap());
    assert_eq!((ask.source, ask.max_tokens), (QuerySource::Compact, 20_000));
    let AskShape::Fork { directive } = ask.shape else { panic!() };
    assert!(directive.contains("mind the SQL") && directive.contains("<summary>"));
}

#[test]
fn l4_7_a_partial_summary_is_told_its_part() {
    let mut log = Log::started();
    log.user("first");
    log.says("one");
    let pivot = log.user("the second thing");
    log.says("two");
    let fold = log.fold();
    let told = |scope| {
        let plan = Plan::new(&fold, scope, Trigger::Manual).unwrap();
        let ask = asked(plan.ask(&fold, Guidance::default(), &log.limits).unwrap());
        let AskShape::Fork { directive } = ask.shape else { panic!() };
        directive
    };
    assert!(
        told(CompactionScope::From(pivot.clone()))
            .contains("only what came after the message that begins with \"the second thing\"")
    );
    assert!(told(CompactionScope::UpTo(pivot)).contains("only what came before the message"));
}

#[test]
fn l4_3_a_warm_cache_is_read_and_a_cold_one_is_not_filled() {
    let mut log = Log::started();
    log.user(&"x".repeat(4_000));
    let fold = log.fold();
    let how = |cache, threshold| sending(&fold, &window(threshold), cache, &log.limits);
    assert_eq!(how(CacheState::Warm, 10_000), Sending::Fork);
    assert_eq!(how(CacheState::Cold, 10_000), Sending::Stripped);
    log.user(&"x".repeat(400_000));
    let fold = log.fold();
    assert_eq!(sending(&fold, &window(10_000), CacheState::Warm, &log.limits), Sending::Stripped);
}

#[test]
fn l4_3_pictures_documents_and_what_comes_back_are_stripped() {
    let mut log = Log::started();
    let document = Block::from_value(json!({"type": "document", "source": {}})).unwrap();
    log.user_blocks(
        vec![Block::text("look"), Block::image("image/png", "AAAA"), document],
        UserOrigin::Human,
    );
    log.attach("instructions", "always there");
    log.attach("relevant_memories", "not always there");
    let id = log.call_id();
    log.answer(
        vec![Block::tool_use(&id, "Read", json!({"file_path": "/a.png"}))],
        Usage::default(),
    );
    let content = json!([{"type": "text", "text": "a"}, {"type": "image", "source": {}}]);
    log.user_blocks(vec![Block::tool_result(&id, content)], UserOrigin::ToolResult);
    let (fold, plan) =
        (log.fold(), Plan::new(&log.fold(), CompactionScope::All, Trigger::Manual).unwrap());
    let stripped = Stripped::of(&fold, &plan, &log.limits);
    let ask = asked(stripped.ask(&fold, &plan, Guidance::default(), &log.limits).unwrap());
    let AskShape::Conversation { messages, .. } = ask.shape else { panic!() };
    insta::assert_json_snapshot!(messages);
}

#[test]
fn l4_8_the_oldest_rounds_go_until_the_gap_is_covered() {
    let mut log = Log::started();
    log.user("start");
    for _ in 0..10 {
        log.tool("Bash", json!({"command": "ls"}), &"x".repeat(4_000));
    }
    let stripped = Stripped::of(&log.fold(), &log.plan(), &log.limits);
    assert_eq!(stripped.rounds(), 11);
    let gap = TooLong { actual: Some(203_000), maximum: Some(200_000) };
    let smaller = stripped.shrink(gap, &log.limits).unwrap();
    assert_eq!(smaller.left_out(), 4, "the first prompt and three rounds of a thousand tokens");
    let (role, blocks) = &smaller.messages()[0];
    assert_eq!(*role, Role::User);
    assert!(blocks[0].plain_text().contains("left out"));
    let by_share = stripped.shrink(TooLong::default(), &log.limits).unwrap();
    assert_eq!(by_share.left_out(), 3, "a fifth of eleven, rounded up");
    let third = by_share.shrink(TooLong::default(), &log.limits).unwrap();
    let third = third.shrink(TooLong::default(), &log.limits).unwrap();
    assert_eq!(third.shrink(TooLong::default(), &log.limits), None, "three tries");
}

#[test]
fn l4_8_after_the_whole_was_refused_only_what_stripping_left_open_is_dropped() {
    let mut log = Log::started();
    let picture = json!({"type": "image", "source": {}});
    log.user_blocks(vec![Block::from_value(picture).unwrap()], UserOrigin::Human);
    for _ in 0..10 {
        log.tool("Bash", json!({"command": "ls"}), &"x".repeat(4_000));
    }
    let stripped = || Stripped::of(&log.fold(), &log.plan(), &log.limits);
    let refused = |gap: u64| TooLong { actual: Some(200_000 + gap), maximum: Some(200_000) };
    let by_words = stripped().in_place_of_all(refused(1_500), &log.limits).unwrap();
    assert_eq!(by_words.left_out(), 0, "a picture of 2,000 tokens covers it");
    let by_rounds = stripped().in_place_of_all(refused(3_500), &log.limits).unwrap();
    assert!((2..=3).contains(&by_rounds.left_out()), "{}", by_rounds.left_out());
    let by_share = stripped().in_place_of_all(TooLong::default(), &log.limits).unwrap();
    assert_eq!(by_share.left_out(), 3, "a fifth, whatever was taken out");
    let mut last = Some(by_words);
    for _ in 0..2 {
        last = last.unwrap().shrink(TooLong::default(), &log.limits);
    }
    assert_eq!(last.unwrap().shrink(TooLong::default(), &log.limits), None, "three in all");
}

#[test]
fn l4_5_the_files_used_last_are_read_again() {
    let mut log = Log::started();
    log.user("go");
    for name in ["a", "b", "c", "d", "e", "f", "a"] {
        log.tool("Read", json!({"file_path": format!("/{name}.rs")}), "text");
    }
    log.tool("Edit", json!({"file_path": "/c.rs"}), "done");
    log.fails("Read", json!({"file_path": "/ghost.rs"}), "no such file");
    let past = log.plan().past(&log.fold(), &log.limits);
    let Some(Effect::ReadFiles { paths, max_bytes }) = files::wanted(&past, &log.limits) else {
        panic!()
    };
    let expected: Vec<PathBuf> =
        ["/c.rs", "/a.rs", "/f.rs", "/e.rs", "/d.rs"].iter().map(PathBuf::from).collect();
    assert_eq!(paths, expected);
    assert_eq!(max_bytes, 20_001);
}
