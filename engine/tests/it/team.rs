//! Team memory: a second directory with an index of its own (L5.21).

use crate::memory::{dir_of, texts, write};
use crate::place::{Agent, Place, say_ok};
use crate::recall::talk_until;
use everfold_kernel::ports::MemoryScope;
use everfold_testkit::{FakeModel, Reply, Scenario, oracle};
use serde_json::json;

const ON: (&str, &str) = ("/everfold/flags/team_memory", "true");

fn start(scenario: Scenario) -> Place {
    Place::new(FakeModel::new(scenario))
}

async fn team_agent(place: &Place) -> Agent {
    place.builder_with(&[ON]).build().await
}

#[tokio::test]
async fn l5_21_the_team_has_an_index_of_its_own_after_the_projects() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    let agent = team_agent(&place).await;
    let (own, team) = (dir_of(&agent, MemoryScope::Project), dir_of(&agent, MemoryScope::Team));
    assert_eq!(team, own.join("team"));
    write(&own, "MEMORY.md", "- [Own](own.md) — mine\n");
    write(&team, "MEMORY.md", "- [Shared](shared.md) — ours\n");
    let mut session = agent.start();
    say_ok(&mut session, "hello").await;
    say_ok(&mut session, "again").await;
    let requests = place.model.requests();
    let index = &texts(&requests[0], 0)[0];
    assert!(index.find("— mine").unwrap() < index.find("— ours").unwrap(), "{index}");
    assert!(index.contains("what everybody on this project shares"), "{index}");
    let system = requests[0].system_text();
    assert!(system.contains(&team.display().to_string()));
    assert_eq!(system.matches("- Scope:").count(), 4, "each type says where it goes");
    oracle::assert_prefix_stable(&requests);
}

#[tokio::test]
async fn l5_21_without_the_flag_there_is_no_trace_of_it() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    let agent = place.agent().await;
    let own = dir_of(&agent, MemoryScope::Project);
    write(&own, "team/MEMORY.md", "- [Shared](shared.md) — ours\n");
    let mut session = agent.start();
    say_ok(&mut session, "hello").await;
    let body = place.model.requests()[0].body.to_string();
    assert!(!body.contains("ours") && !body.contains("- Scope:"), "{body}");
}

#[tokio::test]
async fn l5_21_a_teams_memory_is_recalled_and_the_small_model_knows_it_apart() {
    let server = FakeModel::with_handler(everfold_testkit::ServerRules::default(), |request| {
        let body = request.body.to_string();
        if body.contains("selected_memories") {
            let listed = body.contains("team:deploy.md");
            let picked = if listed { "\"team:deploy.md\"" } else { "" };
            return Reply::text(format!("{{\"selected_memories\": [{picked}]}}"));
        }
        Reply::text("ok")
    });
    let place = Place::asking(server);
    let agent = team_agent(&place).await;
    let team = dir_of(&agent, MemoryScope::Team);
    let text = "---\nname: Deploys\ndescription: when we deploy\ntype: project\n---\nFridays.\n";
    write(&team, "deploy.md", text);
    write(&dir_of(&agent, MemoryScope::Project), "deploy.md", &text.replace("Fridays", "Never"));
    let mut session = agent.start();
    talk_until(&place, &mut session, "when do we deploy the service?", "Fridays.").await;
    let requests = place.model.requests_of("main");
    let body = requests.last().unwrap().body.to_string();
    assert!(body.contains("Fridays.") && !body.contains("Never."), "{body}");
}

#[cfg(unix)]
#[tokio::test]
async fn l5_21_s1_no_write_leaves_the_teams_directory() {
    let place = start(Scenario::new().otherwise(Reply::text("ok")));
    let agent = team_agent(&place).await;
    let team = dir_of(&agent, MemoryScope::Team);
    let outside = place.dirs.root().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::create_dir_all(&team).unwrap();
    std::os::unix::fs::symlink(&outside, team.join("link")).unwrap();
    let tries = [
        team.join("link/x.md").display().to_string(),
        format!("{}/../../../../x.md", team.display()),
        format!("{}/.hidden/x.md", team.display()),
    ];
    for path in &tries {
        let calls = Scenario::new()
            .reply(Reply::tool("Write", json!({"file_path": path, "content": "text"})))
            .otherwise(Reply::text("ok"));
        let server = FakeModel::new(calls);
        let builder = place.builder_with(&[ON]).model(std::sync::Arc::new(server.clone()));
        let builder = builder.approver(std::sync::Arc::new(crate::place::RefuseAll));
        let mut session = builder.build().await.start();
        say_ok(&mut session, "save it").await;
        let told = server.requests()[1].last_tool_results().unwrap();
        assert!(!told.contains("Created"), "{path}: {told}");
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

const DECIDED: &str = "We decided that the shop moves to Postgres in spring.";

fn decided() -> String {
    crate::extract::file("project", "the shop moves to Postgres in spring", DECIDED)
}

/// The team's directory, where a review is told of it.
fn team_in(request: &everfold_testkit::Received) -> Option<std::path::PathBuf> {
    let text = request.last_user_text();
    let (before, _) = text.split_once("`, which the whole team reads")?;
    Some(before.rsplit_once('`')?.1.into())
}

#[tokio::test]
async fn l5_21_a_review_is_told_what_goes_to_the_team() {
    use crate::extract::{dir_in, reviewing, reviews};
    let place = reviewing(|request| match team_in(request).or_else(|| dir_in(request)) {
        Some(dir) => Reply::tool(
            "Write",
            json!({"file_path": dir.join("postgres.md"), "content": decided()}),
        ),
        None => Reply::text("done"),
    });
    let agent = place.builder_with(&[ON, crate::extract::ON]).build().await;
    let mut session = agent.start();
    say_ok(&mut session, DECIDED).await;
    everfold_engine::finish(&mut session).await.unwrap();
    let (own, team) = (dir_of(&agent, MemoryScope::Project), dir_of(&agent, MemoryScope::Team));
    let told = reviews(&place).pop().unwrap();
    assert_eq!(team_in(&told), Some(team.clone()));
    let text = std::fs::read_to_string(team.join("postgres.md")).unwrap();
    assert!(text.contains(DECIDED), "{text}");
    let index = std::fs::read_to_string(team.join("MEMORY.md")).unwrap();
    assert!(index.contains("(postgres.md)"), "{index}");
    assert!(!own.join("postgres.md").exists());

    // Without the flag nothing is said of a team.
    let agent = place.builder_with(&[crate::extract::ON]).build().await;
    let mut session = agent.start();
    say_ok(&mut session, "The shop is called Harbour, we decided on that today.").await;
    everfold_engine::finish(&mut session).await.unwrap();
    let told = reviews(&place).pop().unwrap();
    assert_eq!(team_in(&told), None);
    assert!(!told.last_user_text().contains(&team.display().to_string()));
}

#[tokio::test]
async fn l5_21_what_is_about_the_person_does_not_go_to_the_team() {
    let place = crate::extract::reviewing(|request| match team_in(request) {
        Some(dir) => {
            let body = "Prefers oolong tea over coffee.";
            let content = crate::extract::file("user", "which tea they prefer", body);
            Reply::tool("Write", json!({"file_path": dir.join("me.md"), "content": content}))
        }
        None => Reply::text("done"),
    });
    let agent = place.builder_with(&[ON, crate::extract::ON]).build().await;
    let mut session = agent.start();
    say_ok(&mut session, "By the way, I prefer oolong tea over coffee.").await;
    everfold_engine::finish(&mut session).await.unwrap();
    let team = dir_of(&agent, MemoryScope::Team);
    assert!(crate::extract::topics(&team).is_empty());
    assert!(crate::extract::inbox(&place, &team).is_empty());
    let answers = place.model.requests_of("extract").pop().unwrap().last_tool_results().unwrap();
    assert!(answers.contains("stays private"), "{answers}");
}
