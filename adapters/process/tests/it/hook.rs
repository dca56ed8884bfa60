//! Handlers of hooks as programs.

use super::{block_on, pid_in, runs};
use everfold_kernel::ports::{Exit, HookAction, HookCall, HookExit, HookRun};
use everfold_process::{ShellConfig, run_hook};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

fn call(action: HookAction, cwd: &Path) -> HookCall {
    HookCall {
        action,
        input: r#"{"hook_event_name":"Stop"}"#.into(),
        cwd: cwd.to_owned(),
        env: BTreeMap::from([("CLAUDE_PROJECT_DIR".into(), "/p".into())]),
        timeout: Duration::from_secs(20),
        output_bytes: 1_000,
    }
}

fn run(command: &str, cwd: &Path) -> HookRun {
    let call = call(HookAction::Shell(command.into()), cwd);
    block_on(run_hook(&ShellConfig::default(), call, None))
}

#[test]
fn q7_a_handler_reads_json_and_answers_on_two_streams() {
    let dir = tempfile::tempdir().unwrap();
    let ran = run("cat; echo $CLAUDE_PROJECT_DIR >&2; exit 2", dir.path());
    assert_eq!(ran.exit, HookExit::Ended(Exit::Code(2)));
    assert_eq!(ran.stdout, r#"{"hook_event_name":"Stop"}"#);
    assert_eq!(ran.stderr, "/p\n");
    let action =
        HookAction::Program { command: "printf".into(), args: vec!["%s".into(), "$HOME".into()] };
    let ran = block_on(run_hook(&ShellConfig::default(), call(action, dir.path()), None));
    assert_eq!(ran.stdout, "$HOME", "no shell in between");
}

#[test]
fn q7_one_that_does_not_read_says_too_much_or_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let huge = HookCall {
        input: "x".repeat(1 << 20),
        ..call(HookAction::Shell("exec 0<&-; echo ok".into()), dir.path())
    };
    let ran = block_on(run_hook(&ShellConfig::default(), huge, None));
    assert_eq!((ran.exit, ran.stdout.as_str()), (HookExit::Ended(Exit::Code(0)), "ok\n"));
    let ran = run("head -c 100000 /dev/zero | tr '\\0' x", dir.path());
    assert!(ran.stdout.len() < 1_100 && ran.stdout.contains("dropped"));
    assert_eq!(run("no-such-program-here", dir.path()).exit, HookExit::Ended(Exit::Code(127)));
    let missing = HookAction::Program { command: "/no/such".into(), args: vec![] };
    let ran = block_on(run_hook(&ShellConfig::default(), call(missing, dir.path()), None));
    assert!(matches!(ran.exit, HookExit::NotRun(why) if why.contains("No such file")));
    let gone = run("true", &dir.path().join("gone"));
    assert!(matches!(gone.exit, HookExit::NotRun(_)));
}

#[test]
fn q7_one_that_hangs_is_ended_with_all_it_started() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pid");
    let text = format!("sleep 300 & echo $! > {}; wait", file.display());
    let late = HookCall {
        timeout: Duration::from_millis(300),
        ..call(HookAction::Shell(text.clone()), dir.path())
    };
    block_on(async {
        let ran = run_hook(&ShellConfig::default(), late, None).await;
        assert_eq!(ran.exit, HookExit::Ended(Exit::TimedOut));
        let pid = pid_in(&file).await;
        super::eventually("it is gone", || !runs(&pid)).await;
        std::fs::remove_file(&file).unwrap();
        // Nobody waits for it any more: dropping ends it too.
        let config = ShellConfig::default();
        let mut dropped =
            Box::pin(run_hook(&config, call(HookAction::Shell(text), dir.path()), None));
        let pid = tokio::select! {
            _ = &mut dropped => panic!("it ended"),
            pid = pid_in(&file) => pid,
        };
        drop(dropped);
        super::eventually("it is gone", || !runs(&pid)).await;
    });
}

#[test]
fn q7_what_a_handler_leaves_in_the_background_ends_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pid");
    let text = format!("sleep 300 & echo $! > {}; echo done", file.display());
    block_on(async {
        let config = ShellConfig::default();
        let ran = run_hook(&config, call(HookAction::Shell(text), dir.path()), None).await;
        assert_eq!(ran.stdout, "done\n");
        let pid = pid_in(&file).await;
        super::eventually("it is gone", || !runs(&pid)).await;
    });
}

#[test]
fn q7_the_first_line_is_seen_while_it_runs_and_may_change_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let run = |own: Option<u64>, timeout_ms: u64| {
        let text = "printf 'fir'; sleep 0.1; echo st; sleep 1; echo more; sleep 60".to_owned();
        let timeout = Duration::from_millis(timeout_ms);
        let call = HookCall { timeout, ..call(HookAction::Shell(text), dir.path()) };
        let (seen, line) = std::sync::mpsc::channel();
        let first = Box::new(move |line: &str| {
            seen.send(line.to_owned()).unwrap();
            own.map(Duration::from_millis)
        });
        let ran = block_on(run_hook(&ShellConfig::default(), call, Some(first)));
        assert_eq!(line.try_iter().collect::<Vec<_>>(), ["first"], "once, and whole");
        assert_eq!(ran.exit, HookExit::Ended(Exit::TimedOut));
        ran.stdout
    };
    assert_eq!(run(Some(3_000), 700), "first\nmore\n", "more time than it had");
    assert_eq!(run(Some(400), 30_000), "first\n", "less");
    assert_eq!(run(None, 700), "first\n");
}
