//! A memory that waits in the inbox is offered where it would have helped (L5.46).

use crate::memory::{dir_of, write};
use crate::place::Place;
use everfold_agent::{Agent, Event, Session, Turn};
use everfold_kernel::ports::{Clock as _, MemoryScope, WaitingMemory};
use everfold_memory_store::Store;
use everfold_memory_store::store::inbox::ProposedChange;
use everfold_memory_store::store::{By, OnConflict};
use everfold_testkit::{Reply, Scenario, TestServer};
use futures_util::StreamExt;
use std::time::Duration;

const WAITS: &str = "---\nname: Deploy day\ndescription: on which weekday we deploy the shop\n\
                     type: project\n---\nWe deploy the shop on Fridays.\n";
const QUESTION: &str = "on which weekday do we deploy the shop?";

/// What is offered for a message.
async fn offered(session: &mut Session, prompt: &str) -> Vec<WaitingMemory> {
    let mut turn = Turn::new(session, prompt);
    let mut found = Vec::new();
    while let Some(event) = turn.next().await {
        if let Event::Offered(waiting) = event {
            found.push(waiting);
        }
    }
    turn.end().await.unwrap();
    found
}

async fn with_proposal() -> (Place, Agent, Store) {
    let place =
        Place::new(TestServer::start(Scenario::new().otherwise(Reply::text("ok"))).unwrap());
    let agent = place.agent().await;
    let dir = dir_of(&agent, MemoryScope::Project);
    write(&dir, "tea.md", "---\nname: Tea\ndescription: which tea is liked\n---\nOolong.\n");
    let store = Store::open(&dir).unwrap();
    let by = By::agent("extract", "heard", place.clock.now());
    store.propose(&[ProposedChange::add("Deploy day", WAITS.to_owned())], &by).unwrap();
    (place, agent, store)
}

#[tokio::test]
async fn l5_46_a_waiting_memory_is_offered_where_it_would_have_helped_once_a_day() {
    let (place, agent, store) = with_proposal().await;
    let mut session = agent.start();
    assert!(offered(&mut session, "which tea do you like best?").await.is_empty());
    let found = offered(&mut session, QUESTION).await;
    let [waiting] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(waiting.name, "Deploy day");
    assert_eq!(waiting.command(), "memory inbox accept 1 --scope project");
    assert!(offered(&mut session, QUESTION).await.is_empty(), "not twice on a day");
    assert!(offered(&mut place.agent().await.start(), QUESTION).await.is_empty(), "nor elsewhere");
    let sent = place.server.requests_of("main").pop().unwrap().body.to_string();
    assert!(!sent.contains("on Fridays"), "no model sees it: {sent}");

    place.server.advance(Duration::from_hours(30));
    assert_eq!(offered(&mut session, QUESTION).await.len(), 1, "again on another day");

    let by = By::person("accepted", place.clock.now());
    store
        .accept(everfold_memory_store::store::inbox::ProposalId(1), OnConflict::Refuse, &by)
        .unwrap();
    place.server.advance(Duration::from_hours(30));
    let mut session = agent.start();
    assert!(offered(&mut session, QUESTION).await.is_empty(), "it waits no more");
    let sent = place.server.requests_of("main").pop().unwrap().body.to_string();
    assert!(sent.contains("on Fridays"), "and is a memory like any other");
}
