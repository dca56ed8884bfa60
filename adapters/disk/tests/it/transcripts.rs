use super::run;
use everfold_disk::DiskTranscripts;
use everfold_kernel::error::{Class, Classify};
use everfold_kernel::ids::SessionId;
use everfold_kernel::ports::{LoadedTranscript, TranscriptError, Transcripts};
use std::fs;
use std::time::{Duration, SystemTime};

fn load(
    log: &DiskTranscripts,
    session: &SessionId,
) -> Result<(Vec<String>, LoadedTranscript), TranscriptError> {
    let mut got = Vec::new();
    let loaded = run(log.load(session, &mut |line| {
        got.push(String::from_utf8_lossy(line).into_owned());
    }))?;
    Ok((got, loaded))
}

#[test]
fn q4_lines_are_on_the_disk_when_append_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let log = DiskTranscripts::new(dir.path().join("slug"));
    let session = SessionId::new("0190-aa");
    run(log.append(&session, b"{\"n\":1}")).unwrap();
    run(log.append(&session, b"{\"n\":2}")).unwrap();
    let path = dir.path().join("slug/0190-aa.jsonl");
    assert_eq!(fs::read(&path).unwrap(), b"{\"n\":1}\n{\"n\":2}\n");
    assert_eq!(log.path(&session), path);
    assert_eq!(log.session_dir(&session), dir.path().join("slug/0190-aa"));
    let (got, loaded) = load(&log, &session).unwrap();
    assert_eq!(got.len(), 2);
    assert_eq!(loaded, LoadedTranscript { lines: 2, torn_bytes: 0, skipped: 0 });
}

#[cfg(unix)]
#[test]
fn s5_transcripts_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let log = DiskTranscripts::new(dir.path().join("home/projects/slug"));
    let session = SessionId::new("s");
    run(log.append(&session, b"{}")).unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(log.path(&session)), 0o600);
    assert_eq!(mode(dir.path().join("home/projects/slug")), 0o700);
    assert_eq!(mode(dir.path().join("home")), 0o700);
}

#[test]
fn q4_a_torn_last_line_is_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let log = DiskTranscripts::new(dir.path().to_path_buf()).with_max_line(20);
    let session = SessionId::new("s");
    let wide = "x".repeat(50);
    fs::write(log.path(&session), format!("{{\"n\":1}}\n{wide}\n{{\"n\":")).unwrap();
    let (got, loaded) = load(&log, &session).unwrap();
    assert_eq!(got, [r#"{"n":1}"#]);
    assert_eq!(loaded, LoadedTranscript { lines: 1, torn_bytes: 5, skipped: 1 });
    run(log.append(&session, b"{\"n\":2}")).unwrap();
    let (got, _) = load(&log, &session).unwrap();
    assert_eq!(got.last().unwrap(), r#"{"n":2}"#);
    let error = run(log.append(&session, wide.as_bytes())).unwrap_err();
    assert!(error.to_string().contains("can be read back"), "{error}");
}

#[test]
fn s1_a_session_name_cannot_lead_out() {
    let dir = tempfile::tempdir().unwrap();
    let log = DiskTranscripts::new(dir.path().join("p"));
    for name in ["../x", "/etc/x", "a/b", "", ".", "a.b", "a\0b", "ä", "a\\b"] {
        let session = SessionId::new(name);
        let error = run(log.append(&session, b"{}")).unwrap_err();
        assert!(matches!(error, TranscriptError::Write { .. }), "{name:?}: {error}");
        assert_eq!(error.class(), Class::Stop);
        let error = load(&log, &session).unwrap_err();
        assert!(matches!(error, TranscriptError::Read { .. }), "{name:?}: {error}");
        assert_eq!(log.path(&session).parent(), Some(dir.path().join("p").as_path()));
        assert_eq!(log.session_dir(&session).parent(), Some(dir.path().join("p").as_path()));
    }
    assert!(super::names(dir.path()).is_empty());
}

#[test]
fn q4_what_is_missing_or_in_the_way_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let log = DiskTranscripts::new(dir.path().join("p"));
    let session = SessionId::new("s");
    assert!(matches!(load(&log, &session), Err(TranscriptError::NotFound { .. })));
    assert_eq!(run(log.glimpse()).unwrap(), []);
    fs::create_dir_all(log.path(&session)).unwrap();
    assert!(matches!(load(&log, &session), Err(TranscriptError::Read { .. })));
    let error = run(log.append(&session, b"{}")).unwrap_err();
    assert!(error.to_string().contains("is a directory"), "{error}");
    fs::remove_dir(log.path(&session)).unwrap();
    run(log.append(&session, b"{}")).unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let log = DiskTranscripts::new(dir.path().join("file"));
    assert!(run(log.append(&session, b"{}")).is_err());
    assert!(run(log.glimpse()).is_err());
}

#[test]
fn q4_glimpses_are_newest_first_with_both_ends() {
    let dir = tempfile::tempdir().unwrap();
    let log = DiskTranscripts::new(dir.path().to_path_buf());
    let day = |n: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * n);
    for (name, n) in [("b", 2), ("a", 2), ("old", 1), ("new", 3)] {
        let session = SessionId::new(name);
        run(log.append(&session, b"{\"first\":1}")).unwrap();
        let file = fs::OpenOptions::new().write(true).open(log.path(&session)).unwrap();
        file.set_modified(day(n)).unwrap();
    }
    fs::write(dir.path().join("agent-1.jsonl"), "{}\n").unwrap();
    fs::write(dir.path().join("notes.txt"), "x").unwrap();
    fs::create_dir(dir.path().join("dir.jsonl")).unwrap();
    let found = run(log.glimpse()).unwrap();
    let names: Vec<_> = found.iter().map(|g| g.session.as_str()).collect();
    assert_eq!(names, ["new", "a", "b", "old"]);
    assert_eq!(found[0].head, b"{\"first\":1}\n");
    assert_eq!(found[0].tail, b"");
    assert_eq!(found[0].modified.as_second(), 86_400 * 3);

    let session = SessionId::new("big");
    for n in 0..4000 {
        run(log.append(&session, format!("{{\"n\":{n},\"pad\":\"{:060}\"}}", 0).as_bytes()))
            .unwrap();
    }
    let found = run(log.glimpse()).unwrap();
    let big = found.iter().find(|g| g.session == session).unwrap();
    assert!(big.head.starts_with(b"{\"n\":0,") && big.head.ends_with(b"}\n"));
    assert!(big.tail.starts_with(b"{\"n\":") && big.tail.ends_with(b"}\n"));
    assert!(String::from_utf8_lossy(&big.tail).contains("{\"n\":3999,"));
    assert!(big.head.len() <= 65_536 && big.tail.len() <= 65_536);
}

#[test]
fn q4_eight_threads_on_one_store_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let log = DiskTranscripts::new(dir.path().to_path_buf());
    let session = SessionId::new("s");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (log, session) = (&log, &session);
            scope.spawn(move || {
                for n in 0..100 {
                    run(log.append(session, format!("[{writer},{n}]").as_bytes())).unwrap();
                }
            });
        }
    });
    let (mut got, loaded) = load(&log, &session).unwrap();
    assert_eq!((loaded.lines, loaded.torn_bytes), (800, 0));
    got.sort();
    got.dedup();
    assert_eq!(got.len(), 800);
}
