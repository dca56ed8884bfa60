//! Real sessions under other policies (PC7), where they lie beside the
//! repository.

use mnemon_engine::replay::{Options, Outcome, Replay};
use mnemon_foreign::Reader;

fn session(name: &str) -> Option<Vec<u8>> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/transcripts");
    let found = std::fs::read(format!("{beside}/{name}")).ok();
    if found.is_none() {
        println!("skipped: no {name} beside the repository at ../shared/data/transcripts");
    }
    found
}

pub(crate) fn replay(file: &[u8], options: Options) -> Outcome {
    let mut replay = Replay::new(options);
    let mut reader = Reader::new();
    for line in file.split(|byte| *byte == b'\n') {
        reader.push(line, &mut |told| replay.take(told));
    }
    reader.finish(&mut |told| replay.take(told));
    replay.finish()
}

fn show(outcome: &Outcome) {
    println!("truth {:?}", outcome.truth);
    if let Some(truth) = &outcome.truth {
        println!(
            "prompt {:.1} % read {:.1} %",
            truth.prompt.error_percent(),
            truth.cache_read.error_percent()
        );
    }
    if let Some(own) = &outcome.reported {
        println!("reported {own:?}");
    }
    for lane in &outcome.lanes {
        println!("{:16} {:?}", lane.policy.to_string(), lane.totals);
    }
    for moment in &outcome.lanes[0].moments {
        println!("{:.4} {} {} {}", moment.usd, moment.round, moment.what, moment.avoid);
    }
}

#[test]
fn pc7_look() {
    for name in [
        "pi-990-messages.jsonl",
        "claude-code-1.0.98.jsonl",
        "codex-tool-run.jsonl",
        "codex-compaction.jsonl",
    ] {
        let Some(file) = session(name) else { return };
        println!("== {name}");
        show(&replay(&file, Options::default()));
    }
}
