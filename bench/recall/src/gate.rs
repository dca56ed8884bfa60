//! What the gate lets through (R13): how many messages get what they call for, and
//! how many get something that nobody wanted.

use crate::order::ratio;
use crate::sets::{PromptCase, Reading, Set, typed};
use anyhow::{Context, Result};
use everfold_kernel::limits::RecallLimits;
use everfold_kernel::ports::RecallTier;
use everfold_memory_recall::{Features, Ranking, Tuning, kind_marks, kind_vector};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

/// Messages of people who mean their own project (`+`), and of others (`-`).
const KINDS: &str = include_str!("../kinds.txt");

/// What happened to the messages of one kind.
#[derive(Default)]
struct Count {
    messages: usize,
    /// Got the body of one that they call for.
    body: usize,
    /// Got it with its body or as a line.
    shown: usize,
    /// Got any body, any line.
    any_body: usize,
    any: usize,
    /// Bodies, and those that were wanted.
    bodies: usize,
    wanted_bodies: usize,
}

impl Count {
    fn add(&mut self, prompt: &PromptCase, ranking: &Ranking) {
        let limits = RecallLimits::default();
        let of = |tier: RecallTier, most: usize| -> Vec<usize> {
            ranking.of_tier(tier).iter().take(most).map(|hit| hit.index).collect()
        };
        let bodies = of(RecallTier::Body, limits.bodies);
        let lines = of(RecallTier::Line, limits.lines);
        let wanted = |shown: &[usize]| shown.iter().filter(|at| prompt.wanted.contains(at)).count();
        self.messages += 1;
        self.body += usize::from(wanted(&bodies) > 0);
        self.shown += usize::from(wanted(&bodies) + wanted(&lines) > 0);
        self.any_body += usize::from(!bodies.is_empty());
        self.any += usize::from(!bodies.is_empty() || !lines.is_empty());
        self.bodies += bodies.len();
        self.wanted_bodies += wanted(&bodies);
    }

    fn row(&self, name: &str) -> String {
        let percent = |part: usize| format!("{:.1}", ratio(part, self.messages) * 100.0);
        let unwanted = ratio(self.bodies - self.wanted_bodies, self.bodies) * 100.0;
        format!(
            "| {name} | {} | {} | {} | {} | {} | {unwanted:.1} |",
            self.messages,
            percent(self.body),
            percent(self.shown),
            percent(self.any_body),
            percent(self.any),
        )
    }
}

/// Prints what is shown, by set and kind of message.
pub(crate) fn print(sets: &[Set]) {
    let model = crate::model::get().map(|_| Reading::Model);
    for reading in [Reading::Words, Reading::Table].into_iter().chain(model) {
        println!("\nthe gate, {reading:?}, percent of messages");
        println!(
            "| | messages | wanted body | wanted body or line | a body | a body or line | of bodies unwanted |"
        );
        println!("|---|--:|--:|--:|--:|--:|--:|");
        for set in sets {
            print_set(set, reading);
        }
    }
}

fn print_set(set: &Set, reading: Reading) {
    let mut kinds: BTreeMap<&str, Count> = BTreeMap::new();
    let mut asking = Count::default();
    for (directory, prompt) in cases(set) {
        let ranking = directory.rank(&prompt.text, reading, &Tuning::default());
        kinds.entry(&prompt.kind).or_default().add(prompt, &ranking);
        if !prompt.wanted.is_empty() {
            asking.add(prompt, &ranking);
        }
    }
    if kinds.len() > 1 && asking.messages > 0 {
        println!("{}", asking.row(&format!("{}, that want something", set.name)));
    }
    for (kind, count) in kinds {
        println!("{}", count.row(&format!("{}: {kind}", set.name)));
    }
}

fn cases(set: &Set) -> impl Iterator<Item = (&crate::sets::Directory, &PromptCase)> {
    let each = |one| -> Vec<(_, _)> {
        let directory: &crate::sets::Directory = one;
        directory.prompts.iter().map(|prompt| (directory, prompt)).collect()
    };
    set.directories.iter().flat_map(each)
}

/// Writes a line for each message: what the gate sees of its best hits.
pub(crate) fn write_features(sets: &[Set], path: &Path) -> Result<()> {
    let mut out = Vec::new();
    writeln!(out, "{}", json!({ "names": Features::NAMES }))?;
    for line in KINDS.lines().filter(|line| !line.is_empty()) {
        let (wants, text) = line.split_at(2);
        let line = json!({
            "kind_of": text, "wants": wants == "+ ", "vector": kind_vector(text),
            "marks": kind_marks(text),
        });
        writeln!(out, "{line}")?;
    }
    for set in sets {
        for (fold, directory) in set.directories.iter().enumerate() {
            for prompt in &directory.prompts {
                let ranking = directory.rank(&prompt.text, Reading::Table, &Tuning::default());
                let hits = ranking.hits.iter().zip(&ranking.candidates);
                let rows = hits.map(|(hit, features)| {
                    json!({ "wanted": prompt.wanted.contains(&hit.index), "values": features.values() })
                });
                let rows: Vec<_> = rows.collect();
                let wants = !prompt.wanted.is_empty();
                let typed = typed(&prompt.text);
                let line = json!({
                    "set": set.name, "fold": fold, "kind": prompt.kind, "wants": wants,
                    "text": prompt.text, "hits": rows, "vector": kind_vector(&typed),
                    "marks": kind_marks(&typed),
                });
                writeln!(out, "{line}")?;
            }
        }
    }
    std::fs::write(path, out).with_context(|| format!("failed to write {}", path.display()))
}
