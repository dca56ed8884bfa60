//! Where memories are by settings and environment, and what several tests do
//! with them.

use crate::place::{Place, say_ok};
use everfold_agent::{Agent, Event, Session, Turn};
use everfold_kernel::ports::MemoryScope;
use everfold_testkit::{Received, Reply, Scenario, TestServer};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn answering() -> Place {
    Place::new(TestServer::start(Scenario::new().otherwise(Reply::text("ok"))).unwrap())
}

/// The memory directory of an agent.
pub(crate) fn dir_of(agent: &Agent, scope: MemoryScope) -> PathBuf {
    let memories = agent.world().memories.as_ref().expect("memory is on");
    let place = memories.places().iter().find(|place| place.scope == scope);
    place.expect("a place").dir.clone()
}

pub(crate) fn write(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

/// The directory that a review is told to write to.
pub(crate) fn dir_in(request: &Received) -> Option<PathBuf> {
    let text = request.last_user_text();
    let (_, rest) = text.split_once("each as `")?;
    let (dir, _) = rest.split_once("/its_topic.md`")?;
    Some(dir.into())
}

/// The events of a turn and of what follows it.
pub(crate) async fn watched(session: &mut Session, prompt: &str) -> Vec<Event> {
    let mut turn = Turn::new(session, prompt);
    let mut events = Vec::new();
    while let Some(event) = turn.next().await {
        events.push(event);
    }
    turn.end().await.unwrap();
    let (sender, mut more) = tokio::sync::mpsc::unbounded_channel();
    session.watch(sender);
    everfold_agent::engine::finish(session).await.unwrap();
    while let Ok(event) = more.try_recv() {
        events.push(event);
    }
    events
}

#[tokio::test]
async fn l5_7_memory_is_off_by_variable_setting_and_remote_mode() {
    let off = |place: &Place, way: usize| match way {
        0 => place.builder_with(&[("EVERFOLD_DISABLE_AUTO_MEMORY", "1")]),
        1 => place.builder().set("--settings", "/autoMemoryEnabled", Value::Bool(false)),
        _ => place.builder_with(&[("EVERFOLD_REMOTE", "1")]),
    };
    for way in 0..3 {
        let place = answering();
        let on = place.agent().await;
        write(&dir_of(&on, MemoryScope::Project), "MEMORY.md", "- [A](a.md) — secret plan\n");
        write(
            &dir_of(&on, MemoryScope::Project),
            "a.md",
            "---\ndescription: plan\n---\nthe plan\n",
        );
        let agent = off(&place, way).build().await.unwrap();
        say_ok(&mut agent.start(), "what is the plan?").await;
        let requests = place.server.requests();
        assert_eq!(requests.len(), 1, "way {way}");
        let body = requests[0].body.to_string();
        assert!(!body.contains("# Memory") && !body.contains("secret plan"), "way {way}");
    }
}

#[tokio::test]
async fn l5_7_remote_mode_with_a_directory_has_memory() {
    let place = answering();
    let dir = place.dirs.root().join("remote/memory").display().to_string();
    let variables = [("EVERFOLD_REMOTE", "1"), ("EVERFOLD_REMOTE_MEMORY_DIR", dir.as_str())];
    let agent = place.builder_with(&variables).build().await.unwrap();
    let found = dir_of(&agent, MemoryScope::Project);
    assert!(found.ends_with("remote/memory"), "{}", found.display());
}

#[tokio::test]
async fn l5_1_a_repository_cannot_move_the_memory_directory() {
    let place = answering();
    let elsewhere = place.dirs.root().join("their/place").display().to_string();
    place.write(".claude/settings.json", &json!({"autoMemoryDirectory": elsewhere}).to_string());
    let agent = place.agent().await;
    let dir = dir_of(&agent, MemoryScope::Project);
    assert!(dir.starts_with(place.dirs.home().canonicalize().unwrap()), "{}", dir.display());
}

#[cfg(unix)]
#[tokio::test]
async fn l5_21_s1_a_teams_directory_that_is_a_link_is_left_out() {
    let place = answering();
    let own = dir_of(&place.agent().await, MemoryScope::Project);
    let outside = place.dirs.root().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::create_dir_all(&own).unwrap();
    std::os::unix::fs::symlink(&outside, own.join("team")).unwrap();
    let builder = place.builder_with(&[("EVERFOLD_FLAG_TEAM_MEMORY", "1")]);
    let agent = builder.build().await.unwrap();
    let places = agent.world().memories.as_ref().unwrap().places().to_vec();
    assert!(places.iter().all(|place| place.scope != MemoryScope::Team), "{places:?}");
}
