//! What a dream does to a store, seen from outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::format_push_string,
    clippy::format_collect,
    reason = "tests"
)]

mod judged;
mod merging;
mod messy;
mod properties;
mod worst;

use everfold_dream::{DreamRules, Texts};
use everfold_kernel::limits::{DreamLimits, ExtractLimits};
use everfold_kernel::ports::{MemoryHand, Stored, StoredFile};
use everfold_memory_file::Caps;
use std::sync::LazyLock;

static EXTRACT: LazyLock<ExtractLimits> = LazyLock::new(ExtractLimits::default);

fn rules(limits: &DreamLimits) -> DreamRules<'_> {
    DreamRules { caps: Caps::default(), limits, extract: &EXTRACT }
}

fn file(text: &str) -> StoredFile {
    // Texts of tests are short enough to name themselves.
    let (text, version) = (Some(text.to_owned()), format!("v:{text}"));
    StoredFile { text, version, day: None, writer: MemoryHand::Agent, recalled: 0, used: 0 }
}

fn stored(files: &[(&str, &str)]) -> Stored {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), file(text))).collect();
    Stored { files, ..Stored::default() }
}

fn stored_of(texts: &Texts) -> Stored {
    let files = texts.iter().map(|(path, text)| (path.clone(), file(text))).collect();
    Stored { files, ..Stored::default() }
}

fn memory(name: &str, body: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: about {name}\nmetadata:\n  type: project\n---\n\n{body}\n"
    )
}
