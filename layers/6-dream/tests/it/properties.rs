//! What holds for every store and every dream.

use super::*;
use everfold_dream::apply::{EndedDream, settle};
use everfold_dream::check::{DreamFault, validate};
use everfold_dream::report::Reasons;
use everfold_dream::{texts, tidy};
use everfold_kernel::ports::Gathered;
use everfold_kernel::settings::MemorySettings;
use everfold_memory_file::index::INDEX_FILE;
use proptest::prelude::*;

const WORDS: &[&str] = &[
    "deploy", "tests", "friday", "billing", "queue", "tomorrow", "never", "owner", "tracker",
    "release", "sql", "cache",
];

prop_compose! {
    fn body()(words in prop::collection::vec(0..WORDS.len(), 0..14), lines in 1_usize..4) -> String {
        let text: Vec<&str> = words.iter().map(|at| WORDS[*at]).collect();
        text.chunks(text.len().div_ceil(lines).max(1)).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n")
    }
}

prop_compose! {
    fn store()(
        bodies in prop::collection::vec((0_usize..9, body(), any::<bool>()), 0..10),
        lines in prop::collection::vec((0_usize..12, any::<bool>()), 0..14),
    ) -> Stored {
        let mut files = Vec::new();
        for (n, body, plain) in bodies {
            let path = if n % 4 == 0 { format!("sub/t{n}.md") } else { format!("t{n}.md") };
            let text = if plain { format!("{body}\n") } else { memory(&format!("t{n}"), &body) };
            files.push((path, text));
        }
        let mut index = String::new();
        for (n, prose) in lines {
            let path = if n % 4 == 0 { format!("sub/t{n}.md") } else { format!("t{n}.md") };
            index.push_str(&if prose { format!("word {n}\n") } else { format!("- [T{n}]({path}) — hook {n}\n") });
        }
        if !index.is_empty() {
            files.push((INDEX_FILE.to_owned(), index));
        }
        stored(&files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect::<Vec<_>>())
    }
}

fn gathered(files: Texts) -> Gathered {
    Gathered { files, ..Gathered::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn l6_9_what_rules_leave_is_right_and_stays(store in store()) {
        let limits = DreamLimits::default();
        let once = tidy(&store, rules(&limits));
        let faults = validate(&once.texts, &gathered(once.texts.clone()), &store, rules(&limits));
        prop_assert_eq!(faults, vec![]);
        // Nothing is deleted: what is gone is in what remains.
        let before = texts(&store);
        let faults = validate(&before, &gathered(once.texts.clone()), &store, rules(&limits));
        let gone = |fault: &DreamFault| matches!(fault, DreamFault::Deleted { .. });
        prop_assert!(!faults.iter().any(gone), "{:?}", faults);
        let again = tidy(&stored_of(&once.texts), rules(&limits));
        prop_assert_eq!(again.texts, once.texts);
    }

    #[test]
    fn l6_7_what_others_changed_is_in_the_merge(base in store(), result in store(), now in store()) {
        let limits = DreamLimits::default();
        let (was, wish, is) = (texts(&base), texts(&result), texts(&now));
        let reasons = Reasons::default();
        let ended = EndedDream { base: &base, result: &wish, reasons: &reasons };
        let done = settle(ended, &now, MemorySettings::default(), rules(&limits));
        for (path, text) in is.iter().filter(|(path, text)| was.get(*path) != Some(text)) {
            if !everfold_memory_file::index::is_sub_index(text) && path != INDEX_FILE {
                prop_assert_eq!(done.texts.get(path), Some(text), "{}", path);
            }
        }
        // The index is right whatever came together, and edits expect what is there.
        let again = validate(&done.texts, &gathered(done.texts.clone()), &now, rules(&limits));
        prop_assert_eq!(again, vec![]);
        for edit in &done.edits {
            prop_assert_eq!(edit.expect.as_ref(), now.files.get(&edit.path).map(|file| &file.version));
            prop_assert_eq!(edit.text.as_ref(), done.texts.get(&edit.path));
        }
    }
}
