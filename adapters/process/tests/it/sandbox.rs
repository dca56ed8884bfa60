//! What the operating system holds a command to (S8).

use super::{block_on, command};
use everfold_kernel::ports::{Confinement, Exit, Shell, ShellCommand, ShellError, ShellOutput};
use everfold_process::{BashShell, ShellConfig, sandbox_available};
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};

/// Runs a command that may write in `inside` alone; none where this machine
/// has no sandbox, and then it must have been refused.
fn run(text: &str, cwd: &Path, inside: &[PathBuf]) -> Option<ShellOutput> {
    let shell = BashShell::new(ShellConfig::default());
    let confinement = Confinement::Sandbox { writable: inside.to_vec() };
    let ran = block_on(shell.run(ShellCommand { confinement, ..command(text, cwd) }));
    match (ran, sandbox_available()) {
        (Ok(output), Ok(())) => Some(output),
        (Err(ShellError::NoSandbox { message }), Err(why)) => {
            println!("skipped: {message}");
            assert_eq!(message, why);
            None
        }
        (ran, available) => panic!("{ran:?} {available:?}"),
    }
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
    if run("true", dir.path(), &[]).is_none() {
        return;
    }
    std::fs::write(dir.path().join("ours"), "x").unwrap();
    TcpListener::bind("127.0.0.1:0").unwrap();
}

/// What a sandbox costs: run with `--ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn s8_cost() {
    let dir = tempfile::tempdir().unwrap();
    let shell = BashShell::new(ShellConfig::default());
    let mut took = Vec::new();
    for confinement in
        [Confinement::Free, Confinement::Sandbox { writable: vec![dir.path().into()] }]
    {
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
