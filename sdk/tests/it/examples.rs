//! The examples run as their comments say.

use std::process::Command;

fn example(name: &str, args: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("main.rs"), "fn main() {}\n").unwrap();
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
