//! Modules are named by nouns: a reader finds a fact by what it is called.
//!
//! A gerund says that something happens, not what is there; the retired words
//! read well one by one and told nothing in a list of hundred (DESIGN). Tests
//! may tell a story by their names.

use crate::exceptions::{ENGINE_TODO, is_engine};
use crate::rust_code::is_test_file;

/// Names that say nothing about what is inside, anywhere.
const VAGUE: &[&str] = &["base", "common", "helpers", "manager", "misc", "types", "utils"];

/// Words that were names of modules and are not to come back.
const RETIRED: &[&str] = &[
    "after",
    "again",
    "alike",
    "ask",
    "asked",
    "beside",
    "crew",
    "desk",
    "elsewhere",
    "ground",
    "kept",
    "look",
    "me",
    "pick",
    "recalled",
    "said",
    "seat",
    "side",
    "skilled",
    "standing",
    "talk",
    "told",
    "wanted",
];

/// Words that end like a gerund and are the noun that a user would look for.
const NOUNS: &[&str] = &[
    "billing",
    "binding",
    "bookkeeping",
    "encoding",
    "folding",
    "heading",
    "hosting",
    "indexing",
    "interleaving",
    "listing",
    "ping",
    "pricing",
    "ranking",
    "setting",
    "spending",
    "string",
    "thinking",
    "tuning",
    "warning",
    "wording",
];

/// What is wrong with the name of a source file or of a folder above it.
pub(super) fn complaint(path: &str) -> Option<String> {
    if path.ends_with("/mod.rs") {
        return Some("name the module's file after it (`x.rs` beside `x/`), not mod.rs".into());
    }
    let mut stems = path.split('/').map(|part| part.trim_end_matches(".rs"));
    if let Some(vague) = stems.clone().find(|stem| VAGUE.contains(stem)) {
        return Some(format!("`{vague}` says nothing; name it after what is inside"));
    }
    if is_test_file(path) {
        return None;
    }
    stems.find_map(|stem| word_complaint(path, stem))
}

fn word_complaint(path: &str, stem: &str) -> Option<String> {
    let is_later = is_engine(path) && ENGINE_TODO.modules.contains(&stem);
    if is_later {
        return None;
    }
    if RETIRED.contains(&stem) {
        return Some(format!("`{stem}` is retired; use the noun that a user would look for"));
    }
    let last = stem.rsplit('_').next().unwrap_or(stem);
    let is_gerund = last.ends_with("ing") && !NOUNS.contains(&last);
    is_gerund.then(|| format!("`{stem}` is a gerund; name the thing that is inside by its noun"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_pass_and_tests_may_tell_a_story() {
        for good in [
            "core/a/src/fold.rs",
            "core/a/src/string.rs",
            "core/a/src/token_listing.rs",
            "core/a/src/seating_plan.rs",
            "core/a/tests/it/keeping.rs",
            "core/a/src/fold/tests.rs",
            "apps/cli/tests/it/desk.rs",
        ] {
            assert_eq!(complaint(good), None, "{good}");
        }
    }

    #[test]
    fn gerunds_retired_words_and_vague_names_are_found() {
        for (bad, why) in [
            ("core/a/src/counting.rs", "gerund"),
            ("core/a/src/counting/x.rs", "gerund"),
            ("core/a/src/line_reading.rs", "gerund"),
            ("sdk/src/beside.rs", "retired"),
            ("apps/cli/src/desk/x.rs", "retired"),
            ("core/a/src/utils.rs", "says nothing"),
            ("core/a/tests/it/common.rs", "says nothing"),
            ("core/a/src/fold/mod.rs", "not mod.rs"),
        ] {
            assert!(complaint(bad).is_some_and(|found| found.contains(why)), "{bad}");
        }
    }

    #[test]
    fn what_the_engine_still_has_to_rename_passes_there_alone() {
        for stem in ENGINE_TODO.modules {
            assert_eq!(complaint(&format!("engine/src/{stem}.rs")), None, "{stem}");
            assert!(complaint(&format!("sdk/src/{stem}.rs")).is_some(), "{stem}");
        }
    }
}
