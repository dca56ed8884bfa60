//! Layer 1: tool results on disk (L1).

use super::{Stage, results, text, until, worker};
use everfold_testkit::{Received, oracle};
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;

/// The files that results were spilled to, by name.
fn spilled(stage: &Stage) -> Vec<PathBuf> {
    let dir = stage.transcript().with_extension("").join("tool-results");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// How many bytes a command prints, a number a line.
fn printing(bytes: usize) -> String {
    format!("yes 123456789 | head -c {bytes}")
}

fn is_spilled(result: &str) -> bool {
    result.starts_with("<persisted-output>") && result.trim_end().ends_with("</persisted-output>")
}

#[test]
fn l1_1_a_result_over_its_cap_goes_to_disk_whole_and_a_preview_stays() {
    let stage = Stage::new(worker);
    stage.ask("run seq -w 1 20000 and true and seq 1 5000");
    let request = stage.last();
    let shown = results(&request);
    assert!(is_spilled(&shown[0]), "{}", shown[0]);
    assert!(shown[1].contains("completed with no output"), "{}", shown[1]);
    assert_eq!(shown[2].lines().count(), 5_000, "under the cap it stays whole");
    let files = spilled(&stage);
    assert_eq!(files.len(), 1);
    let whole = std::fs::read_to_string(&files[0]).unwrap();
    let expected: String = (1..=20_000).map(|n| format!("{n:05}\n")).collect();
    assert_eq!(whole.trim_end(), expected.trim_end());
    let call = super::blocks(&request).into_iter().find(|block| block["type"] == "tool_use");
    let id = call.unwrap()["id"].as_str().unwrap().to_owned();
    assert_eq!(files[0].file_name().unwrap().to_str().unwrap(), format!("{id}.txt"));
    assert!(shown[0].contains(&files[0].display().to_string()), "{}", shown[0]);
    // The preview is the start of it, to the last newline within 2,000 bytes: 333 lines.
    let start = shown[0].find("00001\n").unwrap();
    let numbers = |line: &&str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    let preview: Vec<&str> = shown[0][start..].lines().take_while(numbers).collect();
    assert_eq!((preview.len(), preview.last()), (333, Some(&"00333")), "{}", shown[0]);
}

#[test]
fn l1_2_what_is_read_from_a_file_stays_whole() {
    let stage = Stage::new(worker);
    stage.write("big.txt", &"a line of a file with some words in it\n".repeat(1_900));
    stage.ask("read big.txt");
    let shown = results(&stage.last()).remove(0);
    assert!(!is_spilled(&shown) && shown.len() > 70_000, "{}", shown.len());
    // A picture of 100 kB is in the request as one, too.
    let mut png = vec![0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];
    png.resize(100_000, 0);
    std::fs::write(stage.desk.files.project().join("pic.png"), png).unwrap();
    stage.more("read pic.png");
    assert!(text(&stage.last()).contains(r#""type":"image""#), "pictures stay inline");
    assert!(spilled(&stage).is_empty());
}

#[test]
fn l1_3_over_the_budget_of_a_message_the_largest_go_until_it_fits() {
    let stage = Stage::new(worker);
    let sizes = [26_000, 29_000, 25_000, 28_000, 27_000, 26_500, 25_500, 28_500];
    let commands: Vec<String> = sizes.iter().map(|size| printing(*size)).collect();
    stage.ask(&format!("run {}", commands.join(" and ")));
    let shown = results(&stage.last());
    let gone: Vec<usize> = sizes
        .iter()
        .zip(&shown)
        .filter(|(_, shown)| is_spilled(shown))
        .map(|(size, _)| *size)
        .collect();
    assert_eq!(gone, [29_000], "215,500 less the largest is under 200,000");
    // Another message has a budget of its own.
    stage.more(&format!("run {} and {}", printing(25_000), printing(25_000)));
    let last = results(&stage.last());
    assert!(last[8..].iter().all(|shown| !is_spilled(shown)));
}

#[test]
fn l1_4_l1_6_caps_follow_in_a_session_that_is_open_and_what_was_sent_whole_stays() {
    let stage = Stage::new(worker);
    let command = format!("run {}", printing(20_000));
    let (running, mut input) = stage.open();
    let mains = || stage.of("main").len();
    writeln!(input, "{command}").unwrap();
    until("the first turn", || mains() >= 2);
    stage.put(
        "settings.json",
        &json!({"everfold": {"limits": {"offload": {"bash_chars": 10_000}}}}).to_string(),
    );
    // Files are looked at in the background; the caps hold from a later turn on.
    let mut turns = 1;
    loop {
        writeln!(input, "{command}").unwrap();
        turns += 1;
        until("the next turn", || mains() >= 2 * turns);
        if results(&stage.last()).last().is_some_and(|shown| is_spilled(shown)) {
            break;
        }
        assert!(turns < 200, "the new cap never held");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    drop(input);
    running.end().ok();
    let shown = results(&stage.last());
    assert!(shown[..turns - 1].iter().all(|one| !is_spilled(one)), "sent whole, never replaced");
    oracle::assert_prefix_stable(&stage.of("main"));
}

#[test]
fn l1_5_a_resumed_session_and_a_fork_send_the_same_bytes() {
    let stage = Stage::new(worker);
    stage.ask("run seq 1 20000");
    // Whatever the caps are by now: what was decided is in the transcript.
    let stage = stage.set(
        &json!({"everfold": {"limits": {"offload": {"preview_bytes": 100, "bash_chars": 500}}}}),
    );
    stage.more("and now?");
    let ran = stage.args(&["-c"]);
    ran.talk(&["hello", "/compact"]);
    let all: Vec<Received> = ran.of("main");
    oracle::assert_prefix_stable(&all);
    let fork = ran.of("compact").remove(0);
    assert!(oracle::first_break(all.last().unwrap(), &fork).is_none(), "a fork has them too");
    assert!(text(&fork).contains("<persisted-output>"));
}
