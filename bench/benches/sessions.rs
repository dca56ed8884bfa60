//! Counting the sessions that were touched since the last dream (L6.1), among
//! five thousand: `cargo bench -p everfold-bench --bench sessions`.

#![allow(clippy::expect_used, reason = "divan makes items of its own; a benchmark may stop")]

use divan::Bencher;
use everfold_agent::Agent;
use everfold_kernel::SessionId;
use std::fs;

/// Transcripts of the project.
const TRANSCRIPTS: usize = 5_000;

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn touched_among_5000(bencher: Bencher<'_, '_>) {
    let dir = tempfile::tempdir().expect("a folder");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let agent = Agent::builder(dir.path()).home(dir.path().join("home")).build();
    let agent = runtime.block_on(agent).expect("an agent");
    let transcripts = &agent.world().transcripts;
    let place = transcripts.path(&SessionId::new("x"));
    let place = place.parent().expect("a folder");
    fs::create_dir_all(place).expect("a folder");
    for number in 0..TRANSCRIPTS {
        fs::write(place.join(format!("session-{number}.jsonl")), "{}\n").expect("a file");
    }
    bencher.bench_local(|| {
        let found = runtime.block_on(transcripts.touched()).expect("sessions");
        assert_eq!(found.len(), TRANSCRIPTS);
        found
    });
}
