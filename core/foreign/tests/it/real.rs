//! Real sessions, where they lie beside the repository. They are not ours to
//! copy.

use crate::{read, records};
use everfold_foreign::{Format, TranscriptEvent};
use everfold_kernel::{Entry, Usage};
use std::collections::BTreeMap;

fn session(name: &str) -> Option<Vec<u8>> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/transcripts");
    let found = std::fs::read(format!("{beside}/{name}")).ok();
    if found.is_none() {
        println!("skipped: no {name} beside the repository at ../shared/data/transcripts");
    }
    found
}

/// The usage of every response.
fn responses(told: &[TranscriptEvent]) -> BTreeMap<String, Usage> {
    let entries = records(told).filter_map(|record| match &record.entry {
        Entry::Assistant(entry) => Some((entry.message_id.to_string(), entry.usage)),
        _ => None,
    });
    entries.collect()
}

#[test]
fn c3_pc7_a_real_claude_code_session_has_five_sidechains() {
    let Some(file) = session("claude-code-1.0.98.jsonl") else { return };
    let (told, about) = read(&file);
    assert_eq!(about.format, Some(Format::ClaudeCode));
    assert_eq!(about.tally.skips(), 0, "{:?}", about.tally);
    let threads = told.iter().map(|one| one.thread.0).max();
    assert_eq!(threads, Some(5));
    assert_eq!(responses(&told).len(), 170);
}

#[test]
fn c3_pc7_a_real_pi_session_is_read_whole() {
    let Some(file) = session("pi-990-messages.jsonl") else { return };
    let (told, about) = read(&file);
    assert_eq!(about.format, Some(Format::Pi));
    let all = responses(&told);
    let total: u64 = all.values().map(|usage| usage.prompt().0).sum();
    assert!(all.len() > 450 && total > 40_000_000, "{} {total}", all.len());
    let boundaries = records(&told).filter_map(|record| match &record.entry {
        Entry::Boundary(own) => Some(own.preserved.len()),
        _ => None,
    });
    assert_eq!(boundaries.collect::<Vec<_>>().len(), 2);
}

#[test]
fn c3_pc7_real_codex_rollouts_are_read() {
    let Some(file) = session("codex-compaction.jsonl") else { return };
    let (told, about) = read(&file);
    assert_eq!((about.format, about.tally.skips()), (Some(Format::Codex), 0));
    let all = responses(&told);
    assert_eq!(all.keys().collect::<Vec<_>>(), ["resp_1", "resp_3"]);
    assert_eq!(all["resp_1"].input, 250_000);
    // The summary was paid for, and is no part of the conversation by itself.
    let lines = crate::lines(&told);
    assert!(lines.iter().any(|line| line.ends_with(" booked")), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains(" summary ")).count(), 1);
    let Some(file) = session("codex-tool-run.jsonl") else { return };
    assert_eq!(responses(&read(&file).0).len(), 3);
}
