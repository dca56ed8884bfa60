//! Layer 5: where memories are, what they look like, what the model is told of
//! them (L5).

use super::{Stage, memory, put, said, text, worker};
use everfold_testkit::{Received, Reply};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

fn git(dir: &Path, args: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// What the system prompt says behind the dynamic boundary.
fn dynamic(request: &Received) -> String {
    let system = request.body["system"].as_array().unwrap();
    system.last().unwrap()["text"].as_str().unwrap().to_owned()
}

#[test]
fn l5_1_one_directory_for_all_worktrees_and_overrides_in_their_order() {
    let stage = Stage::new(worker);
    let project = stage.desk.files.project();
    git(&project, &["init", "-q"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "x"]);
    git(&project, &["worktree", "add", "-q", "../tree"]);
    let path = |dir: &Path, vars: &[(&str, &str)], settings: &Value| {
        stage.put("settings.json", &settings.to_string());
        let mut command = stage.desk.command(&["memory", "path"]);
        command.current_dir(dir).envs(vars.iter().copied());
        let out = command.output().unwrap();
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    let nothing = json!({});
    let own = path(&project, &[], &nothing);
    let slug: String = project
        .canonicalize()
        .unwrap()
        .to_str()
        .unwrap()
        .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    assert!(own.ends_with(&format!(".everfold/projects/{slug}/memory")), "{own}");
    std::fs::create_dir_all(project.join("deep/er")).unwrap();
    assert_eq!(path(&project.join("deep/er"), &[], &nothing), own);
    assert_eq!(path(&stage.desk.files.root().join("tree"), &[], &nothing), own, "a worktree");
    let outside = stage.desk.files.root().join("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    assert_ne!(path(&outside, &[], &nothing), own, "outside git: by the working directory");
    let named = json!({"autoMemoryDirectory": "~/notes/here"});
    assert!(path(&project, &[], &named).ends_with("/home/notes/here"));
    let whole = stage.desk.files.root().join("whole/path");
    let variable = [("EVERFOLD_MEMORY_DIR", whole.to_str().unwrap())];
    assert!(path(&project, &variable, &named).ends_with("whole/path"), "the variable first");
    let cowork = [("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", whole.to_str().unwrap())];
    assert!(path(&project, &cowork, &named).ends_with("whole/path"), "by its other name");
    stage.write(
        ".claude/settings.json",
        &json!({"autoMemoryDirectory": "/tmp/theirs/x"}).to_string(),
    );
    assert_eq!(path(&project, &[], &nothing), own, "never by a repository");
}

#[test]
fn l5_2_paths_that_cannot_be_a_memory_directory_are_refused() {
    let stage = Stage::new(worker);
    for bad in ["notes", "/", "/notes", "~", "  ", "//server/share", "C:\\", "/a/../b", "/a/\u{0}b"]
    {
        stage.put("settings.json", &json!({"autoMemoryDirectory": bad}).to_string());
        let refused = stage.desk.run(&["memory", "path"]).failed(2);
        let why = "cannot be the memory directory";
        assert!(refused.out.is_empty() && refused.err.contains(why), "{bad:?}: {refused:?}");
    }
}

#[test]
fn l5_3_the_index_is_loaded_within_its_caps_and_a_cut_is_said() {
    let shown = |index: &str| {
        let stage = Stage::new(worker);
        put(&stage.memories(), "MEMORY.md", index);
        stage.ask("hello there");
        said(&stage.last().messages()[0]["content"][0])
    };
    let line = |n: usize| format!("- [T{n}](t{n}.md) — hook {n}\n");
    let few: String = (0..200).map(line).collect();
    let text = shown(&few);
    assert!(text.starts_with("<system-reminder>"), "at the head of the first message: {text}");
    assert!(text.contains("hook 199") && !text.to_lowercase().contains("cut"), "{text}");
    let many: String = (0..250).map(line).collect();
    let text = shown(&many);
    assert!(text.contains("hook 199") && !text.contains("hook 200\n"), "200 lines");
    assert!(text.contains("at most 200 are read"), "it says which cap: {text}");
    let wide: String =
        (0..150).map(|n| format!("- [T{n}](t{n}.md) — {}\n", "wide ".repeat(50))).collect();
    let text = shown(&wide);
    assert!(text.contains("at most 25000 are read"), "{text}");
    assert!(text.matches("wide wide").count() > 0 && text.len() < 27_000, "{}", text.len());
}

#[test]
fn l5_4_a_memory_has_a_name_a_description_and_one_of_four_types() {
    let stage = Stage::new(worker);
    let dir = stage.memories();
    for (name, kind) in
        [("a", "user"), ("b", "feedback"), ("c", "project"), ("d", "reference"), ("e", "decision")]
    {
        put(
            &dir,
            &format!("{name}.md"),
            &format!("---\nname: {name}\ndescription: about {name}\ntype: {kind}\n---\nBody.\n"),
        );
    }
    put(&dir, "f.md", "---\nname: f\ndescription: about f\nmetadata:\n  type: user\n---\nBody.\n");
    let rows = stage.desk.run(&["memory", "list", "--json"]).ok().json();
    let kind = |name: &str| {
        let rows = rows.as_array().unwrap();
        rows.iter().find(|row| row["path"] == format!("{name}.md")).unwrap()["type"].clone()
    };
    assert_eq!(
        ["a", "b", "c", "d", "f"].map(kind),
        ["user", "feedback", "project", "reference", "user"]
    );
    assert_eq!(kind("e"), Value::Null, "anything else is none, silently");
}

#[test]
fn l5_7_memory_is_off_by_each_of_its_switches() {
    type Way = fn(Stage) -> Stage;
    let ways: [(&str, Way); 8] = [
        ("the variable", |stage| stage.var("EVERFOLD_DISABLE_AUTO_MEMORY", "1")),
        ("its other name", |stage| stage.var("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")),
        ("the setting", |stage| stage.set(&json!({"autoMemoryEnabled": false}))),
        ("--bare", |stage| stage.args(&["--bare"])),
        ("CLAUDE_CODE_SIMPLE", |stage| stage.var("CLAUDE_CODE_SIMPLE", "1")),
        ("remote", |stage| stage.var("EVERFOLD_REMOTE", "1")),
        ("CLAUDE_CODE_REMOTE", |stage| stage.var("CLAUDE_CODE_REMOTE", "true")),
        ("nothing", |stage| stage),
    ];
    for (name, way) in ways {
        let stage = way(Stage::new(worker));
        let dir = stage.home().join("projects").join(
            stage
                .desk
                .files
                .project()
                .canonicalize()
                .unwrap()
                .to_str()
                .unwrap()
                .replace(|c: char| !c.is_ascii_alphanumeric(), "-"),
        );
        put(&dir, "memory/MEMORY.md", "- [A](a.md) — the secret plan\n");
        put(&dir, "memory/a.md", &memory("plan", "what the secret plan is", "Dig a tunnel."));
        stage.ask("what is the secret plan?");
        let all: String = stage.requests().iter().map(text).collect();
        let is_there = all.contains("# Memory") || all.contains("tunnel") || all.contains("(a.md)");
        assert_eq!(is_there, name == "nothing", "{name}: {all}");
    }
}

#[test]
fn l5_7_c5_remote_mode_with_a_directory_has_memory_and_cowork_adds_guidelines() {
    for (mode, dir) in [
        ("EVERFOLD_REMOTE", "EVERFOLD_REMOTE_MEMORY_DIR"),
        ("CLAUDE_CODE_REMOTE", "CLAUDE_CODE_REMOTE_MEMORY_DIR"),
    ] {
        let stage = Stage::new(worker);
        let place = stage.desk.files.root().join("mounted/memory");
        put(&place, "MEMORY.md", "- [A](a.md) — the secret plan\n");
        let stage = stage.var(mode, "1").var(dir, place.to_str().unwrap());
        let stage = stage.var("CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES", "Only ever in haiku.");
        stage.ask("hello there");
        assert!(text(&stage.last()).contains("the secret plan"), "{mode}");
        assert!(dynamic(&stage.last()).contains("Only ever in haiku."), "{mode}");
    }
}

#[test]
fn l5_8_the_memory_section_says_where_what_when_and_how() {
    let stage = Stage::new(worker).var("EVERFOLD_MEMORY_EXTRA_GUIDELINES", "Mind the gap.");
    let dir = stage.memories();
    let (running, mut input) = stage.open();
    writeln!(input, "hello\nhello again").unwrap();
    drop(input);
    running.end().ok();
    let told = dynamic(&stage.last());
    assert!(told.contains(&dir.display().to_string()) && dir.is_dir(), "it exists: {told}");
    for part in [
        "**user**",
        "**feedback**",
        "**project**",
        "**reference**",
        "What not to save",
        "Two steps",
        "Before you recommend from memory",
        "ignore memory",
        "plan",
        "*.jsonl",
        "Mind the gap.",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let fixed = stage.last().body["system"][1]["text"].as_str().unwrap().to_owned();
    assert!(!fixed.contains("# Memory"), "behind the boundary");
    let plain = Stage::new(worker).flag("past_search", "0");
    plain.ask("hello");
    assert!(!dynamic(&plain.last()).contains("*.jsonl"), "a switch of its own");
}

/// A session that hands a task to a kind of agent, which writes into its memory.
fn reviewing(scope: &'static str) -> Stage {
    let stage = Stage::new(move |request| match (request.source(), request.last_tool_results()) {
        ("main", None) => Reply::tool(
            "Agent",
            json!({"description": "a task", "prompt": "review", "subagent_type": "team:reviewer"}),
        ),
        ("agent:team:reviewer", None) => {
            let system = request.system_text();
            let dir = system
                .split_once("You keep a memory in ")
                .unwrap()
                .1
                .split_once("/, from")
                .unwrap()
                .0
                .to_owned();
            Reply::tool(
                "Write",
                json!({"file_path": format!("{dir}/tabs.md"), "content": "---\nname: Tabs\ndescription: tabs\n---\nTabs.\n"}),
            )
        }
        _ => Reply::text("Done."),
    });
    stage.put(
        "agents/reviewer.md",
        &format!("---\nname: team:reviewer\ndescription: d\nmemory: {scope}\n---\nReview.\n"),
    );
    stage
}

#[test]
fn l5_20_a_kind_of_agent_has_a_directory_of_its_own_for_each_scope() {
    for (scope, dir, line) in [
        ("user", "home/.everfold/agent-memory/team-reviewer", "every project"),
        ("project", "project/.claude/agent-memory/team-reviewer", "through its repository"),
        ("local", "project/.claude/agent-memory-local/team-reviewer", "on this machine"),
        ("remote", "mounted/agent-memory-local/team-reviewer", "on this machine"),
    ] {
        let remote = scope == "remote";
        let mut stage = reviewing(if remote { "local" } else { scope });
        let root = stage.desk.files.root().to_owned();
        if remote {
            let mounted = root.join("mounted");
            stage = stage
                .var("EVERFOLD_REMOTE", "1")
                .var("EVERFOLD_REMOTE_MEMORY_DIR", mounted.to_str().unwrap());
        }
        let index: String = (0..250).map(|n| format!("- [T{n}](t{n}.md) — hook {n}\n")).collect();
        put(&root.join(dir), "MEMORY.md", &index);
        stage.ask("go");
        let system = stage.of("agent:team:reviewer")[0].system_text();
        assert!(system.contains(line), "{scope}: {system}");
        assert!(
            system.contains("hook 199") && !system.contains("hook 200\n"),
            "{scope}: by the same caps"
        );
        assert!(root.join(dir).join("tabs.md").exists(), "{scope}");
        assert!(stage.of("recall").is_empty() && stage.of("extract").is_empty());
    }
}

#[test]
fn l5_22_with_daily_logs_the_prompt_has_a_pattern_and_midnight_is_told() {
    let stage = Stage::new(worker).flag("daily_logs", "1");
    let dir = stage.memories();
    put(&dir, "logs/2026/06/2026-06-01.md", "- 12:00 [project] the shop deploys on Fridays\n");
    stage.ask("on which weekday does the shop deploy?");
    let told = dynamic(&stage.last());
    let section = told.split("# Environment").next().unwrap();
    assert!(section.contains("logs/YYYY/MM/YYYY-MM-DD.md"), "{section}");
    assert!(!text(&stage.last()).contains("12:00 [project]"), "logs are no topics");
    let today = jiff::Zoned::now().date();
    assert!(!section.contains(&today.to_string()), "no date in the cached prompt");
    // The session was begun yesterday.
    let path = stage.transcript();
    let yesterday = today.yesterday().unwrap().to_string();
    let lines = std::fs::read_to_string(&path).unwrap().replace(&today.to_string(), &yesterday);
    std::fs::write(&path, lines).unwrap();
    for _ in 0..2 {
        stage.more("and now?");
    }
    let last = text(&stage.last());
    assert_eq!(last.matches(&format!("today is {today}")).count(), 1, "told once: {last}");
    assert!(dynamic(&stage.last()).contains(&yesterday), "the prompt stays as it was");
    let plain = Stage::new(worker);
    plain.ask("hello");
    assert!(!dynamic(&plain.last()).contains("/logs/"));
}

#[test]
fn l5_44_without_the_index_it_is_not_loaded_and_saving_is_one_step() {
    let stage = Stage::new(worker).set(&json!({"everfold": {"memory": {"index": "off"}}}));
    let dir = stage.memories();
    put(
        &dir,
        "deploys.md",
        &memory("deploys", "how the billing service is deployed", "From the green pipeline."),
    );
    put(&dir, "MEMORY.md", "- [deploys](deploys.md) — a hook of the index\n");
    stage.ask("How is the billing service deployed?");
    let sent = text(&stage.last());
    assert!(!sent.contains("a hook of the index") && !sent.contains("Two steps"), "{sent}");
    assert!(sent.contains("the green pipeline"), "recall serves: {sent}");
    let plain = Stage::new(worker);
    put(&plain.memories(), "MEMORY.md", "- [deploys](deploys.md) — a hook of the index\n");
    plain.ask("hello");
    assert!(text(&plain.last()).contains("a hook of the index"));
}
