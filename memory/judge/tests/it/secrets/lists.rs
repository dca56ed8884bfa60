//! Lists that were each written before the rules were tried on them, with
//! what was found at first sight in their first line. A line is a template;
//! `\n`, `\t` and `\z` (a space without width) stand for what they are.

use super::noise::Dice;
use super::places;
use everfold_memory_judge::secrets::{find, mask};

const FORMS: &[&str] = &[
    include_str!("lists/fourth.txt"),
    include_str!("lists/fifth.txt"),
    include_str!("lists/sixth.txt"),
    include_str!("lists/seventh.txt"),
    include_str!("lists/eighth.txt"),
    include_str!("lists/ninth.txt"),
    include_str!("lists/tenth.txt"),
    include_str!("lists/eleventh.txt"),
    include_str!("lists/twelfth.txt"),
    include_str!("lists/thirteenth.txt"),
    include_str!("lists/fourteenth.txt"),
    include_str!("lists/fifteenth.txt"),
    include_str!("lists/sixteenth.txt"),
    include_str!("lists/seventeenth.txt"),
    include_str!("lists/eighteenth.txt"),
    include_str!("lists/nineteenth.txt"),
    include_str!("lists/twentieth.txt"),
    include_str!("lists/twentyfirst.txt"),
    include_str!("lists/twentysecond.txt"),
];
const HARMLESS: &[&str] = &[
    include_str!("lists/fourth-harmless.txt"),
    include_str!("lists/fifth-harmless.txt"),
    include_str!("lists/sixth-harmless.txt"),
    include_str!("lists/seventh-harmless.txt"),
    include_str!("lists/eighth-harmless.txt"),
    include_str!("lists/ninth-harmless.txt"),
    include_str!("lists/tenth-harmless.txt"),
    include_str!("lists/eleventh-harmless.txt"),
    include_str!("lists/twelfth-harmless.txt"),
    include_str!("lists/thirteenth-harmless.txt"),
    include_str!("lists/fourteenth-harmless.txt"),
    include_str!("lists/fifteenth-harmless.txt"),
    include_str!("lists/sixteenth-harmless.txt"),
    include_str!("lists/seventeenth-harmless.txt"),
    include_str!("lists/eighteenth-harmless.txt"),
    include_str!("lists/nineteenth-harmless.txt"),
    include_str!("lists/twentieth-harmless.txt"),
    include_str!("lists/twentyfirst-harmless.txt"),
    include_str!("lists/twentysecond-harmless.txt"),
];
/// Each template is filled as often, so that no form passes by luck.
const SEEDS: u64 = 5;

fn templates(lists: &[&str]) -> Vec<String> {
    let lines = lists.iter().flat_map(|list| list.lines());
    let read = |line: &str| {
        line.replace("\\n", "\n")
            .replace("\\t", "\t")
            .replace("\\z", "\u{200b}")
            .replace("\\\\", "\\")
    };
    lines.filter(|line| !line.is_empty() && !line.starts_with("## ")).map(read).collect()
}

/// Other than in the older lists, a mark may be wider than the secret, or two.
#[test]
fn s15_every_form_of_the_later_lists_is_found_and_masked() {
    let all = templates(FORMS);
    assert!(all.len() >= 2_100, "{}", all.len());
    let mut missed = Vec::new();
    for (number, template) in all.iter().enumerate() {
        let samples = (0..SEEDS)
            .flat_map(|seed| places(&Dice::new(seed * 1_000 + number as u64).sample(template)));
        missed.extend(samples.map(|sample| (sample.text(), sample.secret)).find(
            |(text, secret)| {
                let masked = mask(text);
                find(text).is_empty() || masked.contains(secret.as_str()) || mask(&masked) != masked
            },
        ));
    }
    let share = missed.len() * 100;
    assert!(share <= all.len(), "{} of {}: {missed:#?}", missed.len(), all.len());
}

#[test]
fn s15_harmless_text_of_the_later_lists_passes() {
    let all = templates(HARMLESS);
    assert!(all.len() >= 1_800, "{}", all.len());
    let mut alarms = Vec::new();
    for (number, template) in all.iter().enumerate() {
        let texts = (0..SEEDS).map(|seed| Dice::new(seed * 1_000 + number as u64).fill(template));
        alarms.extend(texts.map(|text| mask(&text)).find(|text| text.contains("[secret: ")));
    }
    assert!(alarms.len() * 200 <= all.len(), "{} of {}: {alarms:#?}", alarms.len(), all.len());
}
