use super::*;

struct Place {
    dir: tempfile::TempDir,
}

fn look(home: &Home, root: &Path, cwd: &Path) -> Trust {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (root, cwd) = (real(root), real(cwd));
    Trust::look(&TreeInputs { home, user_home: None, root: &root, cwd: &cwd })
}

impl Trust {
    /// Whether what has this name may act.
    fn has(&self, name: &str) -> bool {
        self.things.iter().any(|thing| thing.name == name && self.is_trusted(thing))
    }
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("repo/.claude")).unwrap();
        std::fs::create_dir_all(dir.path().join("outside")).unwrap();
        Self { dir }
    }

    fn home(&self) -> Home {
        Home::at(self.dir.path().join("home"))
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn look(&self) -> Trust {
        self.look_from("")
    }

    fn look_from(&self, cwd: &str) -> Trust {
        look(&self.home(), &self.root(), &self.root().join(cwd))
    }

    fn say(&self, verdict: TrustDecision) {
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        self.look().keep(&self.home(), verdict, BTreeSet::new(), at).unwrap();
    }
}

const HOOKS_NAME: &str = ".claude/settings.json hooks";
const HOOKS: &str = r#"{"model": "m", "hooks": {"Stop": [{"hooks": [{"command": "rm x"}]}]}}"#;

#[test]
fn s7_what_acts_is_off_until_it_is_trusted_and_a_change_asks_again() {
    let place = Place::new();
    assert_eq!(place.look().standing(), &TrustState::Nothing);
    place.write(".claude/settings.json", HOOKS);
    place.write(".mcp.json", r#"{"mcpServers": {"db": {"command": "npx", "args": ["db"]}}}"#);
    let trust = place.look();
    assert_eq!(trust.standing(), &TrustState::Unknown);
    assert!(!trust.has(HOOKS_NAME));
    let said: Vec<&str> =
        trust.things().iter().flat_map(|thing| &thing.says).map(String::as_str).collect();
    assert_eq!(said, ["Stop: rm x", "db: npx db"]);

    place.say(TrustDecision::Trusted);
    assert!(place.look().has(HOOKS_NAME) && place.look().has(".mcp.json"));
    place.write(".claude/settings.json", &HOOKS.replace("\"m\"", "\"other\""));
    assert!(place.look().has(HOOKS_NAME), "what does not act may change");
    place.write(".claude/settings.json", &HOOKS.replace("rm x", "rm y"));
    let changed = place.look();
    assert!(!changed.has(HOOKS_NAME) && !changed.has(".mcp.json"));
    let names = vec![HOOKS_NAME.to_owned()];
    assert_eq!(changed.standing(), &TrustState::Changed { things: names });
    place.write(".claude/settings.json", "{}");
    assert!(place.look().has(".mcp.json"), "what is gone asks nothing");

    assert!(revoke(&place.home(), &place.root()).unwrap());
    assert!(!revoke(&place.home(), &place.root()).unwrap());
    assert_eq!(place.look().standing(), &TrustState::Unknown);
}

#[test]
fn s7_a_no_is_kept_until_something_changes() {
    let place = Place::new();
    place.write(".claude/settings.json", HOOKS);
    place.say(TrustDecision::Declined);
    assert_eq!(place.look().standing(), &TrustState::Declined);
    assert!(!place.look().has(HOOKS_NAME));
    place.write(".claude/settings.json", &HOOKS.replace("rm x", "rm y"));
    assert!(matches!(place.look().standing(), TrustState::Changed { .. }));
}

#[test]
fn s7_agents_and_skills_that_run_things_are_found_and_others_are_not() {
    let place = Place::new();
    place.write(".claude/agents/plain.md", "---\nname: plain\n---\nSay hello.\n");
    place.write(".claude/skills/plain/SKILL.md", "---\nname: p\n---\nWrite well.\n");
    assert_eq!(place.look().standing(), &TrustState::Nothing);
    place.write(".claude/agents/bold.md", "---\npermissionMode: bypassPermissions\n---\nx\n");
    place.write(".claude/skills/run/SKILL.md", "---\nname: r\n---\nState: !`git status`\n");
    place.write(".claude/skills/run/tool.sh", "echo one\n");
    let things = place.look();
    let names: Vec<&str> = things.things().iter().map(|thing| thing.name.as_str()).collect();
    assert_eq!(names, [".claude/agents/bold.md", ".claude/skills/run"]);
    let root = place.root();
    assert!(!things.allows_file(&root.join(".claude/skills/run/SKILL.md")));
    place.say(TrustDecision::Trusted);
    assert!(place.look().allows_file(&root.join(".claude/skills/run/SKILL.md")));
    place.write(".claude/skills/run/tool.sh", "echo two\n");
    assert!(!place.look().allows_file(&root.join(".claude/skills/run/SKILL.md")));
}

#[test]
fn s7_scripts_of_hooks_are_part_of_what_is_trusted() {
    let place = Place::new();
    place.write(".claude/hooks/check.sh", "echo fine\n");
    place.say(TrustDecision::Trusted);
    assert!(place.look().has(".claude/hooks"));
    place.write(".claude/hooks/check.sh", "echo not fine\n");
    assert!(!place.look().has(".claude/hooks"));
}

#[test]
fn s7_the_home_is_no_repository_of_somebody_else() {
    let place = Place::new();
    place.write(".claude/settings.json", HOOKS);
    let home = Home::at(place.root().join(".claude"));
    let trust = look(&home, &place.root(), &place.root());
    assert_eq!(trust.standing(), &TrustState::Nothing);
}

#[test]
fn s6_odd_files_do_no_harm() {
    let place = Place::new();
    for (name, text) in [
        (".claude/settings.json", "not json"),
        (".mcp.json", "\u{0}\u{1}"),
        (".claude/agents/x.md", "---\nhooks"),
    ] {
        place.write(name, text);
    }
    assert_eq!(place.look().things().len(), 1, "what may be servers is asked about");
    std::fs::create_dir_all(place.home().root()).unwrap();
    std::fs::write(place.home().root().join("trust.json"), "{").unwrap();
    let broken = place.look();
    assert!(broken.problem().is_some_and(|why| why.contains("trust.json")));
    assert_eq!(broken.standing(), &TrustState::Unknown, "nothing is trusted then");
    let at = Timestamp::from_second(1).unwrap();
    let kept = broken.keep(&place.home(), TrustDecision::Trusted, BTreeSet::new(), at);
    assert!(kept.is_err(), "and nothing is written over it");
}
