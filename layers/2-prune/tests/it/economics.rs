//! Every clearing pays for itself, and the simulator agrees about the sum.

use crate::logs::{Log, touched};
use everfold_kernel::record::{CacheState, CacheTtl, ClearTrigger, ClearingSum};
use everfold_kernel::tokens::estimate_block;
use everfold_kernel::{Block, Decision, Entry, Limits, Tokens, Usage};
use everfold_prefix::sim::{SimConfig, Simulator, pieces_of};
use serde_json::{Value, json};

/// A cache and what it was paid.
#[derive(Clone)]
struct Bill {
    cache: Simulator,
    usd: f64,
}

impl Bill {
    fn request(&mut self, log: &Log) -> Usage {
        let body = log.fold().request(None).unwrap().body.whole();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let count = |block: &Value| {
            estimate_block(&Block::from_value(block.clone()).unwrap(), &Limits::default())
        };
        let pieces = pieces_of(&body, &count).unwrap();
        let usage = self.cache.request(log.now(), "m", Tokens(1_024), &pieces).unwrap();
        self.usd += log.model.cost(&usage).unwrap().0;
        usage
    }
}

/// A session of so many rounds with a result of so many characters each; all
/// its requests are made but the one that comes next.
fn session(ttl: CacheTtl, sizes: &[usize]) -> (Log, Bill) {
    let mut log = Log::started(Some(ttl));
    // These sessions are short, and what is looked at is the sum alone.
    log.limits.prune.loss_percent = 1_000;
    let mut bill = Bill { cache: Simulator::new(SimConfig::default()), usd: 0.0 };
    for (round, chars) in sizes.iter().enumerate() {
        bill.request(&log);
        log.call(&format!("t{round}"), "Read", &"x".repeat(*chars));
    }
    bill.usd = 0.0;
    (log, bill)
}

/// What the next requests cost.
fn go_on(log: &Log, bill: &Bill, rounds: u32) -> f64 {
    let (mut log, mut bill) = (log.clone(), bill.clone());
    for round in 0..rounds {
        bill.request(&log);
        log.call(&format!("n{round}"), "Read", "found");
    }
    bill.usd
}

fn cleared(decision: &Decision) -> (ClearTrigger, ClearingSum) {
    let Decision::Cleared(cleared) = decision else { panic!("another decision") };
    (cleared.trigger, cleared.sum)
}

/// Compares what the sum promised with what the simulator bills.
fn check(mut log: Log, bill: &Bill) -> ClearingSum {
    let untouched = log.clone();
    let decision = log.plan().unwrap();
    let (_, sum) = cleared(&decision);
    let clock = log.clock;
    log.push(Entry::Decision(decision));
    log.clock = clock;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
    let rounds = sum.rounds.round() as u32;
    assert!((sum.rounds - f64::from(rounds)).abs() < 1e-9, "pick a session with whole rounds");
    let saved = go_on(&untouched, bill, rounds) - go_on(&log, bill, rounds);
    let promised = sum.saves.0 - sum.costs.0;
    assert!((saved - promised).abs() < 1e-9, "saved {saved}, promised {promised}: {sum:?}");
    assert!(saved > 0.0);
    sum
}

#[test]
fn l2_7_the_simulator_bills_what_the_sum_says_while_the_cache_is_warm() {
    let mut sizes = vec![2_000; 40];
    sizes[30..34].fill(40_000);
    let (log, bill) = session(CacheTtl::FiveMinutes, &sizes);
    let sum = check(log, &bill);
    assert_eq!(sum.cache, CacheState::Warm);
    assert!(sum.rewritten_tokens > 0 && sum.costs.0 > 0.0);
}

#[test]
fn l2_7_the_simulator_bills_what_the_sum_says_when_older_requests_have_expired() {
    let mut sizes = vec![2_000; 20];
    sizes[..10].fill(20_000);
    let (mut log, mut bill) = session(CacheTtl::FiveMinutes, &sizes);
    log.wait(290);
    bill.request(&log);
    log.call("late", "Read", "found").wait(250);
    bill.request(&log);
    log.call("later", "Read", "found");
    bill.request(&log);
    log.says("done").prompt("and now");
    bill.usd = 0.0;
    log.limits.prune.expected_rounds = 17;
    let sum = check(log, &bill);
    assert_eq!(sum.cache, CacheState::Warm);
}

#[test]
fn l2_7_the_simulator_bills_what_the_sum_says_when_the_cache_is_cold() {
    for ttl in [CacheTtl::FiveMinutes, CacheTtl::OneHour] {
        let (mut log, bill) = session(ttl, &[5_000; 20]);
        log.wait(4_000);
        let sum = check(log, &bill);
        assert_eq!((sum.cache, sum.costs.0), (CacheState::Cold, 0.0));
    }
}

#[test]
fn l2_7_a_clearing_starts_where_it_brings_most() {
    let mut sizes = vec![400; 60];
    sizes[0] = 8_000;
    sizes[1..45].fill(800);
    sizes[45..55].fill(40_000);
    let (mut log, _) = session(CacheTtl::FiveMinutes, &sizes);
    for record in &mut log.records {
        if let Entry::Assistant(entry) = &mut record.entry
            && entry.message_id.as_str() < "m60"
        {
            entry.block = Block::tool_use(
                &entry.block.as_map()["id"].as_str().unwrap().into(),
                "Read",
                serde_json::json!({"why": "w".repeat(4_000)}),
            );
        }
    }
    let decision = log.plan().unwrap();
    let ids = touched(&decision);
    assert!(ids.contains(&"t45".to_owned()) && ids.contains(&"t54".to_owned()));
    assert!(!ids.contains(&"t0".to_owned()), "too far back: {ids:?}");
    assert_eq!(cleared(&decision).0, ClearTrigger::Economy);
}

#[test]
fn l2_7_a_session_that_ends_at_once_is_hardly_dearer() {
    let mut cleared = 0;
    for rounds in 20..80 {
        let mut sizes = vec![2_000; rounds];
        sizes[rounds - 10..rounds - 6].fill(40_000);
        let (mut log, _) = session(CacheTtl::FiveMinutes, &sizes);
        log.limits.prune.loss_percent = Limits::default().prune.loss_percent;
        let Some(decision) = log.plan() else { continue };
        let spent =
            everfold_economy::spent(&log.fold(), &log.situation().terms(&log.fold())).unwrap();
        let (_, sum) = self::cleared(&decision);
        assert!(sum.costs.0 <= spent.0 * 0.01 + 1e-9, "{sum:?} of {spent:?}");
        cleared += 1;
    }
    assert!(cleared > 10, "{cleared}");
}

#[test]
fn l2_7_what_is_asked_again_stays_and_what_is_superseded_goes() {
    let mut log = Log::started(Some(CacheTtl::FiveMinutes));
    log.limits.prune.ask_again_percent = 40;
    log.says("go on").prompt(&"words ".repeat(60_000));
    // The same file is read again and again; a few small commands stand between.
    for round in 0..30 {
        log.call_with(
            &format!("old{round}"),
            "Read",
            json!({"file_path": "/a"}),
            &"x".repeat(4_000),
        );
        log.call_with(
            &format!("cmd{round}"),
            "Bash",
            json!({"command": format!("run {round}")}),
            &"y".repeat(400),
        );
    }
    for round in 0..6 {
        log.call(&format!("new{round}"), "Read", "found");
    }
    let ids = touched(&log.wait(400).plan().unwrap());
    assert!(ids.contains(&"old3".to_owned()) && !ids.contains(&"old29".to_owned()), "{ids:?}");
    assert!(ids.iter().all(|id| !id.starts_with("cmd")), "{ids:?}");
}

#[test]
fn l2_7_short_sessions_are_never_touched() {
    for rounds in 0..6 {
        for ttl in [CacheTtl::FiveMinutes, CacheTtl::OneHour] {
            let (mut log, _) = session(ttl, &vec![60_000; rounds]);
            assert_eq!(log.plan(), None, "warm, {rounds} rounds");
            assert_eq!(log.wait(90_000).plan(), None, "cold, {rounds} rounds");
        }
    }
}

#[test]
fn l2_7_a_warm_cache_with_few_rounds_left_is_never_touched() {
    let mut log = Log::started(Some(CacheTtl::OneHour));
    for turn in 0..40 {
        log.call(&format!("t{turn}"), "Read", &"x".repeat(20_000)).says("done").prompt("next");
        assert_eq!(log.plan(), None, "turn {turn}: two requests a turn");
    }
}

#[test]
fn l2_7_without_a_price_only_a_cold_cache_is_cleared() {
    let (mut log, _) = session(CacheTtl::FiveMinutes, &[40_000; 30]);
    assert!(log.plan().is_some());
    log.model.prices = None;
    assert_eq!(log.plan(), None);
    let (_, sum) = cleared(&log.wait(300).plan().unwrap());
    assert_eq!((sum.saves.0, sum.costs.0), (0.0, 0.0));
}

#[test]
fn l2_7_a_second_clearing_does_not_count_on_what_the_first_one_broke() {
    let mut sizes = vec![2_000; 40];
    sizes[20..34].fill(20_000);
    let (mut log, mut bill) = session(CacheTtl::FiveMinutes, &sizes);
    log.run().unwrap();
    bill.request(&log);
    for (round, chars) in [60_000, 60_000, 2_000, 2_000, 2_000, 2_000, 2_000].iter().enumerate() {
        log.call(&format!("s{round}"), "Read", &"y".repeat(*chars));
        bill.request(&log);
    }
    log.call("end", "Read", "found");
    bill.usd = 0.0;
    log.limits.prune.expected_rounds = 12;
    let sum = check(log, &bill);
    assert!(sum.rewritten_tokens > 0);
}
