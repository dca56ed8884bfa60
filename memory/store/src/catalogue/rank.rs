//! Cards as the ranker takes them.

use super::Card;
use everfold_memory_recall::{
    DistinctTokens, Document, Ranking, RecallPrompt, Sense, Tuning, Words, rank_known,
};
use jiff::Timestamp;

/// Ranks cards of any catalogues by a text; each with how often it was of use.
/// Readings by meaning are in the order of the cards.
#[must_use]
pub fn rank_cards(
    prompt: &RecallPrompt<'_>,
    cards: &[(&Card, u32)],
    senses: &[Sense<'_>],
    now: Timestamp,
) -> Ranking {
    let documents: Vec<(Document<'_>, &Words)> =
        cards.iter().map(|(card, used)| (card.document(*used), &card.words)).collect();
    rank_known(prompt, &documents, senses, Some(now), &Tuning::default())
}

/// What of an output is looked for: the distinctive tokens that one of these
/// memories holds (R13, R17).
#[must_use]
pub fn known_tokens<'a>(output: &str, cards: impl Iterator<Item = &'a Card> + Clone) -> String {
    DistinctTokens::of(output).known_to(&cards.map(|card| &card.words))
}
