//! Sessions under other policies (PC7): made up by chance, and real ones where
//! they lie beside the repository.

use crate::made_up;
use everfold_foreign::{Reader, Thread, TranscriptEvent, What};
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{Entry, Record};
use everfold_replay::{
    Before, Cause, Glance, LaneReport, Options, Outcome, Policy, Replay, Totals,
};
use std::collections::BTreeMap;

fn session(name: &str) -> Option<Vec<u8>> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/transcripts");
    let found = std::fs::read(format!("{beside}/{name}")).ok();
    if found.is_none() {
        println!("skipped: no {name} beside the repository at ../shared/data/transcripts");
    }
    found
}

pub(crate) fn replay_file(file: &[u8], mut options: Options) -> Outcome {
    let (mut reader, mut glance) = (Reader::new(), Glance::default());
    for line in file.split(|byte| *byte == b'\n') {
        reader.push(line, &mut |told| glance.take(&told));
    }
    options.window_tokens = glance.window(1_000_000, &options.limits);
    let mut replay = Replay::new(options);
    let mut reader = Reader::new();
    for line in file.split(|byte| *byte == b'\n') {
        reader.push(line, &mut |told| replay.take(told));
    }
    reader.finish(&mut |told| replay.take(told));
    replay.finish()
}

fn replay(records: &[Record], options: Options) -> Outcome {
    let mut replay = Replay::new(options);
    for record in records {
        let what = What::Record(Box::new(record.clone()));
        replay.take(TranscriptEvent { thread: Thread::MAIN, what });
    }
    replay.finish()
}

pub(crate) fn lane(outcome: &Outcome, policy: Policy) -> &LaneReport {
    outcome.lanes.iter().find(|lane| lane.policy == policy).unwrap()
}

#[test]
fn pc7_the_prediction_is_within_five_percent_of_real_usage() {
    for name in ["pi-990-messages.jsonl", "claude-code-1.0.98.jsonl"] {
        let Some(file) = session(name) else { return };
        let outcome = replay_file(&file, Options::default());
        let truth = outcome.truth.unwrap();
        let (prompt, read) = (truth.prompt.error_percent(), truth.cache_read.error_percent());
        println!("{name}: {} requests, prompts {prompt:+.1} %, reads {read:+.1} %", truth.requests);
        assert!(prompt.abs() < 5.0 && read.abs() < 5.0, "{name}: {truth:?}");
        assert!(truth.requests > 100);
    }
}

#[test]
fn pc7_a_real_session_shows_what_happened_to_it() {
    let Some(file) = session("pi-990-messages.jsonl") else { return };
    let outcome = replay_file(&file, Options::default());
    let recorded = lane(&outcome, Policy::Recorded);
    // Nine breaks that nothing in the file explains; its program may have been restarted.
    assert_eq!((recorded.totals.compactions, recorded.totals.breaks.unexplained), (2, 9));
    let changed = recorded.rounds.iter().position(|round| round.before == Before::Change);
    assert_eq!(changed, Some(3), "thinking was turned on");
    let none = lane(&outcome, Policy::None);
    assert!(none.totals.over_window > 200 && none.totals.regrets == 0);
    let causes: Vec<Cause> = recorded.moments.iter().map(|moment| moment.cause).collect();
    assert!(causes.contains(&Cause::Stayed) && causes.contains(&Cause::Expiry), "{causes:?}");
    assert!(recorded.moments.is_sorted_by(|one, other| one.usd >= other.usd));
}

/// The claim, on sessions by chance: few here, all of them in
/// `pc7_the_claim_at_length`. The limits of layer 2 were chosen on the seeds
/// from 10,000 on, which are not looked at here.
#[test]
fn pc8_l2_7_our_policy_is_not_dearer_than_none_and_cheaper_than_others_that_miss_no_more() {
    claim(120);
}

#[test]
#[ignore = "the full figure: seconds in a release build, which `cargo xtask soak` makes for it"]
fn pc7_the_claim_at_length() {
    claim(600);
}

fn claim(sessions: u64) {
    let mut sums: BTreeMap<Policy, Totals> = BTreeMap::new();
    let (mut worst, mut count) = (0.0_f64, 0);
    let mut take = |name: &str, outcome: &Outcome| {
        for lane in &outcome.lanes {
            sums.entry(lane.policy).or_default().add(&lane.totals);
        }
        count += 1;
        let (none, ours) = (lane(outcome, Policy::None), lane(outcome, Policy::Everfold));
        if none.totals.over_window == 0 {
            let more = (ours.totals.usd / none.totals.usd - 1.0) * 100.0;
            worst = worst.max(more);
            assert!(more <= 1.0, "{name}: {more:+.2} % dearer than none: {:?}", ours.totals);
        }
    };
    for seed in 0..sessions {
        let options = Options { model: Some("claude-opus-4-5".into()), ..Options::default() };
        take(&format!("seed {seed}"), &replay(&made_up::session(seed), options));
    }
    for name in ["pi-990-messages.jsonl", "claude-code-1.0.98.jsonl"] {
        if let Some(file) = session(name) {
            take(name, &replay_file(&file, Options::default()));
        }
    }
    println!("{count} sessions, at worst {worst:+.2} % against none");
    for (policy, own) in &sums {
        println!(
            "{policy:16} {:10.2} USD, regret {:5}, {:4} summaries, {:5} clearings, {:4} over",
            own.usd, own.regrets, own.compactions, own.clearings, own.over_window
        );
    }
    let ours = sums[&Policy::Everfold];
    // What had to be read again is in the sum.
    assert!(ours.rereads_usd > 0.0 && ours.rereads_usd < ours.usd / 10.0, "{ours:?}");
    for policy in [Policy::Seed, Policy::ApiClear, Policy::Mask(10), Policy::SummarizeAt(80)] {
        let other = sums[&policy];
        assert!(ours.usd < other.usd, "{policy} is cheaper: {other:?} against {ours:?}");
        assert!(ours.regrets <= other.regrets, "{policy} misses less: {other:?} against {ours:?}");
    }
}

#[test]
fn pc7_any_model_and_lifetime_can_be_asked_for() {
    let records = made_up::session(7);
    let usd = |model: &str, ttl| {
        let options = Options {
            model: Some(model.into()),
            ttl: Some(ttl),
            policies: vec![Policy::None],
            ..Options::default()
        };
        replay(&records, options).lanes[0].totals.usd
    };
    let (haiku, opus) = (CacheTtl::FiveMinutes, CacheTtl::FiveMinutes);
    assert!(usd("claude-haiku-4-5", haiku) < usd("claude-opus-4-5", opus) / 4.0);
    assert!(
        (usd("claude-opus-4-5", CacheTtl::OneHour) - usd("claude-opus-4-5", opus)).abs() > 0.001
    );
}

#[test]
fn pc7_policies_see_the_same_session() {
    let outcome = replay(&made_up::session(3), Options::default());
    let requests: Vec<u64> = outcome.lanes.iter().map(|lane| lane.totals.requests).collect();
    assert!(requests.iter().all(|own| *own == requests[0]) && requests[0] > 10, "{requests:?}");
    let again = replay(&made_up::session(3), Options::default());
    assert_eq!(outcome, again, "a replay is a function of the log");
    for lane in &outcome.lanes {
        let sum: u64 = lane.rounds.iter().map(everfold_replay::Round::prompt).sum();
        assert!(sum <= lane.totals.usage.prompt().0, "{}", lane.policy);
        assert_eq!(lane.rounds[0].before, Before::Start);
    }
}

#[test]
fn pc7_l4_1_summaries_keep_a_long_session_in_its_window() {
    let records = made_up::long_session(1_000);
    let outcome =
        replay(&records, Options { model: Some("claude-opus-4-5".into()), ..Options::default() });
    for policy in [Policy::Seed, Policy::SummarizeAt(80)] {
        let own = lane(&outcome, policy).totals;
        assert!(own.over_window == 0 && own.compactions > 0, "{policy}: {own:?}");
        assert!(own.summaries_usd > 0.0 && own.summaries_usd < own.usd / 2.0);
    }
    // Where clearing keeps it short, no summary is needed.
    let ours = lane(&outcome, Policy::Everfold).totals;
    assert!(ours.over_window == 0 && ours.compactions + ours.clearings > 0, "{ours:?}");
    assert!(lane(&outcome, Policy::None).totals.over_window > 0);
    assert_eq!(records.iter().filter(|own| matches!(own.entry, Entry::Boundary(_))).count(), 0);
}
