//! `everfold models`: sentence models from files (R14).

use crate::desk::Desk;
use serde_json::json;

#[test]
fn r14_files_that_are_no_model_are_refused_and_nothing_is_left() {
    let desk = Desk::offline();
    let model = desk.files.write(desk.files.root().join("m.onnx"), "no model at all").unwrap();
    let tokenizer = desk.files.write(desk.files.root().join("t.json"), "{}").unwrap();
    let (model, tokenizer) = (model.display().to_string(), tokenizer.display().to_string());
    let ran = desk.run(&["models", "add", &model, &tokenizer]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    if cfg!(feature = "embed") {
        assert!(ran.err.contains("is no tokenizer"), "{}", ran.err);
    } else {
        assert!(ran.err.contains("runs no sentence models"), "{}", ran.err);
        assert!(ran.err.contains("--features embed"), "it says how to get one: {}", ran.err);
    }
    assert_eq!(desk.run(&["models", "list", "--json"]).ok().json(), json!([]));
    let ran = desk.run(&["models", "remove", "nothing"]);
    assert!(ran.code != Some(0) && ran.err.contains("no model nothing"), "{}", ran.err);
    assert!(desk.run(&["models", "list"]).ok().out.contains("no sentence model installed"));
}

#[test]
fn r14_a_damaged_model_is_named_and_words_serve() {
    let desk = Desk::offline();
    let dir = desk.files.home().join(".everfold/models/minilm-00000000");
    desk.files.write(dir.join("model.onnx"), "cut").unwrap();
    desk.files.write(dir.join("tokenizer.json"), "{}").unwrap();
    let note = json!({"name": "x", "dims": 384, "checksum": "00", "bytes": 5,
        "added": "2026-11-16T00:00:00Z"});
    desk.files.write(dir.join("installed.json"), &note.to_string()).unwrap();
    let list = desk.run(&["models", "list", "--json"]).ok().json();
    assert_eq!(list[0]["name"], "minilm-00000000");
    assert!(list[0]["fault"].as_str().unwrap().contains("damaged"), "{list}");
    let folder = desk.files.root().join("notes");
    let text = "---\nname: Deploys\ndescription: when we deploy the shop\n---\nOn Fridays.\n";
    desk.files.write(folder.join("deploy.md"), text).unwrap();
    let folder = folder.display().to_string();
    let found = desk.run(&["recall", "when do we deploy the shop?", "--dir", &folder]).ok();
    assert!(found.out.contains("On Fridays."), "{}", found.out);
    desk.run(&["models", "remove", "minilm-00000000"]).ok();
    assert!(!dir.exists());
}

#[test]
fn r16_what_was_read_elsewhere_is_kept_in_the_cache_and_not_there() {
    let desk = Desk::offline();
    let folder = desk.files.root().join("notes");
    let text = "---\nname: Deploys\ndescription: when we deploy the shop\n---\nOn Fridays.\n";
    desk.files.write(folder.join("deploy.md"), text).unwrap();
    let dir = folder.display().to_string();
    let recall = || desk.run(&["recall", "when do we deploy the shop?", "--dir", &dir]).ok().out;
    let first = recall();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is written there");
    let cache = desk.files.home().join(".everfold/cache/catalogues");
    let kept: Vec<_> =
        std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [kept] = kept.as_slice() else { panic!("{kept:?}") };
    assert_eq!(recall(), first, "with the cards");
    std::fs::write(kept.join("recall.bin"), b"mnrcl, but damaged").unwrap();
    assert_eq!(recall(), first, "and where they are damaged");
    let log =
        std::fs::read_to_string(desk.files.home().join(".everfold/logs/everfold.log")).unwrap();
    assert!(log.contains("damaged or of another version"), "{log}");
}

#[test]
fn r14_damaged_vectors_and_those_of_another_version_are_told_of_and_words_serve() {
    let desk = Desk::offline();
    let folder = desk.files.root().join("notes");
    let text = "---\nname: Deploys\ndescription: when we deploy the shop\n---\nOn Fridays.\n";
    desk.files.write(folder.join("deploy.md"), text).unwrap();
    let dir = folder.display().to_string();
    let recall = || desk.run(&["recall", "when do we deploy the shop?", "--dir", &dir]).ok().out;
    let first = recall();
    assert!(first.contains("On Fridays."), "{first}");
    let cache = desk.files.home().join(".everfold/cache/catalogues");
    let vectors = || {
        let folders = std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path());
        let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap());
        let mut paths = files.map(|entry| entry.unwrap().path());
        let is_vectors = |path: &std::path::PathBuf| {
            path.file_name().unwrap().to_string_lossy().starts_with("vectors-")
        };
        paths.find(is_vectors).expect("vectors are kept")
    };
    let whole = std::fs::read(vectors()).unwrap();
    let mut other = whole.clone();
    other[7] = 99;
    for bytes in [&whole[..whole.len() / 2], b"none at all", &other] {
        let log = desk.files.home().join(".everfold/logs/everfold.log");
        let _ = std::fs::remove_file(&log);
        std::fs::write(vectors(), bytes).unwrap();
        assert_eq!(recall(), first);
        let told = std::fs::read_to_string(&log).unwrap();
        assert!(told.contains("damaged or of another version"), "{told}");
        assert_eq!(std::fs::read(vectors()).unwrap(), whole, "they are made anew");
    }
}
