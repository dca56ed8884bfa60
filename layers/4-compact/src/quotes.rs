//! Whose words a summary holds (L5.33): the least trusted of what it sums up,
//! but for what it quotes of the person, word for word.

use crate::pairs;
use crate::plan::{Plan, Summariser};
use everfold_kernel::BlockProvenance;
use everfold_kernel::provenance::{Carrier, Provenance, Source};
use everfold_prefix::{Fold, Piece};
use std::collections::BTreeSet;
use std::ops::Range;

/// A sentence within other words counts from so many characters on: anybody
/// could have written a shorter one.
const QUOTE_CHARS: usize = 20;

/// Whose words the summary of a plan holds.
pub(crate) fn provenance(text: &str, fold: &Fold, plan: &Plan, way: Summariser) -> BlockProvenance {
    let kept: BTreeSet<_> = plan.preserved.iter().collect();
    let gone: Vec<&Piece> = pairs::pieces(fold)
        .map(|(_, piece)| piece)
        .filter(|piece| !kept.contains(&piece.record))
        .collect();
    let lowest = gone.iter().filter_map(|piece| piece.lowest()).max();
    let writer = if way == Summariser::Local { Source::Person } else { Source::Model };
    let rest = Provenance::through(Carrier::Summary, lowest.unwrap_or(writer).max(writer));
    let typed = gone.iter().flat_map(|piece| typed(piece));
    BlockProvenance::marked(text.len(), rest, &quoted(text, typed), Provenance::PERSON)
}

/// What the person typed in a piece.
fn typed(piece: &Piece) -> Vec<String> {
    let text = piece.block.plain_text();
    let parts = piece.provenance.split(&text).filter(|(whose, _)| whose.is_typed());
    parts.map(|(_, part)| part.to_owned()).collect()
}

/// Where a text says what was typed, in order and apart.
fn quoted(text: &str, typed: impl Iterator<Item = String>) -> Vec<Range<usize>> {
    let lines = lines(text);
    let mut found = Vec::new();
    for said in typed {
        if find(text, said.trim(), &mut found) {
            continue;
        }
        for line in said.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let whole = lines.iter().filter(|(own, _)| *own == line);
            let before = found.len();
            found.extend(whole.map(|(_, range)| range.clone()));
            if found.len() == before && !find(text, line, &mut found) {
                for sentence in sentences(line) {
                    find(text, sentence, &mut found);
                }
            }
        }
    }
    apart(found)
}

/// Notes every place that has these words; says whether there is one.
fn find(text: &str, words: &str, found: &mut Vec<Range<usize>>) -> bool {
    if words.chars().nth(QUOTE_CHARS - 1).is_none() {
        return false;
    }
    let before = found.len();
    found.extend(text.match_indices(words).map(|(at, own)| at..at + own.len()));
    found.len() > before
}

/// The lines of a text without what marks a list or a quotation, and where
/// they are.
fn lines(text: &str) -> Vec<(&str, Range<usize>)> {
    let mut at = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim().trim_start_matches(['-', '*', '>', ' ']).trim_matches('"');
        let start = at + line.find(bare).unwrap_or(0);
        if !bare.is_empty() {
            lines.push((bare, start..start + bare.len()));
        }
        at += line.len();
    }
    lines
}

/// The sentences of a line.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | ';');
    line.split_inclusive(ends).map(str::trim)
}

fn apart(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut own: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match own.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => own.push(range),
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'a>(text: &'a str, typed: &[&str]) -> Vec<&'a str> {
        let typed = typed.iter().map(|&said| said.to_owned());
        quoted(text, typed).into_iter().map(|range| text.get(range).unwrap()).collect()
    }

    #[test]
    fn l5_33_what_a_summary_quotes_of_the_person_is_theirs() {
        let text = "They asked: never deploy on a Friday afternoon. We did.\n- use tabs\nok then";
        let said = ["Please note. never deploy on a Friday afternoon.", "use tabs", "ok"];
        assert_eq!(parts(text, &said), ["never deploy on a Friday afternoon.", "use tabs"]);
        let long = "one two three four five six seven";
        assert_eq!(parts(&format!("{long} {long}"), &[long, "three four"]).len(), 2);
    }
}
