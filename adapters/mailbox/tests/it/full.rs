//! A disk that takes nothing more: a tiny file system of its own, in a
//! process of its own.

use crate::post::{draft, member, name};
use everfold_kernel::ports::{Address, Post, PostError};
use std::path::Path;
use std::process::Command;

const HOME: &str = "MAILBOX_TEST_FULL";

/// Sends until the disk is full; as a test of its own it does nothing.
#[tokio::test]
async fn child() {
    let Ok(home) = std::env::var(HOME) else { return };
    let home = Path::new(&home);
    let (ada, bob) = (member(home, "ada"), member(home, "bob"));
    bob.open(&"s2".into(), &home.join("s2")).await.unwrap();
    let to = Address::Name(name("bob"));
    let mut sent = 0;
    let error = loop {
        match ada.send(&to, draft("ada", &"x".repeat(4_000))).await {
            Ok(_) => sent += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, PostError::NoSpace { .. }), "{error}");
    assert!(error.to_string().contains("was not sent"), "{error}");
    assert!(sent > 0);
    let by_socket =
        ada.send(&Address::Session("s2".into()), draft("ada", &"x".repeat(4_000))).await;
    let error = by_socket.unwrap_err();
    assert!(matches!(error, PostError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("no space left on the device"), "{error}");
    // What was sent is there whole; with room again, the next one goes too.
    for entry in std::fs::read_dir(home.join("teams/crew/mail/bob/new")).unwrap() {
        std::fs::remove_file(home.join("ballast")).ok();
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
    }
    let path = std::fs::read_dir(home.join("teams/crew/mail/bob/new")).unwrap().next().unwrap();
    std::fs::remove_file(path.unwrap().path()).unwrap();
    ada.send(&to, draft("ada", "short")).await.unwrap();
    println!("filled and went on");
}

#[cfg(target_os = "linux")]
#[test]
fn l7_5_a_full_disk_is_said_and_leaves_no_half_letter() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=128k tmpfs {0} && exec {1} --exact full::child --nocapture",
        dir.path().display(),
        std::env::current_exe().unwrap().display(),
    );
    let run =
        Command::new("unshare").args(["-rm", "sh", "-c", &script]).env(HOME, dir.path()).output();
    let output = match run {
        Ok(output) if String::from_utf8_lossy(&output.stderr).contains("unshare") => {
            eprintln!("skipped: no small file system can be mounted here");
            return;
        }
        Err(_) => {
            eprintln!("skipped: there is no unshare here");
            return;
        }
        Ok(output) => output,
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("filled and went on"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
