//! The dream of a team (L6.1, F2): members with homes of their own, each with a
//! model server, and one of them consolidates what all share.

use crate::desk::{Desk, Ran, Running};
use crate::fleet::Server;
use crate::team_git::{bare, git};
use everfold_testkit::{Received, Reply, ServerRules, TempHome, TestServer};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long something may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
const NOTE: &str = "everfold-dream.json";

const FACTS: [(&str, &str); 5] = [
    ("billing", "The billing service charges customers on the first day of every month."),
    ("tracker", "Incidents are tracked on the board that operations publish every week."),
    ("owner", "The owner of the search cluster is the platform group in Lisbon."),
    ("queue", "Messages that fail five times land in the quarantine queue for review."),
    ("release", "A release needs the signature of two maintainers and a green pipeline."),
];

fn fact(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: about {name}\ntype: project\n---\n\n{body}\n")
}

/// A member whose model, asked to dream, joins two memories and does away with
/// a third; before its last word it waits at the gate `end`.
struct Member {
    desk: Desk,
}

impl Member {
    fn new() -> Self {
        let files = TempHome::new().unwrap();
        let dir = dir_of(&files);
        let handler = move |request: &Received| dreaming(request, &dir);
        let server = TestServer::with_handler(ServerRules::default(), handler).unwrap();
        let member = Self { desk: Desk { files, server: Some(server) } };
        // So many sessions of others that a dream is due.
        let told = member.desk.run(&["memory", "path"]).ok();
        let sessions = Path::new(told.out.trim()).parent().unwrap().to_owned();
        std::fs::create_dir_all(&sessions).unwrap();
        for n in 0..6 {
            std::fs::write(sessions.join(format!("other-{n}.jsonl")), "{}\n").unwrap();
        }
        member
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.desk.run(args)
    }

    fn dir(&self) -> PathBuf {
        dir_of(&self.desk.files)
    }

    fn write_facts(&self) {
        for (name, body) in FACTS {
            std::fs::create_dir_all(self.dir()).unwrap();
            std::fs::write(self.dir().join(format!("{name}.md")), fact(name, body)).unwrap();
        }
        self.sync();
    }

    fn sync(&self) {
        self.run(&["team", "sync"]).ok();
    }

    fn has(&self, name: &str) -> bool {
        self.dir().join(format!("{name}.md")).exists()
    }

    /// A session with one turn.
    fn ask(&self) -> Running {
        let settings = json!({"autoDreamEnabled": true, "everfold": {
            "budget": {"background_share": 0.0},
            "limits": {"fleet": {"lease_s": 2, "connect_s": 2, "ack_s": 2}},
        }});
        let args = ["--model", "claude-haiku-4-5", "--settings", &settings.to_string()];
        let args = [&args[..], &["-p", "hello there"]].concat();
        Running::start(&mut self.desk.command(&args), None)
    }

    fn dreams(&self) -> usize {
        self.desk.server().requests_of("dream").len()
    }

    /// Waits until it dreams, before its last word.
    fn wait_for_dream(&self) {
        let until = Instant::now() + PATIENCE;
        while self.dreams() < 3 {
            assert!(Instant::now() < until, "nobody dreams");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Asks until a session dreams.
    fn ask_until_dream(&self) -> Ran {
        let until = Instant::now() + PATIENCE;
        loop {
            let ran = self.ask().end().ok();
            if self.dreams() > 0 {
                return ran;
            }
            assert!(Instant::now() < until, "nobody takes it over: {ran:?}");
        }
    }

    fn inbox(&self) -> String {
        let entries = std::fs::read_dir(self.dir().join("inbox")).into_iter().flatten().flatten();
        entries.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).collect()
    }
}

fn dir_of(files: &TempHome) -> PathBuf {
    files.home().join(".everfold/teams/crew/memory")
}

fn dreaming(request: &Received, dir: &Path) -> Reply {
    if request.source() != "dream" {
        return Reply::text("ok");
    }
    let rounds = request.messages().iter().filter(|one| one["role"] == "assistant").count();
    let both = fact("billing", &format!("{}\n\n{}", FACTS[0].1, FACTS[1].1));
    let writes = [("billing.md", both), ("tracker.md", String::new()), ("owner.md", String::new())];
    match rounds {
        0 => FACTS.iter().fold(
            Reply::tool("Read", json!({"file_path": dir.join("MEMORY.md")})),
            |reply, (name, _)| {
                reply.and_tool("Read", json!({"file_path": dir.join(format!("{name}.md"))}))
            },
        ),
        1 => writes.iter().fold(Reply::default(), |reply, (name, text)| {
            reply.and_tool("Write", json!({"file_path": dir.join(name), "content": text}))
        }),
        _ => Reply::text("- billing.md: merged with tracker.md, one subject\n").gate("end"),
    }
}

/// What has to hold once one of two has dreamt and both have synced.
fn holds_everywhere(dreamer: &Member, other: &Member, ran: &Ran) {
    assert!(ran.err.contains("the team's memories were consolidated"), "{ran:?}");
    other.sync();
    for member in [dreamer, other] {
        let joined = std::fs::read_to_string(member.dir().join("billing.md")).unwrap();
        assert!(joined.contains("Incidents are tracked"), "{joined}");
        assert!(!member.has("tracker"), "it is part of another now");
        // What a person wrote, on whichever machine, only a person deletes (L5.24).
        assert!(member.has("owner"));
    }
    assert!(dreamer.inbox().contains("owner.md"), "{}", dreamer.inbox());
    // Nobody does it again for a day.
    let before = (dreamer.dreams(), other.dreams());
    dreamer.ask().end().ok();
    other.ask().end().ok();
    assert_eq!((dreamer.dreams(), other.dreams()), before);
    // And it can be taken back, for all.
    let entry = ran.err.split("memory undo ").nth(1).unwrap().split(' ').next().unwrap();
    dreamer.run(&["memory", "undo", entry, "--scope", "team"]).ok();
    dreamer.sync();
    other.sync();
    assert!(dreamer.has("tracker") && other.has("tracker"));
}

fn fleet() -> Option<(Server, Member, Member)> {
    let server = Server::start()?;
    let (ada, bob) = (Member::new(), Member::new());
    ada.run(&["fleet", "init", &server.address, "--name", "crew", "--replicas", "1"]).ok();
    bob.run(&["fleet", "join", &server.address, "--name", "crew"]).ok();
    ada.write_facts();
    bob.sync();
    Some((server, ada, bob))
}

#[test]
fn f2_l6_1_one_member_of_a_fleet_dreams_and_the_others_see_what_came_of_it() {
    let Some((_server, ada, bob)) = fleet() else { return };
    let running = bob.ask();
    bob.wait_for_dream();
    // While Bob dreams, Ada's sessions do not, and by hand she is told who does.
    ada.ask().end().ok();
    let locked = ada.run(&["dream", "--scope", "team", "--force"]).failed(4);
    assert!(locked.err.contains("another dream is running"), "{}", locked.err);
    assert_eq!(ada.dreams(), 0);
    bob.desk.server().release("end");
    let ran = running.end().ok();
    assert_eq!((ada.dreams(), bob.dreams()), (0, 3));
    holds_everywhere(&bob, &ada, &ran);
}

/// Members whose sessions all find the dream due in the same moment.
fn all_at_once(members: &[Member]) {
    members[0].write_facts();
    for member in &members[1..] {
        member.sync();
    }
    for member in members {
        member.desk.server().release("end");
    }
    let running: Vec<Running> = members.iter().map(Member::ask).collect();
    let ran: Vec<Ran> = running.into_iter().map(|one| one.end().ok()).collect();
    let dreams: Vec<usize> = members.iter().map(Member::dreams).collect();
    assert_eq!(dreams.iter().sum::<usize>(), 3, "one dream of three requests: {dreams:?} {ran:?}");
    for member in members {
        member.sync();
        assert!(!member.has("tracker"), "each sees what came of it");
    }
}

#[test]
fn f2_of_many_members_of_a_fleet_one_dreams() {
    let Some(server) = Server::start() else { return };
    let members: Vec<Member> = (0..6).map(|_| Member::new()).collect();
    let place = [server.address.as_str(), "--name", "crew"];
    members[0].run(&[&["fleet", "init"], &place[..], &["--replicas", "1"]].concat()).ok();
    for member in &members[1..] {
        member.run(&[&["fleet", "join"], &place[..]].concat()).ok();
    }
    all_at_once(&members);
}

#[test]
fn f1_of_many_members_of_a_team_by_git_one_dreams() {
    let dir = tempfile::tempdir().unwrap();
    let remote = bare(dir.path());
    let members: Vec<Member> = (0..6).map(|_| Member::new()).collect();
    let place = [remote.to_str().unwrap(), "--name", "crew"];
    members[0].run(&[&["team", "init"], &place[..]].concat()).ok();
    for member in &members[1..] {
        member.run(&[&["team", "join"], &place[..]].concat()).ok();
    }
    all_at_once(&members);
}

#[test]
fn f2_l6_1_the_dream_of_a_member_that_was_killed_goes_to_another() {
    let Some((_server, ada, bob)) = fleet() else { return };
    let running = ada.ask();
    ada.wait_for_dream();
    running.kill();
    bob.desk.server().release("end");
    let ran = bob.ask_until_dream();
    assert_eq!(bob.dreams(), 3, "one dream");
    ada.desk.server().release("end");
    holds_everywhere(&bob, &ada, &ran);
    assert_eq!(ada.dreams(), 3, "the one that was killed");
}

#[test]
fn f2_f3_without_the_server_a_dream_waits_and_all_else_works() {
    let Some((mut server, ada, _bob)) = fleet() else { return };
    server.stop();
    let ran = ada.ask().end().ok();
    let waits = ran.err.lines().filter(|line| line.contains("not consolidated yet")).count();
    assert_eq!((waits, ada.dreams()), (1, 0), "{}", ran.err);
    let told = ada.run(&["dream", "--scope", "team"]).failed(3);
    assert!(told.err.contains("waiting") && told.err.contains("nats://"), "{}", told.err);
    ada.desk.server().release("end");
    let shown = ada.run(&["dream", "--scope", "team", "--dry-run"]).ok();
    assert!(shown.out.contains("would be"), "{}", shown.out);
    assert!(ada.has("tracker"));
    server.again();
    ada.run(&["dream", "--scope", "team", "--force"]).ok();
    assert!(!ada.has("tracker"));
}

#[test]
fn f1_l6_1_one_member_of_a_team_by_git_dreams_and_a_dead_one_holds_it_for_an_hour() {
    let dir = tempfile::tempdir().unwrap();
    let remote = bare(dir.path());
    let (ada, bob) = (Member::new(), Member::new());
    let address = remote.to_str().unwrap();
    ada.run(&["team", "init", address, "--name", "crew"]).ok();
    bob.run(&["team", "join", address, "--name", "crew"]).ok();
    ada.write_facts();
    bob.sync();
    let running = ada.ask();
    ada.wait_for_dream();
    bob.ask().end().ok();
    let locked = bob.run(&["dream", "--scope", "team", "--force", "--json"]).failed(4).json();
    assert!(locked["member"].as_str().unwrap().contains('@'), "{locked}");
    running.kill();
    bob.ask().end().ok();
    assert_eq!(bob.dreams(), 0, "it may still live, for all that Bob knows");
    // An hour later it counts as dead.
    let clone = dir.path().join("clone");
    git(dir.path(), &["clone", "--quiet", address, "clone"]);
    let note = std::fs::read_to_string(clone.join(NOTE)).unwrap();
    let mut note: serde_json::Value = serde_json::from_str(&note).unwrap();
    let long_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(61);
    note["now"]["at"] = json!(long_ago.to_string());
    std::fs::write(clone.join(NOTE), note.to_string()).unwrap();
    git(&clone, &["commit", "--quiet", "--all", "--message", "An hour later"]);
    git(&clone, &["push", "--quiet"]);
    bob.desk.server().release("end");
    let ran = bob.ask().end().ok();
    assert_eq!(bob.dreams(), 3);
    ada.desk.server().release("end");
    holds_everywhere(&bob, &ada, &ran);
    let merges = git(&remote, &["rev-list", "--merges", "--count", "main"]);
    assert_eq!(merges, "0", "one line of history");
}

#[test]
fn f1_l6_9_offline_rules_dream_for_the_team() {
    let dir = tempfile::tempdir().unwrap();
    let remote = bare(dir.path());
    let (ada, bob) = (Desk::offline(), Desk::offline());
    let address = remote.to_str().unwrap();
    ada.run(&["team", "init", address, "--name", "crew"]).ok();
    bob.run(&["team", "join", address, "--name", "crew"]).ok();
    let memories = |desk: &Desk| desk.files.home().join(".everfold/teams/crew/memory");
    let text = "Integration tests must hit a real database, never mocks, because mocks hid a bug.";
    std::fs::create_dir_all(memories(&ada)).unwrap();
    std::fs::write(memories(&ada).join("tests.md"), fact("tests", text)).unwrap();
    std::fs::write(memories(&ada).join("tests-copy.md"), fact("tests", text)).unwrap();
    ada.run(&["team", "sync"]).ok();
    let done = bob.run(&["dream", "--scope", "team", "--force"]).ok();
    assert!(done.out.contains("(by rule, without a model)"), "{}", done.out);
    assert!(done.err.contains("--scope team"), "{}", done.err);
    ada.run(&["team", "sync"]).ok();
    let here = ["tests.md", "tests-copy.md"].map(|name| memories(&ada).join(name).exists());
    assert!(here[0] != here[1], "one of the two copies stays: {here:?}");
    // Her index is her own, and what is plainly wrong there is fixed all the same.
    ada.run(&["dream", "--scope", "team"]).ok();
    let recent = ada.run(&["dream", "--scope", "team"]).failed(3);
    assert!(recent.out.contains("the last dream was 0 h"), "{}", recent.out);
    let status = ada.run(&["team", "status"]).ok();
    assert!(status.out.contains("consolidated"), "{}", status.out);
    // Without a team there is none of its memories.
    let alone = Desk::offline().run(&["dream", "--scope", "team"]).failed(3);
    assert!(alone.out.contains("no team"), "{}", alone.out);
}
