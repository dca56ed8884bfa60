//! Recall at 5: how many of the memories that are called for are among the first
//! five, averaged over messages.

use crate::sets::{Directory, Reading, Set};
use everfold_memory_recall::Tuning;
use std::collections::BTreeMap;

const FIRST: usize = 5;

/// A way to rank, by its name.
type Way = (&'static str, Reading, fn(&mut Tuning));

const WAYS: [Way; 9] = [
    ("textbook BM25, stemmed", Reading::Words, |tuning| *tuning = Tuning::plain()),
    ("by words", Reading::Words, |_| ()),
    ("by words and the table (as shipped)", Reading::Table, |_| ()),
    ("without weights of fields", Reading::Table, |tuning| {
        (tuning.name, tuning.description) = (1.0, 1.0);
    }),
    ("without mending misspelt words", Reading::Table, |tuning| tuning.spelling_words = 0),
    ("without looking for English words", Reading::Table, |tuning| tuning.english_words = 0),
    ("without names as a whole", Reading::Table, |tuning| tuning.whole_name = 0.0),
    ("without weights of filler words", Reading::Table, |tuning| tuning.filler = 1.0),
    ("with what all have in common", Reading::Table, |tuning| tuning.common = 0.0),
];

/// Prints the table of all ways and sets, and the kinds of prompts as shipped.
pub(crate) fn print(sets: &[Set]) {
    let asking: Vec<&Set> = sets.iter().filter(|set| asks(set)).collect();
    println!("recall at {FIRST}, percent");
    let names: Vec<&str> = asking.iter().map(|set| set.name).collect();
    println!("| | {} |", names.join(" | "));
    println!("|---|{}", "--:|".repeat(names.len()));
    let with_model: Way = ("with a sentence model besides", Reading::Model, |_| ());
    let ways = WAYS.into_iter().chain(crate::model::get().map(|_| with_model));
    for (name, reading, change) in ways {
        let mut tuning = Tuning::default();
        change(&mut tuning);
        let cells: Vec<String> = asking
            .iter()
            .map(|set| {
                let all = set.directories.iter().flat_map(|one| recalls(one, reading, &tuning));
                format!("{:.1}", mean(all.map(|(_, recall)| recall)) * 100.0)
            })
            .collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
    let mut kinds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for set in asking.iter().filter(|set| set.name == "prompts of developers") {
        let all =
            set.directories.iter().flat_map(|one| recalls(one, Reading::Table, &Tuning::default()));
        all.for_each(|(kind, recall)| kinds.entry(kind).or_default().push(recall));
    }
    for (kind, recalls) in kinds {
        println!("  {kind}: {:.2} of {}", mean(recalls.iter().copied()), recalls.len());
    }
}

fn asks(set: &Set) -> bool {
    set.directories.iter().flat_map(|one| &one.prompts).any(|prompt| !prompt.wanted.is_empty())
}

fn recalls(directory: &Directory, reading: Reading, tuning: &Tuning) -> Vec<(String, f64)> {
    let asked = directory.prompts.iter().filter(|prompt| !prompt.wanted.is_empty());
    let recall = asked.map(|prompt| {
        let ranking = directory.rank(&prompt.text, reading, tuning);
        let first: Vec<usize> = ranking.hits.iter().take(FIRST).map(|hit| hit.index).collect();
        let found = prompt.wanted.iter().filter(|wanted| first.contains(wanted)).count();
        (prompt.kind.clone(), ratio(found, prompt.wanted.len()))
    });
    recall.collect()
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { 0.0 }
}
