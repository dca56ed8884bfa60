//! Bash.

use crate::fakes::{Bench, output};
use everfold_kernel::Limits;
use everfold_kernel::ports::{Exit, ShellError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn command(text: &str) -> Value {
    json!({"command": text})
}

#[tokio::test]
async fn q5_output_and_exit_code_are_told() {
    let bench = Bench::new();
    bench.shell.will("hi\n", Exit::Code(0), None);
    let done = bench.call("Bash", command("echo hi")).await;
    assert_eq!(done.content, json!("hi"));
    assert_eq!(
        done.structured.unwrap(),
        json!({"stdout": "hi\n", "stderr": "", "interrupted": false, "isImage": false,
            "noOutputExpected": false})
    );
    bench.shell.will("oh no\n", Exit::Code(2), None);
    assert_eq!(bench.error("Bash", command("false")).await, "Exit code 2\noh no");
    bench.shell.will("", Exit::Signal(9), None);
    assert_eq!(bench.error("Bash", command("x")).await, "Ended by signal 9\nThere was no output.");
}

#[tokio::test]
async fn l1_1_a_command_that_prints_nothing_says_so() {
    let bench = Bench::new();
    bench.shell.will("\n", Exit::Code(0), None);
    let text = bench.ok("Bash", command("true")).await;
    assert_eq!(text, "The command completed with no output.");
}

#[tokio::test]
async fn q5_the_time_is_clamped_and_running_too_long_is_told() {
    let bench = Bench::new();
    bench.shell.will("part\n", Exit::TimedOut, None);
    let text = bench.error("Bash", json!({"command": "x", "timeout": "99999999"})).await;
    assert!(text.starts_with("Ended after 600000 ms"), "{text}");
    assert!(text.ends_with("part"), "{text}");
    bench.ok("Bash", command("y")).await;
    let commands = bench.shell.commands.lock().unwrap();
    assert_eq!(commands[0].timeout, Some(Duration::from_mins(10)));
    assert_eq!(commands[1].timeout, Some(Duration::from_mins(2)));
    assert_eq!(commands[1].output_bytes, Limits::default().shell_output_bytes);
}

#[tokio::test]
async fn q5_dropped_output_is_told() {
    let bench = Bench::new();
    let mut long = output("start … end", Exit::Code(0), None);
    long.dropped_bytes = 77;
    bench.shell.script.lock().unwrap().push_back(Ok(long));
    let text = bench.ok("Bash", command("yes")).await;
    assert!(text.starts_with("[77 bytes were dropped"), "{text}");
}

#[tokio::test]
async fn q5_the_working_directory_is_kept() {
    let bench = Bench::new();
    bench.shell.will("", Exit::Code(0), Some("/proj/src"));
    bench.ok("Bash", command("cd src")).await;
    assert_eq!(bench.context.cwd(), PathBuf::from("/proj/src"));
    bench.shell.will("", Exit::Code(0), Some("/extra/deep"));
    bench.ok("Bash", command("cd /extra/deep")).await;
    bench.ok("Bash", command("pwd")).await;
    let commands = bench.shell.commands.lock().unwrap();
    assert_eq!(commands[1].cwd, Path::new("/proj/src"));
    assert_eq!(commands[2].cwd, Path::new("/extra/deep"));
}

#[tokio::test]
async fn s2_the_working_directory_does_not_leave_the_session() {
    let bench = Bench::new();
    bench.files.add_link("/proj/out", "/etc");
    for outside in ["/etc", "/projshop", "/proj/out"] {
        bench.context.set_cwd("/proj/src".into());
        bench.shell.will("text\n", Exit::Code(0), Some(outside));
        let text = bench.ok("Bash", command("cd")).await;
        assert!(text.starts_with("The working directory is /proj again"), "{text}");
        assert!(text.contains(outside) && text.ends_with("text"), "{text}");
        assert_eq!(bench.context.cwd(), PathBuf::from("/proj"));
    }
}

#[tokio::test]
async fn s6_a_working_directory_that_is_gone_does_not_block_the_session() {
    let bench = Bench::new();
    bench.context.set_cwd("/proj/gone".into());
    let error = |cwd: &str| ShellError::Start { cwd: cwd.into(), message: "no shell".into() };
    bench.shell.script.lock().unwrap().push_back(Err(error("/proj/gone")));
    let text = bench.error("Bash", command("ls")).await;
    assert!(text.contains("/proj/gone is gone") && text.contains("it is /proj now"), "{text}");
    assert_eq!(bench.context.cwd(), PathBuf::from("/proj"));
    bench.shell.script.lock().unwrap().push_back(Err(error("/proj")));
    let text = bench.error("Bash", command("ls")).await;
    assert_eq!(text, "the command could not be started in /proj: no shell");
}

#[tokio::test]
async fn q5_a_background_command_is_told_when_it_starts_and_once_when_it_ends() {
    let bench = Bench::new();
    let input = json!({"command": "serve", "run_in_background": true});
    let value = bench.structured("Bash", input.clone()).await;
    assert_eq!(value["backgroundTaskId"], "b1");
    let text = bench.ok("Bash", input).await;
    let path = bench.shell.jobs.lock().unwrap()[1].output.clone();
    assert!(path.starts_with("/session/jobs"), "{path:?}");
    assert_eq!(path.extension().unwrap(), "log");
    assert_ne!(path, bench.shell.jobs.lock().unwrap()[0].output);
    for part in ["b2", "4002", path.to_str().unwrap(), "Read", "kill -- -4002"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(bench.shell.commands.lock().unwrap()[0].timeout, None);

    assert!(bench.context.finished_jobs().is_empty());
    bench.shell.end("b2", Exit::Code(1));
    let ended = bench.context.finished_jobs();
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].id, "b2");
    assert!(bench.context.finished_jobs().is_empty());
    bench.shell.end("b1", Exit::Code(0));
    assert_eq!(bench.context.finished_jobs()[0].id, "b1");
}
