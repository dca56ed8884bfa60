//! What goes and what stays.

use crate::logs::{Log, body, texts, thinking, window};
use crate::validity::is_valid;
use everfold_compact::apply::{CompactionContext, Extras, settle};
use everfold_compact::preview::preview;
use everfold_compact::{CompactionScope, Error, Plan, Summariser, Summary, Trigger, files, pins};
use everfold_kernel::record::Keeps;
use everfold_kernel::{Block, Decision, Entry, RecordId, Usage, UserOrigin};
use serde_json::json;

fn long() -> String {
    "some output\n".repeat(500)
}

fn summary(text: &str) -> Summary {
    Summary { text: text.into(), way: Summariser::Model, retention: 1.0 }
}

fn put(log: &mut Log, scope: CompactionScope, trigger: Trigger) -> Plan {
    let fold = log.fold();
    let plan = Plan::new(&fold, scope, trigger).unwrap();
    let window = window(167_000);
    let setting = CompactionContext { fold: &fold, window: &window, limits: &log.limits };
    let applied = settle(setting, &plan, &summary("what happened"), &Extras::default()).unwrap();
    log.append(&applied);
    plan
}

/// Texts in view, the summary's by its name.
fn shown(log: &Log) -> Vec<String> {
    let name = |text: String| {
        if text.contains("<conversation-summary>") { "SUMMARY".to_owned() } else { text }
    };
    texts(&log.fold()).into_iter().map(name).collect()
}

#[test]
fn l4_7_from_keeps_the_earlier_prefix_and_its_bytes() {
    let mut log = Log::started();
    log.user("first");
    log.says("one");
    let pivot = log.user("second");
    log.tool("Bash", json!({"command": "ls"}), &long());
    log.says("two");
    let before = body(&mut log.fold());
    let plan = put(&mut log, CompactionScope::From(pivot), Trigger::Manual);
    assert_eq!(plan.keeps, Keeps::Prefix);
    assert_eq!(shown(&log), ["first", "one", "second", "SUMMARY"]);
    let after = body(&mut log.fold());
    assert_eq!(before["messages"][0]["content"][0]["text"], "first");
    assert_eq!(after["messages"][0]["content"][0]["text"], "first");
    assert_eq!(before["messages"][1]["content"], after["messages"][1]["content"]);
}

#[test]
fn l4_7_up_to_keeps_the_later_messages() {
    let mut log = Log::started();
    log.user(&long());
    log.says("one");
    let pivot = log.user("second");
    log.says("two");
    let plan = put(&mut log, CompactionScope::UpTo(pivot), Trigger::Manual);
    assert_eq!(plan.keeps, Keeps::Suffix);
    assert_eq!(shown(&log), ["SUMMARY", "second", "two"]);
}

#[test]
fn l4_7_a_split_never_tears_an_exchange() {
    let mut log = Log::started();
    log.user(&long());
    let (a, b) = (log.call_id(), log.call_id());
    let call = |id| Block::tool_use(id, "Read", json!({"file_path": "/a"}));
    let records = log.answer(vec![thinking(), call(&a), call(&b)], Usage::default());
    let first = log.user_blocks(vec![Block::tool_result(&a, json!("A"))], UserOrigin::ToolResult);
    let second = log.user_blocks(vec![Block::tool_result(&b, json!("B"))], UserOrigin::ToolResult);
    log.says("done");
    let fold = log.fold();
    for pivot in [&records[1], &first, &second] {
        let plan = Plan::new(&fold, CompactionScope::UpTo(pivot.clone()), Trigger::Manual).unwrap();
        let whole: Vec<&RecordId> = records.iter().chain([&first, &second]).collect();
        assert!(whole.iter().all(|id| plan.preserved.contains(id)), "{pivot}");
    }
    put(&mut log, CompactionScope::UpTo(second), Trigger::Manual);
    assert_eq!(is_valid(&body(&mut log.fold())["messages"]), Ok(()));
    assert_eq!(shown(&log)[1..], ["hm", "", "", "A", "B", "done"]);
}

#[test]
fn l4_7_a_scope_that_names_nothing_is_refused() {
    let mut log = Log::started();
    let only = log.user("hello");
    let plan = |scope| Plan::new(&log.fold(), scope, Trigger::Manual);
    assert!(matches!(
        plan(CompactionScope::From("ghost".into())),
        Err(Error::UnknownRecord { .. })
    ));
    assert!(matches!(plan(CompactionScope::UpTo(only)), Err(Error::NothingToSummarise)));
}

#[test]
fn l4_16_a_pinned_result_keeps_its_call_and_stays_word_for_word() {
    let mut log = Log::started();
    log.user(&long());
    let (call, result) = log.tool("Read", json!({"file_path": "/a"}), "keep me");
    log.tool("Bash", json!({"command": "ls"}), &long());
    let pin = pins::pin(&log.fold(), &result, &log.limits).unwrap();
    log.decide(pin);
    let plan = put(&mut log, CompactionScope::All, Trigger::Auto);
    assert_eq!(plan.preserved, [call, result]);
    assert_eq!(shown(&log), ["SUMMARY", "", "keep me"]);
    // And through the next one.
    log.tool("Bash", json!({"command": "ls"}), &long());
    put(&mut log, CompactionScope::All, Trigger::Auto);
    assert!(shown(&log).contains(&"keep me".to_owned()));
    assert_eq!(is_valid(&body(&mut log.fold())["messages"]), Ok(()));
}

#[test]
fn l4_16_a_pinned_answer_at_the_end_is_followed_by_the_user() {
    let mut log = Log::started();
    log.user("start");
    let answer = log.says("the plan");
    log.tool("Bash", json!({"command": "ls"}), &long());
    log.decide(Decision::Pinned { record: answer });
    put(&mut log, CompactionScope::All, Trigger::Auto);
    assert_eq!(shown(&log), ["SUMMARY", "the plan", "Go on from the summary above."]);
}

#[test]
fn l4_16_pinning_says_no_beyond_its_limit() {
    let mut log = Log::started();
    let small = log.user("small");
    let big = log.user(&"x".repeat(81_000));
    let fold = log.fold();
    assert!(matches!(pins::pin(&fold, &big, &log.limits), Err(Error::PinsFull { .. })));
    assert!(matches!(
        pins::pin(&fold, &"ghost".into(), &log.limits),
        Err(Error::UnknownRecord { .. })
    ));
    log.decide(pins::pin(&fold, &small, &log.limits).unwrap());
    let fold = log.fold();
    assert!(matches!(pins::pin(&fold, &small, &log.limits), Err(Error::AlreadyPinned { .. })));
    log.decide(pins::unpin(&fold, &small).unwrap());
    assert_eq!(pins::tokens(&log.fold()).0, 0);
}

#[test]
fn l4_10_a_prompt_that_waits_for_its_answer_stays() {
    let mut log = Log::started();
    log.user(&long());
    log.says("one");
    log.attach("note", "aside");
    log.user("and now this");
    put(&mut log, CompactionScope::All, Trigger::Auto);
    assert_eq!(shown(&log), ["SUMMARY", "and now this"]);
}

#[test]
fn l3_6_notes_stand_before_the_messages_that_they_do_not_cover() {
    let mut log = Log::started();
    log.user("go");
    log.tool("Bash", json!({"command": "ls"}), &long());
    let (call, result) = log.tool("Read", json!({"file_path": "/a.rs"}), "newest");
    let fold = log.fold();
    let plan = Plan::new(&fold, CompactionScope::UpTo(result.clone()), Trigger::Auto).unwrap();
    assert_eq!(plan.preserved, [call, result]);
    let window = window(167_000);
    let setting = CompactionContext { fold: &fold, window: &window, limits: &log.limits };
    let notes = Summary { text: "the notes".into(), way: Summariser::Notes, retention: 1.0 };
    let applied = settle(setting, &plan, &notes, &Extras::default()).unwrap();
    log.append(&applied);
    assert_eq!(shown(&log), ["SUMMARY", "", "newest"]);
    let Entry::Boundary(boundary) = &applied.entries[0] else { panic!() };
    assert_eq!(boundary.metadata["way"], "notes");
    assert_eq!(is_valid(&body(&mut log.fold())["messages"]), Ok(()));
}

#[test]
fn l4_6_the_boundary_says_what_happened() {
    let mut log = Log::started();
    log.user("go");
    let (_, last) = log.tool("Read", json!({"file_path": "/a.rs"}), &long());
    let (fold, plan) = (log.fold(), log.plan());
    let window = window(167_000);
    let setting = CompactionContext { fold: &fold, window: &window, limits: &log.limits };
    let restored = files::attach(&[("/a.rs".into(), "fn a() {}".into())], &log.limits);
    let metadata = json!({"preCompactDiscoveredTools": ["WebFetch"]}).as_object().unwrap().clone();
    let extras = Extras { restored, metadata };
    let applied = settle(setting, &plan, &summary("short"), &extras).unwrap();
    let Entry::Boundary(boundary) = &applied.entries[0] else { panic!() };
    assert_eq!(boundary.trigger, "auto");
    assert_eq!(boundary.pre_tokens, fold.count().0);
    assert_eq!(boundary.last_before, Some(last));
    assert_eq!(
        json!(boundary.metadata),
        json!({"preCompactDiscoveredTools": ["WebFetch"], "way": "model",
            "postTokens": applied.report.after, "retention": 1.0, "restored": ["/a.rs"]})
    );
    assert!(
        matches!(&applied.entries[1], Entry::User(user) if user.origin == UserOrigin::CompactSummary)
    );
    assert!(
        matches!(&applied.entries[2], Entry::Attachment(a) if a.kind == "compact_file_reference")
    );
}

#[test]
fn l4_16_the_preview_shows_what_would_go() {
    let mut log = Log::started();
    let pinned = log.user("keep this in mind");
    log.tool("Read", json!({"file_path": "/a.rs"}), &long());
    log.answer(vec![thinking(), Block::text("read it")], Usage::default());
    log.user("now change it");
    log.tool("Edit", json!({"file_path": "/a.rs"}), "done");
    log.decide(Decision::Pinned { record: pinned });
    let preview = preview(&log.fold(), &log.plan(), &log.limits);
    insta::assert_json_snapshot!(preview);
}
