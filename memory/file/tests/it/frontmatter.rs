//! Both generations of frontmatter, what people make of them, and splicing.

use everfold_frontmatter::Error;
use everfold_kernel::ids::{RecordId, SessionId};
use everfold_memory_file::frontmatter::{Basis, FrontmatterFault, Key, Value, fence, remove, set};
use everfold_memory_file::{Memory, MemoryDraft, MemoryType};
use proptest::prelude::*;

const OLDER: &str = "---\nname: Prefer real database in tests\ndescription: one sentence\ntype: feedback\n\
                     originSessionId: 0b2f\n---\nbody\n";
const NEWER: &str = "---\nname: real-database-in-tests\ndescription: \"one sentence\"\nmetadata: \n  node_type: memory\n  \
                     type: feedback\n  originSessionId: 0b2f\n  modified: 2026-07-01T09:00:00.000Z\n---\n\nStatement.\n";

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

#[test]
fn l5_4_both_generations_are_read() {
    for file in [OLDER, NEWER] {
        let memory = Memory::parse(file);
        assert_eq!(memory.fault, None);
        assert_eq!(memory.front.kind, Some(MemoryType::Feedback));
        assert_eq!(memory.front.description.as_deref(), Some("one sentence"));
        assert_eq!(memory.front.session, Some(SessionId::new("0b2f")));
    }
    assert_eq!(Memory::parse(OLDER).body, "body\n");
    let newer = Memory::parse(NEWER);
    assert_eq!(newer.front.modified, Some("2026-07-01T09:00:00Z".parse().unwrap()));
    assert_eq!(newer.front.all["metadata"]["node_type"], "memory");
}

#[test]
fn l5_4_files_of_every_make_are_read() {
    let description = |file: &str| Memory::parse(file).front.description.unwrap_or_default();
    let cases = [
        ("---\ndescription: fix: the colon\n---\n", "fix: the colon"),
        ("---\ndescription: a\npaths: **/*.ts\n---\n", "a"),
        ("---\r\ndescription: a: b\r\n---\r\nx", "a: b"),
        ("\u{feff}---\ndescription: a\n---\n", "a"),
        ("---\ndescription: @ann says: *no*\n---\n", "@ann says: *no*"),
        ("---\ndescription: 'unbalanced\nname: x\n---\n", "'unbalanced"),
        ("---\ndescription: \"say \"hi\" twice\"\nname: x\n---\n", "\"say \"hi\" twice\""),
        ("---\ndescription: >-\n  folded\n  text\n---\n", "folded text"),
        ("---\ndescription: 1.10\n---\n", "1.10"),
        ("---\ndescription: yes\n---\n", "yes"),
        ("---\ndescription: !important thing\n---\n", "!important thing"),
        ("---\ndescription: &anchor\n---\n", "&anchor"),
        ("---\ndescription: first\ndescription: last\n---\n", "last"),
        ("---\nmetadata:\n\ttype: user\ndescription: tabs\n---\n", "tabs"),
        ("---\ndescription: 50% [of: it\n---\n", "50% [of: it"),
        ("---\ndescription: [of: it\n---\n", "[of: it"),
        ("---\nweird line\n---\n", ""),
        ("no frontmatter", ""),
    ];
    for (file, wanted) in cases {
        assert_eq!(description(file), wanted, "{file}");
    }
    let kind = |file: &str| Memory::parse(file).front.kind;
    assert_eq!(kind("---\ntype: decision\n---\n"), None);
    assert_eq!(kind("---\ntype: user\nmetadata:\n  type: odd\n---\n"), Some(MemoryType::User));
    assert_eq!(kind("---\nmetadata:\n\ttype: user\n---\n"), Some(MemoryType::User));
}

#[test]
fn s6_broken_frontmatter_keeps_the_body_and_says_so() {
    let unclosed = "---\nname: x\nthe body goes on";
    let memory = Memory::parse(unclosed);
    assert_eq!((memory.body, memory.fault), (unclosed, Some(FrontmatterFault::Unclosed)));
    let head = Memory::parse_head(unclosed, 30);
    assert_eq!(head.front.name.as_deref(), Some("x"));
    let bomb = "---\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\nname: kept\n---\nbody";
    let memory = Memory::parse(bomb);
    assert_eq!((memory.body, memory.front.name.as_deref()), ("body", Some("kept")));
    assert!(memory.fault.is_some());
    let deep = format!("---\nname: kept\nx: {}\n---\nbody", "[".repeat(5_000));
    assert_eq!(Memory::parse(&deep).front.name.as_deref(), Some("kept"));
}

#[test]
fn l5_16_metadata_is_read() {
    let file = "---\nname: n\nmetadata:\n  messages: [m1, \"m2\"]\n  date: 2026-11-01\n  basis: stated\n  \
                branch: feature/x\n  worktree: /w\n  tainted: true\n  rule: remember\n---\n";
    let front = Memory::parse(file).front;
    assert_eq!(front.messages, [RecordId::new("m1"), RecordId::new("m2")]);
    assert_eq!(front.date, Some(jiff::civil::date(2026, 11, 1)));
    assert_eq!(front.basis, Some(Basis::Stated));
    assert!(Basis::Stated > Basis::Confirmed && Basis::Confirmed > Basis::Inferred);
    assert_eq!(
        (front.branch.as_deref(), front.worktree.as_deref()),
        (Some("feature/x"), Some("/w"))
    );
    assert_eq!(front.provenance.map(|by| by.to_string()).as_deref(), Some("web"));
    assert_eq!(front.rule.as_deref(), Some("remember"));
}

#[test]
fn l5_4_a_draft_becomes_a_file_of_the_newer_generation() {
    let draft = MemoryDraft {
        name: "real-database",
        description: "Tests: use a real\ndatabase",
        kind: MemoryType::Feedback,
        body: "Use it.\n\n**Why:** x\n\n**How to apply:** y\n",
    };
    let wanted = "---\nname: real-database\ndescription: \"Tests: use a real database\"\nmetadata:\n  \
                  node_type: memory\n  type: feedback\n---\n\nUse it.\n\n**Why:** x\n\n**How to apply:** y\n";
    assert_eq!(draft.render(), wanted);
    assert_eq!(Memory::parse(wanted).fault, None);
}

#[test]
fn l5_33_a_memory_says_whose_words_it_rests_on() {
    let of =
        |key: &str| Memory::parse(&format!("---\nmetadata:\n  {key}\n---\nx\n")).front.provenance;
    assert_eq!(of("provenance: agent:web").unwrap().to_string(), "agent:web");
    assert_eq!(of("tainted: true").unwrap().to_string(), "web", "as older ones have it");
    assert_eq!(of("tainted: false"), None);
}

#[test]
fn l5_4_one_key_changes_and_the_rest_stays() {
    let file = "\u{feff}---\r\n# mine\r\nname: old   # why\r\nodd:   [1,2]\r\ndescription: >\r\n  long\r\n  text\r\n\
                metadata: \r\n    type: user\r\n    x: 'y'\r\n\r\n# end\r\n---\r\nbody\r\n";
    let named = set(file, Key::Top("name"), &text("new: er")).unwrap();
    assert_eq!(named, file.replace("old   # why", "\"new: er\"   # why"));
    let described = set(file, Key::Top("description"), &text("short")).unwrap();
    assert_eq!(described, file.replace(">\r\n  long\r\n  text", "short"));
    let typed = set(file, Key::Under("metadata", "type"), &text("project")).unwrap();
    assert_eq!(typed, file.replace("type: user", "type: project"));
    let added = set(file, Key::Under("metadata", "basis"), &text("stated")).unwrap();
    assert_eq!(added, file.replace("x: 'y'\r\n", "x: 'y'\r\n    basis: stated\r\n"));
    let top = set(file, Key::Top("modified"), &text("2026-01-01T00:00:00Z")).unwrap();
    assert_eq!(top, file.replace("# end\r\n", "# end\r\nmodified: 2026-01-01T00:00:00Z\r\n"));
    assert_eq!(
        remove(file, Key::Under("metadata", "x")).unwrap(),
        file.replace("    x: 'y'\r\n", "")
    );
    assert_eq!(remove(file, Key::Top("absent")).unwrap(), file);
}

#[test]
fn l5_4_files_without_the_place_for_a_key_get_it() {
    let bare = set("body\n", Key::Under("metadata", "type"), &text("user")).unwrap();
    assert_eq!(bare, "---\nmetadata:\n  type: user\n---\nbody\n");
    let older = set(OLDER, Key::Under("metadata", "basis"), &text("stated")).unwrap();
    assert!(older.contains("originSessionId: 0b2f\nmetadata:\n  basis: stated\n---\n"), "{older}");
    assert_eq!(set("---\nname: x\n", Key::Top("a"), &text("b")), Err(Error::FrontmatterUnclosed));
    let flow = "---\nmetadata: {a: b}\n---\n";
    assert!(matches!(
        set(flow, Key::Under("metadata", "c"), &text("d")),
        Err(Error::NotABlock { .. })
    ));
    let empty = set("---\nname:\n---\n", Key::Top("name"), &text("x")).unwrap();
    assert_eq!(empty, "---\nname: x\n---\n");
}

/// Lines of a frontmatter as people write them, each under a key of its own.
fn entry(n: usize) -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ,.]{0,20}".prop_map(move |v| format!("k{n}: {v}\n")),
        "[a-zé:*@ ]{1,16}".prop_map(move |v| format!("k{n}:   {v}  # note\n")),
        "[a-z ]{0,9}".prop_map(move |v| format!("k{n}: \"{v}\"\n")),
        "[a-z ]{0,9}".prop_map(move |v| format!("k{n}: |\n  {v}\n  # in\n\n  more\n")),
        Just(format!("k{n}:\n  - one\n  - two: x\n")),
        Just(format!("k{n}:\n- flat\n")),
        Just(format!("# comment {n}\n\nk{n}: v\n")),
        Just(format!("'k{n}': [a, b]\n")),
        Just(format!("k{n}: \n  in{n}: a\n  # c\n  also: 'b'\n")),
    ]
}

fn file() -> impl Strategy<Value = (String, usize)> {
    (1_usize..7, any::<bool>(), any::<bool>(), "[ -~é\n]{0,60}").prop_flat_map(
        |(count, crlf, bom, body)| {
            (0..count).map(entry).collect::<Vec<_>>().prop_map(move |entries| {
                let mut text = format!("---\n{}---\n{body}", entries.concat());
                if crlf {
                    text = text.replace('\n', "\r\n");
                }
                if bom {
                    text.insert(0, '\u{feff}');
                }
                (text, count)
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn l5_4_a_splice_leaves_all_other_bytes((file, count) in file(), pick in 0_usize..7, value in "[ -~é\n\t]{1,40}") {
        let key = format!("k{}", pick % count);
        let changed = set(&file, Key::Top(&key), &text(&value)).unwrap();
        // Taken out again, what is left is what is left of the original.
        prop_assert_eq!(remove(&changed, Key::Top(&key)).unwrap(), remove(&file, Key::Top(&key)).unwrap());
        let added = set(&file, Key::Top("fresh"), &text(&value)).unwrap();
        prop_assert_eq!(remove(&added, Key::Top("fresh")).unwrap(), file.clone());
        let nested = set(&file, Key::Under("metadata", "x"), &text(&value)).unwrap();
        prop_assert_eq!(remove(&nested, Key::Top("metadata")).unwrap(), file);
        prop_assert_eq!(fence(&changed) == everfold_memory_file::frontmatter::Fence::None, false);
    }

    #[test]
    fn l5_4_what_was_set_is_read_back(value in "\\PC{1,40}") {
        let file = set(NEWER, Key::Top("description"), &text(&value)).unwrap();
        let file = set(&file, Key::Under("metadata", "branch"), &text(&value)).unwrap();
        let memory = Memory::parse(&file);
        prop_assert_eq!(memory.fault, None);
        prop_assert_eq!(memory.front.description.unwrap_or_default(), value.trim());
        prop_assert_eq!(memory.front.branch.unwrap_or_default(), value.trim());
        prop_assert_eq!(memory.front.kind, Some(MemoryType::Feedback));
    }

    #[test]
    fn s6_any_text_is_read_without_a_panic(file in "(---\n)?[ -~\n\t\u{feff}é:*&!#'\"-]{0,200}(---\n)?[ -~\n]{0,40}") {
        let memory = Memory::parse(&file);
        prop_assert!(file.ends_with(memory.body));
        let _ = Memory::parse_head(&file, 3);
        let _ = set(&file, Key::Under("metadata", "type"), &text("user"));
    }
}
