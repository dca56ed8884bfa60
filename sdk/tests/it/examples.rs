//! The examples run as their comments say.

use std::process::Command;

fn example(name: &str, args: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("main.rs"), "fn main() {}\n").unwrap();
    // A run of single tests does not build examples. The whole workspace is named as it is for
    // tests: with other features of what it shares, all of that would be built once more.
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--workspace", "--example", name])
        .status()
        .unwrap();
    assert!(built.success());
    // Examples are built beside the test binary: target/<profile>/examples.
    let here = std::env::current_exe().unwrap();
    let program = here.parent().unwrap().parent().unwrap().join("examples").join(name);
    let output = Command::new(&program)
        .args(args)
        .current_dir(dir.path())
        .env_clear()
        .env("HOME", dir.path())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn q9_the_agent_in_forty_lines_runs() {
    let said = example("agent", &["list files"]);
    assert!(said.contains("main.rs") && said.contains("Completed"), "{said}");
}

#[test]
fn q9_the_layers_run_around_somebody_elses_loop() {
    let said = example("own_loop", &[]);
    assert!(said.contains("request 3") && said.contains("shares its prefix"), "{said}");
}
