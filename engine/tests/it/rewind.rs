//! Going back (Q12).

use crate::place::{Place, say_ok, walk};
use everfold_engine::Session;
use everfold_engine::turn::rewind;
use everfold_engine::turn::rewind::{Point, PointKind, RewindReport, RewindWhat, Standing};
use everfold_engine::window::compaction;
use everfold_engine::window::compaction::Compaction;
use everfold_testkit::{FakeModel, Received, Reply, ServerRules, oracle};
use serde_json::json;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// A model that does what it is told: `write FILE TEXT`, `read FILE`,
/// `edit FILE OLD NEW`, `agent TEXT`; anything else it answers.
fn place() -> Place {
    let server = FakeModel::with_handler(ServerRules::default(), |request| {
        if request.last_tool_results().is_some() {
            return Reply::text("done");
        }
        let text = request.last_user_text();
        let text = text.rsplit("do: ").next().unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["write", file, text] => {
                Reply::tool("Write", json!({"file_path": file, "content": format!("{text}\n")}))
            }
            ["read", file] => Reply::tool("Read", json!({"file_path": file})),
            ["edit", file, old, new] => Reply::tool(
                "Edit",
                json!({"file_path": file, "old_string": old, "new_string": new}),
            ),
            ["agent", rest @ ..] => Reply::tool(
                "Agent",
                json!({"description": "a part", "subagent_type": "general",
                    "prompt": format!("do: {}", rest.join(" "))}),
            ),
            _ => Reply::text("ok"),
        }
    });
    Place::new(server)
}

fn file(place: &Place, name: &str) -> PathBuf {
    place.dirs.project().join(name)
}

fn text(place: &Place, name: &str) -> Option<String> {
    std::fs::read_to_string(file(place, name)).ok()
}

async fn point(session: &Session, said: &str) -> Point {
    let points = rewind::rewind_points(session).await.unwrap();
    points.into_iter().find(|point| point.text.contains(said)).expect("a point")
}

async fn back(session: &mut Session, said: &str, what: RewindWhat) -> RewindReport {
    let point = point(session, said).await;
    rewind::rewind(session, &point.id, what).await.unwrap()
}

fn last(place: &Place) -> Received {
    place.model.requests().pop().unwrap()
}

#[tokio::test]
async fn q12_files_go_back_and_forth() {
    let place = place();
    let mut session = place.agent().await.start();
    place.write("b.txt", "old\n");
    say_ok(&mut session, "do: write a.txt one").await;
    say_ok(&mut session, "do: read b.txt").await;
    say_ok(&mut session, "do: edit b.txt old new").await;
    say_ok(&mut session, "do: write a.txt two").await;
    let points = rewind::rewind_points(&session).await.unwrap();
    assert_eq!(points.iter().map(|point| point.number).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let since: Vec<usize> = points.iter().map(|point| point.files.len()).collect();
    assert_eq!(since, [2, 2, 2, 1]);
    assert_eq!((points[3].files[0].added, points[3].files[0].removed), (1, 1));
    assert_eq!((points[0].files[0].added, points[0].files[0].removed), (1, 0), "made since");
    assert!(points[0].files.iter().all(|file| file.standing == Standing::AsWritten));

    let report = back(&mut session, "edit b.txt", RewindWhat::Files).await;
    assert_eq!((report.restored.len(), report.removed.len()), (2, 0));
    assert_eq!(report.text.as_deref(), Some("do: edit b.txt old new"));
    assert!(report.by_hand.is_empty() && report.failed.is_empty(), "{report:?}");
    assert_eq!(text(&place, "a.txt").as_deref(), Some("one\n"));
    assert_eq!(text(&place, "b.txt").as_deref(), Some("old\n"));
    say_ok(&mut session, "what now").await;
    let body = last(&place).body.to_string();
    assert!(body.contains("The user took back changes") && body.contains("write a.txt two"));

    let report = back(&mut session, "write a.txt one", RewindWhat::Files).await;
    assert_eq!((report.restored.len(), report.removed.len()), (0, 1));
    assert_eq!(text(&place, "a.txt"), None, "it was not there");
    let points = rewind::rewind_points(&session).await.unwrap();
    let undo = points.iter().find(|point| point.kind == PointKind::WentBack).unwrap();
    rewind::rewind(&mut session, &undo.id, RewindWhat::Files).await.unwrap();
    assert_eq!(text(&place, "a.txt").as_deref(), Some("two\n"), "a step back can be undone");
    assert_eq!(text(&place, "b.txt").as_deref(), Some("new\n"));
}

#[tokio::test]
async fn q12_the_conversation_goes_back_and_the_cache_is_read() {
    let place = place();
    let mut session = place.agent().await.start();
    for word in ["first", "second", "third"] {
        say_ok(&mut session, &format!("{word} {}", "some words of weight. ".repeat(200))).await;
    }
    let report = back(&mut session, "second", RewindWhat::Conversation).await;
    assert!(report.text.unwrap().starts_with("second"));
    say_ok(&mut session, "another second").await;
    let requests = place.model.requests();
    let body = requests[3].body["messages"].to_string();
    assert!(!body.contains("second some") && !body.contains("third"), "{body}");
    oracle::assert_prefix_stable(&[requests[0].clone(), requests[3].clone()]);
    let (first, now) = (requests[0].usage.unwrap(), requests[3].usage.unwrap());
    assert!(now.cache_read >= first.prompt().0 - first.input, "{now:?} after {first:?}");
    let lines = place.transcript();
    assert!(lines.iter().all(|line| line["subtype"] != "everfold_break_seen"), "it was declared");
    assert!(lines.iter().any(|line| line.to_string().contains("third some")), "nothing is lost");

    // A resumed session is where this one is, said or not said.
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "and on").await;
    oracle::assert_prefix_stable(&place.model.requests()[3..]);
    back(&mut session, "another second", RewindWhat::Conversation).await;
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    assert_eq!(
        rewind::rewind_points(&session).await.unwrap().len(),
        3,
        "first, and two steps back"
    );
    say_ok(&mut session, "yet another").await;
    let body = last(&place).body["messages"].to_string();
    assert!(body.contains("first") && !body.contains("another second"), "{body}");

    // The step back itself can be taken back: what was left is shown again.
    let points = rewind::rewind_points(&session).await.unwrap();
    let undo = points.iter().find(|point| point.kind == PointKind::WentBack).unwrap();
    rewind::rewind(&mut session, &undo.id, RewindWhat::Conversation).await.unwrap();
    say_ok(&mut session, "with all").await;
    let body = last(&place).body["messages"].to_string();
    assert!(body.contains("second some") && body.contains("third some"), "{body}");
    assert!(place.model.requests().iter().all(|request| request.refused.is_none()));
}

#[tokio::test]
async fn q12_both_go_back_and_what_was_read_is_put_right() {
    let place = place();
    let mut session = place.agent().await.start();
    place.write("a.txt", "zero\n");
    say_ok(&mut session, "do: read a.txt").await;
    say_ok(&mut session, "do: edit a.txt zero one").await;
    place.write("b.txt", "unread\n");
    say_ok(&mut session, "do: read b.txt").await;
    let report = back(&mut session, "edit a.txt", RewindWhat::Both).await;
    assert_eq!(report.restored.len(), 1);
    assert_eq!(text(&place, "a.txt").as_deref(), Some("zero\n"));
    say_ok(&mut session, "do: edit b.txt unread touched").await;
    let told = last(&place).last_tool_results().unwrap();
    assert!(told.contains("has not been read yet"), "it was read on the other branch: {told}");
    say_ok(&mut session, "do: edit a.txt zero two").await;
    assert_eq!(text(&place, "a.txt").as_deref(), Some("two\n"), "it was read before the point");
}

#[tokio::test]
async fn q12_work_by_hand_is_said_and_kept() {
    let place = place();
    let mut session = place.agent().await.start();
    say_ok(&mut session, "do: write a.txt one").await;
    say_ok(&mut session, "do: write a.txt two").await;
    place.write("a.txt", "mine\n");
    let seen = point(&session, "a.txt two").await;
    assert_eq!(seen.files[0].standing, Standing::ByHand);
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    let report = back(&mut session, "a.txt two", RewindWhat::Files).await;
    assert_eq!(report.by_hand, [file(&place, "a.txt")]);
    assert_eq!(text(&place, "a.txt").as_deref(), Some("one\n"));
    rewind::rewind(&mut session, &report.record, RewindWhat::Files).await.unwrap();
    assert_eq!(text(&place, "a.txt").as_deref(), Some("mine\n"));
}

#[tokio::test]
async fn q12_an_agents_edits_belong_to_the_message_of_the_person() {
    let place = place();
    let mut session = place.agent().await.start();
    say_ok(&mut session, "hello").await;
    say_ok(&mut session, "do: agent write a.txt made").await;
    assert_eq!(text(&place, "a.txt").as_deref(), Some("made\n"));
    let report = back(&mut session, "do: agent", RewindWhat::Files).await;
    assert_eq!(report.removed, [file(&place, "a.txt")]);
    assert_eq!(text(&place, "a.txt"), None);
}

#[tokio::test]
async fn q12_a_point_before_a_compaction_can_be_gone_back_to() {
    let place = place();
    let mut session = place.agent().await.start();
    say_ok(&mut session, "do: write a.txt one").await;
    let long = "some words of weight. ".repeat(200);
    say_ok(&mut session, &format!("remember the blue house {long}")).await;
    say_ok(&mut session, "do: write a.txt two").await;
    let cancel = CancellationToken::new();
    compaction::compact(&mut session, Compaction::by_hand(None), &cancel).await.unwrap();
    say_ok(&mut session, "after all that").await;
    assert_eq!(rewind::rewind_points(&session).await.unwrap().len(), 4, "across the boundary");
    let before = place.model.requests().len();
    back(&mut session, "a.txt two", RewindWhat::Both).await;
    assert_eq!(text(&place, "a.txt").as_deref(), Some("one\n"));
    say_ok(&mut session, "what house").await;
    let said: Vec<Received> = place.model.requests();
    let body = said[before].body["messages"].to_string();
    assert!(body.contains("remember the blue house") && !body.contains("a.txt two"), "{body}");
    let earlier = said.iter().find(|request| request.last_user_text().contains("blue")).unwrap();
    oracle::assert_prefix_stable(&[earlier.clone(), said[before].clone()]);
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, &format!("and on {long}")).await;
    oracle::assert_prefix_stable(&place.model.requests()[before..]);
    compaction::compact(&mut session, Compaction::by_hand(None), &cancel).await.unwrap();
    let (mut session, _) = place.agent().await.resume(session.id().clone()).await.unwrap();
    say_ok(&mut session, "still there").await;
    assert!(place.model.requests().iter().all(|request| request.refused.is_none()));
}

#[tokio::test]
async fn q12_a_fork_has_the_points_and_the_copies() {
    let place = place();
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "do: write a.txt one").await;
    say_ok(&mut session, "do: write a.txt two").await;
    let (mut fork, _) = agent.fork(session.id()).await.unwrap();
    for dir in walk(&place.dirs.home().join("projects")) {
        let own = dir.to_string_lossy().contains(session.id().as_str());
        if own && dir.to_string_lossy().contains("file-history") {
            std::fs::remove_file(dir).unwrap();
        }
    }
    let report = back(&mut fork, "a.txt two", RewindWhat::Both).await;
    assert_eq!(report.restored.len(), 1, "{report:?}");
    assert_eq!(text(&place, "a.txt").as_deref(), Some("one\n"));
    let failed = back(&mut session, "a.txt one", RewindWhat::Files).await;
    assert_eq!(failed.removed.len(), 1, "what was not there needs no copy");
}

#[tokio::test]
async fn q12_what_cannot_be_put_back_stays_and_is_said() {
    let place = place();
    let mut session = place.agent().await.start();
    for name in ["dir", "link", "gone", "fine"] {
        place.write(name, "old\n");
        say_ok(&mut session, &format!("do: read {name}")).await;
    }
    say_ok(&mut session, "now change").await;
    for name in ["dir", "link", "gone", "fine"] {
        say_ok(&mut session, &format!("do: write {name} new-{name}")).await;
    }
    std::fs::remove_file(file(&place, "dir")).unwrap();
    std::fs::create_dir(file(&place, "dir")).unwrap();
    let outside = place.dirs.root().join("outside.txt");
    std::fs::write(&outside, "theirs\n").unwrap();
    std::fs::remove_file(file(&place, "link")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, file(&place, "link")).unwrap();
    std::fs::remove_file(file(&place, "gone")).unwrap();
    let report = back(&mut session, "now change", RewindWhat::Files).await;
    let failed: Vec<String> =
        report.failed.iter().map(|(path, why)| format!("{} {why}", path.display())).collect();
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert!(
        failed[0].contains("is a directory") && failed[1].contains("it now leads to"),
        "{failed:?}"
    );
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "theirs\n");
    assert_eq!(text(&place, "gone").as_deref(), Some("old\n"));
    assert_eq!(text(&place, "fine").as_deref(), Some("old\n"));
    assert_eq!(report.by_hand, [file(&place, "gone")]);
}

#[tokio::test]
async fn q12_without_room_for_copies_work_goes_on_and_nothing_is_overwritten() {
    let place = place();
    let agent = place.agent().await;
    let mut session = agent.start();
    say_ok(&mut session, "do: write a.txt one").await;
    let dir = agent.world().transcripts.session_dir(session.id());
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("file-history"), "in the way").unwrap();
    say_ok(&mut session, "do: write a.txt two").await;
    assert_eq!(text(&place, "a.txt").as_deref(), Some("two\n"), "the tool went on");
    let seen = point(&session, "a.txt two").await;
    assert!(matches!(seen.files[0].standing, Standing::Stuck(_)), "{seen:?}");
    let report = back(&mut session, "a.txt one", RewindWhat::Files).await;
    assert_eq!(report.failed.len(), 1, "{report:?}");
    assert_eq!(text(&place, "a.txt").as_deref(), Some("two\n"), "no copy, no change");
}

#[tokio::test]
async fn q12_a_file_over_the_limit_is_said_and_private_to_its_owner() {
    let place = place();
    let agent = place.builder_with(&[("/everfold/limits/rewind/file_bytes", "8")]).build().await;
    let mut session = agent.start();
    say_ok(&mut session, "do: write a.txt short").await;
    say_ok(&mut session, "do: write a.txt much-longer").await;
    say_ok(&mut session, "do: write a.txt x").await;
    let seen = point(&session, "a.txt x").await;
    let Standing::Stuck(why) = &seen.files[0].standing else { panic!("{seen:?}") };
    assert!(why.contains("rewind.file_bytes"), "{why}");
    let report = back(&mut session, "much-longer", RewindWhat::Files).await;
    assert_eq!(text(&place, "a.txt").as_deref(), Some("short\n"), "{report:?}");
    #[cfg(unix)]
    for path in walk(&agent.world().transcripts.session_dir(session.id()).join("file-history")) {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let off = place.builder().set("/fileCheckpointingEnabled", false).build().await;
    let mut session = off.start();
    say_ok(&mut session, "do: write b.txt one").await;
    assert!(rewind::rewind_points(&session).await.unwrap()[0].files.is_empty());
}
