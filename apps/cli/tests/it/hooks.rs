//! Hooks with the real program.

use crate::desk::Desk;
use everfold_testkit::{Reply, Scenario};
use serde_json::json;

fn hooked(hooks: &serde_json::Value) -> Desk {
    let desk = Desk::with(Scenario::new().otherwise(Reply::text("done")));
    let settings = json!({ "hooks": hooks }).to_string();
    desk.files.write(desk.files.home().join(".everfold").join("settings.json"), &settings).unwrap();
    desk
}

fn handler(command: &str) -> serde_json::Value {
    json!([{"hooks": [{"type": "command", "command": command}]}])
}

#[test]
fn q7_the_end_of_a_session_is_told_and_doctor_names_hooks_that_fail() {
    let desk = hooked(&json!({
        "SessionEnd": handler("cat > ended"),
        "Stop": handler("echo gone wrong >&2; exit 7"),
        "SessionStart": handler("/no/such/program --now"),
        "Setup": [],
    }));
    assert_eq!(desk.run(&["-p", "go"]).ok().out, "done\n");
    let ended = std::fs::read_to_string(desk.files.project().join("ended")).unwrap();
    let ended: serde_json::Value = serde_json::from_str(&ended).unwrap();
    assert_eq!(
        (&ended["hook_event_name"], &ended["reason"]),
        (&json!("SessionEnd"), &json!("other"))
    );
    let found = desk.run(&["doctor"]).ok().out;
    assert!(found.contains("exit code 7: gone wrong"), "{found}");
    assert!(found.contains("which does not exist"), "{found}");
    assert!(found.contains("hooks.Setup does nothing"), "{found}");
}

#[test]
fn c5_bare_runs_no_hooks() {
    let desk =
        hooked(&json!({"SessionStart": handler("touch ran"), "SessionEnd": handler("touch ran")}));
    desk.run(&["-p", "go", "--bare"]).ok();
    assert!(!desk.files.project().join("ran").exists());
    desk.run(&["-p", "go"]).ok();
    assert!(desk.files.project().join("ran").exists());
}
