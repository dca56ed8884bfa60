//! A team by git (F1): members with homes of their own, a bare repository on
//! disk between them, and the built program.

mod crowd;
mod hostile;

use crate::desk::{Desk, Ran, Running};
use everfold_testkit::{Reply, Scenario};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A memory as its file is.
pub(crate) fn memory(name: &str, body: &str) -> String {
    let about = body.lines().next().unwrap_or_default();
    format!("---\nname: {name}\ndescription: {about}\ntype: project\n---\n\n{body}\n")
}

/// One member: a home, a project, the program.
pub(crate) struct Member {
    pub(crate) desk: Desk,
}

impl Member {
    pub(crate) fn new() -> Self {
        Self { desk: Desk::offline() }
    }

    fn talking(scenario: Scenario) -> Self {
        Self { desk: Desk::with(scenario) }
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.desk.run(args)
    }

    pub(crate) fn init(&self, remote: &Path) {
        self.run(&["team", "init", remote.to_str().unwrap(), "--name", "crew"]).ok();
    }

    pub(crate) fn join(&self, remote: &Path) {
        self.run(&["team", "join", remote.to_str().unwrap(), "--name", "crew"]).ok();
    }

    pub(crate) fn team_dir(&self) -> PathBuf {
        self.desk.files.home().join(".everfold/teams/crew")
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.team_dir().join("memory")
    }

    /// Writes a memory as an editor would.
    pub(crate) fn write(&self, file: &str, text: &str) {
        std::fs::create_dir_all(self.dir()).unwrap();
        std::fs::write(self.dir().join(file), text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.dir().join(file)).unwrap_or_default()
    }

    pub(crate) fn sync(&self) -> serde_json::Value {
        self.run(&["team", "sync", "--json"]).ok().json()
    }

    pub(crate) fn start_sync(&self) -> Running {
        Running::start(&mut self.desk.command(&["team", "sync"]), None)
    }

    /// Every memory that is here.
    pub(crate) fn memories(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for entry in std::fs::read_dir(self.dir()).unwrap().map(Result::unwrap) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_index = name == "MEMORY.md" || name.starts_with("index");
            if entry.path().extension().is_some_and(|x| x == "md") && !is_index {
                found.insert(name, std::fs::read_to_string(entry.path()).unwrap());
            }
        }
        found
    }

    /// All that waits, as it is on disk.
    pub(crate) fn inbox(&self) -> String {
        let entries = std::fs::read_dir(self.dir().join("inbox")).into_iter().flatten();
        let json = entries.flatten().filter(|e| e.path().extension().is_some_and(|x| x == "json"));
        json.map(|entry| std::fs::read_to_string(entry.path()).unwrap()).collect()
    }
}

/// Git as somebody else runs it, in a folder.
#[track_caller]
pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    let who = ["-c", "user.name=Mallory", "-c", "user.email=m@example.com"];
    let done = command.current_dir(dir).args(who).args(args).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim_end().to_owned()
}

/// A bare repository on disk.
pub(crate) fn bare(dir: &Path) -> PathBuf {
    let remote = dir.join("remote.git");
    git(dir, &["init", "--quiet", "--bare", "--initial-branch=main", "remote.git"]);
    remote
}

/// Two members and where they meet.
fn pair() -> (tempfile::TempDir, PathBuf, Member, Member) {
    let dir = tempfile::tempdir().unwrap();
    let remote = bare(dir.path());
    let (ada, bob) = (Member::new(), Member::new());
    ada.init(&remote);
    bob.join(&remote);
    (dir, remote, ada, bob)
}

const ADD: [&str; 9] = [
    "memory",
    "add",
    "--name",
    "Deploy day",
    "--type",
    "project",
    "--scope",
    "team",
    "--description",
];

#[test]
fn f1_what_one_member_keeps_the_others_have() {
    let (_dir, remote, ada, bob) = pair();
    let added = [&ADD[..], &["We ship on Thursdays."]].concat();
    ada.desk.run_with(&added, "We ship on Thursdays.").ok();
    let took = bob.sync();
    assert_eq!(took["pulled"], json!(["deploy-day.md"]));
    assert_eq!(bob.memories(), ada.memories());
    assert!(bob.read("MEMORY.md").contains("deploy-day.md"), "each has an index of their own");
    assert!(bob.run(&["memory", "list"]).ok().out.contains("Thursdays"));

    // The journal names the commit that it came with.
    let commit = git(&remote, &["log", "-1", "--format=%h", "main"]);
    let log = bob.run(&["memory", "log", "--scope", "team"]).ok().out;
    assert!(log.contains(&commit) && log.contains("crew"), "{commit}: {log}");

    // What is forgotten is forgotten for all, and the history keeps it.
    bob.run(&["memory", "forget", "deploy-day"]).ok();
    ada.sync();
    assert!(ada.memories().is_empty());
    assert!(git(&remote, &["show", "main~1:memory/deploy-day.md"]).contains("Thursdays"));

    let status = ada.run(&["team", "status", "--json"]).ok().json();
    assert_eq!((&status["unpushed"], &status["problem"]), (&json!(0), &json!(null)));
    ada.run(&["team", "leave"]).ok();
    let none = ada.run(&["team", "status"]).failed(1);
    assert!(none.err.contains("no team") && none.err.contains("join"), "{}", none.err);
}

#[test]
fn f1_a_project_has_one_team_and_no_repository_names_it() {
    let (dir, _remote, ada, _bob) = pair();
    std::fs::create_dir(dir.path().join("two")).unwrap();
    let other = bare(&dir.path().join("two"));
    let second = ada.run(&["team", "init", other.to_str().unwrap(), "--name", "second"]).failed(1);
    assert!(second.err.contains("crew"), "{}", second.err);

    // Whatever a repository's settings say, they bind nothing (S9).
    let cleo = Member::new();
    let claude = cleo.desk.files.project().join(".claude");
    std::fs::create_dir_all(&claude).unwrap();
    let settings =
        json!({"everfold": {"team": {"name": "crew", "address": other}}, "team": "crew"});
    std::fs::write(claude.join("settings.json"), settings.to_string()).unwrap();
    std::fs::write(cleo.desk.files.project().join("team.json"), r#"{"team":"crew"}"#).unwrap();
    assert!(cleo.run(&["team", "status"]).failed(1).err.contains("no team"));

    for address in ["ext::sh -c 'touch /tmp/x'", "https://me:secret-word@localhost/x.git", "-x"] {
        let refused = cleo.run(&["team", "join", "--name", "x", "--", address]);
        assert_ne!(refused.code, Some(0), "{address}");
        assert!(!refused.err.contains("secret-word"), "{}", refused.err);
    }
    assert!(cleo.run(&["team", "join", other.to_str().unwrap()]).failed(1).err.contains("init"));
}

#[test]
fn f1_two_changes_of_one_memory_become_one() {
    let (_dir, _remote, ada, bob) = pair();
    let base = "The build uses ninja.\n\nLogs are under /var/log/build.";
    ada.write("build.md", &memory("Build", base));
    ada.sync();
    bob.sync();
    ada.write(
        "build.md",
        &memory("Build", &format!("{base}\n\nCache hits are counted by Grafana.")),
    );
    ada.sync();
    let mine = format!(
        "The build uses ninja.\n\nArtifacts go to the bucket frost-artifacts.\n\n{}",
        "Logs are under /var/log/build."
    );
    bob.write("build.md", &memory("Build", &mine));
    let done = bob.sync();
    assert_eq!(done["waiting_for_review"], json!([]), "{done}");
    ada.sync();
    let text = ada.read("build.md");
    for said in ["ninja", "/var/log/build", "Grafana", "frost-artifacts"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert_eq!(text, bob.read("build.md"));
}

#[test]
fn f1_what_contradicts_waits_in_the_inbox() {
    let (_dir, _remote, ada, bob) = pair();
    ada.write("day.md", &memory("Deploy day", "We deploy on Mondays."));
    ada.sync();
    bob.sync();
    ada.write("day.md", &memory("Deploy day", "We deploy on Thursdays."));
    ada.sync();
    bob.write("day.md", &memory("Deploy day", "We deploy on Fridays."));
    let done = bob.sync();
    assert_eq!(done["waiting_for_review"], json!(["day.md"]), "{done}");
    assert!(bob.read("day.md").contains("Thursdays"), "what the others have holds");
    assert!(bob.inbox().contains("Fridays"));
    // The person decides, and the others hear of it.
    bob.run(&["memory", "inbox", "accept", "1"]).ok();
    ada.sync();
    assert!(ada.read("day.md").contains("Fridays"), "{}", ada.read("day.md"));

    // Two memories that only have the same name both stay.
    ada.write("notes.md", &memory("Notes", "The lobster tank is cleaned by Wanda."));
    ada.sync();
    bob.write("notes.md", &memory("Notes", "Kubernetes nodes drain before a kernel upgrade."));
    bob.sync();
    ada.sync();
    let all: String = ada.memories().into_values().collect();
    assert!(all.contains("lobster") && all.contains("Kubernetes"), "{all}");
    assert_eq!(ada.memories(), bob.memories());
}

#[test]
fn f1_without_the_remote_everything_works_and_is_shared_later() {
    let (dir, remote, ada, bob) = pair();
    let away = dir.path().join("away.git");
    std::fs::rename(&remote, &away).unwrap();
    let added = [&ADD[..], &["We ship on Thursdays."]].concat();
    let kept = ada.desk.run_with(&added, "We ship on Thursdays.").ok();
    let told: Vec<&str> = kept.err.lines().filter(|line| line.contains("not pushed")).collect();
    assert_eq!(told.len(), 1, "one line: {}", kept.err);
    assert!(ada.run(&["memory", "list"]).ok().out.contains("Thursdays"));
    let status = ada.run(&["team", "status"]).ok();
    assert!(status.out.contains("1 change not pushed"), "{}", status.out);
    assert!(status.err.contains("cannot be reached"), "{}", status.err);
    ada.run(&["team", "sync"]).failed(1);
    std::fs::rename(&away, &remote).unwrap();
    ada.sync();
    bob.sync();
    assert!(bob.memories()["deploy-day.md"].contains("Thursdays"));
}

#[test]
fn f1_a_session_starts_with_what_the_team_has_and_shares_what_it_keeps() {
    let dir = tempfile::tempdir().unwrap();
    let remote = bare(dir.path());
    let scenario = Scenario::new().reply(Reply::text("On Thursdays."));
    let (ada, bob) = (Member::new(), Member::talking(scenario));
    ada.init(&remote);
    bob.join(&remote);
    ada.write("day.md", &memory("Deploy day", "We deploy on Thursdays at noon."));
    ada.sync();
    assert!(bob.memories().is_empty());
    bob.run(&["-p", "When do we deploy?"]).ok();
    let asked: String = bob.desk.server().requests().iter().map(|r| r.body.to_string()).collect();
    assert!(asked.contains("Thursdays at noon"), "the index came in before it was read");
    assert!(!bob.memories().is_empty());
}

#[test]
fn f1_members_of_different_versions() {
    let (dir, remote, ada, bob) = pair();
    ada.write("day.md", &memory("Deploy day", "We deploy on Mondays."));
    ada.sync();
    // A later version adds what this one does not know, and then a newer form.
    let work = dir.path().join("later");
    git(dir.path(), &["clone", "--quiet", remote.to_str().unwrap(), "later"]);
    std::fs::create_dir_all(work.join("pictures")).unwrap();
    std::fs::write(work.join("pictures/plan.bin"), [0_u8, 159, 146, 150]).unwrap();
    git(&work, &["add", "."]);
    git(&work, &["commit", "--quiet", "-m", "later"]);
    git(&work, &["push", "--quiet", "origin", "main"]);
    bob.sync();
    bob.write("ports.md", &memory("Ports", "Staging listens on port 8443."));
    bob.sync();
    assert!(git(&remote, &["ls-tree", "-r", "--name-only", "main"]).contains("pictures/plan.bin"));

    git(&work, &["pull", "--quiet", "origin", "main"]);
    std::fs::write(work.join("everfold-team.json"), "{\"format\": 99}\n").unwrap();
    std::fs::write(work.join("memory/new.md"), memory("New", "A newer member wrote this."))
        .unwrap();
    git(&work, &["add", "."]);
    git(&work, &["commit", "--quiet", "-m", "newer"]);
    git(&work, &["push", "--quiet", "origin", "main"]);
    ada.sync();
    assert!(ada.read("new.md").contains("newer member"), "what can be read is read");
    ada.write("late.md", &memory("Late", "Nobody else has this."));
    let refused = ada.run(&["team", "sync"]).failed(1);
    assert!(
        refused.err.contains("format 99") && refused.err.contains("update everfold"),
        "{}",
        refused.err
    );
    assert!(!git(&remote, &["ls-tree", "-r", "--name-only", "main"]).contains("late.md"));
}
