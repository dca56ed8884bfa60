//! Retrieval quality of the local ranker on `LoCoMo` (R9).
//!
//! `cargo run --release -p everfold-bench-locomo [FILE]` prints recall at 1, 5
//! and 10 for two baselines and for ours, by category and by conversation, and
//! what each signal is worth by leaving it out, what the threshold
//! lets through, and how long a ranking takes. The data is not part of the
//! repository; without it the command says where it looked.

#![allow(clippy::print_stdout, reason = "a program that prints tables")]

mod data;
mod measure;
mod rankers;
mod speed;
mod threshold;

use anyhow::{Context, Result};
use everfold_memory_recall::Tuning;
use measure::{Recall, Report, measure};
use std::path::PathBuf;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).map_or_else(default_path, PathBuf::from);
    if !path.exists() {
        println!("no data at {}: pass the path of a LoCoMo JSON file", path.display());
        return Ok(());
    }
    let conversations =
        data::load(&path).with_context(|| format!("failed to read {}", path.display()))?;
    let tuning = Tuning::default();
    let reports = [
        ("BM25 plain", measure(&conversations, rankers::plain)),
        ("BM25 stemmed", measure(&conversations, rankers::stemmed)),
        ("ours", measure(&conversations, |talk, query| rankers::ours(talk, query, &tuning))),
    ];
    print_reports(&reports);
    println!("\nours, without one signal:");
    for (name, leave_out) in ABLATIONS {
        let mut without = tuning.clone();
        leave_out(&mut without);
        let report = measure(&conversations, |talk, query| rankers::ours(talk, query, &without));
        println!("{}", row(name, &report.all));
    }
    threshold::print(&conversations, &tuning);
    let turns = conversations.iter().flat_map(|conversation| &conversation.turns);
    let vocabulary: Vec<&str> = turns.flat_map(|turn| turn.text.split_whitespace()).collect();
    speed::print(&vocabulary, &tuning);
    Ok(())
}

/// Beside the repository, or one level up where it is a worktree.
fn default_path() -> PathBuf {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places = ["..", "../.."].map(|up| repository.join(up).join("shared/data/locomo-dev.json"));
    let [beside, above] = places;
    if above.exists() { above } else { beside }
}

/// A signal, and how it is left out.
type Ablation = (&'static str, fn(&mut Tuning));

const ABLATIONS: [Ablation; 11] = [
    ("text before", |tuning| (tuning.before, tuning.before_question) = (0.0, 0.0)),
    ("question before", |tuning| tuning.before_question = tuning.before),
    ("two before, two after", |tuning| tuning.near = 0.0),
    ("group", |tuning| tuning.group = 0.0),
    ("all neighbours", |tuning| {
        (tuning.before, tuning.before_question) = (0.0, 0.0);
        (tuning.near, tuning.group) = (0.0, 0.0);
    }),
    ("author", |tuning| tuning.author = 0.0),
    ("month and day", |tuning| (tuning.month, tuning.day) = (0.0, 0.0)),
    ("day", |tuning| tuning.day = 0.0),
    ("when", |tuning| tuning.when = 0.0),
    ("coverage", |tuning| tuning.coverage = 0.0),
    ("filler words", |tuning| tuning.filler = 1.0),
];

fn print_reports(reports: &[(&str, Report)]) {
    for (name, report) in reports {
        println!("{}", row(name, &report.all));
    }
    for (name, report) in reports {
        println!("\n{name}, by category:");
        for (category, recall) in &report.by_category {
            println!("{}", row(&format!("category {category}"), recall));
        }
    }
    if let Some((name, report)) = reports.last() {
        println!("\n{name}, by conversation:");
        for (at, recall) in &report.by_conversation {
            println!("{}", row(&format!("conversation {at}"), recall));
        }
    }
}

fn row(name: &str, recall: &Recall) -> String {
    let [first, five, ten] = recall.percent();
    let questions = recall.questions;
    format!("{name:<24} n={questions:<5} R@1 {first:>5.1}  R@5 {five:>5.1}  R@10 {ten:>5.1}")
}
