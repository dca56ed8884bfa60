use super::{block_on, command, eventually, pid_in, runs};
use everfold_kernel::ports::{Exit, Shell, ShellError, ShellOutput};
use everfold_process::{BashShell, ShellConfig};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn dir() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = std::fs::canonicalize(dir.path()).unwrap();
    (dir, path)
}

fn run(text: &str, cwd: &Path) -> ShellOutput {
    let shell = BashShell::new(ShellConfig::default());
    block_on(shell.run(command(text, cwd))).unwrap()
}

#[test]
fn q5_output_code_and_directory_come_back() {
    let (_dir, cwd) = dir();
    let out = run("echo one; echo two >&2; echo three", &cwd);
    assert_eq!(out.text, "one\ntwo\nthree\n", "both streams, in order");
    assert_eq!(out.exit, Exit::Code(0));
    assert_eq!(out.cwd, Some(cwd));
    assert_eq!(out.dropped_bytes, 0);
}

#[test]
fn q5_the_directory_at_the_end_is_told() {
    let (_dir, cwd) = dir();
    std::fs::create_dir_all(cwd.join("a/it's b")).unwrap();
    let at = |text: &str| {
        let out = run(text, &cwd);
        (out.exit, out.cwd)
    };
    let deep = Some(cwd.join("a/it's b"));
    assert_eq!(at("cd a && cd \"it's b\""), (Exit::Code(0), deep.clone()));
    assert_eq!(at("cd 'a/it'\\''s b'; exit 3"), (Exit::Code(3), deep.clone()));
    assert_eq!(at("set -eu\ncd a/*\nfalse\ncd /"), (Exit::Code(1), deep));
    assert_eq!(at("(cd a; exit 4)"), (Exit::Code(4), Some(cwd.clone())));
    assert_eq!(at("true # a comment"), (Exit::Code(0), Some(cwd.clone())));
    assert_eq!(at("set -C; cd a"), (Exit::Code(0), Some(cwd.join("a"))));
    let gone = "mkdir g && cd g && rmdir ../g";
    assert_eq!(at(gone), (Exit::Code(0), None));
    assert_eq!(at("exec true"), (Exit::Code(0), None));
    assert_eq!(at("trap 'exit 7' EXIT; cd a"), (Exit::Code(7), None));
}

#[test]
fn q5_text_reaches_the_shell_as_it_is() {
    let (_dir, cwd) = dir();
    let text = |command: &str| run(command, &cwd).text;
    assert_eq!(text("cat <<'E'\n$a 'b' \"c\"\nE"), "$a 'b' \"c\"\n");
    assert_eq!(text("cat <<E\nx\nE\necho 'it'\\''s'"), "x\nit's\n");
    assert_eq!(text("printf '%s\\n' a\\\nb"), "ab\n");
    assert_eq!(text("echo $#:$0:$LINENO").split(':').next(), Some("0"));
    let traced = text("set -x; echo hi");
    assert_eq!(traced.lines().count(), 2, "no trace of ours: {traced}");
    assert_eq!(text("env | grep -c '^EVERFOLD'"), "0\n");
    let unfinished = run("cat <<E\nx", &cwd);
    assert!(unfinished.text.contains('x'), "{}", unfinished.text);
}

#[test]
fn q5_a_syntax_error_is_the_commands_own() {
    let (_dir, cwd) = dir();
    for text in ["echo 'open", "if true; then", "echo )("] {
        let out = run(text, &cwd);
        assert!(matches!(out.exit, Exit::Code(1 | 2)), "{text}: {:?}", out.exit);
        assert!(out.text.contains("line"), "{text}: {}", out.text);
        assert_eq!(out.cwd.as_ref(), Some(&cwd), "{text}");
    }
}

#[test]
fn q5_the_middle_of_long_output_is_dropped() {
    let (_dir, cwd) = dir();
    let shell = BashShell::new(ShellConfig::default());
    let mut long = command("seq 1 200000", &cwd);
    long.output_bytes = 1000;
    let out = block_on(shell.run(long)).unwrap();
    assert!(out.text.starts_with("1\n2\n"), "{}", out.text);
    assert!(out.text.ends_with("199999\n200000\n"), "{}", out.text);
    assert_eq!(out.dropped_bytes, 1_288_895 - 1000);
    assert!(out.text.len() < 1100);
}

#[test]
fn s6_invalid_utf8_and_signals() {
    let (_dir, cwd) = dir();
    assert_eq!(run("printf 'a\\377b'", &cwd).text, "a\u{fffd}b");
    assert_eq!(run("kill -9 $$", &cwd).exit, Exit::Signal(9));
    assert_eq!(run("cat; read x; echo done", &cwd).text, "done\n");
    let out = run("cat /dev/tty", &cwd);
    assert!(matches!(out.exit, Exit::Code(1)), "no terminal: {out:?}");
}

#[test]
fn s5_keys_are_not_in_the_environment_of_commands() {
    let (_dir, cwd) = dir();
    let shell = BashShell::new(ShellConfig {
        scrub: vec!["PATH".to_owned(), "HOME".to_owned()],
        env: [("PATH".to_owned(), "/bin:/usr/bin".to_owned())].into(),
    });
    let out = block_on(shell.run(command("echo ${HOME-unset} $PATH", &cwd))).unwrap();
    assert_eq!(out.text, "unset /bin:/usr/bin\n");
}

#[test]
fn s6_a_missing_directory_is_said() {
    let (_dir, cwd) = dir();
    let shell = BashShell::new(ShellConfig::default());
    let gone = cwd.join("gone");
    let error = block_on(shell.run(command("true", &gone))).unwrap_err();
    assert!(error.to_string().contains("no such directory"), "{error}");
    let error = block_on(shell.run(command("a\0b", &cwd))).unwrap_err();
    assert!(matches!(error, ShellError::Start { .. }), "{error}");
}

#[test]
fn q5_time_that_is_up_ends_the_whole_group() {
    let (_dir, cwd) = dir();
    let shell = BashShell::new(ShellConfig::default());
    block_on(async {
        // The second ignores the polite signal.
        let mut slow = command(
            "sleep 300 & echo $! > one; (trap '' TERM; echo $BASHPID > two; exec sleep 300) & echo began; wait",
            &cwd,
        );
        slow.timeout = Some(Duration::from_millis(500));
        let out = shell.run(slow).await.unwrap();
        assert_eq!(out.exit, Exit::TimedOut);
        assert_eq!(out.text, "began\n");
        for file in ["one", "two"] {
            let pid = pid_in(&cwd.join(file)).await;
            eventually("no process is left", || !runs(&pid)).await;
        }
        let mut stubborn = command("trap '' TERM; echo up; while :; do sleep 300; done", &cwd);
        stubborn.timeout = Some(Duration::from_millis(300));
        let out = shell.run(stubborn).await.unwrap();
        assert_eq!((out.exit, out.text.as_str()), (Exit::TimedOut, "up\n"));
    });
}

#[test]
fn q5_dropping_the_future_ends_the_group() {
    let (_dir, cwd) = dir();
    let shell = BashShell::new(ShellConfig::default());
    block_on(async {
        let text = "sleep 300 & echo $! > child; echo $$ > leader; wait";
        let running = shell.run(command(text, &cwd));
        let started =
            async { (pid_in(&cwd.join("child")).await, pid_in(&cwd.join("leader")).await) };
        let (child, leader) = tokio::select! {
            out = running => panic!("ended by itself: {out:?}"),
            pids = started => pids,
        };
        eventually("the child is gone", || !runs(&child)).await;
        eventually("the leader is gone", || !runs(&leader)).await;
    });
}

#[test]
fn q5_a_process_that_holds_the_pipe_does_not_hold_us() {
    let (_dir, cwd) = dir();
    let began = Instant::now();
    let out = run("sleep 300 & echo $! > child; echo done", &cwd);
    assert_eq!((out.exit, out.text.as_str()), (Exit::Code(0), "done\n"));
    assert!(began.elapsed() < Duration::from_secs(15), "it did not wait");
    block_on(async {
        let pid = pid_in(&cwd.join("child")).await;
        eventually("the leftover is gone", || !runs(&pid)).await;
    });
    let out = run("echo late > >(cat)", &cwd);
    assert_eq!(out.text, "late\n", "what bash does not wait for still counts");
}

#[test]
fn shutdown_ends_the_foreground_too() {
    let (_dir, cwd) = dir();
    let shell = BashShell::new(ShellConfig::default());
    block_on(async {
        let close = async {
            pid_in(&cwd.join("up")).await;
            shell.shutdown().await;
        };
        let (out, ()) = tokio::join!(shell.run(command("echo 1 > up; sleep 300", &cwd)), close);
        // The shell says 143 where it sees its child end before itself; on a busy
        // machine it is killed, because it did not end in time.
        let exit = out.unwrap().exit;
        assert!(matches!(exit, Exit::Signal(15 | 9) | Exit::Code(143)), "{exit:?}");
        let error = shell.run(command("true", &cwd)).await.unwrap_err();
        assert!(error.to_string().contains("shut down"), "{error}");
    });
}
