//! A permission rule that a person keeps with a word (Q6).

use crate::place::{Place, say_ok, walk};
use everfold_kernel::ports::{Approver, BoxFuture, PermissionAnswer, PermissionAsk};
use everfold_testkit::{Reply, ServerRules, TestServer};
use serde_json::json;
use std::sync::Arc;
use std::sync::Mutex;

#[derive(Clone, Default)]
struct Always(Arc<Mutex<Vec<String>>>);

impl Approver for Always {
    fn ask(&self, ask: PermissionAsk) -> BoxFuture<'_, PermissionAnswer> {
        self.0.lock().unwrap().push(ask.rule);
        Box::pin(async { PermissionAnswer::AllowAlways })
    }
}

#[tokio::test]
async fn q6_a_rule_is_kept_for_the_project_where_it_stands() {
    let server = TestServer::with_handler(ServerRules::default(), |request| {
        match request.last_tool_results() {
            None => Reply::tool("Bash", json!({"command": "touch made"})),
            Some(_) => Reply::text("ok"),
        }
    });
    let place = Place::new(server.unwrap());
    let own = "{\n    \"model\" : \"claude-opus-5\"\n}\n";
    place.write(".claude/settings.local.json", own);
    let asked = Always::default();
    let agent = place.builder().approver(Arc::new(asked.clone())).build().await.unwrap();
    say_ok(&mut agent.start(), "go").await;
    let rule = asked.0.lock().unwrap().pop().unwrap();
    assert_eq!(rule, "Bash(touch made)");
    let path = agent.keep_rule(&rule).unwrap();
    agent.keep_rule(&rule).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.starts_with("{\n    \"model\" : \"claude-opus-5\"")
            && text.matches("touch made").count() == 1,
        "{text}"
    );
    assert!(!path.with_file_name("settings.json").exists(), "never in what others share");
    let agent = place.builder().approver(Arc::new(asked.clone())).build().await.unwrap();
    say_ok(&mut agent.start(), "go again").await;
    assert!(asked.0.lock().unwrap().is_empty(), "it is not asked again");
    assert!(agent.keep_rule("Bash(").unwrap_err().to_string().contains("parenthesis"));
    std::fs::write(&path, "[]").unwrap();
    assert!(agent.keep_rule(&rule).unwrap_err().to_string().contains("broken"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "[]");
    #[cfg(unix)]
    {
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
        let outside = place.dirs.root().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, path.parent().unwrap()).unwrap();
        assert!(agent.keep_rule(&rule).unwrap_err().to_string().contains("leads out"));
        assert!(walk(&outside).is_empty());
    }
}
