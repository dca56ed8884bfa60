//! The secret screen: every form of the corpus is found and masked, harmless
//! text passes (L5.18, S15).

mod forms;
mod harmless;
mod lists;
mod near;
mod noise;
mod sight;
mod third;
mod unseen;

use everfold_memory_judge::secrets::{Finding, find, mask};
use forms::{COMMANDS, FILES, ISSUED, PHRASES};
use harmless::{CODE, IDENTIFIERS, PROSE};
use noise::{Dice, Sample};
use proptest::prelude::*;

/// Each template is filled as often, so that no form passes by luck.
const SEEDS: u64 = 5;

fn forms() -> impl Iterator<Item = &'static str> {
    [
        ISSUED,
        FILES,
        COMMANDS,
        PHRASES,
        forms::SEEN,
        unseen::FORMS,
        unseen::LATER_FORMS,
        third::FORMS,
        near::FORMS,
        sight::FORMS,
    ]
    .into_iter()
    .flatten()
    .copied()
}

fn harmless() -> impl Iterator<Item = &'static str> {
    [
        IDENTIFIERS,
        PROSE,
        CODE,
        harmless::SEEN,
        unseen::HARMLESS,
        unseen::LATER_HARMLESS,
        third::HARMLESS,
        near::HARMLESS,
        sight::HARMLESS,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// Alone, in a sentence, and in a file with frontmatter.
fn places(sample: &Sample) -> Vec<Sample> {
    let around = |before: &str, after: &str| Sample {
        before: format!("{before}{}", sample.before),
        secret: sample.secret.clone(),
        after: format!("{}{after}", sample.after),
    };
    let lines = sample.text().contains('\n') || sample.before.is_empty();
    let sentence =
        if lines { "Note for the team:\n" } else { "By the way, for the next time we deploy, " };
    let mut places = vec![
        around("", ""),
        around(sentence, "\nand that is all."),
        around("---\nname: Access\ndescription: \"how to reach it\"\n---\n\nSome words.\n", "\n"),
    ];
    if sample.before.is_empty() {
        places.push(around("it is ", " as of today"));
        places.push(around("`", "`."));
        places.push(around("---\nkey: ", "\n---\n"));
    }
    places
}

/// What is wrong with how a sample is treated.
fn flaw(sample: &Sample) -> Option<String> {
    let text = sample.text();
    let found = find(&text);
    let masked = mask(&text);
    if found.is_empty() {
        return Some(format!("not found: {text}"));
    }
    let kept =
        masked.strip_prefix(&sample.before).and_then(|rest| rest.strip_suffix(&sample.after));
    let is_one_mark = kept.is_some_and(|mark| {
        mark.starts_with("[secret: ") && mark.ends_with(']') && mark.matches('[').count() == 1
    });
    let again = find(&masked);
    if !is_one_mark {
        return Some(format!("masked wrongly: {text}\n    -> {masked}\n"));
    }
    (!again.is_empty()).then(|| format!("found again: {masked} {again:?}"))
}

#[test]
fn s15_every_form_is_found_and_masked_and_nothing_else_changes() {
    assert!(forms().count() >= 500, "{}", forms().count());
    let mut flaws = Vec::new();
    for (number, template) in forms().enumerate() {
        let flaw = (0..SEEDS)
            .flat_map(|seed| places(&Dice::new(seed * 1_000 + number as u64).sample(template)))
            .find_map(|sample| flaw(&sample));
        flaws.extend(flaw.map(|flaw| format!("{template}: {flaw}")));
    }
    assert!(flaws.is_empty(), "{} of {}\n{}", flaws.len(), forms().count(), flaws.join("\n"));
}

#[test]
fn s15_harmless_text_passes() {
    assert!(harmless().count() >= 450, "{}", harmless().count());
    let mut alarms = Vec::new();
    for (number, template) in harmless().enumerate() {
        let alarm = (0..SEEDS).find_map(|seed| {
            let text = Dice::new(seed * 1_000 + number as u64).fill(template);
            let around =
                format!("---\nname: A note\n---\n\nSome words. {text}\nand more of them.\n");
            let found = [find(&text), find(&around)].concat();
            (!found.is_empty()).then(|| format!("{text}\n    -> {}", mask(&text)))
        });
        alarms.extend(alarm);
    }
    assert!(alarms.is_empty(), "{} of {}\n{}", alarms.len(), harmless().count(), alarms.join("\n"));
}

#[test]
fn l5_18_the_place_is_told_in_lines_and_characters() {
    let key = ["gh", "p_", &"aB3dE5fG7h".repeat(4)].concat();
    let text = format!("é {key} {key}\n\n  ü{key}");
    let at = |line, column| Finding { kind: "a GitHub token", line, column };
    assert_eq!(find(&text), [at(1, 3), at(1, 4 + key.len()), at(3, 4)]);
}

/// The prompts of the judgement set that hold a secret are all noticed.
#[test]
#[allow(clippy::disallowed_methods, reason = "the set lies beside the repository")]
fn s15_the_secrets_of_the_judgement_set_are_found() {
    let places = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let Some(text) = places
        .map(|place| place.join("shared/data/judgement/keep.json"))
        .find_map(|path| std::fs::read_to_string(path).ok())
    else {
        eprintln!("skipped: shared/data/judgement/keep.json is not there");
        return;
    };
    let set: serde_json::Value = serde_json::from_str(&text).unwrap();
    let secret = ["k060", "k075", "k076", "k077", "k078", "k079", "k095"];
    for turn in set["turns"].as_array().unwrap() {
        let (id, prompt) = (turn["id"].as_str().unwrap(), turn["prompt"].as_str().unwrap());
        assert_eq!(!find(prompt).is_empty(), secret.contains(&id), "{id}: {}", mask(prompt));
    }
}

proptest! {
    #[test]
    fn s15_secrets_among_other_text_are_masked_and_the_rest_stays(
        picks in prop::collection::vec((0_usize..1_000, 0_u64..5, any::<bool>()), 1..8),
    ) {
        let (forms, harmless): (Vec<_>, Vec<_>) = (forms().collect(), harmless().collect());
        let (mut text, mut rests, mut secrets) = (String::new(), Vec::new(), Vec::new());
        for (pick, seed, is_secret) in picks {
            let number = pick % if is_secret { forms.len() } else { harmless.len() };
            let mut dice = Dice::new(seed * 1_000 + number as u64);
            if is_secret {
                let sample = dice.sample(forms[number]);
                text.push_str(&sample.text());
                rests.extend([sample.before, sample.after]);
                secrets.push(sample.secret);
            } else {
                let plain = dice.fill(harmless[number]);
                text.push_str(&plain);
                rests.push(plain);
            }
            text.push_str("\n\n");
        }
        let masked = mask(&text);
        // A number of four digits may stand in a harmless text by chance.
        for secret in secrets.iter().filter(|own| !rests.iter().any(|rest| rest.contains(*own))) {
            prop_assert!(!masked.contains(secret), "{secret} in {masked}");
        }
        let mut from = 0;
        for rest in rests {
            let at = masked[from..].find(&rest);
            prop_assert!(at.is_some(), "{rest} is gone from {masked}");
            from += at.unwrap_or(0) + rest.len();
        }
    }

    #[test]
    fn s6_any_text_is_taken(text in "\\PC{0,300}", odd in any::<String>()) {
        for text in [&text, &odd, &format!("password: {text}"), &format!("-----BEGIN {odd} PRIVATE KEY-----{text}")] {
            let _ = (find(text), mask(text));
        }
    }

    #[test]
    fn s15_text_without_a_finding_is_left_alone(text in "[a-zA-Z0-9 .:=/\"'\\\\\n\u{200b}-]{0,400}") {
        prop_assert_eq!(find(&text).is_empty(), mask(&text) == text);
    }
}
