//! A refused text appears nowhere: not in an error, a file name, a journal
//! (L5.40).

use super::*;
use everfold_memory_store::Error;
use everfold_memory_store::store::Replacement;
use everfold_memory_store::store::inbox::{ProposalGrounds, ProposedChange};

fn key() -> String {
    ["AKIA", "Z7QW3ERTY5UIOP2L"].concat()
}

/// Whether nothing on the disk, no name and no content, has these words.
fn is_nowhere(dir: &Path, words: &str) -> bool {
    let words = words.to_lowercase();
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap()).all(|entry| {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let inside = if entry.file_type().unwrap().is_dir() {
            is_nowhere(&entry.path(), &words)
        } else {
            let bytes = std::fs::read(entry.path()).unwrap();
            !String::from_utf8_lossy(&bytes).to_lowercase().contains(&words)
        };
        inside && !name.contains(&words)
    })
}

fn says_nothing(error: &Error, words: &[&str]) {
    let told = format!("{error} {error:?}").to_lowercase();
    for word in words {
        assert!(!told.contains(&word.to_lowercase()), "{word}: {told}");
    }
}

#[test]
fn l5_40_a_refused_memory_is_not_named() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let key = key();
    let titles = [format!("deploy key {key}"), "Deploy password of Ada".to_owned()];
    for title in &titles {
        let text = memory("x", &format!("It is {key}."));
        let place = MemoryTarget::Named(title.clone());
        let save =
            Save { place, text: &text, expect: ExpectedContent::Nothing, line: None, ended: &[] };
        let error = store.save(&save, &by()).unwrap_err();
        assert!(matches!(error, Error::Secret { .. }), "{error}");
        says_nothing(&error, &[&key, "ada", "deploy"]);
        let error = store.propose(&[ProposedChange::add(title, text)], &by()).unwrap_err();
        says_nothing(&error, &[&key, "ada", "deploy"]);
    }
    // The slug of a refused title, in lower case.
    let slug = path(&format!("deploy-key-{}.md", key.to_lowercase()));
    let text = memory("x", &key);
    let save = Save {
        place: MemoryTarget::At(slug),
        text: &text,
        expect: ExpectedContent::Nothing,
        line: None,
        ended: &[],
    };
    says_nothing(&store.save(&save, &by()).unwrap_err(), &[&key, "deploy"]);
    assert!(is_nowhere(dir.path(), &key) && is_nowhere(dir.path(), "deploy"));
    assert!(store.log(None, 10).unwrap().is_empty());
}

#[test]
fn l5_40_a_name_that_is_the_secret_is_refused_without_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    save_at(&store, "fine", "Nothing in it.");
    let key = key();
    let named = path(&format!("{key}.md"));
    let text = memory("x", "Nothing in it.");
    for place in [MemoryTarget::Named(key.clone()), MemoryTarget::At(named.clone())] {
        let save =
            Save { place, text: &text, expect: ExpectedContent::Nothing, line: None, ended: &[] };
        let error = store.save(&save, &by()).unwrap_err();
        assert!(matches!(error, Error::Secret { .. }), "{error}");
        says_nothing(&error, &[&key]);
    }
    says_nothing(&store.rename(&path("fine.md"), &named, &by()).unwrap_err(), &[&key]);
    says_nothing(&TopicPath::new(&format!("../{key}.md")).unwrap_err(), &[&key]);
    let swap = Replacement { path: format!("{key}.md"), expect: None, text: Some(text.clone()) };
    says_nothing(&store.swap(&[swap], &by()).unwrap_err(), &[&key]);
    let long = "long ".repeat(300_000);
    let place = MemoryTarget::Named(format!("{key} again"));
    let save =
        Save { place, text: &long, expect: ExpectedContent::Nothing, line: None, ended: &[] };
    says_nothing(&store.save(&save, &by()).unwrap_err(), &[&key]);
    assert!(is_nowhere(dir.path(), &key));
}

#[test]
fn l5_40_reasons_ends_and_evidence_carry_no_secret() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let key = key();
    let text = memory("x", "Nothing in it.");
    let place = || MemoryTarget::At(path("x.md"));
    let ended = [format!("the key was {key}")];
    let save = Save {
        place: place(),
        text: &text,
        expect: ExpectedContent::Nothing,
        line: None,
        ended: &ended,
    };
    says_nothing(&store.save(&save, &by()).unwrap_err(), &[&key]);
    let by = By::agent("extract", &format!("the key {key} was said"), at(0));
    store.save(&Save { ended: &[], ..save }, &by).unwrap();
    let grounds = ProposalGrounds { provenance: None, evidence: Some(format!("use {key}")) };
    store
        .propose_on(&grounds, &[ProposedChange::add("y", memory("y", "Something else."))], &by)
        .unwrap();
    assert_eq!(store.log(None, 1).unwrap()[0].reason, "");
    assert!(is_nowhere(dir.path(), &key));
}
