//! Recall at k, over questions and by category.

use crate::data::{Conversation, Question};
use std::collections::BTreeMap;

/// The depths at which recall is measured.
pub(crate) const DEPTHS: [usize; 3] = [1, 5, 10];

/// Sums of recall over some questions.
#[derive(Clone, Copy, Default)]
pub(crate) struct Recall {
    pub(crate) questions: u32,
    sums: [f64; DEPTHS.len()],
}

impl Recall {
    fn add(&mut self, question: &Question, ranked: &[usize]) {
        self.questions += 1;
        for (sum, depth) in self.sums.iter_mut().zip(DEPTHS) {
            let top = ranked.get(..depth).unwrap_or(ranked);
            let found = question.evidence.iter().filter(|turn| top.contains(turn)).count();
            *sum += share(found, question.evidence.len());
        }
    }

    /// Percentages at each depth.
    pub(crate) fn percent(&self) -> [f64; DEPTHS.len()] {
        self.sums.map(|sum| 100.0 * sum / f64::from(self.questions.max(1)))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a handful of turns")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// How a ranker did, in all, by category and by conversation.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) all: Recall,
    pub(crate) by_category: BTreeMap<i64, Recall>,
    pub(crate) by_conversation: BTreeMap<usize, Recall>,
}

/// Asks every question. `rank` is given a conversation and a query, and
/// answers with turns, best first.
pub(crate) fn measure(
    conversations: &[Conversation],
    rank: impl Fn(&Conversation, &str) -> Vec<usize>,
) -> Report {
    let mut report = Report::default();
    for (at, conversation) in conversations.iter().enumerate() {
        for question in &conversation.questions {
            let ranked = rank(conversation, &question.text);
            report.all.add(question, &ranked);
            report.by_category.entry(question.category).or_default().add(question, &ranked);
            report.by_conversation.entry(at).or_default().add(question, &ranked);
        }
    }
    report
}
