//! What a store does when its own files are not as it left them (S6).

use super::*;
use everfold_memory_store::{Author, Notice};
use std::fs;

fn touched(dir: &Path) -> Store {
    let options = StoreOptions { notice: Notice::Touched, ..StoreOptions::default() };
    Store::open_with(dir, options, at(0)).unwrap()
}

fn alike(store: &Store, text: &str) -> Vec<String> {
    store.candidates(text, 10).unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn s6_a_damaged_or_missing_note_of_likeness_is_made_good() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    save_at(&store, "apples", "apples are the subject here");
    save_at(&store, "boats", "boats are another thing");
    let file = dir.path().join(".everfold/likeness.bin");
    let whole = fs::read(&file).unwrap();
    assert_eq!(alike(&store, "apples"), ["apples.md"]);
    let mut flipped = whole.clone();
    let middle = whole.len() / 2;
    flipped[middle] ^= 1;
    let other_version = [b"evflike\x09", &whole[8..]].concat();
    for bytes in
        [Vec::new(), b"nonsense".to_vec(), whole[..middle].to_vec(), flipped, other_version]
    {
        fs::write(&file, bytes).unwrap();
        // Whoever saves first, and whoever asks first.
        let store = touched(dir.path());
        save_at(&store, "cats", "cats are a third one");
        assert_eq!(alike(&store, "apples"), ["apples.md"]);
        assert_eq!(alike(&store, "boats"), ["boats.md"]);
        assert_eq!(alike(&store, "cats"), ["cats.md"]);
        store.forget(&path("cats.md"), &by()).unwrap();
        assert!(alike(&store, "cats").is_empty());
    }
    fs::remove_file(&file).unwrap();
    assert_eq!(alike(&store, "boats"), ["boats.md"]);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    save_at(&touched(dir.path()), "dogs", "kept all the same");
    assert!(alike(&store, "boats").is_empty(), "no help, and no harm");
}

#[cfg(unix)]
#[test]
fn s1_a_note_of_likeness_that_leads_out_is_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("theirs");
    let dir = tempfile::tempdir().unwrap();
    save_at(&open(dir.path()), "apples", "apples are the subject here");
    let file = dir.path().join(".everfold/likeness.bin");
    for text in [None, Some("theirs")] {
        if let Some(text) = text {
            fs::write(&target, text).unwrap();
        }
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(&target, &file).unwrap();
        let store = touched(dir.path());
        save_at(&store, "boats", text.unwrap_or("boats"));
        alike(&store, "apples");
        drop(open(dir.path()));
        assert_eq!(fs::read_to_string(&target).ok().as_deref(), text);
    }
}

#[test]
fn s6_a_broken_journal_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    save_at(&store, "a", "one");
    save_at(&store, "b", "two");
    let file = dir.path().join(".everfold/journal.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let (first, second) = text.split_once('\n').unwrap();
    // A line that is none, an older one, and one that was torn.
    fs::write(&file, format!("{first}\n\u{0}\u{0}{{broken\n{second}{{\"id\":3,\"at\":\"20"))
        .unwrap();
    let store = touched(dir.path());
    save_at(&store, "c", "three");
    let log = store.log(None, 10).unwrap();
    let ids: Vec<u64> = log.iter().map(|entry| entry.id.0).collect();
    assert_eq!(ids, [3, 2, 1]);
    assert!(log.iter().all(|entry| entry.ended.is_empty()));
    assert_eq!(open(dir.path()).opening(), &everfold_memory_store::store::Opening::default());
}

#[test]
fn s6_a_clock_that_goes_back_changes_no_order() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for (name, seconds) in [("a", 100), ("b", -5_000), ("c", 50)] {
        let text = memory(name, name);
        let place = MemoryTarget::At(path(&format!("{name}.md")));
        let save =
            Save { place, text: &text, expect: ExpectedContent::Nothing, line: None, ended: &[] };
        store.save(&save, &By::agent("extract", "", at(seconds))).unwrap();
    }
    let ids: Vec<u64> = store.log(None, 10).unwrap().iter().map(|entry| entry.id.0).collect();
    assert_eq!(ids, [3, 2, 1]);
    // Files that seem to be of next year are looked at again, and are known.
    let later = std::time::SystemTime::now() + std::time::Duration::from_hours(10_000);
    let file = fs::File::options().write(true).open(dir.path().join("a.md")).unwrap();
    file.set_modified(later).unwrap();
    let again = Store::open_with(dir.path(), StoreOptions::default(), at(-9_000)).unwrap();
    assert_eq!(again.opening().noticed, None);
    assert_eq!(alike(&again, "about c"), ["c.md"]);
}

#[test]
fn l5_17_what_is_known_may_be_lost_without_a_trace_in_the_history() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    save_at(&store, "a", "one");
    save_at(&store, "b", "two");
    store.forget(&path("b.md"), &by()).unwrap();
    let known = dir.path().join(".everfold/known.jsonl");
    for text in
        [String::new(), fs::read_to_string(&known).unwrap().split_inclusive('\n').take(3).collect()]
    {
        fs::write(&known, text).unwrap();
        assert_eq!(open(dir.path()).opening().noticed, None, "we did all of it ourselves");
    }
    fs::write(dir.path().join("a.md"), "by hand").unwrap();
    fs::write(&known, "").unwrap();
    assert!(open(dir.path()).opening().noticed.is_some());
    assert_eq!(store.log(None, 1).unwrap()[0].author, Author::Foreign);
}

#[test]
fn l5_17_contents_that_got_lost_with_the_power_are_kept_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    save_at(&store, "a", "one");
    let entry = save_at(&store, "b", "two").entry.unwrap();
    // What had not come to the disk: empty files, or none at all.
    let blobs = dir.path().join(".everfold/blobs");
    for folder in fs::read_dir(&blobs).unwrap() {
        for blob in fs::read_dir(folder.unwrap().path()).unwrap() {
            fs::write(blob.unwrap().path(), "").unwrap();
        }
    }
    let store = open(dir.path());
    let diff = store.diff(entry).unwrap();
    assert_eq!(diff[0].after.as_deref(), Some(memory("b", "two").as_str()));
    // The index before it is gone for good; its lines can be told all the same.
    store.undo(entry, everfold_memory_store::store::OnConflict::Refuse, &by()).unwrap();
    assert_eq!(index(dir.path()), "- [a](a.md) — about a\n");
    assert!(!dir.path().join("b.md").exists());
}

#[test]
fn x5_what_another_wrote_is_taken_up_by_a_change_that_touches_it() {
    let dir = tempfile::tempdir().unwrap();
    save_at(&open(dir.path()), "a", "one");
    fs::write(dir.path().join("a.md"), memory("a", "by Claude")).unwrap();
    fs::write(dir.path().join("c.md"), memory("c", "by Claude")).unwrap();
    let line = "- [C](c.md) — seen by Claude\n";
    let theirs = index(dir.path()) + line;
    fs::write(dir.path().join("MEMORY.md"), &theirs).unwrap();
    let store = touched(dir.path());
    assert_eq!(store.opening(), &everfold_memory_store::store::Opening::default());
    save_at(&store, "a", "two");
    save_at(&store, "b", "three");
    assert!(index(dir.path()).contains(line) && index(dir.path()).contains("(b.md)"));
    let foreign = |store: &Store| {
        let log = store.log(None, 10).unwrap();
        let theirs = log.into_iter().filter(|entry| entry.author == Author::Foreign);
        theirs.flat_map(|entry| entry.changes).map(|change| change.path).collect::<Vec<_>>()
    };
    assert_eq!(foreign(&store), ["a.md", "MEMORY.md"], "only what was touched");
    assert_eq!(foreign(&open(dir.path())), ["c.md", "a.md", "MEMORY.md"], "then the rest");
}

#[test]
fn r16_a_store_that_was_never_opened_is_taken_up_whole() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.md"), memory("a", "apples")).unwrap();
    let store = touched(dir.path());
    assert!(store.opening().noticed.is_some());
    assert_eq!(alike(&store, "apples"), ["a.md"]);
    save_at(&store, "b", "boats");
    assert_eq!(store.blame(&path("a.md")).unwrap().entries.len(), 1);
}
