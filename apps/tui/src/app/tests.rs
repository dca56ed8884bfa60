//! Panels, driven by keys, at two sizes.

use super::Phase;
use super::harness::{Bench, ledger};
use std::time::{Duration, Instant};

mod browsing;
pub(super) mod pictures;
mod questions;
mod random;

fn title(bench: &mut Bench) -> String {
    bench.draw(80, 24).lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn q9_every_panel_opens_and_closes_with_esc() {
    let mut bench = Bench::with(&["hello"]).await;
    for (command, head) in [
        ("/context", "context · offline"),
        ("/memory", "memories · 3"),
        ("/memory inbox", "memory inbox · 1"),
        ("/memory log", "changes of memories · 2"),
        ("/tasks", "tasks · 0 running"),
        ("/cost", "cost · $0.0000"),
        ("/resume", "sessions of this directory · 2"),
        ("/rewind", "rewind · go back"),
        ("/compact --preview", "compact · what would go"),
        ("/help", "commands and keys"),
        ("/config", "settings · 2"),
        ("/doctor", "doctor · 1"),
        ("/model", "models · 2"),
        ("/mcp", "MCP servers · 0"),
        ("/skills", "skills and custom commands · 1"),
        ("/permissions", "rules for what tools may do · 1"),
    ] {
        bench.send(command).await;
        // What a job found is taken over with the first frame.
        bench.draw(80, 24);
        let title = title(&mut bench);
        assert!(title.starts_with(head), "{command}: {title}");
        bench.press("<esc>").await;
        assert!(bench.app.panel.is_none(), "{command} stays open");
    }
}

#[tokio::test]
async fn q9_panels_open_while_a_turn_runs() {
    let mut bench = Bench::with(&["hello"]).await;
    bench.busy = true;
    bench.app.phase = Phase::Turn { since: Instant::now(), doing: "thinking".to_owned() };
    for command in ["/context", "/memory", "/tasks", "/cost", "/resume", "/help", "/doctor"] {
        bench.send(command).await;
        assert!(bench.app.panel.is_some(), "{command}");
        assert!(bench.app.waiting.is_empty(), "{command} waits");
        bench.press("<esc>").await;
    }
    bench.send("/context").await;
    assert!(title(&mut bench).contains("before this turn"));
    bench.press("<esc>").await;
    bench.send("/plan").await;
    assert_eq!(bench.app.waiting, ["/plan"], "what changes the session waits");
    bench.send("/cost").await;
    bench.busy = false;
    bench.app.phase = Phase::Rest;
    let acts = bench.app.next_waiting();
    bench.follow(acts).await;
    bench.press("<esc>").await;
    assert!(bench.draw(80, 24).contains("did /plan"), "its words wait behind the panel");
}

#[tokio::test]
async fn l5_17_memories_are_read_edited_forgotten_and_brought_back() {
    let mut bench = Bench::with(&[]).await;
    bench.send("/memory").await;
    bench.press("<enter>").await;
    assert!(bench.draw(80, 24).contains("what \"memory show \\\"deploys.md\\\""));
    bench.press("<esc><down>e").await;
    assert_eq!(
        bench.asked(),
        ["memory show \"deploys.md\" --scope project", "memory edit \"tabs.md\" --scope global"]
    );
    bench.press("f").await;
    assert!(bench.draw(80, 24).contains("forget tabs? y/n"));
    bench.press("n").await;
    assert!(bench.asked().is_empty(), "a no forgets nothing");
    bench.press("fy").await;
    assert_eq!(bench.asked(), ["memory forget \"tabs.md\" --scope global"]);
    bench.press("u").await;
    assert_eq!(bench.asked(), ["memory undo"]);
    assert!(bench.draw(80, 24).contains("what \"memory undo\" says"));
    bench.press("<end>e").await;
    assert!(bench.draw(80, 24).contains("cannot be done"), "what fails is said");
}

#[tokio::test]
async fn l5_24_proposals_are_accepted_edited_and_rejected() {
    let mut bench = Bench::with(&[]).await;
    bench.send("/memory").await;
    bench.press("i<enter>").await;
    assert_eq!(bench.asked(), ["memory inbox show 3 --scope project"]);
    bench.press("<esc>a").await;
    bench.press("e").await;
    bench.press("ry").await;
    let asked = bench.asked();
    let words = ["accept", "edit", "reject"];
    let wanted: Vec<String> =
        words.iter().map(|word| format!("memory inbox {word} 3 --scope project")).collect();
    assert_eq!(asked, wanted);
    bench.press("<esc>").await;
    assert!(title(&mut bench).starts_with("memories"), "Esc leads back to the list");
    bench.press("lu").await;
    assert_eq!(bench.asked(), ["memory undo 7 --scope project"]);
}

#[tokio::test]
async fn l5_46_a_memory_that_waits_is_offered_in_a_line_and_accepted_by_a_key() {
    let mut bench = Bench::with(&[]).await;
    let waiting = everfold_kernel::ports::WaitingMemory {
        scope: everfold_kernel::ports::MemoryScope::Project,
        id: 3,
        name: "Deploy day".to_owned(),
        description: "when the shop goes out".to_owned(),
    };
    bench.app.event(everfold_agent::Event::Offered(waiting));
    let screen = bench.draw(100, 24);
    assert!(screen.contains("Deploy day: when the shop goes out · Ctrl-Y accepts it"), "{screen}");
    bench.press("<c-y>").await;
    assert_eq!(bench.asked(), ["/memory inbox accept 3 --scope project"]);
    bench.press("<c-y>").await;
    assert!(bench.asked().is_empty(), "it was accepted once");
}

#[tokio::test]
async fn q9_a_list_is_narrowed_by_typing_and_widened_by_esc() {
    let mut bench = Bench::with(&[]).await;
    bench.send("/resume tables").await;
    let screen = bench.draw(80, 24);
    assert!(screen.contains("Draw tables") && !screen.contains("  2m"), "{screen}");
    bench.press("<esc>").await;
    assert!(bench.draw(80, 24).contains("  2m"));
    bench.press("leap<enter>").await;
    assert!(bench.app.panel.is_none());
    assert_eq!(bench.asked(), ["resume 0197-aa"]);
}

#[tokio::test]
async fn q9_a_session_is_not_changed_under_a_turn() {
    let mut bench = Bench::with(&[]).await;
    bench.app.phase = Phase::Turn { since: Instant::now(), doing: "thinking".to_owned() };
    bench.send("/resume").await;
    bench.press("<enter>").await;
    assert!(bench.asked().is_empty());
    assert!(bench.draw(80, 24).contains("something is running"));
}

#[tokio::test]
async fn l4_16_messages_are_pinned_from_the_picture() {
    let mut bench = Bench::with(&["remember the milk"]).await;
    bench.send("/context").await;
    let screen = bench.draw(120, 40);
    assert!(screen.contains("auto-compact") && screen.contains('^'), "{screen}");
    bench.press("/user").await;
    bench.press("<enter>").await;
    let screen = bench.draw(80, 24);
    assert!(screen.contains("remember the milk"), "{screen}");
    bench.press("p").await;
    let screen = bench.draw(80, 24);
    assert!(screen.contains("pinned") && screen.contains("did /pin"), "{screen}");
    bench.press("p").await;
    assert!(bench.asked().last().unwrap().starts_with("/unpin "));
    bench.press("<enter>").await;
    assert!(title(&mut bench).starts_with("message "));
    assert!(bench.draw(80, 24).contains("remember the milk"));
    bench.press("<esc>s").await;
    assert!(bench.asked().last().unwrap().starts_with("/snip "));
}

#[tokio::test]
async fn q12_one_goes_back_and_says_it_differently() {
    let mut bench = Bench::with(&["one", "two"]).await;
    bench.send("/rewind").await;
    let screen = bench.draw(80, 24);
    let (first, second) = (screen.find("one").unwrap(), screen.find("two").unwrap());
    assert!(second < first, "the newest is first:\n{screen}");
    bench.press("<enter>").await;
    assert!(bench.draw(80, 24).contains("no file changed since"));
    bench.press("<down><enter>").await;
    let asked = bench.asked();
    assert!(asked[0].starts_with("/rewind ") && asked[0].ends_with(" conversation"), "{asked:?}");
    assert_eq!(bench.app.input.text(), "two");
    assert!(bench.app.panel.is_none());
}

#[tokio::test]
async fn l4_7_a_summary_of_a_part_begins_at_a_message() {
    let mut bench = Bench::with(&["one", "two"]).await;
    bench.send("/rewind").await;
    bench.press("<enter>4").await;
    assert!(bench.asked()[0].starts_with("/compact from "));
}

#[tokio::test]
async fn l4_7_a_preview_leads_to_the_compaction() {
    let mut bench = Bench::with(&["one", "two"]).await;
    bench.send("/compact --preview").await;
    let screen = bench.draw(80, 24);
    assert!(screen.contains("tokens now") && screen.contains("Enter compacts"), "{screen}");
    bench.press("<enter>").await;
    assert_eq!(bench.asked(), ["/compact"]);
}

#[tokio::test]
async fn q9_tasks_are_watched_and_stopped() {
    let mut bench = Bench::with(&[]).await;
    let background = bench.app.status.as_ref().unwrap().background.clone();
    let id = background.start(
        "notes",
        everfold_kernel::QuerySource::SessionMemory,
        Duration::from_mins(1),
        |task| async move {
            task.say("reading the conversation");
            task.cancel().cancelled().await;
            Ok::<(), std::convert::Infallible>(())
        },
    );
    tokio::task::yield_now().await;
    bench.press("<c-b>").await;
    assert!(title(&mut bench).starts_with("tasks · 1 running"));
    bench.press("<enter>").await;
    assert!(bench.draw(80, 24).contains("reading the conversation"));
    bench.press("m").await;
    assert!(bench.draw(80, 24).contains("is not a running agent"));
    bench.press("x").await;
    assert!(bench.draw(80, 24).contains(&format!("stopping {id}")));
    background.drain(Duration::from_secs(5)).await;
    bench.press("<esc>").await;
    assert!(title(&mut bench).starts_with("tasks · 0 running, 1 ended"));
}

#[tokio::test]
async fn q9_a_model_and_a_command_are_taken_from_lists() {
    let mut bench = Bench::with(&[]).await;
    bench.send("/model").await;
    bench.press("opus<enter>").await;
    assert_eq!(bench.asked(), ["/model claude-opus-5"]);
    bench.send("/help").await;
    bench.press("summary<enter>").await;
    assert_eq!(bench.app.input.text(), "/compact ");
}

#[tokio::test]
async fn t6_costs_are_shown_by_source_and_share() {
    let mut bench = Bench::with(&[]).await;
    if let Some(status) = &mut bench.app.status {
        status.ledger = ledger(1);
    }
    bench.send("/cost").await;
    bench.draw(120, 40);
    let screen = bench.draw(120, 40);
    for words in ["claude-opus-5", "background $", "today, every project, 3 sessions", "45.0k"] {
        assert!(screen.contains(words), "{words}:\n{screen}");
    }
}
