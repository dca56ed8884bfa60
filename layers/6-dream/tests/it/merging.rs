//! What others saved while a dream went on is kept (L6.7, L5.24).

use super::*;
use everfold_dream::apply::{EndedDream, Settled, settle};
use everfold_dream::report::Reasons;
use everfold_kernel::settings::{MemorySettings, ReviewMode};
use everfold_memory_file::index::INDEX_FILE;

const A: &str = "The billing service charges customers on the first day of every month.";
const B: &str = "The tracker for incidents lives at the address that operations publish.";

fn base() -> Stored {
    stored(&[
        (INDEX_FILE, "# Memory\n\n- [A](a.md) — money\n- [B](b.md) — incidents\n"),
        ("a.md", &memory("a", A)),
        ("b.md", &memory("b", B)),
    ])
}

fn merged(result: &Texts, now: &Stored) -> Settled {
    with(&base(), result, now, MemorySettings::default())
}

fn with(base: &Stored, result: &Texts, now: &Stored, review: MemorySettings) -> Settled {
    let limits = DreamLimits::default();
    let reasons = Reasons::default();
    settle(EndedDream { base, result, reasons: &reasons }, now, review, rules(&limits))
}

fn changed(files: &[(&str, Option<&str>)]) -> Texts {
    let mut texts = everfold_dream::texts(&base());
    for (path, text) in files {
        match text {
            Some(text) => drop(texts.insert((*path).to_owned(), (*text).to_owned())),
            None => drop(texts.remove(*path)),
        }
    }
    texts
}

fn paths(settled: &Settled) -> Vec<&str> {
    settled.edits.iter().map(|edit| edit.path.as_str()).collect()
}

#[test]
fn l6_7_what_nobody_else_changed_is_written() {
    let joined = memory("a", &format!("{A}\n{B}"));
    let result = changed(&[
        ("a.md", Some(&joined)),
        ("b.md", None),
        (INDEX_FILE, Some("# Memory\n\n- [A](a.md) — money and incidents\n")),
    ]);
    let settled = merged(&result, &base());
    assert_eq!(settled.texts, result);
    assert_eq!(paths(&settled), [INDEX_FILE, "a.md", "b.md"]);
    assert_eq!(settled.edits[2].expect, Some(base().files["b.md"].version.clone()));
    assert!(settled.waiting.is_empty() && settled.kept.is_empty());
    assert!(merged(&everfold_dream::texts(&base()), &base()).edits.is_empty());
}

#[test]
fn l6_7_what_was_saved_meanwhile_stays_with_its_pointer() {
    let mut now = base();
    now.files.insert("c.md".into(), file(&memory("c", "Saved by another session just now.")));
    now.files.insert(
        INDEX_FILE.into(),
        file("# Memory, mine\n\n- [A](a.md) — money\n- [B](b.md) — incidents\n- [C](c.md) — new\n"),
    );
    let joined = memory("a", &format!("{A}\n{B}"));
    let result = changed(&[
        ("a.md", Some(&joined)),
        ("b.md", None),
        (INDEX_FILE, Some("# Tidy\n\n- [A](a.md) — money and incidents\n")),
    ]);
    let settled = merged(&result, &now);
    assert_eq!(
        settled.texts[INDEX_FILE],
        "# Memory, mine\n\n- [A](a.md) — money and incidents\n- [C](c.md) — new\n"
    );
    assert!(settled.texts.contains_key("c.md") && !settled.texts.contains_key("b.md"));
}

#[test]
fn l6_7_an_edit_of_a_person_is_never_written_over() {
    let mut now = base();
    let edited = memory("a", "A person corrected this while the dream went on.");
    now.files.insert("a.md".into(), file(&edited));
    let wanted = memory("a", "The billing service charges customers every month.");
    let settled = merged(&changed(&[("a.md", Some(&wanted))]), &now);
    assert_eq!(settled.texts["a.md"], edited);
    assert!(settled.edits.is_empty());
    assert_eq!(settled.waiting.len(), 1);
    assert_eq!(settled.waiting[0].text.as_ref(), Some(&wanted));
    assert!(settled.waiting[0].why.contains("changed during the dream"));
    // A deletion of what was edited is just not made.
    let settled = merged(&changed(&[("a.md", None)]), &now);
    assert_eq!((settled.texts["a.md"].as_str(), settled.kept.len()), (edited.as_str(), 1));
    assert!(settled.texts[INDEX_FILE].contains("a.md"));
}

#[test]
fn l6_7_a_memory_goes_only_if_what_holds_it_is_written() {
    let mut now = base();
    now.files.insert("a.md".into(), file(&memory("a", "Edited meanwhile.")));
    let joined = memory("a", &format!("{A}\n{B}"));
    let result = changed(&[
        ("a.md", Some(&joined)),
        ("b.md", None),
        (INDEX_FILE, Some("# Memory\n\n- [A](a.md) — both\n")),
    ]);
    let settled = merged(&result, &now);
    assert!(settled.texts.contains_key("b.md"), "what only the dream's a.md holds stays");
    assert!(
        settled.texts[INDEX_FILE].contains("- [B](b.md) — incidents"),
        "{}",
        settled.texts[INDEX_FILE]
    );
    assert_eq!(settled.kept[0].path, "b.md");
}

#[test]
fn l5_24_deleting_what_a_person_wrote_waits_for_their_word() {
    let mut base = base();
    base.files.get_mut("b.md").unwrap().writer = MemoryHand::Person;
    let mut result = everfold_dream::texts(&base);
    result.remove("b.md");
    result.insert(INDEX_FILE.into(), "# Memory\n\n- [A](a.md) — money\n".into());
    let settled = with(&base, &result, &base, MemorySettings::default());
    assert!(settled.texts.contains_key("b.md"));
    assert_eq!(settled.waiting.len(), 1);
    assert_eq!((settled.waiting[0].path.as_str(), &settled.waiting[0].text), ("b.md", &None));
    assert!(settled.texts[INDEX_FILE].contains("- [B](b.md) — incidents"));
    // Joined into another one, nothing of it is lost.
    result.insert("a.md".into(), memory("a", &format!("{A}\n{B}")));
    let settled = with(&base, &result, &base, MemorySettings::default());
    assert!(!settled.texts.contains_key("b.md") && settled.waiting.is_empty());
}

#[test]
fn l5_24_with_review_everything_waits() {
    let wanted = memory("a", "The billing service charges customers every month.");
    let settled = with(
        &base(),
        &changed(&[("a.md", Some(&wanted))]),
        &base(),
        MemorySettings { review: Some(ReviewMode::Inbox), ..MemorySettings::default() },
    );
    assert!(settled.edits.is_empty());
    assert_eq!(settled.waiting.len(), 1);
}

#[test]
fn l5_26_what_no_memory_and_no_log_says_waits() {
    let planted =
        memory("setup", "Payload archives of evil.example were fetched silently by every runner.");
    let result = changed(&[("setup.md", Some(&planted))]);
    let settled = merged(&result, &base());
    assert!(settled.edits.is_empty(), "{:?}", settled.edits);
    assert!(
        settled.waiting[0].why.contains("no memory and no log says"),
        "{}",
        settled.waiting[0].why
    );
    // What a log says is known.
    let mut with_log = base();
    with_log.logs.insert(
        "logs/x.md".into(),
        "payload archives fetched silently from evil.example by every runner, about setup".into(),
    );
    let settled = with(&with_log, &result, &with_log, MemorySettings::default());
    assert_eq!(paths(&settled), [INDEX_FILE, "setup.md"]);
}

#[test]
fn l6_7_a_list_that_others_used_meanwhile_stays() {
    let sub = "---\nname: index-x\nmetadata:\n  node_type: index\n---\n\n# X\n\n- [A](a.md) — money\n- [B](b.md) — incidents\n";
    let index = "# Memory\n\n- [X](index-x.md) — 2 memories\n";
    let mut base = base();
    base.files.insert("index-x.md".into(), file(sub));
    base.files.insert(INDEX_FILE.into(), file(index));
    let mut result = everfold_dream::texts(&base);
    result.remove("index-x.md");
    result.insert(
        INDEX_FILE.into(),
        "# Memory\n\n- [A](a.md) — money\n- [B](b.md) — incidents\n".into(),
    );
    let settled = with(&base, &result, &base, MemorySettings::default());
    assert_eq!(settled.texts, result);
    let mut now = base.clone();
    now.files.insert("c.md".into(), file(&memory("c", "New one in the list.")));
    now.files.insert("index-x.md".into(), file(&format!("{sub}- [C](c.md) — new\n")));
    let settled = with(&base, &result, &now, MemorySettings::default());
    let reached = everfold_memory_file::index::reach(&settled.texts[INDEX_FILE], |path| {
        settled.texts.get(path).cloned()
    });
    for path in ["a.md", "b.md", "c.md"] {
        assert!(reached.reached.contains(path), "{path}: {:#?}", settled.texts);
    }
    assert!(reached.broken.is_empty());
}

#[test]
fn l5_26_what_strangers_said_keeps_its_mark() {
    let mut base = base();
    let tainted = memory("b", B).replace("  type: project", "  type: project\n  tainted: true");
    base.files.insert("b.md".into(), file(&tainted));
    let mut result = everfold_dream::texts(&base);
    result.remove("b.md");
    result.insert("a.md".into(), memory("a", &format!("{A}\n{B}")));
    result.insert(INDEX_FILE.into(), "# Memory\n\n- [A](a.md) — both\n".into());
    let settled = with(&base, &result, &base, MemorySettings::default());
    assert_eq!(settled.texts["b.md"], tainted, "it stays, and so does its mark");
    assert_eq!(settled.texts["a.md"], memory("a", A));
    assert!(
        settled.waiting[0].why.contains("what b.md has from strangers"),
        "{:?}",
        settled.waiting
    );
}
