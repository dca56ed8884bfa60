//! Truncated, interleaved, duplicated and future files: what is skipped is
//! counted and named, and nothing is fatal.

use crate::{lines, read, records};
use everfold_kernel::Entry;
use proptest::prelude::*;
use std::collections::BTreeSet;

const FILES: [&str; 6] = [
    include_str!("../fixtures/claude-1.0.jsonl"),
    include_str!("../fixtures/claude-2.1.jsonl"),
    include_str!("../fixtures/codex-first.jsonl"),
    include_str!("../fixtures/codex-events.jsonl"),
    include_str!("../fixtures/pi-v1.jsonl"),
    include_str!("../fixtures/pi-v3.jsonl"),
];

#[test]
fn pc7_a_file_cut_at_any_byte_tells_what_is_whole() {
    for file in FILES {
        let whole = lines(&read(file.as_bytes()).0).len();
        for end in 0..file.len() {
            let (told, about) = read(&file.as_bytes()[..end]);
            assert!(told.len() <= whole && about.tally.skips() <= 4, "{end}: {:?}", about.tally);
        }
    }
}

#[test]
fn pc7_a_file_that_is_there_twice_is_told_once() {
    for file in &FILES[..2] {
        let twice = [*file, *file].concat();
        let (once, _) = read(file.as_bytes());
        let (told, about) = read(twice.as_bytes());
        assert_eq!(records(&told).count(), records(&once).count() + extra(file));
        assert!(about.tally.skipped["a line that is there twice"].count >= 10);
    }
}

/// Lines beside the conversation that count again.
fn extra(file: &str) -> usize {
    file.matches("content-replacement").count()
}

#[test]
fn pc7_blocks_of_two_responses_that_are_mixed_up_are_counted() {
    let file = FILES[0];
    let mut lines: Vec<&str> = file.lines().collect();
    // The second block of the first response comes after the second response.
    let late = lines.remove(3);
    lines.push(late);
    let (told, about) = read(lines.join("\n").as_bytes());
    assert_eq!(about.tally.skipped["a block of a response that was over"].count, 1);
    assert!(records(&told).all(|record| record.id.as_str() != "a2"));
}

#[test]
fn pc7_a_file_of_the_future_is_read_as_far_as_it_is_known() {
    let future = FILES[1]
        .replace("2.1.325", "9.0.0")
        .replace("\"type\":\"text\"", "\"type\":\"song\",\"tempo\":120");
    let (told, about) = read(future.as_bytes());
    assert_eq!(about.version.as_deref(), Some("9.0.0"));
    assert_eq!(told.len(), read(FILES[1].as_bytes()).0.len());
    let (told, about) =
        read(b"{\"type\":\"opera\",\"acts\":3}\n{\"type\":\"opera\"}\n[1]\nno json\n");
    assert!(told.is_empty() && about.format.is_none());
    assert_eq!(about.tally.skipped["of no known transcript"].count, 2);
    assert_eq!(about.tally.skips(), 4);
}

#[test]
fn pc7_names_of_what_is_unknown_are_bounded() {
    let mut file = FILES[1].to_owned();
    file.extend((0..10_000).map(|number| format!("{{\"type\":\"kind-{number}\"}}\n")));
    let (_, about) = read(file.as_bytes());
    assert!(about.tally.aside.len() <= 65, "{}", about.tally.aside.len());
    assert!(about.tally.aside["others"] > 9_900, "{:?}", about.tally.aside["others"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn pc7_lines_in_any_order_never_tell_a_response_twice(
        file in 0_usize..FILES.len(), order in prop::collection::vec(0_usize..30, 0..60), cut in 0_usize..400,
    ) {
        let all: Vec<&str> = FILES[file].lines().collect();
        let mut text = String::new();
        for at in order {
            let line = all[at % all.len()];
            let end = line.floor_char_boundary(line.len().saturating_sub(cut * (at % 3)));
            text += &line[..end];
            text.push('\n');
        }
        let (told, _) = read(text.as_bytes());
        // Blocks of one response stand together.
        let mut seen = BTreeSet::new();
        let mut last = None;
        for record in records(&told) {
            let now = match &record.entry {
                Entry::Assistant(entry) => Some(entry.message_id.clone()),
                _ => None,
            };
            if now != last && let Some(id) = &now {
                prop_assert!(seen.insert(id.clone()) || file > 1, "{id} is told twice");
            }
            if now.is_some() { last = now; }
        }
    }

    #[test]
    fn pc7_any_bytes_are_survived(text in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&text);
        let line = [FILES[1].lines().nth(1).unwrap().as_bytes(), b"\n", &text].concat();
        let _ = read(&line);
    }
}
