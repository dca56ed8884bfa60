//! The examples run as their comments say.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// What an example prints in this directory.
pub(crate) fn run_example(name: &str, args: &[&str], dir: &Path) -> String {
    run_with_input(name, args, dir, "")
}

/// The same with something to read.
pub(crate) fn run_with_input(name: &str, args: &[&str], dir: &Path, input: &str) -> String {
    // Examples are built beside the test binary: target/<profile>/examples.
    let here = std::env::current_exe().unwrap();
    let program = here.parent().unwrap().parent().unwrap().join("examples").join(name);
    // A run of all tests has built them, one of single tests may not have.
    if !program.exists() {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "everfold", "--example", name])
            .status()
            .unwrap();
        assert!(built.success());
    }
    let mut child = Command::new(&program)
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("HOME", dir)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn q9_the_agent_in_forty_lines_runs() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("main.rs"), "fn main() {}\n").unwrap();
    let said = run_example("agent", &["list files"], dir.path());
    assert!(said.contains("main.rs") && said.contains("Completed"), "{said}");
}
