//! Two versions of a memory that were made apart (F1, L5.35).

use everfold_memory_judge::together::{MergeSide, Together, near_copy, together};

fn memory(body: &str) -> String {
    format!(
        "---\nname: Crates\ndescription: Crates and what is in them\ntype: project\n---\n\n{body}\n"
    )
}

fn one(base: Option<&str>, ours: &str, theirs: &str) -> String {
    let base = base.map(memory);
    match together(base.as_deref(), &memory(ours), &memory(theirs)) {
        Together::One(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn f1_lines_that_two_members_add_to_a_list_all_stay() {
    let base = "Crates and what is in them.\n\n- turbine1x2 belongs to crate 12.";
    let ours = format!("{base}\n- lobster2x2 belongs to crate 22.");
    let theirs = format!("{base}\n- compass0x2 belongs to crate 02.");
    let text = one(Some(base), &ours, &theirs);
    for said in ["turbine1x2", "lobster2x2", "compass0x2"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    // Once more, as after a kill: it is what it was.
    let again = together(Some(&memory(base)), &text, &memory(&theirs));
    assert_eq!(again, Together::One(text));
}

#[test]
fn f1_lists_that_two_members_begin_under_one_name() {
    let ours = "Crates and what is in them.\n\n- lobster2x2 belongs to crate 22.";
    let theirs = "Crates and what is in them.\n\n- compass0x2 belongs to crate 02.";
    let text = one(None, ours, theirs);
    assert!(text.contains("lobster2x2") && text.contains("compass0x2"), "{text}");
    assert!(!near_copy(&memory(ours), &memory(theirs)));
}

#[test]
fn f1_what_one_takes_out_is_out_and_what_contradicts_is_told() {
    let base = "The build uses ninja. Logs are under /var/log/build.";
    let text = one(Some(base), "The build uses ninja.", &format!("{base} Ask Wanda first."));
    assert!(text.contains("Wanda") && !text.contains("/var/log"), "{text}");

    let (base, ours, theirs) =
        ("We deploy on Mondays.", "We deploy on Fridays.", "We deploy on Thursdays.");
    let told = together(Some(&memory(base)), &memory(ours), &memory(theirs));
    assert_eq!(told, Together::Against { holds: MergeSide::Theirs });
    let stated = memory(ours).replace("type: project", "type: project\nmetadata:\n  basis: stated");
    let inferred =
        memory(theirs).replace("type: project", "type: project\nmetadata:\n  basis: inferred");
    let told = together(Some(&memory(base)), &stated, &inferred);
    assert_eq!(told, Together::Against { holds: MergeSide::Ours }, "a person's word stays");
}
