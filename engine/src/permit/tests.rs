use super::*;
use everfold_kernel::ports::{BarredFiles, CommandEffect, CommandOutline};

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
        own_home: Some("/home/ada/.everfold".into()),
        walked_entries: 100,
        unheld: None,
    };
    let permit = Permit::new(mode, &settings, places);
    assert_eq!(permit.broken(), []);
    permit
}

/// A plain command; what shells make of others is tested with the parser.
fn bash(command: &str) -> Footprint {
    let (text, outline) = (command.to_owned(), CommandOutline::of_words(command));
    let barred = BarredFiles::Found(Vec::new());
    Footprint::Command(Box::new(CommandUse { text, outline, barred }))
}

/// The same, of a command that only reads.
fn reading(command: &str) -> Footprint {
    let Footprint::Command(mut used) = bash(command) else { panic!("a command") };
    used.outline.effect = CommandEffect::Reads;
    Footprint::Command(used)
}

fn allows(permit: &Permit, tool: &str, access: &Footprint) -> bool {
    permit.decide(tool, access) == Verdict::Allow
}

#[test]
fn q6_by_default_reading_inside_is_free_and_all_else_is_asked() {
    let permit = permit(PermissionMode::Default, &[], &[], &[]);
    assert!(allows(&permit, "Read", &Footprint::Read("/repo/src/a.rs".into())));
    assert!(allows(
        &permit,
        "Read",
        &Footprint::Read("/home/ada/.everfold/projects/x/y.txt".into())
    ));
    assert!(!allows(&permit, "Read", &Footprint::Read("/etc/shadow".into())));
    assert!(!allows(&permit, "Read", &Footprint::Read("/repository/a".into())));
    assert!(!allows(&permit, "Edit", &Footprint::Edit("/repo/src/a.rs".into())));
    assert!(!allows(&permit, "Bash", &bash("ls")));
    assert!(allows(&permit, "Bash", &reading("ls")));
    assert!(allows(&permit, "TodoWrite", &Footprint::Nothing));
}

#[test]
fn s10_plan_mode_allows_nothing_that_default_mode_asks_about() {
    let fetch = Footprint::Fetch { url: "https://a.b/".into(), host: "a.b".into() };
    let deeds = [
        ("Read", Footprint::Read("/etc/hosts".into())),
        ("Read", Footprint::Read("/repo/.env".into())),
        ("Read", Footprint::Read("/home/ada/.ssh/id_rsa".into())),
        ("Grep", Footprint::Read("/home/ada".into())),
        ("WebFetch", fetch),
    ];
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::Plan] {
        let permit = permit(mode, &["Read(~/notes/**)"], &[], &[]);
        for (tool, deed) in &deeds {
            assert!(matches!(permit.decide(tool, deed), Verdict::Ask { .. }), "{mode:?} {deed:?}");
        }
    }
    let bypass = permit(PermissionMode::BypassPermissions, &[], &[], &[]);
    assert!(deeds.iter().all(|(tool, deed)| allows(&bypass, tool, deed)));
}

#[test]
fn s10_a_rule_that_names_credentials_opens_them_and_a_wide_one_does_not() {
    let key = Footprint::Read("/home/ada/.ssh/config".into());
    for (rule, open) in [
        ("Read(~/.ssh/config)", true),
        ("Read(~/.ssh/*)", true),
        ("Read", false),
        ("Read(~/**)", false),
        ("Read(//**)", false),
        ("Edit(~/.ssh/known_hosts)", false),
    ] {
        let permit = permit(PermissionMode::Default, &[rule], &[], &[]);
        assert_eq!(allows(&permit, "Read", &key), open, "{rule}");
        let alone = Permit::confined(&permit, Remit::writing_in(Vec::new()));
        assert!(matches!(alone.decide("Read", &key), Verdict::Deny { .. }), "{rule}");
    }
    let mut skill = permit(PermissionMode::Default, &[], &[], &[]);
    skill.allow_for_turn(&["Read(~/.ssh/config)".to_owned()]);
    assert!(!allows(&skill, "Read", &key), "a skill opens nothing");
}

#[test]
fn u3_what_was_granted_is_listed_and_taken_back() {
    let mut permit = permit(PermissionMode::Default, &["Bash(make test)"], &[], &[]);
    permit.allow_for_session("Bash(touch a)");
    permit.allow_for_session("Bash(touch a)");
    assert_eq!(permit.granted().collect::<Vec<_>>(), ["Bash(touch a)"]);
    assert!(allows(&permit, "Bash", &bash("touch a")));
    assert_eq!(permit.take_back("Bash(touch a)"), TakenBack::Yes);
    assert_eq!(permit.take_back("Bash(touch a)"), TakenBack::Unknown);
    assert!(!allows(&permit, "Bash", &bash("touch a")));
    assert!(allows(&permit, "Bash", &bash("make test")));
}

#[test]
fn s11_always_is_as_narrow_as_can_be() {
    let permit = permit(PermissionMode::Default, &[], &[], &[]);
    let offered = |tool: &str, deed: &Footprint| match permit.question(tool, deed) {
        Verdict::Ask { rule } => rule,
        other => panic!("{other:?}"),
    };
    for (command, rule) in [
        ("rm -rf build", "Bash(rm -rf build)"),
        ("rm *", "Bash(=rm *)"),
        ("echo a:*", "Bash(=echo a:*)"),
        ("bash -c true", "Bash(bash -c true)"),
        ("python3 -c 1", "Bash(python3 -c 1)"),
        ("curl -s http://a", "Bash(curl -s http://a)"),
        ("cargo test -p x", "Bash(cargo test:*)"),
        ("git push", "Bash(git push)"),
    ] {
        assert_eq!(offered("Bash", &bash(command)), rule);
    }
    // An option that runs or writes something else is no part of a wider rule.
    let mut acting = bash("cargo test --config x");
    if let Footprint::Command(used) = &mut acting {
        for call in used.outline.plain.iter_mut().flatten() {
            call.acting = vec![2];
        }
    }
    assert_eq!(offered("Bash", &acting), "Bash(cargo test --config x)");
    for (path, rule) in [("/etc/hosts", "Read(//etc/hosts)"), ("/a[b", "Read(//a[[]b)")] {
        assert_eq!(offered("Read", &Footprint::Read(path.into())), rule);
    }
    assert_eq!(offered("Glob", &Footprint::Read("/".into())), "Glob(//)");
}

#[test]
fn q6_accept_edits_stays_inside_and_away_from_what_could_act() {
    let permit = permit(PermissionMode::AcceptEdits, &[], &[], &[]);
    assert!(allows(&permit, "Edit", &Footprint::Edit("/repo/src/a.rs".into())));
    assert!(allows(&permit, "Write", &Footprint::Edit("/other/b".into())));
    for path in [
        "/etc/passwd",
        "/repo/.git/hooks/pre-commit",
        "/repo/.claude/settings.json",
        "/repo/sub/.Git/config",
        "/repo/.mcp.json",
    ] {
        assert!(!allows(&permit, "Edit", &Footprint::Edit(path.into())), "{path}");
    }
}

#[test]
fn q6_plan_mode_only_reads_whatever_rules_allow() {
    let mut permit = permit(PermissionMode::Plan, &["Bash", "Edit"], &[], &[]);
    permit.set_plan_file(Some("/plans/p.md".into()));
    assert!(allows(&permit, "Write", &Footprint::Edit("/plans/p.md".into())));
    assert!(!allows(&permit, "Write", &Footprint::Edit("/plans/other.md".into())));
    let edit = permit.decide("Edit", &Footprint::Edit("/repo/a".into()));
    assert!(matches!(edit, Verdict::Deny { .. }));
    assert!(matches!(permit.decide("Bash", &bash("ls")), Verdict::Deny { .. }));
    assert!(allows(&permit, "Bash", &reading("ls")));
    assert!(allows(&permit, "Read", &Footprint::Read("/repo/a".into())));
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
    for command in ["rm -rf x", "/bin/rm x", "rm"] {
        assert!(matches!(permit.decide("Bash", &bash(command)), Verdict::Deny { .. }), "{command}");
    }
    assert!(allows(&permit, "Bash", &bash("rmdir x")));
    assert!(matches!(
        permit.decide("Write", &Footprint::Edit("/repo/Cargo.lock".into())),
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
    assert!(allows(&permit, "Write", &Footprint::Edit("/repo/src/deep/a.rs".into())));
    assert!(!allows(&permit, "Write", &Footprint::Edit("/repo/tests/a.rs".into())));
    assert!(allows(&permit, "Read", &Footprint::Read("/home/ada/notes/x.md".into())));
    assert!(!allows(&permit, "Read", &Footprint::Read("/home/ada/notes/deep/x.md".into())));
    assert!(allows(&permit, "Grep", &Footprint::Read("/var/log/sys/a".into())));
    let fetch =
        |host: &str| Footprint::Fetch { url: format!("https://{host}/"), host: host.into() };
    assert!(allows(&permit, "WebFetch", &fetch("api.example.com")));
    assert!(!allows(&permit, "WebFetch", &fetch("notexample.com")));
}

#[test]
fn q6_always_adds_a_rule_that_covers_the_call() {
    let mut permit = permit(PermissionMode::Default, &[], &[], &[]);
    for (tool, access) in [
        ("Bash", bash("cargo test -p x")),
        ("Bash", bash("rm -rf *")),
        ("Edit", Footprint::Edit("/repo/src/a.rs".into())),
        ("Read", Footprint::Read("/etc/hosts".into())),
        ("WebFetch", Footprint::Fetch { url: "https://a.b/".into(), host: "a.b".into() }),
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
    let edit = |name: &str| Footprint::Edit(format!("{dir}/{name}").into());
    let free = permit(PermissionMode::Default, &[], &[], &[]);
    for name in ["MEMORY.md", "deploy.md", "topics/a.md"] {
        assert!(allows(&free, "Write", &edit(name)), "{name}");
    }
    for name in ["run.sh", ".everfold/journal.md", "a/.git/x.md", "../settings.md", ""] {
        assert!(!allows(&free, "Write", &edit(name)), "{name}");
    }
    assert!(!allows(
        &free,
        "Write",
        &Footprint::Edit("/home/ada/.everfold/projects/x/a.md".into())
    ));
    let planning = permit(PermissionMode::Plan, &[], &[], &[]);
    assert!(!allows(&planning, "Write", &edit("deploy.md")));
    let denied = permit(PermissionMode::Default, &[], &[], &["Write"]);
    assert!(!allows(&denied, "Write", &edit("deploy.md")));
}
