//! What the person said, sentence by sentence, for a model that picks (Q18).
//!
//! A weak model tells what lasts better than it quotes, so the words are never
//! its own. What the rules know to be a question, a task, a joke or a word for
//! the moment is not offered at all, and what they are sure of is kept whatever
//! was picked.

use super::bars::{self, ASKS, IDIOM, MAYBE, MEANTIME, ONCE};
use super::piece::{Extent, Piece};
use super::{Certainty, Found, Wish, scope, standing};
use crate::sentence::End;
use crate::testimony::Testimony;
use everfold_kernel::RecordId;
use everfold_kernel::limits::ExtractLimits;
use std::collections::BTreeSet;

/// What a memory says kept it, where no rule knew its sentence.
const PICKED: &str = "picked";

/// The sentences that could be worth keeping, in order, as they were typed.
/// What a person asked to keep in so many words is not among them: that waits
/// for no model.
#[must_use]
pub fn offers(testimony: &Testimony, limits: &ExtractLimits) -> Vec<String> {
    let offered = pieces(testimony, limits);
    let words = |(_, piece, open): &(_, Piece<'_>, Vec<usize>)| -> Vec<String> {
        open.iter().map(|at| piece.slice(*at, at + 1).to_owned()).collect()
    };
    offered.iter().flat_map(words).collect()
}

/// The memories that are made of the sentences picked, by their places among
/// the offers. What only a rule found is unsure, as it is without a model.
#[must_use]
pub fn picked(testimony: &Testimony, picks: &BTreeSet<usize>, limits: &ExtractLimits) -> Vec<Wish> {
    let mut wishes: Vec<Wish> = Vec::new();
    let mut first = 0;
    for (record, piece, open) in pieces(testimony, limits) {
        let chosen: BTreeSet<usize> = open
            .iter()
            .zip(first..)
            .filter(|(_, n)| picks.contains(n))
            .map(|(at, _)| *at)
            .collect();
        first += open.len();
        let mut floor = 0;
        for at in open {
            if at < floor {
                continue;
            }
            let found = if chosen.contains(&at) {
                together(&piece, at, &chosen)
            } else {
                by_rule(&piece, at, &chosen, limits)
            };
            let Some(found) = found.filter(|found| found.body.len() <= limits.file_bytes / 2)
            else {
                continue;
            };
            floor = found.next;
            if wishes.iter().all(|known| known.body != found.body) {
                wishes.push(found.named(record.clone()));
            }
        }
    }
    wishes
}

/// What the person typed, piece by piece, with the sentences that are offered.
fn pieces<'a>(
    testimony: &'a Testimony,
    limits: &ExtractLimits,
) -> Vec<(RecordId, Piece<'a>, Vec<usize>)> {
    let said = testimony.by_person().map(|said| (said.record.clone(), Piece::of(&said.text)));
    let serious = said.filter(|(_, piece)| !bars::is_jest(&piece.low));
    let open = |(record, piece): (RecordId, Piece<'a>)| {
        let open = (0..piece.sentences.len()).filter(|at| is_open(&piece, *at, limits)).collect();
        (record, piece, open)
    };
    serious.map(open).collect()
}

/// Whether no rule says that a sentence is for now.
fn is_open(piece: &Piece<'_>, at: usize, limits: &ExtractLimits) -> bool {
    let Some(sentence) = piece.sentences.get(at) else { return false };
    let low = piece.low(at);
    let start = low.trim_start_matches(|c: char| !c.is_alphanumeric());
    // What introduces a paste says nothing without it.
    sentence.end == End::Plain
        && low.chars().count() <= limits.rule_chars
        && ![&*IDIOM, &*ASKS].iter().any(|bar| bar.starts(start).is_some())
        && ![&*MAYBE, &*ONCE, &*MEANTIME].iter().any(|bar| bar.any(low))
        && !bars::is_task(low)
        && !super::has_cue(low)
}

/// What a rule found in a sentence that was not picked: unsure as ever, unless
/// what belongs to it was.
fn by_rule(
    piece: &Piece<'_>,
    at: usize,
    chosen: &BTreeSet<usize>,
    limits: &ExtractLimits,
) -> Option<Found> {
    let found = standing::find(piece, at, limits)?;
    let is_shared = chosen.range(at..found.next).next().is_some();
    let certainty = if is_shared { Certainty::Sure } else { found.certainty };
    Some(Found { certainty, ..found })
}

/// A sentence that was picked, with those after it that belong to it and were
/// picked as well.
fn together(piece: &Piece<'_>, at: usize, chosen: &BTreeSet<usize>) -> Option<Found> {
    let more = piece.extent(at, Extent::Rule).take_while(|next| chosen.contains(next));
    let next = more.last().map_or(at, |last| last) + 1;
    let ranges: Vec<_> =
        (at..next).filter_map(|n| piece.sentences.get(n)).map(|s| s.range.clone()).collect();
    Some(Found {
        body: piece.compose(&ranges)?,
        everywhere: scope::Reach::of(piece.slice(at, next)),
        rule: PICKED,
        certainty: Certainty::Sure,
        next,
    })
}
