//! What the operating system holds a command to (S8).

use super::{block_on, command};
use everfold_kernel::ports::{
    Confinement, Exit, SandboxProfile, SandboxState, Shell, ShellCommand, ShellError, ShellOutput,
};
use everfold_process::{BashShell, ShellConfig};
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};

/// Runs a command that may write in `inside` alone; none where this machine
/// has no sandbox, and then it must have been refused.
fn run(text: &str, cwd: &Path, inside: &[PathBuf]) -> Option<ShellOutput> {
    let shell = BashShell::new(ShellConfig::default());
    let confinement = Confinement::Sandbox(SandboxProfile {
        writable: inside.to_vec(),
        ..SandboxProfile::default()
    });
    let ran = block_on(shell.run(ShellCommand { confinement, ..command(text, cwd) }));
    taken(ran)
}

/// What a command did; none where this machine has no sandbox, which is told
/// with the name of the test.
#[expect(clippy::print_stderr, reason = "it says what was not tried, and why")]
fn taken(ran: Result<ShellOutput, ShellError>) -> Option<ShellOutput> {
    match ran {
        Ok(output) => Some(output),
        Err(ShellError::NoSandbox { message }) => {
            let test = std::thread::current();
            eprintln!("skipped: {}: {message}", test.name().unwrap_or("a sandbox test"));
            let state = BashShell::new(ShellConfig::default()).sandbox();
            assert!(matches!(state, SandboxState::Missing(_)), "{state:?}");
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// A project with what acts later in it, and with what is not to be seen.
fn project() -> (tempfile::TempDir, PathBuf, SandboxProfile) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("project");
    for (name, text) in [
        (".git/config", "[core]\n"),
        (".git/hooks/pre-commit.sample", ""),
        ("CLAUDE.md", "words"),
        (".env", "SECRET"),
        ("src/a.txt", "plain"),
        ("../home/.ssh/id_rsa", "SECRET"),
        ("../home/notes.txt", "plain"),
    ] {
        let path = root.join(name);
        std::fs::create_dir_all(root.join("x")).unwrap();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let home = root.parent().unwrap().join("home");
    let profile = SandboxProfile {
        writable: vec![root.clone()],
        read_only: [".git", ".claude", ".mcp.json", "CLAUDE.md"].map(|name| root.join(name)).into(),
        masked: vec![root.join(".env"), home.join(".ssh"), home.join(".not-there")],
    };
    (dir, root, profile)
}

#[test]
fn s12_what_acts_later_stays_as_it_is_and_credentials_are_out_of_sight() {
    let (_dir, root, profile) = project();
    let text = "\
        echo evil > .git/hooks/pre-commit; echo evil >> .git/config; mkdir .git/x; \
        mkdir -p .claude/x; echo evil > .claude/settings.local.json; echo evil > .mcp.json; \
        echo evil > CLAUDE.md; mv CLAUDE.md other.md; mv .git gone; rmdir .claude; rm -rf .mcp.json; \
        mv .claude moved; ln -sfn /tmp .claude; \
        cat .env ../home/.ssh/id_rsa; ls ../home/.ssh; cat /proc/*/root\"$PWD\"/.env; \
        umount .env ../home/.ssh; mount --bind src .git; unshare -Urm sh -c 'umount .env; cat .env'; \
        echo seen > src/b.txt; cat src/a.txt ../home/notes.txt; echo out > ../home/made; true";
    let confinement = Confinement::Sandbox(profile);
    let shell = BashShell::new(ShellConfig::default());
    let ran = block_on(shell.run(ShellCommand { confinement, ..command(text, &root) }));
    let Some(ran) = taken(ran) else { return };
    assert!(!ran.text.contains("SECRET"), "{}", ran.text);
    assert!(ran.text.contains("plain"), "{}", ran.text);
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    assert_eq!(read(".git/config"), "[core]\n");
    assert_eq!(read("CLAUDE.md"), "words");
    assert_eq!(read("src/b.txt"), "seen\n");
    for name in [
        ".git/hooks/pre-commit",
        ".git/x",
        ".claude",
        ".mcp.json",
        "other.md",
        "gone",
        "moved",
        "../home/made",
    ] {
        assert!(root.join(name).symlink_metadata().is_err(), "{name}: {}", ran.text);
    }
    assert_eq!(read(".env"), "SECRET", "it is only out of sight");
}

#[test]
fn s12_what_is_deepest_decides() {
    let (_dir, root, mut profile) = project();
    let own = root.join("src");
    profile.read_only.push(root.clone());
    profile.writable = vec![root.clone(), own.clone()];
    profile.read_only.retain(|path| *path == root);
    let confinement = Confinement::Sandbox(profile);
    let shell = BashShell::new(ShellConfig::default());
    let text = "echo x > y; echo x > src/y; true";
    let ran = block_on(shell.run(ShellCommand { confinement, ..command(text, &root) }));
    let Some(ran) = taken(ran) else { return };
    assert!(!root.join("y").exists() && own.join("y").exists(), "{}", ran.text);
}

#[test]
fn s12_a_placeholder_stays_while_another_command_needs_it() {
    let (_dir, root, profile) = project();
    let shell = BashShell::new(ShellConfig::default());
    let confinement = Confinement::Sandbox(profile);
    let run = |text: &str| {
        shell.run(ShellCommand { confinement: confinement.clone(), ..command(text, &root) })
    };
    let both = block_on(async {
        tokio::join!(run("true"), run("sleep 0.5; mkdir -p .claude/x; echo $?"))
    });
    let (Some(_), Some(slow)) = (taken(both.0), taken(both.1)) else { return };
    assert_eq!(slow.text.lines().last(), Some("1"), "{}", slow.text);
    assert!(!root.join(".claude").exists());
}

#[test]
fn s8_writing_is_refused_outside_and_works_inside() {
    let dir = tempfile::tempdir().unwrap();
    let dir = std::fs::canonicalize(dir.path()).unwrap();
    let (inside, outside) = (dir.join("in"), dir.join("out"));
    for path in [&inside, &outside] {
        std::fs::create_dir(path).unwrap();
    }
    std::fs::write(outside.join("kept"), "kept").unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
    let text = format!(
        "echo ok > new && mkdir d && mv new d/ && cat d/new; cat {out}/kept; \
         echo no > {out}/x; echo no > link/y; : > {out}/kept; truncate -s 0 {out}/kept; \
         rm {out}/kept; mkdir {out}/z; mv d {out}/; ln {out}/kept hard; cd d; true > /dev/null",
        out = outside.display()
    );
    let Some(ran) = run(&text, &inside, std::slice::from_ref(&inside)) else { return };
    assert_eq!(ran.exit, Exit::Code(0), "{}", ran.text);
    assert!(ran.text.starts_with("ok\nkept"), "{}", ran.text);
    assert_eq!(ran.cwd, Some(inside.join("d")), "the note of the directory comes through");
    let left: Vec<_> =
        std::fs::read_dir(&outside).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["kept"]);
    assert_eq!(std::fs::read_to_string(outside.join("kept")).unwrap(), "kept");
}

#[test]
fn s8_there_is_no_network() {
    let dir = tempfile::tempdir().unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    let (tcp_at, udp_at) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let text = format!(
        "(echo hi > /dev/tcp/127.0.0.1/{tcp_at}) && echo reached; \
         (echo hi > /dev/udp/127.0.0.1/{udp_at}) && echo reached; true"
    );
    let free = block_on(BashShell::new(ShellConfig::default()).run(command(&text, dir.path())));
    assert_eq!(free.unwrap().text.matches("reached").count(), 2, "it works without");
    tcp.accept().unwrap();
    let mut datagram = [0; 8];
    udp.recv(&mut datagram).unwrap();
    let Some(ran) = run(&text, dir.path(), &[]) else { return };
    assert!(!ran.text.contains("reached"), "{}", ran.text);
    assert!(tcp.accept().is_err() && udp.recv(&mut datagram).is_err(), "nothing arrived");
}

#[test]
fn s8_the_program_itself_is_not_held() {
    let dir = tempfile::tempdir().unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let text = format!("echo x > theirs; (echo hi > /dev/tcp/127.0.0.1/{port}) && echo reached");
    let Some(held) = run(&text, dir.path(), &[]) else { return };
    assert!(!dir.path().join("theirs").exists() && !held.text.contains("reached"), "{}", held.text);
    // This process, its threads and the commands that it starts freely go on as before.
    std::fs::write(dir.path().join("ours"), "x").unwrap();
    std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| std::fs::write(dir.path().join("of-a-thread"), "x"));
        other.join().unwrap().unwrap();
    });
    let free = block_on(BashShell::new(ShellConfig::default()).run(command(&text, dir.path())));
    assert!(free.unwrap().text.contains("reached") && dir.path().join("theirs").exists());
}

/// What a sandbox costs: run with `--ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn s8_cost() {
    let dir = tempfile::tempdir().unwrap();
    let shell = BashShell::new(ShellConfig::default());
    let mut took = Vec::new();
    for confinement in [
        Confinement::Free,
        Confinement::Sandbox(SandboxProfile {
            writable: vec![dir.path().into()],
            ..SandboxProfile::default()
        }),
    ] {
        let began = std::time::Instant::now();
        block_on(async {
            for _ in 0..200 {
                let confinement = confinement.clone();
                let ran = shell.run(ShellCommand { confinement, ..command("true", dir.path()) });
                ran.await.unwrap();
            }
        });
        took.push(began.elapsed() / 200);
    }
    println!("free {:?}, sandboxed {:?}", took[0], took[1]);
}
