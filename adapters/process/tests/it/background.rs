use super::{block_on, command, eventually, pid_in, runs};
use everfold_kernel::ports::{Exit, JobState, Shell, ShellCommand, ShellError};
use everfold_process::{BashShell, ShellConfig};
use std::path::Path;
use std::time::Duration;

fn job(text: &str, cwd: &Path) -> ShellCommand {
    ShellCommand { timeout: None, ..command(text, cwd) }
}

fn shell() -> BashShell {
    BashShell::new(ShellConfig::default())
}

#[test]
fn q5_jobs_have_names_output_and_an_end() {
    let dir = tempfile::tempdir().unwrap();
    let shell = shell();
    block_on(async {
        let out = dir.path().join("jobs/one.log");
        let one = shell
            .start(job("echo hi; echo err >&2; exit 3", dir.path()), out.clone())
            .await
            .unwrap();
        let two =
            shell.start(job("sleep 300", dir.path()), dir.path().join("two.log")).await.unwrap();
        assert_eq!((one.id.as_str(), two.id.as_str()), ("b1", "b2"));
        assert_eq!(two.state, JobState::Running);
        assert!(runs(&two.pid.to_string()));
        let state = |n: usize| shell.jobs().get(n).unwrap().state;
        eventually("it ends", || state(0) == JobState::Ended(Exit::Code(3))).await;
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "hi\nerr\n");
        assert_eq!(state(1), JobState::Running);
        let ended = shell.stop("b2").await.unwrap();
        assert_eq!(ended.state, JobState::Ended(Exit::Signal(15)));
        let again = shell.stop("b2").await.unwrap();
        assert_eq!(again.state, ended.state, "stopping twice changes nothing");
        let error = shell.stop("b3").await.unwrap_err();
        assert_eq!(error, ShellError::NoSuchJob { id: "b3".to_owned() });
        let commands: Vec<_> = shell.jobs().into_iter().map(|job| job.id).collect();
        assert_eq!(commands, ["b1", "b2"]);
    });
}

#[test]
fn s5_output_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let shell = shell();
    block_on(async {
        let out = dir.path().join("jobs/one.log");
        shell.start(job("true", dir.path()), out.clone()).await.unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&out), 0o600);
        assert_eq!(mode(out.parent().unwrap()), 0o700);
        let error =
            shell.start(job("true", dir.path()), dir.path().to_path_buf()).await.unwrap_err();
        assert!(matches!(error, ShellError::Output { .. }), "{error}");
        assert_eq!(shell.jobs().len(), 1);
        shell.shutdown().await;
    });
}

#[test]
fn q5_stop_ends_what_a_job_started() {
    let dir = tempfile::tempdir().unwrap();
    let shell = shell();
    block_on(async {
        let text = "(trap '' TERM; echo $BASHPID > stubborn; exec sleep 300) & sleep 300 & echo $! > child; wait";
        shell.start(job(text, dir.path()), dir.path().join("log")).await.unwrap();
        let child = pid_in(&dir.path().join("child")).await;
        let stubborn = pid_in(&dir.path().join("stubborn")).await;
        shell.stop("b1").await.unwrap();
        eventually("the child is gone", || !runs(&child)).await;
        eventually("the stubborn one too", || !runs(&stubborn)).await;
    });
}

#[test]
fn q5_shutdown_ends_every_job() {
    let dir = tempfile::tempdir().unwrap();
    let shell = shell();
    block_on(async {
        for n in 0..3 {
            let log = dir.path().join(format!("{n}.log"));
            shell.start(job("sleep 300 & wait", dir.path()), log).await.unwrap();
        }
        shell.shutdown().await;
        for job in shell.jobs() {
            assert!(matches!(job.state, JobState::Ended(_)), "{job:?}");
            assert!(!runs(&job.pid.to_string()));
        }
    });
}

#[test]
fn q5_dropping_the_shell_ends_every_job() {
    let dir = tempfile::tempdir().unwrap();
    let shell = shell();
    block_on(async {
        let text = "trap '' TERM; sleep 300 & echo $! > child; wait";
        let info = shell.start(job(text, dir.path()), dir.path().join("log")).await.unwrap();
        let child = pid_in(&dir.path().join("child")).await;
        drop(shell);
        eventually("the child is gone", || !runs(&child)).await;
        eventually("the leader too", || !runs(&info.pid.to_string())).await;
    });
}

#[test]
fn a_job_may_have_a_time_limit() {
    let dir = tempfile::tempdir().unwrap();
    let shell = shell();
    block_on(async {
        let mut short = job("sleep 300", dir.path());
        short.timeout = Some(Duration::from_millis(50));
        shell.start(short, dir.path().join("log")).await.unwrap();
        let ended = || shell.jobs().iter().all(|job| job.state == JobState::Ended(Exit::TimedOut));
        eventually("its time is up", ended).await;
    });
}
