//! The program as the entrance of a sandbox (S12).

use std::path::Path;
use std::process::{Command, Output};

/// What the program says of a sandbox that it cannot enter.
const NOT_RUN: i32 = 126;

/// Runs a script in a sandbox that the program enters; none where this machine
/// has no user namespaces.
#[expect(clippy::print_stderr, reason = "it says why nothing was tried")]
fn entered(cwd: &Path, binds: &[(&str, &Path)], script: &str) -> Option<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_everfold"));
    command.arg("__enter-sandbox").current_dir(cwd);
    for (kind, path) in binds {
        command.arg(kind).arg(path);
    }
    let output = command.args(["--", "sh", "-c", script]).output().unwrap();
    if output.status.code() == Some(NOT_RUN) {
        let (test, why) = (std::thread::current(), String::from_utf8_lossy(&output.stderr));
        eprintln!("skipped: {}: {why}", test.name().unwrap_or("a sandbox test"));
        return None;
    }
    Some(output)
}

#[test]
fn s12_the_program_enters_a_sandbox_and_becomes_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for (name, text) in [
        ("work/.git/config", "kept"),
        ("work/.env", "SECRET"),
        ("keys/id", "SECRET"),
        ("out/x", "x"),
    ] {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let work = root.join("work");
    let binds = [
        ("w", work.as_path()),
        ("r", &work.join(".git")),
        ("m", &work.join(".env")),
        ("m", &root.join("keys")),
    ];
    let script = "echo evil > .git/config; mv .git gone; echo made > file; cat .env ../keys/id; \
        echo evil > ../out/x; umount .env; unshare -Urm sh -c 'umount .env; cat .env'; \
        (exec 3<>/dev/tcp/127.0.0.1/9) ; cat ../out/x; exit 7";
    let Some(output) = entered(&work, &binds, script) else { return };
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert_eq!(said, "x\n".trim_end(), "{output:?}");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    assert_eq!(read("work/.git/config"), "kept");
    assert_eq!(read("work/file"), "made\n");
    assert_eq!(read("out/x"), "x");
    assert!(!root.join("work/gone").exists());
}
