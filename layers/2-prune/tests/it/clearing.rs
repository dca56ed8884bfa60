//! Which results go, and when.

use crate::logs::{Log, touched};
use everfold_kernel::record::{CacheState, CacheTtl, ClearTrigger, Spilled};
use everfold_kernel::{Decision, Entry, Flag};
use everfold_prefix::BreakCause;
use everfold_prune::{CacheEdits, Prefix, RequestThread};

const HOUR: i64 = 3_600;

fn idle(results: usize, chars: usize) -> Log {
    let mut log = Log::started(Some(CacheTtl::OneHour));
    log.reads(results, chars).says("done").prompt("and now");
    log
}

#[test]
fn l2_2_after_an_hour_all_but_the_five_newest_results_are_cleared() {
    let mut log = idle(8, 2_000);
    assert_eq!(log.plan(), None, "the cache is warm and nothing pays");
    log.wait(HOUR + 1);
    let decision = log.run().unwrap();
    assert_eq!(touched(&decision), ["t0", "t1", "t2"]);
    let Decision::Cleared(cleared) = decision else { panic!("another decision") };
    assert_eq!(cleared.trigger, ClearTrigger::Time);
    assert_eq!((cleared.sum.cache, cleared.sum.costs.0), (CacheState::Cold, 0.0));
    assert!(cleared.sum.saves.0 > 0.0 && cleared.sum.cleared_tokens > 1_400);
    let shown = log.shown();
    assert_eq!(shown[0], "[Old tool result content cleared] (id: t0)");
    assert_eq!(shown[3], "x".repeat(2_000));
}

#[test]
fn l2_2_the_hour_is_one_of_the_settings_and_one_result_always_stays() {
    let mut log = idle(3, 2_000);
    log.limits.prune.keep_results = 0;
    assert_eq!(touched(&log.wait(HOUR + 1).plan().unwrap()), ["t0", "t1"]);
    log.limits.prune.keep_results = 3;
    assert_eq!(log.plan(), None);
    let mut log = Log::started(None);
    log.reads(8, 2_000).says("done").prompt("and now").wait(20 * 60);
    log.model.prices = None;
    assert_eq!(log.plan(), None);
    log.limits.prune.idle_minutes = 10;
    assert_eq!(touched(&log.plan().unwrap()).len(), 3);
}

#[test]
fn l2_2_the_switch_turns_clearing_off() {
    let mut log = idle(8, 2_000);
    log.wait(HOUR + 1).flags.set(Flag::PruneTime, false);
    assert_eq!(log.plan(), None);
}

#[test]
fn l2_2_a_result_that_the_model_has_not_answered_stays() {
    let mut log = Log::started(Some(CacheTtl::OneHour));
    log.limits.prune.keep_results = 1;
    log.reads(3, 2_000).wait(2 * HOUR);
    log.prompt("are you there?");
    assert_eq!(touched(&log.plan().unwrap()), ["t0", "t1"]);
    log.limits.prune.keep_results = 2;
    assert_eq!(touched(&log.plan().unwrap()), ["t0"]);
}

#[test]
fn l2_2_l2_7_with_a_cache_of_five_minutes_the_sum_decides_from_then_on() {
    let mut log = Log::started(Some(CacheTtl::FiveMinutes));
    log.reads(8, 2_000).says("done").prompt("and now");
    assert_eq!(log.wait(200).plan(), None);
    let Some(Decision::Cleared(cleared)) = log.wait(200).plan() else { panic!("not cleared") };
    assert_eq!((cleared.trigger, cleared.results.len()), (ClearTrigger::Economy, 3));
    log.last_fork = Some(log.now());
    assert_eq!(log.plan(), None, "a fork kept the cache warm");
    log.prefix = Prefix::Broken;
    assert!(log.plan().is_some(), "another prefix: the cache is of no use");
}

#[test]
fn l2_1_nothing_but_clearable_tools_is_touched() {
    let mut log = Log::started(Some(CacheTtl::OneHour));
    for (index, tool) in ["mcp__db__rows", "Read", "Task", "Bash", "ResultRead"].iter().enumerate()
    {
        log.call(&format!("t{index}"), tool, &"x".repeat(5_000));
    }
    log.limits.prune.keep_results = 1;
    log.call("last", "Edit", "done").says("done").prompt("and now").wait(2 * HOUR);
    assert_eq!(touched(&log.plan().unwrap()), ["t1", "t3"]);
}

#[test]
fn l2_5_a_marker_names_its_id_where_the_result_can_be_brought_back() {
    let mut log = Log::started(Some(CacheTtl::OneHour));
    log.limits.prune.keep_results = 1;
    log.call("long", "Bash", &"é".repeat(1_001)).call("short", "Bash", &"é".repeat(1_000));
    log.call("spilled", "Bash", "whole");
    log.push(Entry::Decision(Decision::Spilled(Spilled {
        tool_use_id: "spilled".into(),
        replacement: "<persisted-output>…".repeat(9),
        file: Some("spilled.txt".into()),
        chars: 99_000,
    })));
    log.call("two words", "Bash", &"x".repeat(9_000)).call("last", "Bash", "new");
    log.says("done").prompt("and now").wait(2 * HOUR).run().unwrap();
    assert_eq!(
        log.shown(),
        [
            "[Old tool result content cleared] (id: long)",
            "[Old tool result content cleared]",
            "[Old tool result content cleared] (id: spilled)",
            "[Old tool result content cleared]",
            "new"
        ]
    );
}

#[test]
fn l2_6_a_clearing_is_a_declared_break() {
    let mut log = idle(8, 2_000);
    log.wait(2 * HOUR).run().unwrap();
    assert_eq!(log.fold().take_break(), Some(BreakCause::Clearing));
}

fn editing(results: usize) -> Log {
    let mut log = Log::started(Some(CacheTtl::OneHour));
    log.flags.set(Flag::PruneCacheEdit, true);
    log.cache_edits = CacheEdits::Offered;
    log.reads(results, 500);
    log
}

#[test]
fn l2_3_over_twenty_live_results_all_but_five_are_edited_out_of_the_cache() {
    assert_eq!(editing(20).plan(), None);
    let mut log = editing(21);
    let before = log.shown();
    let edits = touched(&log.run().unwrap());
    assert_eq!((edits.len(), edits[0].as_str(), edits[15].as_str()), (16, "t0", "t15"));
    assert_eq!(log.shown(), before, "our messages are not touched");
    let body = log.fold().request(None).unwrap().body.whole();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let last = body["messages"].as_array().unwrap().last().unwrap();
    let block = last["content"].as_array().unwrap().last().unwrap();
    assert_eq!(block["type"], "cache_edits");
    assert_eq!(block["edits"][0]["cache_reference"], "t0");
    assert_eq!(log.plan(), None, "5 are live");
    for index in 0..16 {
        log.call(&format!("n{index}"), "Bash", "text");
    }
    let later = touched(&log.run().unwrap());
    assert_eq!((later.len(), later[0].as_str()), (16, "t16"), "each is edited out once");
}

#[test]
fn l2_3_only_for_providers_that_say_so_only_on_the_main_thread_and_only_with_the_switch() {
    let without = |change: fn(&mut Log)| {
        let mut log = editing(30);
        assert!(log.plan().is_some());
        change(&mut log);
        log.plan()
    };
    assert_eq!(without(|log| log.thread = RequestThread::Fork), None);
    let is_edit = |decision| matches!(decision, Some(Decision::CacheEdited { .. }));
    assert!(is_edit(without(|_| ())));
    assert!(!is_edit(without(|log| log.cache_edits = CacheEdits::NotOffered)));
    assert!(!is_edit(without(|log| log.flags.set(Flag::PruneCacheEdit, false))));
}

#[test]
fn l2_3_what_the_server_dropped_is_not_cleared_again_while_the_cache_is_warm() {
    let mut log = editing(21);
    log.run().unwrap();
    log.flags.set(Flag::PruneCacheEdit, false);
    log.limits.prune.expected_rounds = 1_000_000;
    assert_eq!(log.says("done").prompt("and now").plan(), None);
    assert_eq!(touched(&log.wait(2 * HOUR).plan().unwrap()).len(), 16);
}
