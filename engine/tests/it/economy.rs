//! What a whole session costs besides its answers (E2, E3, E6): the scripted
//! sessions of the testkit, billed at the server.

use crate::place::{Builder, Place, say_ok, walk};
use everfold_testkit::{LongSession, Received};

/// Everything on, as it is shipped.
fn shipped(place: &Place) -> Builder {
    place
        .builder_with(&[
            ("/everfold/flags/session_memory", "true"),
            ("/everfold/flags/extract", "true"),
        ])
        .set("/everfold/memory/reviewer", "auto")
        .set("/everfold/compact/notes", "auto")
        .set("/everfold/compact/economy", "auto")
        .set("/everfold/budget/background_share", 0.05)
}

struct Bill {
    conversation: f64,
    background: f64,
}

impl Bill {
    fn of(requests: &[Received]) -> Self {
        let of = |is_main: bool| {
            let own =
                requests.iter().filter(|own| matches!(own.source(), "main" | "compact") == is_main);
            own.filter_map(|own| own.cost).map(|cost| cost.0).sum()
        };
        Self { conversation: of(true), background: of(false) }
    }
}

fn check(place: &Place, requests: &[Received]) {
    let bill = Bill::of(requests);
    let share = bill.background / bill.conversation;
    println!(
        "conversation {:.4} USD, background {:.4} ({:.1} %)",
        bill.conversation,
        bill.background,
        share * 100.0
    );
    assert!(share <= 0.05, "{:.4} of {:.4} USD: {share:.3}", bill.background, bill.conversation);
    let memories: Vec<String> = walk(&place.dirs.home())
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .filter(|path| path.file_name().is_some_and(|name| name != "MEMORY.md"))
        .filter(|path| path.components().any(|part| part.as_os_str() == "memory"))
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect();
    for mark in LongSession::marks() {
        assert!(memories.iter().any(|text| text.contains(mark)), "{mark} is lost: {memories:#?}");
    }
    assert!(requests.iter().all(|request| request.refused.is_none()));
}

/// As long as they were when the background took 23 % and more.
#[tokio::test]
#[ignore = "the full figure: minutes, for `cargo xtask soak`"]
async fn e6_the_scripted_sessions_at_full_size_soak() {
    for script in [
        LongSession { turns: 100, tools: 5, file_bytes: 3_400 },
        LongSession { turns: 60, tools: 1, file_bytes: 12_000 },
    ] {
        let place = Place::new(script.model());
        script.write_files(&place.dirs).unwrap();
        let agent = shipped(&place).build().await;
        let mut session = agent.start();
        for turn in 0..script.turns {
            if script.tools == 1 && turn > 0 {
                (session, _) = agent.resume(session.id().clone()).await.unwrap();
            }
            say_ok(&mut session, &script.prompt(turn)).await;
            if script.tools == 1 {
                everfold_engine::finish(&mut session).await.unwrap();
            }
        }
        everfold_engine::finish(&mut session).await.unwrap();
        let requests = place.model.requests();
        let largest = requests.iter().filter_map(|own| own.usage).map(|own| own.prompt().0).max();
        println!(
            "{} turns of {} tools: {} requests, the largest of {} tokens",
            script.turns,
            script.tools,
            requests.len(),
            largest.unwrap_or_default()
        );
        check(&place, &requests);
    }
}

#[tokio::test]
async fn e6_a_hundred_turns_of_five_tools_cost_little_beside_and_keep_what_was_said() {
    let script = LongSession { turns: 100, tools: 5, file_bytes: 700 };
    let place = Place::new(script.model());
    script.write_files(&place.dirs).unwrap();
    let mut session = shipped(&place).build().await.start();
    for turn in 0..script.turns {
        say_ok(&mut session, &script.prompt(turn)).await;
    }
    everfold_engine::finish(&mut session).await.unwrap();
    check(&place, &place.model.requests());
}

#[tokio::test]
async fn e6_sixty_turns_of_one_tool_each_resumed_cost_little_beside() {
    let script = LongSession { turns: 60, tools: 1, file_bytes: 2_000 };
    let place = Place::new(script.model());
    script.write_files(&place.dirs).unwrap();
    let agent = shipped(&place).build().await;
    let mut session = agent.start();
    for turn in 0..script.turns {
        if turn > 0 {
            (session, _) = agent.resume(session.id().clone()).await.unwrap();
        }
        say_ok(&mut session, &script.prompt(turn)).await;
        everfold_engine::finish(&mut session).await.unwrap();
    }
    check(&place, &place.model.requests());
}
