use everfold_disk::jsonl::{Appender, LinesSeen, head_and_tail, newest, read, read_part};
use everfold_disk::{Error, Lock};
use everfold_kernel::ports::{LineSpan, TranscriptPart};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn lines(path: &Path, max: u64) -> (Vec<String>, LinesSeen) {
    let mut got = Vec::new();
    let seen = read(path, max, &mut |line| {
        got.push(String::from_utf8_lossy(line).into_owned());
    })
    .unwrap();
    (got, seen)
}

#[test]
fn q4_lines_come_back_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b.jsonl");
    let mut log = Appender::open(&path).unwrap();
    for n in 0..3 {
        log.append(format!("{{\"n\":{n}}}").as_bytes()).unwrap();
    }
    let (got, seen) = lines(&path, 100);
    assert_eq!(got, [r#"{"n":0}"#, r#"{"n":1}"#, r#"{"n":2}"#]);
    assert_eq!((seen.lines, seen.torn_bytes, seen.skipped), (3, 0, 0));
}

#[test]
fn q4_a_torn_last_line_is_counted_and_stays_a_line_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    fs::write(&path, "{\"n\":1}\n{\"n\":").unwrap();
    let (got, seen) = lines(&path, 100);
    assert_eq!(got, [r#"{"n":1}"#]);
    assert_eq!(seen.torn_bytes, 5);
    Appender::open(&path).unwrap().append(br#"{"n":2}"#).unwrap();
    let (got, seen) = lines(&path, 100);
    assert_eq!(got, [r#"{"n":1}"#, r#"{"n":"#, r#"{"n":2}"#]);
    assert_eq!(seen.torn_bytes, 0);
}

#[test]
fn q4_a_last_line_that_lacks_only_its_newline_counts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    fs::write(&path, "{\"n\":1}\n\n  \r\n{\"n\":2}").unwrap();
    let (got, seen) = lines(&path, 100);
    assert_eq!(got, [r#"{"n":1}"#, r#"{"n":2}"#], "blank lines left out");
    assert_eq!((seen.lines, seen.torn_bytes), (2, 0));
}

#[test]
fn s6_over_long_lines_are_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    let long = "x".repeat(300_000);
    fs::write(&path, format!("1\n{long}\n2\n{long}")).unwrap();
    let (got, seen) = lines(&path, 10);
    assert_eq!(got, ["1", "2"]);
    assert_eq!((seen.lines, seen.skipped, seen.torn_bytes), (2, 2, 0));
}

#[test]
fn s6_invalid_utf8_is_handed_on_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    fs::write(&path, b"\xff\xfe\n{}\n\xff").unwrap();
    let mut got = Vec::new();
    let seen = read(&path, 100, &mut |line| got.push(line.to_vec())).unwrap();
    assert_eq!(got, [b"\xff\xfe".to_vec(), b"{}".to_vec()]);
    assert_eq!(seen.torn_bytes, 1);
}

#[test]
fn s6_a_line_break_in_a_line_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    let error = Appender::open(&path).unwrap().append(b"a\nb").unwrap_err();
    assert!(matches!(error, Error::LineBreak { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"");
}

#[test]
fn q4_a_file_that_was_removed_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    let mut log = Appender::open(&path).unwrap();
    log.append(b"1").unwrap();
    if cfg!(unix) {
        fs::remove_file(&path).unwrap();
        log.append(b"2").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2\n");
    }
}

#[test]
fn q4_eight_writers_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = &path;
            scope.spawn(move || {
                let mut log = Appender::open(path).unwrap();
                for n in 0..200 {
                    let pad = "p".repeat(n * 7);
                    log.append(format!("[{writer},{n},\"{pad}\"]").as_bytes()).unwrap();
                }
            });
        }
    });
    let (got, seen) = lines(&path, 1 << 20);
    assert_eq!((seen.lines, seen.torn_bytes), (1600, 0));
    for writer in 0..8 {
        let start = format!("[{writer},");
        let mine: Vec<_> = got.iter().filter(|l| l.starts_with(&start)).collect();
        for (n, line) in mine.iter().enumerate() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value[1], n, "in order");
        }
        assert_eq!(mine.len(), 200);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn s6_devices_and_directories_are_no_logs() {
    let dir = tempfile::tempdir().unwrap();
    let error = Appender::open(Path::new("/dev/full")).unwrap_err();
    assert!(matches!(error, Error::Special { .. }), "{error}");
    let error = Appender::open(dir.path()).unwrap_err();
    assert!(matches!(error, Error::IsDirectory { .. }), "{error}");
    let error = read(dir.path(), 10, &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::IsDirectory { .. }), "{error}");
    let error = Lock::try_acquire(Path::new("/dev/full")).unwrap_err();
    assert!(matches!(error, Error::Special { .. }), "{error}");
}

#[test]
fn q4_head_and_tail_are_whole_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    fs::write(&path, "111\n222\n333\n444\n").unwrap();
    let whole = head_and_tail(&path, 16).unwrap();
    assert_eq!((whole.head.len(), whole.tail.len()), (16, 0));
    let ends = head_and_tail(&path, 8).unwrap();
    assert_eq!(ends.head, b"111\n222\n");
    assert_eq!(ends.tail, b"333\n444\n");
    let ends = head_and_tail(&path, 6).unwrap();
    assert_eq!(ends.head, b"111\n");
    assert_eq!(ends.tail, b"444\n");
    let ends = head_and_tail(&path, 2).unwrap();
    assert_eq!((ends.head.len(), ends.tail.len()), (0, 0));
    assert_eq!(ends.bytes, 16);
    fs::write(&path, "111\n222\n333\n{\"torn").unwrap();
    assert_eq!(head_and_tail(&path, 100).unwrap().head, b"111\n222\n333\n");
    assert_eq!(head_and_tail(&path, 11).unwrap().tail, b"333\n");
}

fn values() -> impl Strategy<Value = Vec<String>> {
    let text = prop_oneof!["[a-z \\\\\"]{0,40}", ".{0,20}"];
    let line = text.prop_map(|text| serde_json::json!({ "t": text }).to_string());
    prop::collection::vec(line, 0..12)
}

proptest! {
    #[test]
    fn q4_a_log_cut_at_any_byte_keeps_every_whole_line(values in values(), cut in 0.0..=1.0_f64) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let mut log = Appender::open(&path).unwrap();
        for line in &values {
            log.append(line.as_bytes()).unwrap();
        }
        prop_assert_eq!(&lines(&path, 1 << 20).0, &values);
        let all = fs::read(&path).unwrap();
        #[expect(
            clippy::cast_possible_truncation, clippy::cast_sign_loss,
            clippy::cast_precision_loss, reason = "a place in a small file"
        )]
        let cut = (all.len() as f64 * cut) as usize;
        fs::write(&path, &all[..cut]).unwrap();

        let mut end = 0;
        let whole = values.iter().take_while(|line| {
            let fits = end + line.len() <= cut;
            end += line.len() + 1;
            fits
        });
        let whole: Vec<_> = whole.cloned().collect();
        let (got, seen) = lines(&path, 1 << 20);
        prop_assert_eq!(&got, &whole);
        let kept: usize = whole.iter().map(|line| line.len() + 1).sum();
        prop_assert_eq!(seen.torn_bytes, cut.saturating_sub(kept) as u64);

        // Whatever was torn, the next line is whole.
        Appender::open(&path).unwrap().append(b"{\"next\":1}").unwrap();
        let (got, _) = lines(&path, 1 << 20);
        prop_assert_eq!(got.last().map(String::as_str), Some("{\"next\":1}"));
        prop_assert_eq!(&got[..whole.len()], &whole[..]);
    }

    #[test]
    fn q4_head_and_tail_never_overlap(values in values(), limit in 0_u64..600) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let all: String = values.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        fs::write(&path, &all).unwrap();
        let ends = head_and_tail(&path, limit).unwrap();
        prop_assert!(all.as_bytes().starts_with(&ends.head));
        prop_assert!(all.as_bytes().ends_with(&ends.tail));
        prop_assert!(ends.head.len() + ends.tail.len() <= all.len());
        prop_assert!(ends.head.len() as u64 <= limit && ends.tail.len() as u64 <= limit);
        for part in [&ends.head, &ends.tail] {
            for line in String::from_utf8(part.clone()).unwrap().lines() {
                prop_assert!(values.iter().any(|value| value == line));
            }
        }
    }
}

fn newest_line(path: &Path, max: u64, opening: &str) -> Option<String> {
    let found = newest(path, max, opening.as_bytes()).unwrap();
    found.map(|line| String::from_utf8(line).unwrap())
}

#[test]
fn e11_the_newest_line_is_found_wherever_blocks_meet() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("n.jsonl");
    let (first, second) = (r#"{"type":"mark","n":1}"#, r#"{"type":"mark","n":2}"#);
    let opening = r#"{"type":"mark""#;
    // Blocks are of 64 KiB: the line moves over the place where two meet.
    for behind in (65_480..65_560).chain([0, 131_072, 200_000]) {
        let said = r#"{"said":"{\"type\":\"mark\"}"}"#;
        let filler = "x".repeat(behind);
        fs::write(&path, format!("{first}\n{said}\n{second}\n{filler}\n")).unwrap();
        assert_eq!(newest_line(&path, 1 << 20, opening).as_deref(), Some(second), "{behind}");
    }
    fs::write(&path, format!("{first}\n{second}\n{{\"type\":\"mark\",\"n\"")).unwrap();
    assert_eq!(newest_line(&path, 1 << 20, opening).as_deref(), Some(second), "a torn one");
    assert_eq!(newest_line(&path, 5, opening), None, "too long");
    assert_eq!(newest_line(&path, 1 << 20, r#"{"none"#), None);
    fs::write(&path, first).unwrap();
    assert_eq!(newest_line(&path, 1 << 20, opening).as_deref(), Some(first));
    fs::write(&path, "").unwrap();
    assert_eq!(newest_line(&path, 1 << 20, opening), None);
}

proptest! {
    #[test]
    fn e11_a_part_is_what_its_places_say(
        texts in prop::collection::vec("[a-z]{1,20}", 1..20),
        from in any::<prop::sample::Index>(),
        single in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.jsonl");
        fs::write(&path, texts.join("\n") + "\n").unwrap();
        let mut all = Vec::new();
        let whole = TranscriptPart::default();
        read_part(&path, 100, &whole, &mut |at, line| all.push((at, line.to_vec()))).unwrap();
        prop_assert_eq!(all.len(), texts.len());
        let (from, (start, line)) = (from.index(all.len()), &all[single.index(all.len())]);
        let span = LineSpan { start: *start, bytes: line.len() as u64 };
        let beyond = LineSpan { start: 1 << 30, bytes: 3 };
        let part = TranscriptPart { lines: vec![span, beyond], from: all[from].0 };
        let mut got = Vec::new();
        read_part(&path, 100, &part, &mut |at, line| got.push((at, line.to_vec()))).unwrap();
        let mut wanted = vec![(*start, line.clone())];
        wanted.extend_from_slice(&all[from..]);
        prop_assert_eq!(got, wanted);
    }
}
