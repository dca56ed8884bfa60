//! What the threshold lets through: questions asked of the conversation they
//! are about, and of every other one, where nothing should be found.

use crate::data::Conversation;
use everfold_memory_recall::{Document, Tuning, rank};

/// Memories that one recall may bring in.
const MOST: usize = 5;

/// Prints how often anything is brought in, for both kinds of questions.
pub(crate) fn print(conversations: &[Conversation], tuning: &Tuning) {
    let (mut own, mut foreign) = (Count::default(), Count::default());
    for (at, asked) in conversations.iter().enumerate() {
        for (other, conversation) in conversations.iter().enumerate() {
            let documents: Vec<Document<'_>> = conversation
                .turns
                .iter()
                .map(|turn| Document {
                    description: &turn.text,
                    author: Some(&turn.speaker),
                    ..Document::default()
                })
                .collect();
            let count = if at == other { &mut own } else { &mut foreign };
            for question in asked.questions.iter().step_by(STEP) {
                let ranking = rank(&question.text, &documents, None, tuning);
                count.add(ranking.worth_injecting(MOST).count());
            }
        }
    }
    println!("\nthreshold, turns as memories with one description each:");
    println!("{}", own.row("its own conversation"));
    println!("{}", foreign.row("another conversation"));
}

/// Every so many questions are asked.
const STEP: usize = 5;

#[derive(Default)]
struct Count {
    asked: u32,
    answered: u32,
}

impl Count {
    fn add(&mut self, injected: usize) {
        self.asked += 1;
        self.answered += u32::from(injected > 0);
    }

    fn row(&self, name: &str) -> String {
        let percent = 100.0 * f64::from(self.answered) / f64::from(self.asked.max(1));
        format!("{name:<24} n={:<5} something injected {percent:>5.1} %", self.asked)
    }
}
