//! The judged turns of `../shared/data/judgement/keep.json`, by rules alone.
#![allow(clippy::print_stdout, reason = "figures, and what was skipped")]

use everfold_kernel::limits::ExtractLimits;
use everfold_memory_file::MemoryType;
use everfold_memory_judge::wish::{Certainty, Tier, Wish, WishRules, wishes};
use everfold_memory_judge::{Testimony, words};
use serde_json::Value;
use std::path::Path;

pub(crate) fn heard(prompt: &str) -> Testimony {
    let mut testimony = Testimony::default();
    testimony.hear(&"r".into(), &words::split(prompt, &[]), prompt);
    testimony
}

pub(crate) fn found(prompt: &str) -> Vec<Wish> {
    wishes(&heard(prompt), WishRules::Standing, &ExtractLimits::default())
}

#[allow(clippy::disallowed_methods, reason = "the judged turns are beside the repository")]
fn turns() -> Option<Vec<Value>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let near = [
        root.join("../shared/data/judgement/keep.json"),
        root.join("../../shared/data/judgement/keep.json"),
    ];
    let Some(text) = near.iter().find_map(|path| std::fs::read_to_string(path).ok()) else {
        println!("skipped: no judged turns at {}", near[0].display());
        return None;
    };
    let all: Value = serde_json::from_str(&text).unwrap();
    Some(all["turns"].as_array().unwrap().clone())
}

fn words_of(memory: &Value) -> Vec<String> {
    let all = memory["must_contain"].as_array().unwrap();
    all.iter()
        .map(|word| word.as_str().unwrap().to_lowercase())
        .filter(|word| !word.starts_with("202"))
        .collect()
}

fn holds(wish: &Wish, memory: &Value) -> bool {
    let body = wish.body.to_lowercase();
    words_of(memory).iter().all(|word| body.contains(word))
}

#[derive(Default)]
struct Figures {
    explicit: usize,
    kept: usize,
    scoped: usize,
    typed: usize,
    nothing: usize,
    junk: usize,
    junk_unsure: usize,
    implied: usize,
    implied_kept: usize,
}

impl Figures {
    fn count(&mut self, turn: &Value) {
        let prompt = turn["prompt"].as_str().unwrap();
        let kept = found(prompt);
        let wanted = turn["keep"].as_array().unwrap();
        let id = turn["id"].as_str().unwrap();
        let sure = |wish: &&Wish| wish.certainty == Certainty::Sure;
        let told: Vec<_> =
            kept.iter().map(|w| (w.rule, w.certainty, w.kind, w.tier, &w.body)).collect();
        if wanted.is_empty() {
            self.nothing += 1;
            self.junk += usize::from(kept.iter().any(|wish| sure(&wish)));
            self.junk_unsure += usize::from(kept.iter().any(|wish| !sure(&wish)));
            if !kept.is_empty() {
                println!("junk {id}: {prompt:?}\n  {told:?}");
            }
        } else if turn["explicit"].as_bool() == Some(true) {
            self.explicit += 1;
            let memory = &wanted[0];
            let Some(wish) = kept.iter().filter(sure).find(|wish| holds(wish, memory)) else {
                println!("missed {id}: {prompt:?}\n  {told:?}");
                return;
            };
            self.kept += 1;
            let tier = if memory["scope"] == "global" { Tier::Global } else { Tier::Project };
            let kind = match memory["type"].as_str().unwrap() {
                "user" => MemoryType::User,
                "feedback" => MemoryType::Feedback,
                "reference" => MemoryType::Reference,
                _ => MemoryType::Project,
            };
            self.scoped += usize::from(wish.tier == tier);
            self.typed += usize::from(wish.kind == kind);
            if wish.tier != tier || wish.kind != kind {
                println!("shelved {id}: {prompt:?}\n  {told:?}");
            }
        } else {
            self.implied += 1;
            let all = wanted.iter().all(|memory| kept.iter().any(|wish| holds(wish, memory)));
            self.implied_kept += usize::from(all);
            if !all {
                println!("implied {id}: {prompt:?}\n  {told:?}");
            }
        }
    }
}

#[test]
fn l5_37_the_judged_turns_are_kept_by_rule() {
    let Some(turns) = turns() else { return };
    let mut figures = Figures::default();
    for turn in &turns {
        figures.count(turn);
    }
    let f = &figures;
    println!(
        "explicit {}/{}, scope {}, type {}; junk sure {} unsure {} of {}; implied {}/{}",
        f.kept,
        f.explicit,
        f.scoped,
        f.typed,
        f.junk,
        f.junk_unsure,
        f.nothing,
        f.implied_kept,
        f.implied
    );
    assert!(f.kept * 10 >= f.explicit * 9);
    assert!(f.scoped * 10 >= f.explicit * 8 && f.typed * 10 >= f.explicit * 8);
    assert!(f.junk * 100 <= f.nothing * 3);
    assert!(f.junk_unsure * 10 <= f.nothing);
}
