use super::*;

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
    let ranking = rank_cards(query, &cards, &[], now);
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
    let mut first = Catalogue::open(dir.path());
    assert_eq!(first.refresh().unwrap(), 41);
    // The time of a change cannot be set back: a test waits for no clock.
    for card in &mut first.cards {
        card.is_sure = true;
    }
    first.keep(41);
    let mut second = Catalogue::open(dir.path());
    assert_eq!(second.refresh().unwrap(), 0, "nothing differs");
    assert_eq!(second.cards(), first.cards());
    assert_eq!(found(&second, "deploy on Friday"), ["deploy.md"]);

    write(dir.path(), "deploy.md", &memory("when we deploy", "Thursdays, mostly"));
    write(dir.path(), "sub/new.md", &memory("coffee", "never"));
    std::fs::remove_file(dir.path().join("00.md")).unwrap();
    assert_eq!(second.refresh().unwrap(), 2);
    assert_eq!(second.cards().len(), 41);
    assert_eq!(found(&second, "Thursday"), ["deploy.md"]);
    assert_eq!(found(&second, "coffee"), ["sub/new.md"]);
}

#[test]
fn r9_many_files_are_read_by_many_threads_in_the_same_order() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..1_000 {
        write(dir.path(), &format!("{number:04}.md"), "text");
    }
    let mut catalogue = Catalogue::empty(dir.path());
    assert_eq!(catalogue.refresh().unwrap(), 1_000);
    assert_eq!(catalogue.cards().len(), 1_000);
    assert!(catalogue.cards().is_sorted_by(|a, b| a.path < b.path));
}

#[test]
fn s6_a_damaged_file_of_cards_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(OWN_DIR)).unwrap();
    write(dir.path(), "tea.md", &memory("tea", "black"));
    let mut catalogue = Catalogue::open(dir.path());
    catalogue.refresh().unwrap();
    catalogue.keep(1);
    let file = dir.path().join(OWN_DIR).join("recall.bin");
    let whole = std::fs::read(&file).unwrap();
    let kept = || card_file::read(dir.path()).unwrap_or_default();
    assert_eq!(kept().len(), 1);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&file, &bytes).unwrap();
        assert!(kept().is_empty(), "byte {at}");
        std::fs::write(&file, &whole[..at]).unwrap();
        assert!(kept().is_empty(), "cut at {at}");
    }
    let mut again = Catalogue::open(dir.path());
    assert_eq!(again.refresh().unwrap(), 1);
}

#[test]
fn s2_nothing_is_written_where_there_is_no_store() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "tea.md", &memory("tea", "black"));
    let mut catalogue = Catalogue::empty(dir.path());
    assert_eq!(catalogue.refresh().unwrap(), 1);
    catalogue.keep(1);
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
    let mut catalogue = Catalogue::open(dir.path());
    let read = catalogue.refresh().unwrap();
    catalogue.keep(read);
    write(dir.path(), "tea.md", &memory("coffee", "bitter"));
    write(dir.path(), "new.md", &memory("milk", "warm"));
    assert_eq!(candidates("black tea"), ["tea.md"], "nobody has looked");
    let read = catalogue.refresh().unwrap();
    catalogue.keep(read);
    assert!(candidates("black tea").is_empty());
    assert_eq!(candidates("bitter coffee"), ["tea.md"]);
    assert_eq!(candidates("warm milk"), ["new.md"]);
    std::fs::remove_file(dir.path().join("new.md")).unwrap();
    let read = catalogue.refresh().unwrap();
    catalogue.keep(read);
    assert!(candidates("warm milk").is_empty());
}
