//! What a memory directory promises, seen from outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "tests"
)]

mod check;
mod crash;
mod dream_lock;
mod dream_night;
mod hardship;
mod history;
mod inbox;
mod processes;
mod scan;
mod shared;
mod speed;
mod store;
mod two_steps;
mod unsaid;
mod waiting;

use everfold_memory_store::store::{ExpectedContent, MemoryTarget, Save, Saved};
use everfold_memory_store::{By, Store, StoreOptions, TopicPath};
use jiff::Timestamp;
use std::path::Path;

/// A time, in seconds since the start of the test's world.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + seconds).unwrap()
}

fn by() -> By {
    By::agent("extract", "a test", at(0))
}

fn path(path: &str) -> TopicPath {
    TopicPath::new(path).unwrap()
}

fn open(dir: &Path) -> Store {
    Store::open_with(dir, StoreOptions::default(), at(0)).unwrap()
}

fn memory(name: &str, body: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: about {name}\nmetadata:\n  type: project\n---\n\n{body}\n"
    )
}

fn save_at(store: &Store, name: &str, body: &str) -> Saved {
    let text = memory(name, body);
    let place = MemoryTarget::At(path(&format!("{name}.md")));
    store
        .save(
            &Save { place, text: &text, expect: ExpectedContent::Anything, line: None, ended: &[] },
            &by(),
        )
        .unwrap()
}

fn index(dir: &Path) -> String {
    std::fs::read_to_string(dir.join("MEMORY.md")).unwrap_or_default()
}
