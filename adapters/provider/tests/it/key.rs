//! Keys from values and commands.

#![cfg(unix)]

use everfold_kernel::Secret;
use everfold_provider::key::{KeyError, KeySource, resolve_key};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

async fn run(command: &str) -> Result<Secret, KeyError> {
    let source = KeySource::Command(command.into());
    resolve_key(&source, Duration::from_secs(10)).await
}

#[tokio::test]
async fn s5_a_key_comes_from_a_value_or_a_command() {
    let value = KeySource::Value(Secret::new(" sk-1 \n"));
    let key = resolve_key(&value, Duration::from_secs(1)).await.unwrap();
    assert_eq!(key.expose(), "sk-1");
    assert_eq!(run("printf '  sk-2\\n'").await.unwrap().expose(), "sk-2");
    let empty = KeySource::Value(Secret::new(" "));
    let error = resolve_key(&empty, Duration::from_secs(1)).await;
    assert_eq!(error, Err(KeyError::Empty));
}

#[tokio::test]
async fn s5_errors_of_a_key_command_do_not_hold_its_output() {
    for command in [
        "echo sk-hidden; exit 3",
        "echo sk-hidden >&2; exit 1",
        "echo sk-hidden and more",
        "printf 'sk-hidden\\377'",
        "true",
    ] {
        let error = run(command).await.unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("sk-hidden"), "{shown}");
    }
}

#[tokio::test]
async fn s5_a_key_command_that_hangs_is_given_up() {
    let source = KeySource::Command("exec sleep 60".into());
    let error = resolve_key(&source, Duration::from_millis(50)).await;
    assert!(matches!(error, Err(KeyError::TimedOut { .. })));
}

/// Reads a pipe until `wanted` says so: what it read, or none at the end of
/// all writers.
async fn poll(pipe: &mut File, wanted: impl Fn(Option<&[u8]>) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut buffer = [0; 16];
    while Instant::now() < deadline {
        let met = match pipe.read(&mut buffer) {
            Ok(0) => wanted(None),
            Ok(read) => wanted(Some(&buffer[..read])),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                false
            }
        };
        if met {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("it did not happen in time");
}

#[tokio::test]
async fn s5_a_key_command_that_is_dropped_leaves_no_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let flags = rustix::fs::OFlags::NONBLOCK.bits();
    let mut pipe = OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from(flags).unwrap())
        .open(&path)
        .unwrap();
    // The inner process holds the pipe open for as long as it lives.
    let inner = "sh -c 'echo x; sleep 60; :'";
    let source = KeySource::Command(format!("{inner} > {}; :", path.display()));
    tokio::select! {
        result = resolve_key(&source, Duration::from_mins(1)) => panic!("{result:?}"),
        () = poll(&mut pipe, |read| read.is_some()) => {}
    }
    poll(&mut pipe, |read| read.is_none()).await;
}

#[tokio::test]
async fn s6_a_key_command_that_never_stops_printing_is_refused() {
    let error = run("yes sk").await.unwrap_err();
    assert!(!error.to_string().contains("sk"), "{error}");
}
