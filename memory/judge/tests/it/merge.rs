//! An update adds, and newer words replace what they contradict.

mod pairs;

use everfold_memory_judge::gate::Known;
use everfold_memory_judge::merge::{Relation, Statement, relate, rewritten};
use pairs::{Class, Row};
use proptest::prelude::*;

fn known(name: &str, body: &str) -> Known {
    Known {
        file: format!("{name}.md"),
        name: name.into(),
        description: body.into(),
        body: body.into(),
        basis: None,
    }
}

fn statement(body: &str) -> Statement<'_> {
    Statement { name: "", description: body, body }
}

/// The cases of the development set, as far as it is there: beside the
/// repository, or beside the folder of its worktrees.
#[expect(clippy::disallowed_methods, reason = "a test reads its data")]
fn turns() -> Option<Vec<serde_json::Value>> {
    let places = ["/../../..", "/../../../.."];
    let text = places.iter().find_map(|up| {
        let root = format!("{}{up}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(format!("{root}/shared/data/judgement/keep.json")).ok()
    })?;
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    all["turns"].as_array().cloned()
}

#[test]
fn l5_36_the_development_set_is_merged() {
    let old = [
        ("k049", "thursday"),
        ("k050", "heroku"),
        ("k051", "petra"),
        ("k052", "tabs"),
        ("k053", "90"),
        ("k054", "2026-12-08"),
    ];
    let Some(turns) = turns() else {
        eprintln!("skipped: no judgement/keep.json beside the repository at ../shared/data");
        return;
    };
    for turn in turns {
        let Some(existing) = turn["context"]["existing"].as_array() else { continue };
        let known: Vec<Known> = existing
            .iter()
            .map(|e| known(e["name"].as_str().unwrap(), e["body"].as_str().unwrap()))
            .collect();
        let (id, prompt) = (turn["id"].as_str().unwrap(), turn["prompt"].as_str().unwrap());
        if !("k049"..="k058").contains(&id) {
            continue;
        }
        let relation = relate(&statement(prompt), &known);
        println!("{id} {prompt}\n   {relation:?}");
        let (body, description) = match &relation {
            Relation::Extends { body, description, .. }
            | Relation::Supersedes { body, description, .. } => (body, description),
            other => panic!("{id}: {other:?}"),
        };
        let (body, description) = (body.to_lowercase(), description.to_lowercase());
        for keep in turn["keep"].as_array().unwrap() {
            let list = |name: &str| keep[name].as_array().cloned().unwrap_or_default();
            for must in list("must_contain") {
                assert!(body.contains(must.as_str().unwrap()), "{id}: {must} in {body}");
            }
            for never in list("must_not_contain") {
                assert!(!body.contains(never.as_str().unwrap()), "{id}: {never} in {body}");
            }
        }
        if let Some((_, gone)) = old.iter().find(|(known, _)| *known == id) {
            assert!(matches!(relation, Relation::Supersedes { .. }), "{id}");
            assert!(
                !body.contains(gone) && !description.contains(gone),
                "{id}: {gone} in {body} / {description}"
            );
        } else {
            assert!(matches!(relation, Relation::Extends { .. }), "{id}");
        }
    }
}

#[test]
fn l5_35_pairs_become_what_they_should() {
    let rows = pairs::rows();
    assert!(rows.len() >= 80);
    let mut wrong = Vec::new();
    for Row { class, name, body, new, has, lacks } in &rows {
        let known = [known("unrelated", "The office plant is watered by Kim."), known(name, body)];
        let relation = relate(&statement(new), &known);
        let (got, text, line) = match &relation {
            Relation::New => (Class::New, "", ""),
            Relation::Same { .. } => (Class::Same, "", ""),
            Relation::Extends { body, description, .. } => {
                (Class::Extends, body.as_str(), description.as_str())
            }
            Relation::Supersedes { body, description, .. } => {
                (Class::Supersedes, body.as_str(), description.as_str())
            }
        };
        let low = format!("{text}\n{line}").to_lowercase();
        let misses = has.iter().any(|has| !text.contains(has.as_str()));
        let keeps = lacks.iter().any(|lacks| low.contains(lacks.as_str()));
        if got != *class || misses || keeps {
            wrong.push(format!(
                "{body} + {new}\n   wanted {class:?} {has:?} {lacks:?}\n   {relation:?}"
            ));
        }
        assert!(line.chars().count() <= 150, "{line}");
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn l5_35_a_rewrite_keeps_what_it_left_out() {
    let old = "Deploys need two approvals. Ask Ada first. The pager is with ops.\n\n**Why:** an outage in May.\n";
    let new = "Deploys need three approvals. Use the release checklist.\n";
    let (body, put_back) = rewritten(old, new);
    assert_eq!(
        body,
        "Deploys need three approvals. Use the release checklist. Ask Ada first. The pager is with ops.\n\n\
         **Why:** an outage in May.\n"
    );
    assert_eq!(
        put_back,
        ["Ask Ada first.", "The pager is with ops.", "**Why:** an outage in May."]
    );
}

#[test]
fn l5_35_a_rewrite_that_leaves_nothing_out_stays() {
    for (old, new) in [
        ("Use tabs.", "Do not use tabs."),
        ("Deploys need two approvals.", "Two approvals are needed for deploys, always."),
        ("Production runs on Heroku.", "Production runs on Fly, no longer on Heroku."),
        ("", "Anything."),
        ("- one point\n- another point", "- another point\n- one point"),
    ] {
        assert_eq!(rewritten(old, new), (new.to_owned(), Vec::new()), "{old}");
    }
}

#[test]
fn l5_35_a_rewritten_list_stays_a_list() {
    let (body, _) = rewritten(
        "Before a release:\n- tag the commit\n- write the changelog\n",
        "Before a release:\n- tag the commit\n",
    );
    assert_eq!(body, "Before a release:\n- tag the commit\n- write the changelog\n");
}

#[test]
fn l5_36_of_several_the_closest_is_replaced() {
    let all = [
        known("petra", "Petra likes her coffee black."),
        known("security", "Security reviews are done by Lena."),
        known("design", "Design reviews are done by Petra; ping her before merging UI changes."),
    ];
    let relation =
        relate(&statement("Petra left, the design reviews go to Oyelaran from now on"), &all);
    let Relation::Supersedes { of, ended, changed, .. } = relation else { panic!("{relation:?}") };
    assert_eq!(of, 2);
    assert_eq!(ended, ["Design reviews are done by Petra"]);
    assert_eq!(
        changed,
        ["Design reviews are done by Oyelaran; ping her before merging UI changes."]
    );
}

#[test]
fn l5_36_a_description_is_renewed_where_it_said_what_is_over() {
    let mut memory = known("hosting", "Production is hosted on Heroku.\n\n**Why:** it was cheap.");
    memory.description = "Where production runs (Heroku)".into();
    let relation = relate(&statement("prod moved to Fly, we're off heroku"), &[memory]);
    let Relation::Supersedes { body, description, .. } = relation else { panic!("{relation:?}") };
    assert!(body.contains("Fly") && body.ends_with("**Why:** it was cheap."), "{body}");
    assert!(
        description.contains("Fly") && !description.to_lowercase().contains("heroku"),
        "{description}"
    );
}

fn anything() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "deploys",
        "need",
        "two",
        "three",
        "Ada",
        "Bob",
        "not",
        "now",
        "also",
        "no longer",
        "instead of",
        "Thursdays",
        "tuesdays",
        ",",
        ".",
        ";",
        "(",
        ")",
        "and",
        "\n",
        "\n- ",
        "**Why:**",
        "`x.y`",
        "90%",
        "2026-12-08",
        "january",
        "26",
        "2027",
        "Heroku",
        "Fly",
        "left",
        "被",
        "周四",
        "火曜日",
        "リリース",
        "더 이상",
        "é",
        "ß",
        "İ",
        "nicht mehr",
        "the",
        "is",
        "```",
        "'",
        "’s",
        "from",
        "to",
        "replaced",
        "with",
        "kestrel-web",
        "#ops",
        "\u{301}",
        "🙂",
    ]);
    prop_oneof![
        prop::collection::vec(word, 0..24).prop_map(|words| words.join(" ")),
        ".{0,60}",
        "\\PC{0,40}",
    ]
}

fn pieces(text: &str) -> Vec<String> {
    let ends = |c: char| matches!(c, '.' | '!' | '?' | '\n' | '。');
    text.split(ends)
        .map(|piece| piece.trim().to_owned())
        .filter(|piece| !piece.is_empty())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn l5_35_nothing_is_lost_by_adding(old in anything(), new in anything()) {
        let memory = known("note", &old);
        let relation = relate(&statement(&new), std::slice::from_ref(&memory));
        if let Relation::Extends { body, .. } = &relation {
            for piece in pieces(&old) {
                prop_assert!(body.contains(&piece), "{piece:?} of {old:?} in {body:?}");
            }
        }
        if let Relation::Extends { description, .. } | Relation::Supersedes { description, .. } = &relation {
            prop_assert!(description.chars().count() <= 150 || *description == memory.description);
        }
        prop_assert_eq!(&relation, &relate(&statement(&new), std::slice::from_ref(&memory)));
    }

    #[test]
    fn l5_35_a_rewrite_has_all_of_the_new_text(old in anything(), new in anything()) {
        let (body, _) = rewritten(&old, &new);
        for piece in pieces(&new) {
            prop_assert!(body.contains(&piece), "{piece:?} of {new:?} in {body:?}");
        }
    }

    #[test]
    fn l5_35_unrelated_memories_make_no_difference(at in 0_usize..3, row in 0_usize..100) {
        let rows = pairs::rows();
        let Row { name, body: old, new, .. } = &rows[row % rows.len()];
        let mut all = vec![known("plant", "The plant is watered by Kim."), known("lunch", "Soup is served at noon.")];
        let alone = relate(&statement(new), &[known(name, old)]);
        all.insert(at, known(name, old));
        let among = relate(&statement(new), &all);
        let text = |relation: &Relation| match relation {
            Relation::Extends { body, description, .. } | Relation::Supersedes { body, description, .. } => format!("{body} {description}"),
            Relation::New => "new".into(),
            Relation::Same { .. } => "same".into(),
        };
        prop_assert_eq!(text(&alone), text(&among));
    }
}

#[test]
fn l5_35_a_reason_that_is_new_is_added() {
    let why = "**Why:** mocks hid a broken migration.";
    let old = known("tests", "Integration tests hit a real database.");
    let body = format!("Integration tests hit a real database.\n\n{why}");
    let Relation::Extends { body, changed, .. } = relate(&statement(&body), &[old]) else {
        panic!("the reason is lost")
    };
    assert!(body.contains("hit a real database.") && body.contains(why), "{body}");
    assert_eq!(changed, [why]);
    let there = known("tests", &body);
    assert_eq!(relate(&statement(&body), &[there]), Relation::Same { of: 0 });
}

#[test]
fn l5_36_a_number_in_the_subject_tells_two_things_apart() {
    let apart = [
        (
            "The service number 9 is restarted by the gardener of floor 9",
            "The service number 5 is restarted by the gardener of floor 5",
        ),
        ("Room 12 is booked by the design team.", "Room 14 is booked by the design team."),
        ("Server 3 is no longer backed up at night.", "Server 7 is backed up at night."),
        ("The host db-1 is patched by Ada.", "The host db-2 is patched by Ada."),
        ("The host db-1 is no longer patched by Ada.", "The host db-2 is patched by Ada."),
        ("Service 9 is now restarted by Ada.", "Service 5 is restarted by Bob."),
    ];
    for (new, old) in apart {
        assert_eq!(relate(&statement(new), &[known("x", old)]), Relation::New, "{new}");
    }
    let followed = [
        ("The standup is on Tuesdays now.", "The standup is on Thursdays.", "Tuesdays"),
        ("We moved to Postgres 16.", "We use Postgres 15.", "16"),
        ("The limit is 20 requests.", "The limit is 10 requests.", "20"),
        ("Port 8443 is now used by the gateway.", "Port 8080 is used by the gateway.", "8443"),
        ("Service 5 is restarted by Ada now.", "Service 5 is restarted by Bob.", "Ada"),
    ];
    for (new, old, value) in followed {
        match relate(&statement(new), &[known("x", old)]) {
            Relation::Supersedes { body, .. } => assert!(body.contains(value), "{new}: {body}"),
            other => panic!("{new}: {other:?}"),
        }
    }
}
