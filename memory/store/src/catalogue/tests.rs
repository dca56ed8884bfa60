use super::*;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::SystemTime;

fn write(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    // As if it had been there for a while.
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() - std::time::Duration::from_hours(1)).unwrap();
}

fn memory(description: &str, body: &str) -> String {
    format!("---\nname: x\ndescription: {description}\ntype: project\n---\n{body}\n")
}

fn found(catalogue: &Catalogue, query: &str) -> Vec<String> {
    let now = Timestamp::now();
    let cards: Vec<(&Card, u32)> = catalogue.cards().iter().map(|card| (card, 0)).collect();
    let ranking = rank_cards(&query.into(), &cards, &[], now);
    ranking.hits.iter().map(|hit| cards[hit.index].0.path.clone()).collect()
}

#[test]
fn r9_cards_are_kept_and_files_that_differ_are_read_again() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(OWN_DIR)).unwrap();
    for number in 0..40 {
        write(dir.path(), &format!("{number:02}.md"), &memory("tea", "black"));
    }
    write(dir.path(), "deploy.md", &memory("when we deploy", "Fridays"));
    let mut first = Catalogue::open(dir.path(), None);
    assert_eq!(first.refresh(Patience::Whole).unwrap().read, 41);
    // The time of a change cannot be set back: a test waits for no clock.
    for card in &mut first.cards {
        card.is_sure = true;
    }
    first.keep(Look { read: 41, left: 0 });
    let mut second = Catalogue::open(dir.path(), None);
    assert_eq!(second.refresh(Patience::Whole).unwrap().read, 0, "nothing differs");
    assert_eq!(second.cards(), first.cards());
    assert_eq!(second.refresh(Patience::Whole).unwrap(), Look::default(), "nor the second time");
    assert_eq!(second.cards(), first.cards());
    assert_eq!(found(&second, "deploy on Friday"), ["deploy.md"]);

    write(dir.path(), "deploy.md", &memory("when we deploy", "Thursdays, mostly"));
    write(dir.path(), "sub/new.md", &memory("coffee", "never"));
    std::fs::remove_file(dir.path().join("00.md")).unwrap();
    assert_eq!(second.refresh(Patience::Whole).unwrap().read, 2);
    assert_eq!(second.cards().len(), 41);
    assert_eq!(found(&second, "Thursday"), ["deploy.md"]);
    assert_eq!(found(&second, "coffee"), ["sub/new.md"]);
}

#[test]
fn r16_what_changes_below_a_watched_directory_is_seen_at_once() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a.md", &memory("tea", "black"));
    write(dir.path(), "sub/b.md", &memory("coffee", "white"));
    let mut catalogue = Catalogue::open(dir.path(), None);
    let mut read = || {
        let look = catalogue.refresh(Patience::Whole).unwrap();
        (look.read, catalogue.cards().len())
    };
    assert_eq!(read(), (2, 2));
    read();
    read();
    write(dir.path(), "sub/b.md", &memory("coffee", "brown"));
    // Files of this moment are read again, as they may change within a tick.
    assert!(read().0 >= 1, "of the same size, in a folder");
    std::fs::create_dir(dir.path().join("new")).unwrap();
    assert_eq!(read().1, 2);
    read();
    write(dir.path(), "new/c.md", &memory("milk", "cold"));
    assert_eq!(read().1, 3);
    std::fs::remove_dir_all(dir.path().join("sub")).unwrap();
    assert_eq!(read().1, 2);
}

#[test]
fn r2_cards_are_of_the_first_lines_and_made_anew_where_their_number_changed() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(OWN_DIR)).unwrap();
    let filler = "# filler\n".repeat(30);
    let text = format!("---\nname: long\n{filler}description: late\nbranch: b\n---\nThe body.\n");
    write(dir.path(), "long.md", &text);
    let looked = |lines: usize| {
        let mut catalogue = Catalogue::open(dir.path(), None).of_first_lines(lines);
        let look = catalogue.refresh(Patience::Whole).unwrap();
        for card in &mut catalogue.cards {
            card.is_sure = true;
        }
        catalogue.keep(look);
        (look.read, catalogue.cards.remove(0))
    };
    let (_, short) = looked(30);
    assert_eq!((short.name.as_deref(), short.description), (Some("long"), None));
    assert_eq!(short.branch.as_deref(), Some("b"), "where it holds is a bound, not in a list");
    assert_eq!(looked(30).0, 0, "they are kept");
    let (read, whole) = looked(40);
    assert_eq!((read, whole.description.as_deref()), (1, Some("late")));
}

#[test]
fn r9_many_files_are_read_by_many_threads_in_the_same_order() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..1_000 {
        write(dir.path(), &format!("{number:04}.md"), "text");
    }
    let mut catalogue = Catalogue::elsewhere(dir.path(), None);
    assert_eq!(catalogue.refresh(Patience::Whole).unwrap().read, 1_000);
    assert_eq!(catalogue.cards().len(), 1_000);
    assert!(catalogue.cards().is_sorted_by(|a, b| a.path < b.path));
}

#[test]
fn s6_a_damaged_file_of_cards_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(OWN_DIR)).unwrap();
    write(dir.path(), "tea.md", &memory("tea", "black"));
    let mut catalogue = Catalogue::open(dir.path(), None);
    catalogue.refresh(Patience::Whole).unwrap();
    catalogue.keep(Look { read: 1, left: 0 });
    let file = dir.path().join(OWN_DIR).join("recall.bin");
    let whole = std::fs::read(&file).unwrap();
    let kept = || card_file::read(&Folders::of_store(dir.path(), None), 30).unwrap_or_default();
    assert_eq!(kept().len(), 1);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&file, &bytes).unwrap();
        assert!(kept().is_empty(), "byte {at}");
        std::fs::write(&file, &whole[..at]).unwrap();
        assert!(kept().is_empty(), "cut at {at}");
    }
    let mut again = Catalogue::open(dir.path(), None);
    assert_eq!(again.refresh(Patience::Whole).unwrap().read, 1);
}

#[test]
fn s2_nothing_is_written_where_there_is_no_store() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "tea.md", &memory("tea", "black"));
    let mut catalogue = Catalogue::elsewhere(dir.path(), None);
    assert_eq!(catalogue.refresh(Patience::Whole).unwrap().read, 1);
    catalogue.keep(Look { read: 1, left: 0 });
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn r16_what_others_changed_is_noted_for_near_copies() {
    let dir = tempfile::tempdir().unwrap();
    let candidates = |text: &str| {
        let options = crate::StoreOptions {
            notice: crate::Notice::Touched,
            ..crate::StoreOptions::default()
        };
        let store = crate::Store::open_with(dir.path(), options, Timestamp::now()).unwrap();
        let found = store.candidates(text, 5).unwrap();
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    write(dir.path(), "tea.md", &memory("tea", "black"));
    assert_eq!(candidates("black tea"), ["tea.md"]);
    let mut catalogue = Catalogue::open(dir.path(), None);
    let look = catalogue.refresh(Patience::Whole).unwrap();
    catalogue.keep(look);
    write(dir.path(), "tea.md", &memory("coffee", "bitter"));
    write(dir.path(), "new.md", &memory("milk", "warm"));
    assert_eq!(candidates("black tea"), ["tea.md"], "nobody has looked");
    let look = catalogue.refresh(Patience::Whole).unwrap();
    catalogue.keep(look);
    assert!(candidates("black tea").is_empty());
    assert_eq!(candidates("bitter coffee"), ["tea.md"]);
    assert_eq!(candidates("warm milk"), ["new.md"]);
    std::fs::remove_file(dir.path().join("new.md")).unwrap();
    let look = catalogue.refresh(Patience::Whole).unwrap();
    catalogue.keep(look);
    assert!(candidates("warm milk").is_empty());
}

#[test]
fn r16_a_directory_that_is_not_ours_has_its_cards_in_the_cache() {
    let (dir, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // Even where a store of ours is, who may not write there writes elsewhere.
    std::fs::create_dir(dir.path().join(OWN_DIR)).unwrap();
    write(dir.path(), "tea.md", &memory("tea", "black"));
    let mut first = Catalogue::elsewhere(dir.path(), Some(cache.path()));
    let look = first.refresh(Patience::Whole).unwrap();
    first.cards[0].is_sure = true;
    first.keep(look);
    assert_eq!(std::fs::read_dir(dir.path().join(OWN_DIR)).unwrap().count(), 0);
    let mut again = Catalogue::elsewhere(dir.path(), Some(cache.path()));
    assert_eq!(again.refresh(Patience::Whole).unwrap(), Look { read: 0, left: 0 });
    assert_eq!(found(&again, "black tea"), ["tea.md"]);

    // A store that cannot be written has them there as well.
    std::fs::remove_dir(dir.path().join(OWN_DIR)).unwrap();
    let mut closed = Catalogue::open(dir.path(), Some(cache.path()));
    assert_eq!(closed.refresh(Patience::Whole).unwrap().read, 0);
    for file in walk(cache.path()) {
        std::fs::write(file, b"something else").unwrap();
    }
    let mut damaged = Catalogue::elsewhere(dir.path(), Some(cache.path()));
    assert_eq!(damaged.refresh(Patience::Whole).unwrap().read, 1, "it is made anew");
    assert_eq!(found(&damaged, "black tea"), ["tea.md"]);
}

fn walk(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn r16_who_is_in_a_hurry_gets_the_newest_and_the_rest_is_left() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(OWN_DIR)).unwrap();
    for number in 0..AT_ONCE * 2 {
        write(dir.path(), &format!("{number:04}.md"), "old");
    }
    std::fs::write(dir.path().join("newest.md"), memory("when we deploy", "Fridays")).unwrap();
    let mut hurried = Catalogue::open(dir.path(), None);
    let look = hurried.refresh(Patience::Within(Duration::ZERO)).unwrap();
    assert_eq!(look, Look { read: AT_ONCE, left: AT_ONCE + 1 });
    assert_eq!(found(&hurried, "deploy on Friday"), ["newest.md"]);
    hurried.keep(look);
    assert!(
        card_file::read(&Folders::of_store(dir.path(), None), 30).is_none(),
        "half is not kept"
    );
    assert_eq!(hurried.refresh(Patience::Whole).unwrap().left, 0);
    assert_eq!(hurried.cards().len(), AT_ONCE * 2 + 1);
}

/// Counts letters, and how often it was asked.
struct Letters(&'static str, std::sync::atomic::AtomicUsize);

impl everfold_memory_recall::Embedder for Letters {
    fn id(&self) -> &str {
        self.0
    }

    fn dims(&self) -> usize {
        2
    }

    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let count = |letter| f32::from(u16::try_from(text.matches(letter).count()).unwrap());
        Some(vec![count('a'), count('b')])
    }
}

#[test]
fn r14_vectors_are_made_once_for_each_embedder_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(OWN_DIR)).unwrap();
    for name in ["a", "b", "c"] {
        write(dir.path(), &format!("{name}.md"), &memory("x", name));
    }
    let counting = Arc::new(Letters("letters/1", 0.into()));
    let embedder: Arc<dyn everfold_memory_recall::Embedder> = counting.clone();
    let asked = || counting.1.swap(0, std::sync::atomic::Ordering::Relaxed);
    let looked = || {
        let mut catalogue = Catalogue::open(dir.path(), None);
        catalogue.refresh(Patience::Whole).unwrap();
        catalogue
    };
    let mut first = looked();
    assert_eq!(first.find_vectors(&embedder), 3);
    assert!(first.vectors(&*embedder).0.iter().all(Option::is_none), "words serve");
    assert_eq!(first.make_vectors(&embedder, Some(Instant::now())), 3, "there is no time");
    assert_eq!(first.make_vectors(&embedder, None), 0);
    let passages = 2; // what each is about, and the same with its body
    let found = first.vectors(&*embedder).0.iter().flatten().count();
    assert_eq!((asked(), found), (3 * passages, 3));

    let mut again = looked();
    assert_eq!((again.find_vectors(&embedder), asked()), (0, 0), "they were kept");
    write(dir.path(), "b.md", &memory("x", "another body"));
    let mut changed = looked();
    assert_eq!(changed.find_vectors(&embedder), 1);
    assert_eq!((changed.make_vectors(&embedder, None), asked()), (0, passages));

    let other: Arc<dyn everfold_memory_recall::Embedder> = Arc::new(Letters("letters/2", 0.into()));
    assert_eq!(looked().find_vectors(&other), 3, "of another version they tell nothing");

    let is_vectors =
        |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("vec");
    let file = walk(dir.path()).into_iter().find(is_vectors).unwrap();
    let whole = std::fs::read(&file).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&file, &bytes).unwrap();
        assert_eq!(looked().find_vectors(&embedder), 3, "byte {at}");
    }
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(looked().find_vectors(&embedder), 3, "cut");
}
