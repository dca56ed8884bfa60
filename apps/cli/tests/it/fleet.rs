//! A fleet by NATS (F2), through the built program. Where there is no
//! nats-server (`cargo xtask soak fleet` fetches one), the tests say so.

use crate::desk::{Desk, Ran};
use everfold_testkit::{Reply, Scenario};
use serde_json::json;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// One server on loopback.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    pub(crate) monitor: String,
    config: PathBuf,
    dir: tempfile::TempDir,
}

fn program() -> Option<PathBuf> {
    let exe = std::env::current_exe().unwrap();
    let found = Some(exe.ancestors().nth(3).unwrap().join("nats/nats-server"));
    let found = std::env::var_os("NATS_SERVER").map(PathBuf::from).or(found);
    found.filter(|path| path.is_file())
}

impl Server {
    pub(crate) fn start() -> Option<Self> {
        Self::with("")
    }

    /// With more at the top of its configuration.
    pub(crate) fn with(top: &str) -> Option<Self> {
        let Some(program) = program() else {
            println!("skipped: there is no nats-server; `cargo xtask soak fleet` fetches one");
            return None;
        };
        let port = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (port, monitor) = (port(), port());
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("server.conf");
        let store = dir.path().join("store");
        let text = format!(
            "{top}\nlisten: 127.0.0.1:{port}\nhttp: 127.0.0.1:{monitor}\njetstream {{\n store_dir: \
             \"{}\"\n sync_interval: always\n}}\n",
            store.display()
        );
        std::fs::write(&config, text).unwrap();
        let child = run(&program, &config);
        let (address, monitor) =
            (format!("nats://127.0.0.1:{port}"), format!("http://127.0.0.1:{monitor}"));
        let server = Self { child, address, monitor, config, dir };
        server.wait();
        Some(server)
    }

    fn wait(&self) {
        let until = Instant::now() + Duration::from_secs(20);
        let place = self.address.trim_start_matches("nats://");
        while std::net::TcpStream::connect(place).is_err() {
            assert!(Instant::now() < until, "the server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn stop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn again(&mut self) {
        self.child = run(&program().unwrap(), &self.config);
        self.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        assert!(self.dir.path().exists());
    }
}

fn run(program: &PathBuf, config: &PathBuf) -> Child {
    let mut command = Command::new(program);
    command.arg("-c").arg(config).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn add(desk: &Desk, name: &str, body: &str) -> Ran {
    let args = ["memory", "add", "--name", name, "--type", "project", "--scope", "team"];
    desk.run_with(&[&args[..], &["--description", body]].concat(), body)
}

#[test]
fn f2_memories_are_shared_and_everything_works_without_the_server() {
    let Some(mut server) = Server::start() else { return };
    let (ada, bob) = (Desk::offline(), Desk::offline());
    let address = server.address.clone();
    let unknown = bob.run(&["fleet", "join", &address, "--name", "crew"]).failed(1);
    assert!(unknown.err.contains("no such team"), "{}", unknown.err);
    ada.run(&["fleet", "init", &address, "--name", "crew", "--replicas", "1"]).ok();
    bob.run(&["fleet", "join", &address, "--name", "crew"]).ok();
    add(&ada, "Deploy day", "We ship on Thursdays.").ok();
    let pulled = bob.run(&["team", "sync", "--json"]).ok().json();
    assert_eq!(pulled["pulled"], json!(["deploy-day.md"]));
    assert!(bob.run(&["memory", "list"]).ok().out.contains("Thursdays"));

    // Without the server: one line, and nothing is lost.
    server.stop();
    let kept = add(&bob, "Ports", "Staging listens on port 8443.").ok();
    assert_eq!(
        kept.err.lines().filter(|line| line.contains("not pushed")).count(),
        1,
        "{}",
        kept.err
    );
    let status = bob.run(&["fleet", "status"]).ok();
    assert!(status.out.contains("1 change not pushed yet"), "{}", status.out);
    assert!(status.err.contains("offline"), "{}", status.err);
    bob.run(&["team", "sync"]).failed(1);
    server.again();
    bob.run(&["team", "sync"]).ok();
    ada.run(&["team", "sync"]).ok();
    assert!(ada.run(&["memory", "list"]).ok().out.contains("8443"));

    let doctor = ada.run(&["fleet", "doctor", "--monitor", &server.monitor]).failed(1);
    assert!(
        doctor.out.contains("fewer than 3 replicas")
            && doctor.out.contains("sync_interval is always")
    );
    ada.run(&["fleet", "leave"]).ok();
    assert!(ada.run(&["fleet", "status"]).failed(1).err.contains("no team"));
}

#[test]
fn f2_l7_9_a_letter_reaches_an_agent_on_another_machine_and_carries_no_authority() {
    let Some(mut server) = Server::start() else { return };
    let note = json!({"to": "bob", "summary": "build", "message": "The build is green again."});
    let more = json!({"to": "bob", "summary": "build", "message": "And the docs are built."});
    let writes = Scenario::new()
        .reply(Reply::tool("SendMessage", note))
        .reply(Reply::text("Told Bob."))
        .reply(Reply::tool("SendMessage", more))
        .reply(Reply::text("Told Bob that, too."))
        .otherwise(Reply::text("ok"));
    let reads = Scenario::new().reply(Reply::text("Good to know.")).reply(Reply::text("Good."));
    let (ada, bob) = (Desk::with(writes), Desk::with(reads));
    let address = server.address.clone();
    ada.run(&["fleet", "init", &address, "--name", "crew", "--replicas", "1"]).ok();
    bob.run(&["fleet", "join", &address, "--name", "crew"]).ok();
    let quick = |desk: &Desk, args: &[&str]| {
        let mut command = desk.command(args);
        crate::desk::Running::start(&mut command, None).end().ok()
    };
    let as_ada =
        ["--team", "crew", "--agent-name", "ada", "-p", "Tell Bob that the build is green."];
    quick(&ada, &as_ada);
    let outbox = ada.files.home().join(".everfold/teams/crew/outbox/ada/new");
    let waiting = std::fs::read_dir(outbox).unwrap().count();
    assert_eq!(waiting, 0, "it was acknowledged");
    let as_bob = ["--team", "crew", "--agent-name", "bob", "-p", "Anything new?"];
    quick(&bob, &as_bob);
    quick(&bob, &as_bob);
    let asked: String = bob.server().requests().iter().map(|r| r.body.to_string()).collect();
    assert!(asked.contains("The build is green again."), "{asked}");
    assert_eq!(asked.matches("The build is green again.").count(), 1, "once");

    // Without the servers a letter waits, and that is said.
    server.stop();
    quick(&ada, &as_ada);
    let status = ada.run(&["fleet", "status"]).ok();
    assert!(status.out.contains("1 letter not sent yet"), "{}", status.out);
    server.again();
    quick(&ada, &["--team", "crew", "--agent-name", "ada", "-p", "hello"]);
    let status = ada.run(&["fleet", "status"]).ok();
    assert!(!status.out.contains("not sent yet"), "{}", status.out);
}
