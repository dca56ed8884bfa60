//! The ruler against real bills (PC8): sessions of Claude Code with the usage
//! that the API reported, where they lie beside the repository.

use crate::sessions::{lane, replay_file};
use everfold_replay::{Options, Outcome, Policy, Totals, Truth};
use std::collections::BTreeMap;

fn sessions() -> Vec<(String, Vec<u8>)> {
    let beside =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/transcripts/claude-code-2.1");
    let Ok(entries) = std::fs::read_dir(beside) else {
        println!("skipped: no sessions beside the repository at {beside}");
        return Vec::new();
    };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().chars().take(8).collect();
        (name, std::fs::read(path).unwrap())
    };
    files.iter().map(read).collect()
}

#[test]
fn pc8_the_session_as_it_went_costs_what_was_reported() {
    let (mut total, mut off, mut count) = (Truth::default(), Vec::new(), 0_usize);
    let (mut causes, mut breaks) = (BTreeMap::new(), 0);
    for (name, file) in sessions() {
        let options = Options { policies: vec![Policy::Recorded], ..Options::default() };
        let outcome = replay_file(&file, options);
        let bill = outcome.lanes[0].bill.as_ref().unwrap();
        let reported = outcome.reported.unwrap();
        assert!(
            (bill.usd() - reported.usd).abs() < 1e-6,
            "{name}: {} {}",
            bill.usd(),
            reported.usd
        );
        for (cause, own) in &bill.causes {
            let sum: &mut f64 = causes.entry(cause.0).or_default();
            *sum += own.usd;
        }
        breaks += bill.breaks.len();
        let truth = outcome.truth.unwrap();
        println!(
            "{name}: {:4} requests, prompts {:+6.2} %, reads {:+6.2} %, writes {:+6.2} %, money {:+6.2} % of {:8.4} USD",
            truth.requests,
            truth.prompt.error_percent(),
            truth.cache_read.error_percent(),
            truth.cache_write.error_percent(),
            truth.usd.error_percent(),
            truth.usd.reported,
        );
        if truth.usd.error_percent().abs() > 5.0 {
            off.push(name);
        }
        count += 1;
        total.add(&truth);
    }
    if count == 0 {
        return;
    }
    println!("{breaks} breaks; {causes:#?}");
    println!("all {count}: money {:+.2} %, over 5 %: {off:?}", total.usd.error_percent());
    assert!(total.usd.error_percent().abs() < 2.0, "{total:?}");
    assert!(off.len() * 20 <= count, "{off:?} of {count}");
}

#[test]
#[ignore = "the full figure: seconds in a release build, which `cargo xtask soak` makes for it"]
fn pc8_our_policy_costs_less_than_what_was_done() {
    let mut sums: BTreeMap<Policy, Totals> = BTreeMap::new();
    let mut reported = Totals::default();
    let policies = vec![
        Policy::Recorded,
        Policy::None,
        Policy::Seed,
        Policy::Everfold,
        Policy::SummarizeAt(80),
    ];
    for (name, file) in sessions() {
        let options = Options { policies: policies.clone(), ..Options::default() };
        let outcome: Outcome = replay_file(&file, options);
        reported.add(outcome.reported.as_ref().unwrap());
        print!("{name}");
        for own in &outcome.lanes {
            sums.entry(own.policy).or_default().add(&own.totals);
            print!(" {}={:.3}", own.policy, own.totals.usd);
        }
        let (ours, went) = (lane(&outcome, Policy::Everfold), lane(&outcome, Policy::Recorded));
        let none = lane(&outcome, Policy::None);
        let more = ours.totals.usd / none.totals.usd;
        assert!(more <= 1.01, "{name}: {more:.3} of doing nothing: {:?}", ours.totals);
        println!(
            " | ours/recorded {:.3} ours/none {:.3} over {} compactions {}/{} clearings {} regrets {}/{} rereads {} background {:.3}",
            ours.totals.usd / went.totals.usd,
            ours.totals.usd / none.totals.usd,
            none.totals.over_window,
            went.totals.compactions,
            ours.totals.compactions,
            ours.totals.clearings,
            went.totals.regrets,
            ours.totals.regrets,
            ours.totals.rereads,
            ours.totals.background_usd,
        );
    }
    println!("reported {:.2} USD, output {}", reported.usd, reported.usage.output);
    for (policy, own) in &sums {
        println!(
            "{policy:16} {:9.2} USD, of it summaries {:6.2}; read {} written {} output {}; {} summaries {} clearings {} regrets {} over",
            own.usd,
            own.summaries_usd,
            own.usage.cache_read,
            own.usage.cache_write(),
            own.usage.output,
            own.compactions,
            own.clearings,
            own.regrets,
            own.over_window
        );
    }
    if let (Some(ours), Some(went)) = (sums.get(&Policy::Everfold), sums.get(&Policy::Recorded)) {
        assert!(ours.usd <= went.usd * 0.92, "{} of {}", ours.usd, went.usd);
    }
}
