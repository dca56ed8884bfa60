//! Memories on the page: looked at, changed, taken back.

use crate::stage::{Stage, memory};
use everfold_memory_store::{EntryId, StoreScope, TopicPath};
use everfold_page::PageAccess;

#[test]
fn w4_a_memory_is_edited_forgotten_moved_and_taken_back() {
    let stage = Stage::new();
    let path = stage.remember("Deploy day", "Deploys happen on Tuesdays", "The rota is why.");
    let visitor = stage.open(PageAccess::Full);
    let address = format!("/memories/project/{path}");
    let page = visitor.get(&address).ok();
    page.has("Deploys happen on Tuesdays").has("The rota is why.").has("added by hand");
    let store = stage.store(StoreScope::Project);
    let topic = TopicPath::new(&path).unwrap();
    let before = store.read(&topic).unwrap().text;

    // Edited, with the line ends that forms send.
    let text = before.replace("The rota is why.", "The rota is why.\nNever on Fridays.");
    let fields = [
        ("do", "edit"),
        ("before", &*before.replace('\n', "\r\n")),
        ("text", &*text.replace('\n', "\r\n")),
    ];
    let done = visitor.send(&address, &fields);
    assert_eq!(done.status, 303, "{done:#?}");
    let next = done.header("location").unwrap().to_owned();
    visitor.get(&next).ok().has("Saved.").has("Undo").has("Never on Fridays.");
    assert!(!store.read(&topic).unwrap().text.contains('\r'));
    let newest = store.log(None, 1).unwrap().remove(0);
    visitor.get(&format!("/changes/project/{}", newest.id)).ok().has("+Never on Fridays.");

    // Somebody else changed it meanwhile: what was typed is still there.
    let late = visitor.send(&address, &[("do", "edit"), ("before", &before), ("text", "mine")]);
    assert_eq!(late.status, 422);
    late.has("changed while you were editing").has("mine");
    let now = store.read(&topic).unwrap().text;
    let empty = visitor.send(&address, &[("do", "edit"), ("before", &now), ("text", "  ")]);
    assert_eq!(empty.status, 422);
    empty.has("the text is empty");
    let secret = format!("{now}\npassword = hunter2hunter2XYZ9\nAKIAIOSFODNN7EXAMPLQ\n");
    let refused = visitor.send(&address, &[("do", "edit"), ("before", &now), ("text", &secret)]);
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_eq!(store.read(&topic).unwrap().text, now);

    // Taken back, and the taking back taken back.
    let undone = visitor.send(&format!("/changes/project/{}", newest.id), &[]);
    assert_eq!(undone.status, 303);
    visitor.get(undone.header("location").unwrap()).ok().has("Undone.");
    assert_eq!(store.read(&topic).unwrap().text, before);

    // Forgotten; its page tells how to have it back.
    let forgot = visitor.send(&address, &[("do", "forget")]);
    let link = forgot.header("location").unwrap().to_owned();
    visitor.get(&link).ok().has("Forgotten").has("Undo").has("No memories yet");
    visitor.get(&address).ok().has("memory was removed");
    let entry = store.log(None, 1).unwrap().remove(0).id;
    visitor.send(&format!("/changes/project/{entry}"), &[]);
    assert_eq!(store.read(&topic).unwrap().text, before);

    // Moved.
    let moved = visitor.send(&address, &[("do", "move"), ("to", "global")]);
    assert_eq!(moved.header("location"), Some("/memories/global/deploy-day.md?done=moved"));
    visitor.get("/memories/global/deploy-day.md").ok().has("The rota is why.");
    assert!(store.read(&topic).is_err());
}

#[test]
fn l5_24_the_inbox_is_accepted_edited_and_rejected() {
    let stage = Stage::new();
    stage.propose("Test runner", "Tests run with nextest", "nextest it is.");
    stage.propose("Linter", "The linter is clippy pedantic", "clippy it is, with pedantic lints.");
    stage.propose("Branches", "Branches are named after tickets", "Such as T-123.");
    let store = stage.store(StoreScope::Project);
    let visitor = stage.open(PageAccess::Full);
    let page = visitor.get("/inbox").ok();
    page.has("nextest it is.").has("clippy it is").has("what the model read").has(">3</span>");

    let accepted = visitor.send("/inbox/project/1", &[("do", "accept")]);
    assert_eq!(accepted.status, 303, "{accepted:#?}");
    visitor
        .get(accepted.header("location").unwrap())
        .ok()
        .has("Accepted.")
        .has("Undo")
        .lacks("nextest");
    visitor.get("/memories/project/test-runner.md").ok().has("nextest it is.");

    let edit = visitor.get("/inbox/project/2?edit=linter.md").ok();
    edit.has("<textarea").has("clippy it is");
    let text = memory("Linter", "The linter is clippy", "clippy it is, without pedantic.");
    let done = visitor
        .send("/inbox/project/2", &[("do", "amend"), ("path", "linter.md"), ("text", &text)]);
    assert_eq!(done.status, 303, "{done:#?}");
    visitor.get("/inbox/project/2").ok().has("without pedantic").has("edited by you");
    visitor.send("/inbox/project/2", &[("do", "accept")]);
    let kept = store.read(&TopicPath::new("linter.md").unwrap()).unwrap().text;
    assert!(kept.contains("without pedantic"), "{kept}");

    // What cannot be undone asks first.
    visitor.get("/inbox/project/3?reject=1").ok().has("cannot be undone").has("Reject permanently");
    assert_eq!(store.inbox().unwrap().len(), 1, "asking is not rejecting");
    visitor.send("/inbox/project/3", &[("do", "reject")]);
    assert!(store.inbox().unwrap().is_empty());
    visitor.get("/inbox").ok().has("Nothing is waiting for review.");
    assert_eq!(visitor.send("/inbox/project/3", &[("do", "accept")]).status, 404);
}

#[test]
fn w4_a_change_that_was_built_upon_is_taken_back_only_on_insistence() {
    let stage = Stage::new();
    let path = stage.remember("Deploy day", "Deploys happen on Tuesdays", "one");
    let store = stage.store(StoreScope::Project);
    let visitor = stage.open(PageAccess::Full);
    let (topic, address) = (TopicPath::new(&path).unwrap(), format!("/memories/project/{path}"));
    for (old, new) in [("one", "two and two"), ("two and two", "three and three")] {
        let before = store.read(&topic).unwrap().text;
        let text = before.replace(old, new);
        let done = visitor.send(&address, &[("do", "edit"), ("before", &before), ("text", &text)]);
        assert_eq!(done.status, 303, "{done:#?}");
    }
    let entries = store.log(Some(&path), 10).unwrap();
    let first_edit: EntryId = entries[1].id;
    let undo = format!("/changes/project/{first_edit}");
    let refused = visitor.send(&undo, &[]);
    assert_eq!(refused.status, 409);
    refused.has(&format!("{undo}?force=1"));
    visitor.get(&format!("{undo}?force=1")).ok().has("Undo anyway");
    assert_eq!(visitor.send(&undo, &[("force", "1")]).status, 303);
    assert!(store.read(&topic).unwrap().text.contains("one"));
}

#[test]
fn w4_memories_are_found_by_what_they_say_and_hold() {
    let stage = Stage::new();
    let visitor = stage.open(PageAccess::Full);
    visitor.get("/memories").ok().has("No memories yet");
    visitor.get("/dreams").ok().has("everfold dream");
    for number in 0..60 {
        stage.remember(
            &format!("Topic {number:02}"),
            &format!("About topic {number:02}"),
            "Nothing more.",
        );
    }
    stage.remember("Database", "Which database is used", "The warehouse runs on ClickHouse.");
    let visitor = stage.open(PageAccess::Full);
    visitor.get("/memories").ok().has("61 memories").has("page 1 of 2");
    visitor.get("/memories?page=2").ok().has("page 2 of 2");
    visitor.get("/memories?q=topic+07").ok().has("Topic 07").lacks("Topic 08");
    visitor.get("/memories?q=clickhouse+warehouse").ok().has("Which database is used");
    visitor.get("/memories?q=zebra").ok().has("No matching memories");
    visitor.get("/memories?kind=user").ok().has("0 memories");
    let recall = visitor.get("/recall?q=what+does+the+warehouse+run+on").ok();
    recall.has("database.md").has("% sure that it helps").has("What a model would be shown");
    visitor.get("/recall").ok().has("Nothing is sent anywhere");
}

#[test]
fn w4_looking_makes_no_directory() {
    let stage = Stage::new();
    let visitor = stage.open(PageAccess::Full);
    for page in [
        "/",
        "/memories",
        "/inbox",
        "/changes",
        "/dreams",
        "/recall?q=x",
        "/health",
        "/money",
        "/settings",
    ] {
        visitor.get(page).ok();
    }
    let made: Vec<_> =
        std::fs::read_dir(stage.files.home()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(made.is_empty(), "{made:?}");
}
