use super::*;

fn permit(mode: PermissionMode, allow: &[&str], ask: &[&str], deny: &[&str]) -> Permit {
    let list = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
    let settings = Permissions {
        allow: list(allow),
        ask: list(ask),
        deny: list(deny),
        ..Permissions::default()
    };
    let places = Places {
        roots: vec!["/repo".into(), "/other".into()],
        readable: vec!["/home/ada/.everfold/projects/x".into()],
        writable: vec!["/home/ada/.everfold/projects/x/memory".into()],
        home: Some("/home/ada".into()),
    };
    let permit = Permit::new(mode, &settings, places);
    assert_eq!(permit.broken(), []);
    permit
}

fn bash(command: &str) -> Access {
    Access::Execute(command.into())
}

fn allows(permit: &Permit, tool: &str, access: &Access) -> bool {
    permit.decide(tool, access) == Verdict::Allow
}

#[test]
fn q6_by_default_reading_inside_is_free_and_all_else_is_asked() {
    let permit = permit(PermissionMode::Default, &[], &[], &[]);
    assert!(allows(&permit, "Read", &Access::Read("/repo/src/a.rs".into())));
    assert!(allows(&permit, "Read", &Access::Read("/home/ada/.everfold/projects/x/y.txt".into())));
    assert!(!allows(&permit, "Read", &Access::Read("/etc/shadow".into())));
    assert!(!allows(&permit, "Read", &Access::Read("/repository/a".into())));
    assert!(!allows(&permit, "Edit", &Access::Edit("/repo/src/a.rs".into())));
    assert!(!allows(&permit, "Bash", &bash("ls")));
    assert!(allows(&permit, "TodoWrite", &Access::Nothing));
}

#[test]
fn q6_accept_edits_stays_inside_and_away_from_what_could_act() {
    let permit = permit(PermissionMode::AcceptEdits, &[], &[], &[]);
    assert!(allows(&permit, "Edit", &Access::Edit("/repo/src/a.rs".into())));
    assert!(allows(&permit, "Write", &Access::Edit("/other/b".into())));
    for path in [
        "/etc/passwd",
        "/repo/.git/hooks/pre-commit",
        "/repo/.claude/settings.json",
        "/repo/sub/.Git/config",
        "/repo/.mcp.json",
    ] {
        assert!(!allows(&permit, "Edit", &Access::Edit(path.into())), "{path}");
    }
}

#[test]
fn q6_plan_mode_only_reads_whatever_rules_allow() {
    let mut permit = permit(PermissionMode::Plan, &["Bash", "Edit"], &[], &[]);
    permit.set_plan_file(Some("/plans/p.md".into()));
    assert!(allows(&permit, "Write", &Access::Edit("/plans/p.md".into())));
    assert!(!allows(&permit, "Write", &Access::Edit("/plans/other.md".into())));
    let edit = permit.decide("Edit", &Access::Edit("/repo/a".into()));
    assert!(matches!(edit, Verdict::Deny { .. }));
    assert_eq!(permit.decide("Bash", &bash("ls")), Verdict::AllowIfItOnlyReads);
    assert!(allows(&permit, "Read", &Access::Read("/repo/a".into())));
}

#[test]
fn q6_deny_wins_even_when_everything_is_bypassed() {
    let permit = permit(
        PermissionMode::BypassPermissions,
        &["Bash"],
        &["Bash(ls:*)"],
        &["Bash(rm:*)", "Edit(*.lock)"],
    );
    assert!(allows(&permit, "Bash", &bash("ls -l")));
    for command in ["rm -rf x", "ls && rm x", "echo $(rm x)", "true; rm x", "a | rm", "\nrm x"] {
        assert!(matches!(permit.decide("Bash", &bash(command)), Verdict::Deny { .. }), "{command}");
    }
    assert!(allows(&permit, "Bash", &bash("rmdir x")));
    assert!(matches!(
        permit.decide("Write", &Access::Edit("/repo/Cargo.lock".into())),
        Verdict::Deny { .. }
    ));
}

#[test]
fn q6_a_prefix_rule_covers_one_plain_command_only() {
    let permit =
        permit(PermissionMode::Default, &["Bash(git status:*)", "Bash(make test)"], &[], &[]);
    for (command, allowed) in [
        ("git status", true),
        ("git status -s", true),
        ("git statusx", false),
        ("git push", false),
        ("git status && rm -rf /", false),
        ("git status; curl evil", false),
        ("git status > /etc/passwd", false),
        ("git status $(rm x)", false),
        ("git status\nrm x", false),
        ("make test", true),
        ("make test all", false),
    ] {
        assert_eq!(allows(&permit, "Bash", &bash(command)), allowed, "{command}");
    }
}

#[test]
fn q6_ask_rules_narrow_allow_rules() {
    let permit = permit(PermissionMode::Default, &["Bash(git:*)"], &["Bash(git push:*)"], &[]);
    assert!(allows(&permit, "Bash", &bash("git log")));
    assert!(!allows(&permit, "Bash", &bash("git push origin")));
}

#[test]
fn q6_path_and_domain_rules() {
    let permit = permit(
        PermissionMode::Default,
        &[
            "Edit(src/**)",
            "Read(~/notes/*.md)",
            "Read(//var/log/**)",
            "WebFetch(domain:example.com)",
        ],
        &[],
        &[],
    );
    assert!(allows(&permit, "Write", &Access::Edit("/repo/src/deep/a.rs".into())));
    assert!(!allows(&permit, "Write", &Access::Edit("/repo/tests/a.rs".into())));
    assert!(allows(&permit, "Read", &Access::Read("/home/ada/notes/x.md".into())));
    assert!(!allows(&permit, "Read", &Access::Read("/home/ada/notes/deep/x.md".into())));
    assert!(allows(&permit, "Grep", &Access::Read("/var/log/sys/a".into())));
    let fetch = |host: &str| Access::Fetch { url: format!("https://{host}/"), host: host.into() };
    assert!(allows(&permit, "WebFetch", &fetch("api.example.com")));
    assert!(!allows(&permit, "WebFetch", &fetch("notexample.com")));
}

#[test]
fn q6_always_adds_a_rule_that_covers_the_call() {
    let mut permit = permit(PermissionMode::Default, &[], &[], &[]);
    for (tool, access) in [
        ("Bash", bash("cargo test -p x")),
        ("Bash", bash("a | b")),
        ("Edit", Access::Edit("/repo/src/a.rs".into())),
        ("Read", Access::Read("/etc/hosts".into())),
        ("WebFetch", Access::Fetch { url: "https://a.b/".into(), host: "a.b".into() }),
    ] {
        let Verdict::Ask { rule } = permit.decide(tool, &access) else { panic!("{tool}") };
        permit.allow_for_session(&rule);
        assert!(allows(&permit, tool, &access), "{rule}");
    }
    assert!(!allows(&permit, "Bash", &bash("cargo publish")));
}

#[test]
fn broken_rules_are_named_and_left_out() {
    let settings = Permissions {
        allow: vec!["Bash(ls".into(), "(x)".into(), "Read([)".into()],
        ..Permissions::default()
    };
    let permit = Permit::new(PermissionMode::Default, &settings, Places::default());
    let broken = permit.broken();
    assert_eq!(broken.len(), 3);
    assert!(broken[0].to_string().contains("Bash(ls"));
    assert!(!allows(&permit, "Bash", &bash("ls")));
}

#[test]
fn l5_8_memories_are_written_without_asking_and_nothing_beside_them_is() {
    let dir = "/home/ada/.everfold/projects/x/memory";
    let edit = |name: &str| Access::Edit(format!("{dir}/{name}").into());
    let free = permit(PermissionMode::Default, &[], &[], &[]);
    for name in ["MEMORY.md", "deploy.md", "topics/a.md"] {
        assert!(allows(&free, "Write", &edit(name)), "{name}");
    }
    for name in ["run.sh", ".everfold/journal.md", "a/.git/x.md", "../settings.md", ""] {
        assert!(!allows(&free, "Write", &edit(name)), "{name}");
    }
    assert!(!allows(&free, "Write", &Access::Edit("/home/ada/.everfold/projects/x/a.md".into())));
    let planning = permit(PermissionMode::Plan, &[], &[], &[]);
    assert!(!allows(&planning, "Write", &edit("deploy.md")));
    let denied = permit(PermissionMode::Default, &[], &[], &["Write"]);
    assert!(!allows(&denied, "Write", &edit("deploy.md")));
}
