//! An agent that does its worst is found out (L6.7).

use super::*;
use everfold_dream::check::{DreamFault, left, mend, validate};
use everfold_dream::report::Reasons;
use everfold_kernel::ports::Gathered;
use everfold_memory_file::index::INDEX_FILE;

fn store() -> Stored {
    let mut index = "# Memory\n\n".to_owned();
    let mut files = Vec::new();
    for n in 0..12 {
        let body =
            format!("Fact {n} is that machine {} serves the queue number {}.", n * 31, n * 17);
        files.push((format!("fact-{n}.md"), memory(&format!("fact-{n}"), &body)));
        index.push_str(&format!("- [Fact {n}](fact-{n}.md) — written by hand {n}\n"));
    }
    files.push((INDEX_FILE.to_owned(), index));
    let mut stored =
        stored(&files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect::<Vec<_>>());
    stored.logs.insert("logs/2026/11/2026-11-14.md".into(), "- a line\n".into());
    stored
}

fn copy(store: &Stored) -> Gathered {
    let mut files = everfold_dream::texts(store);
    files.extend(store.logs.clone());
    Gathered { files, ..Gathered::default() }
}

/// What is found after an agent did something, and the program mended what it
/// mends.
fn after(change: impl FnOnce(&mut Gathered)) -> Vec<DreamFault> {
    let (store, limits) = (store(), DreamLimits::default());
    let mut gathered = copy(&store);
    change(&mut gathered);
    let mut gathered = left(gathered);
    mend(&mut gathered.files, &store, &mut Reasons::default(), rules(&limits));
    validate(&everfold_dream::texts(&store), &gathered, &store, rules(&limits))
}

#[test]
fn l6_7_who_does_nothing_or_little_may_go_on() {
    assert_eq!(after(|_| {}), []);
    assert_eq!(
        after(|copy| {
            copy.files.insert("fact-3.md".into(), String::new());
            copy.files.insert(
                "fact-4.md".into(),
                memory("fact-4", "Fact 4 no longer holds for machine 124."),
            );
            copy.files.insert(
                "fact-99.md".into(),
                memory("fact-99", "Fact 3 and others, in short, at last."),
            );
        }),
        [],
        "a pointer or two are the program's to mend"
    );
}

#[test]
fn l6_7_a_worst_agent_that_deletes_everything() {
    let faults = after(|copy| copy.files.values_mut().for_each(String::clear));
    assert!(faults.contains(&DreamFault::Deleted { gone: 12, of: 12, most: 4 }), "{faults:?}");
    let faults = after(|copy| copy.files.clear());
    assert!(faults.contains(&DreamFault::Deleted { gone: 12, of: 12, most: 4 }), "{faults:?}");
    assert!(faults.contains(&DreamFault::Log("logs/2026/11/2026-11-14.md".into())), "{faults:?}");
    // Or leaves shells behind.
    let faults = after(|copy| {
        for n in 0..12 {
            copy.files.insert(format!("fact-{n}.md"), memory(&format!("fact-{n}"), "."));
        }
    });
    assert!(matches!(faults[..], [DreamFault::Deleted { gone: 12, .. }]), "{faults:?}");
}

#[test]
fn l6_7_a_worst_agent_that_writes_too_much() {
    let faults = after(|copy| {
        copy.files.insert("fact-1.md".into(), memory("fact-1", &"x y z ".repeat(1 << 18)));
    });
    assert!(faults.iter().any(|fault| matches!(fault, DreamFault::TooLarge { .. })), "{faults:?}");
    let faults = after(|copy| {
        for n in 0..8 {
            copy.files.insert(
                format!("fact-{n}.md"),
                memory("many", &format!("{n} words ").repeat(6_000)),
            );
        }
    });
    assert!(faults.iter().any(|fault| matches!(fault, DreamFault::Grew { .. })), "{faults:?}");
    let faults = after(|copy| {
        copy.strange.insert("big.md".into(), "it has 10485760 bytes".into());
    });
    assert!(
        faults[0].to_string().starts_with("big.md does not belong among memories"),
        "{faults:?}"
    );
}

#[test]
fn l6_7_a_worst_agent_that_breaks_frontmatter() {
    for text in [
        "---\nname: never closed\n",
        "---\nname: [broken\n  : x\n---\nbody is here and long enough\n",
        "No frontmatter any more, and so no description for recall.\n",
    ] {
        let faults = after(|copy| drop(copy.files.insert("fact-1.md".into(), text.into())));
        assert!(
            faults.iter().any(|fault| matches!(fault, DreamFault::Frontmatter { .. })),
            "{text}: {faults:?}"
        );
    }
    // What was broken before and is left alone is nobody's fault.
    let mut store = store();
    store.files.insert("fact-1.md".into(), file("---\nname: never closed\n"));
    let limits = DreamLimits::default();
    let before = everfold_dream::texts(&store);
    assert_eq!(validate(&before, &copy(&store), &store, rules(&limits)), []);
}

#[test]
fn l6_7_a_worst_agent_that_ruins_the_index() {
    let lines: String =
        (0..5_000).map(|n| format!("- [Fact {n}](fact-{}.md) — again\n", n % 12)).collect();
    let faults = after(|copy| drop(copy.files.insert(INDEX_FILE.into(), lines)));
    assert!(matches!(faults[..], [DreamFault::OverCaps(_)]), "{faults:?}");
    let prose = "buy milk\n".repeat(5_000);
    let faults = after(|copy| drop(copy.files.insert(INDEX_FILE.into(), prose)));
    assert!(faults.iter().any(|fault| matches!(fault, DreamFault::OverCaps(_))), "{faults:?}");
    assert_eq!(faults.iter().filter(|fault| matches!(fault, DreamFault::Orphan(_))).count(), 12);
    let nowhere: String = (0..100).map(|n| format!("- [X](nowhere-{n}.md)\n")).collect();
    let faults = after(|copy| drop(copy.files.insert(INDEX_FILE.into(), nowhere)));
    assert!(faults.iter().any(|fault| matches!(fault, DreamFault::Dangling { .. })), "{faults:?}");
    let faults = after(|copy| drop(copy.files.insert(INDEX_FILE.into(), String::new())));
    assert!(!faults.is_empty(), "lines that were written by hand are not thrown away");
}

#[test]
fn l6_7_a_worst_agent_that_changes_logs_or_writes_secrets() {
    let faults = after(|copy| {
        copy.files.insert("logs/2026/11/2026-11-14.md".into(), "rewritten\n".into());
        copy.files.insert("logs/2026/11/2026-11-15.md".into(), "made up\n".into());
    });
    assert_eq!(faults.len(), 2, "{faults:?}");
    let key = format!("The key is AKIA{}.", "IOSFODNN7EXAMPL3");
    let faults = after(|copy| drop(copy.files.insert("fact-1.md".into(), memory("fact-1", &key))));
    assert!(matches!(faults[..], [DreamFault::Secret { .. }]), "{faults:?}");
}

#[test]
fn l6_7_joining_many_into_one_is_no_deletion() {
    let faults = after(|copy| {
        let bodies: String = (0..12)
            .map(|n| {
                copy.files[&format!("fact-{n}.md")].split("---\n\n").nth(1).unwrap().to_owned()
            })
            .collect();
        for n in 1..12 {
            copy.files.insert(format!("fact-{n}.md"), String::new());
        }
        copy.files.insert("fact-0.md".into(), memory("fact-0", &bodies));
        copy.files.insert(INDEX_FILE.into(), "- [Facts](fact-0.md) — all\n".into());
    });
    assert!(!faults.iter().any(|fault| matches!(fault, DreamFault::Deleted { .. })), "{faults:?}");
}
