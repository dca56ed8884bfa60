//! One change is one entry of the history (L5.41), and what it ended stands
//! there too (L5.36).

use super::*;
use everfold_kernel::ids::SessionId;
use everfold_memory_store::{Action, ContentId, Error};

fn main_agent(session: &str) -> By {
    By::agent("main", "", at(0)).from(SessionId::new(session), Vec::new())
}

fn save(store: &Store, name: &str, by: &By) {
    let text = memory(name, "Body.");
    let place = MemoryTarget::At(path(&format!("{name}.md")));
    let save =
        Save { place, text: &text, expect: ExpectedContent::Anything, line: None, ended: &[] };
    store.save(&save, by).unwrap();
}

#[test]
fn l5_41_the_line_that_an_agent_writes_after_its_memory_is_no_second_entry() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    save(&store, "old", &main_agent("earlier"));
    let read = store.read_index().unwrap().unwrap();
    let by = main_agent("s");
    save(&store, "new", &by);
    // As it read the index before, with a line of its own words.
    let text = format!("{}- [New](new.md) — in my own words\n", read.text);
    for expect in [ExpectedContent::Content(read.content.clone()), ExpectedContent::Anything] {
        assert_eq!(store.write_index(&text, &expect, &by).unwrap(), None);
    }
    // And without it: what was read is not what is there, and nothing is lost.
    assert_eq!(
        store.write_index(&read.text, &ExpectedContent::Content(read.content), &by).unwrap(),
        None
    );
    assert_eq!(index(dir.path()), "- [old](old.md) — about old\n- [new](new.md) — about new\n");
    let log = store.log(None, 10).unwrap();
    assert_eq!(log.len(), 2, "{log:?}");
    assert!(log[0].touches("new.md") && log[0].touches("MEMORY.md"));
}

#[test]
fn l5_41_other_changes_of_the_index_are_entries_and_keep_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    save(&store, "old", &main_agent("earlier"));
    let read = store.read_index().unwrap().unwrap();
    let by = main_agent("s");
    save(&store, "new", &by);
    let text = read.text.replace("about old", "read me first");
    let expect = ExpectedContent::Content(read.content.clone());
    assert!(store.write_index(&text, &expect, &by).unwrap().is_some());
    let wanted = "- [old](old.md) — read me first\n- [new](new.md) — about new\n";
    assert_eq!(index(dir.path()), wanted);
    assert_eq!(store.log(None, 1).unwrap()[0].action, Action::Index);
    // Another session read something else, and has to read it again.
    let other = store.write_index(&text, &expect, &main_agent("other"));
    assert!(matches!(other, Err(Error::Changed { .. })), "{other:?}");
    let nobody = ExpectedContent::Content(ContentId::of(b"never there"));
    assert!(matches!(store.write_index("x", &nobody, &by), Err(Error::Changed { .. })));
}

#[test]
fn l5_41_an_index_that_was_not_there_is_taken_as_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let by = main_agent("s");
    save(&store, "new", &by);
    let line = "- [New](new.md) — mine\n";
    assert_eq!(store.write_index(line, &ExpectedContent::Nothing, &by).unwrap(), None);
    let more = format!("# Mine\n\n{line}");
    assert!(store.write_index(&more, &ExpectedContent::Nothing, &by).unwrap().is_some());
    assert_eq!(index(dir.path()), more);
}

#[test]
fn l5_36_what_a_change_ended_stands_in_its_entry() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    save_at(&store, "deploys", "Deploys are on Thursdays.");
    let ended = ["Deploys are on Thursdays.".to_owned()];
    let text = memory("deploys", "Deploys are on Tuesdays.");
    let place = MemoryTarget::At(path("deploys.md"));
    let save =
        Save { place, text: &text, expect: ExpectedContent::Anything, line: None, ended: &ended };
    store.save(&save, &by()).unwrap();
    let log = store.log(None, 10).unwrap();
    assert_eq!(log[0].ended, ended);
    assert!(log[1].ended.is_empty());
    let lines = std::fs::read_to_string(dir.path().join(".everfold/journal.jsonl")).unwrap();
    assert_eq!(lines.matches("\"ended\"").count(), 1, "left out where there is nothing");
    assert!(!text.contains("Thursdays"));
}
