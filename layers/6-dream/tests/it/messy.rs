//! The offline dream on a directory that many conversations left (L6.9).

use super::*;
use everfold_dream::check::validate;
use everfold_dream::tidy::never_used;
use everfold_dream::{DreamReport, texts, tidy};
use everfold_kernel::ports::Gathered;
use everfold_memory_file::index::{INDEX_FILE, breach};
use jiff::civil::date;

const COPY: &str = "Integration tests must hit a real database, never mocks.\n\n**Why:** mocks hid a broken \
                    migration last quarter (2026-Q2).\n\n**How to apply:** use the compose file in the repository.";

fn messy() -> Stored {
    let mut files: Vec<(String, String)> = vec![
        ("tests.md".into(), memory("tests", COPY)),
        ("tests-2.md".into(), memory("tests", &COPY.replace("real database", "**real database**"))),
        (
            "testing.md".into(),
            memory("tests", &format!("{COPY}\n\nThe seed data is loaded by the runner.")),
        ),
        ("old/tests.md".into(), memory("tests", COPY)),
        ("tests-copy.md".into(), memory("tests", &COPY.to_uppercase())),
        ("orphan.md".into(), memory("orphan", "Nobody points here, though it matters a lot.")),
        (
            "deploy.md".into(),
            memory("deploy", "Deploys go out on Thursday mornings after the standup meeting."),
        ),
        (
            "deploys.md".into(),
            memory("deploy", "Deploys go out on Friday mornings after the standup meeting."),
        ),
        ("plain.md".into(), "No frontmatter here at all.\n".into()),
    ];
    let release = "---\nname: release\ndescription: ships next Friday\nmetadata:\n  date: 2026-11-11\n---\n\nFreeze is tomorrow.\n";
    files.push(("release.md".into(), release.into()));
    files.push(("when.md".into(), memory("when", "We ship by Friday.")));
    let mut index = String::from(
        "# Memory\n\n- [Tests](tests.md) — real database\n- [Gone](gone.md) — nowhere\n",
    );
    index.push_str("- [Out](../outside.md) — leads out\n- [Team](team/MEMORY.md) — the team's\n");
    index.push_str("- [Deploy](deploy.md) — when\n- [Deploy again](deploy.md) — twice\n");
    for n in 0..230 {
        let theme = ["api", "ui", "ops"][n % 3];
        files.push((
            format!("{theme}-{n}.md"),
            memory(&format!("{theme}-{n}"), &format!("Fact {n} about {theme}: {}", n * 7919)),
        ));
        index.push_str(&format!("- [{theme} {n}]({theme}-{n}.md) — fact {n}\n"));
    }
    files.push((INDEX_FILE.into(), index));
    let mut stored =
        stored(&files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect::<Vec<_>>());
    stored.files.get_mut("ui-1.md").unwrap().recalled = 4;
    stored.files.insert("huge.md".into(), StoredFile { text: None, ..file("huge") });
    stored
}

#[test]
fn l6_9_a_messy_directory_becomes_a_clean_one() {
    let limits = DreamLimits::default();
    let store = messy();
    let done = tidy(&store, rules(&limits));
    let faults = validate(
        &done.texts,
        &Gathered { files: done.texts.clone(), ..Gathered::default() },
        &store,
        rules(&limits),
    );
    assert_eq!(faults, []);
    let index = &done.texts[INDEX_FILE];
    assert_eq!(breach(index, Caps::default()), None);
    for gone in ["gone.md", "outside.md", "tests-2.md", "Deploy again"] {
        assert!(!index.contains(gone), "{gone}");
    }
    for there in ["team/MEMORY.md", "orphan.md", "huge.md", "deploy.md", "deploys.md"] {
        assert!(index.contains(there), "{there} in {index}");
    }
    let copies: Vec<&String> = done.texts.keys().filter(|path| path.contains("test")).collect();
    assert_eq!(copies.len(), 1, "{copies:?}");
    let kept = &done.texts[copies[0]];
    assert_eq!(kept.to_lowercase().matches("never mocks").count(), 1);
    assert!(kept.contains("seed data is loaded"), "nothing is lost: {kept}");
}

#[test]
fn l6_9_it_says_what_it_did_and_what_it_leaves_to_others() {
    let limits = DreamLimits::default();
    let store = messy();
    let done = tidy(&store, rules(&limits));
    let report = DreamReport::compare(&texts(&store), &done.texts, &done.reasons);
    assert_eq!(report.merged.len(), 4, "{:?}", report.merged);
    assert!(report.merged.iter().all(|merged| merged.why.contains("said the same")));
    assert!(report.deleted.is_empty());
    let seen = done.seen.join("\n");
    assert!(seen.contains("may contradict each other: \"Deploys go out on"), "{seen}");
    assert!(seen.contains("plain.md has no description"), "{seen}");
    assert!(seen.contains("when.md has a relative date whose day is unknown"), "{seen}");
    assert!(seen.contains("huge.md is not text"), "{seen}");
    assert!(done.texts.contains_key("deploys.md") && done.texts.contains_key("deploy.md"));
    assert_eq!(never_used(&store), ["ui-1.md (shown 4 times)"]);
    assert!(report.summary().starts_with("4 merged, "), "{}", report.summary());
}

#[test]
fn l6_9_relative_dates_become_absolute_where_the_day_is_known() {
    let limits = DreamLimits::default();
    let mut store = messy();
    store.files.get_mut("when.md").unwrap().day = Some(date(2026, 11, 11));
    let done = tidy(&store, rules(&limits));
    assert!(done.texts["release.md"].contains("Freeze is 2026-11-12."));
    assert!(done.texts["release.md"].contains("description: ships 2026-11-20\n"));
    assert!(done.texts["when.md"].contains("We ship by 2026-11-13."));
    assert!(done.reasons.of("when.md").contains("as of 2026-11-11"));
}

#[test]
fn l6_9_doing_it_again_changes_nothing() {
    let limits = DreamLimits::default();
    let once = tidy(&messy(), rules(&limits));
    let mut store = stored_of(&once.texts);
    store.files.insert("huge.md".into(), StoredFile { text: None, ..file("huge") });
    let again = tidy(&store, rules(&limits));
    assert_eq!(again.texts, once.texts);
    assert_eq!(again.reasons, everfold_dream::report::Reasons::default());
}

#[test]
fn l6_9_text_that_fills_the_index_becomes_a_memory() {
    let limits = DreamLimits::default();
    let prose: String = (0..300).map(|n| format!("Fact number {n} about the build.\n")).collect();
    let index = format!("# Mine\n\n{prose}\n- [A](a.md) — one\n");
    let store = stored(&[(INDEX_FILE, &index), ("a.md", &memory("a", "a thing to know"))]);
    let done = tidy(&store, rules(&limits));
    assert_eq!(
        done.texts[INDEX_FILE],
        "# Mine\n\n- [A](a.md) — one\n- [notes-from-the-index](notes-from-the-index.md) — Text that stood in \
         MEMORY.md and had no room there\n"
    );
    assert!(done.texts["notes-from-the-index.md"].contains("Fact number 299"));
    assert_eq!(tidy(&stored_of(&done.texts), rules(&limits)).texts, done.texts);
}

#[test]
fn l5_26_what_strangers_said_does_not_join_what_a_person_said() {
    let limits = DreamLimits::default();
    let tainted =
        memory("tests", COPY).replace("  type: project", "  type: project\n  tainted: true");
    let store = stored(&[("a.md", &memory("tests", COPY)), ("b.md", &tainted)]);
    let done = tidy(&store, rules(&limits));
    assert!(done.texts.contains_key("a.md") && done.texts.contains_key("b.md"));
    assert!(
        done.seen.iter().any(|seen| seen.contains("but in different scopes")),
        "{:?}",
        done.seen
    );
}
