//! The rankers that are compared.

use crate::data::Conversation;
use everfold_memory_recall::{Document, Tuning, rank};

/// BM25's usual constants, for the baselines.
const K1: f64 = 1.5;
const B: f64 = 0.75;

/// Ours: the turn as text, its speaker, day and session as what they are.
pub(crate) fn ours(conversation: &Conversation, query: &str, tuning: &Tuning) -> Vec<usize> {
    let documents: Vec<Document<'_>> = conversation
        .turns
        .iter()
        .map(|turn| Document {
            body: &turn.text,
            author: Some(&turn.speaker),
            date: turn.date,
            group: Some(turn.session),
            ..Document::default()
        })
        .collect();
    rank(query, &documents, None, tuning).hits.iter().map(|hit| hit.index).collect()
}

/// BM25 over stems without stop words, with date and speaker as text.
pub(crate) fn stemmed(conversation: &Conversation, query: &str) -> Vec<usize> {
    let tuning = Tuning { k1: K1, b: B, ..Tuning::plain() };
    let texts = flat(conversation);
    let documents: Vec<Document<'_>> =
        texts.iter().map(|text| Document { body: text, ..Document::default() }).collect();
    rank(query, &documents, None, &tuning).hits.iter().map(|hit| hit.index).collect()
}

/// BM25 over words as they are written, but for their case.
pub(crate) fn plain(conversation: &Conversation, query: &str) -> Vec<usize> {
    let texts: Vec<Vec<String>> = flat(conversation).iter().map(|text| words(text)).collect();
    let count = float(texts.len());
    let average = texts.iter().map(|words| float(words.len())).sum::<f64>() / count;
    let mut scores = vec![0.0; texts.len()];
    for word in words(query) {
        let times = |text: &Vec<String>| float(text.iter().filter(|other| **other == word).count());
        let having = float(texts.iter().filter(|text| text.contains(&word)).count());
        let rarity = ((count - having + 0.5) / (having + 0.5)).ln_1p();
        for (score, text) in scores.iter_mut().zip(&texts) {
            let (times, length) = (times(text), float(text.len()) / average);
            *score += rarity * times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length));
        }
    }
    let mut order: Vec<(usize, f64)> = scores.into_iter().enumerate().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    order.into_iter().map(|(index, _)| index).collect()
}

fn flat(conversation: &Conversation) -> Vec<String> {
    let turns = conversation.turns.iter();
    turns
        .map(|turn| format!("({}) {} said, \"{}\"", turn.date_text, turn.speaker, turn.text))
        .collect()
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|sign: char| !sign.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of words and turns")]
fn float(count: usize) -> f64 {
    count as f64
}
