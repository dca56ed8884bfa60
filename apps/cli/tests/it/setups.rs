//! Servers, skills and agents with the real program.

use crate::desk::Desk;
use everfold_testkit::mcp::script;
use everfold_testkit::{Reply, Scenario};
use serde_json::json;

fn desk() -> Desk {
    let desk = Desk::with(Scenario::new().otherwise(Reply::text("done")));
    let home = desk.files.home().join(".everfold");
    let server = desk.files.write(home.join("server.sh"), &script(2)).unwrap();
    let settings = json!({"mcpServers": {
        "notes": {"command": "bash", "args": [server]},
        "gone": {"command": "no-such-program-at-all"},
        "odd": {"type": "carrier-pigeon"},
    }});
    desk.files.write(home.join("settings.json"), &settings.to_string()).unwrap();
    let skill = "---\nname: tidy\ndescription: Tidies up.\nargument-hint: \"[dir]\"\n---\nTidy $0.";
    desk.files.write(home.join("skills/tidy/SKILL.md"), skill).unwrap();
    desk.files.write(home.join("skills/torn/SKILL.md"), "---\nname: torn\n").unwrap();
    desk.files.write(home.join("agents/blank.md"), "no frontmatter").unwrap();
    desk
}

#[test]
fn q5_doctor_tells_how_servers_are_and_which_files_are_broken() {
    let found = desk().run(&["doctor"]).ok().out;
    for part in [
        "notes is connected: 7 tools, protocol 2025-11-25",
        "gone is not available",
        "odd is not used",
        "carrier-pigeon",
        "blank.md defines no agent: it has no frontmatter",
        "torn/SKILL.md: its frontmatter is not closed",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
}

#[test]
fn q9_servers_skills_and_prompts_at_the_prompt() {
    let desk = desk();
    let lines = "/mcp\nhello\n/mcp\n/skills\n/mcp__notes__greet Ada\n/nothing\n/quit\n";
    let ran = desk.run_with(&[], lines.to_owned()).ok();
    for part in [
        "starts with the first message",
        "7 tools, 2025-11-25",
        "not available: no-such-program-at-all",
        "/tidy [dir]",
        "Tidies up.",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let requests = desk.server().requests_of("main");
    assert_eq!(requests.len(), 2);
    let told = requests[1].body["messages"].to_string();
    assert!(told.contains("The person chose the prompt greet of the server notes."), "{told}");
    assert!(told.contains("Greet Ada."));
}

#[test]
fn l7_4_agents_of_the_command_line_are_used_or_refused() {
    let desk = Desk::with(
        Scenario::new()
            .on(
                everfold_testkit::When::user("go"),
                Reply::tool(
                    "Agent",
                    json!({"description": "d", "prompt": "p", "subagent_type": "brief"}),
                ),
            )
            .otherwise(Reply::text("done")),
    );
    let kinds = r#"{"brief": {"description": "Short.", "prompt": "Be brief."}}"#;
    desk.run(&["-p", "go", "--agents", kinds]).ok();
    let asked = desk.server().requests_of("agent:brief");
    assert!(asked[0].system_text().contains("Be brief."));
    for broken in [
        "nonsense",
        "[]",
        r#"{"x": {"prompt": "p"}}"#,
        r#"{"fork": {"prompt": "p", "description": "d"}}"#,
    ] {
        let ran = desk.run(&["-p", "go", "--agents", broken]);
        assert_eq!(ran.code, Some(2), "{broken}: {}", ran.err);
        assert!(ran.err.contains("--agents cannot be used"), "{}", ran.err);
    }
}
