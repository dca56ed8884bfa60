//! Wishes said outright: "remember that …", "merk dir …", "… 覚えておいて".
//!
//! The words of the wish are found first, then what they ask to keep: what
//! follows, up to a task, a question or the end of the paragraph; or, where
//! nothing follows, what stands before.

use super::bars::{self, LASTING, MAYBE, MEANTIME, ONCE, SAID, TARGET};
use super::cues::{
    AFTER, ASKED, CLAUSE, CUES, FORGET, JOINT, LAST, LEAD, NO_WISH, OF, POINTER, POLISH, REACH, TO,
    WEAK,
};
use super::piece::{Extent, Piece};
use super::{Certainty, Found, scope};
use crate::phrase::{is_unspaced, part, weight};
use crate::sentence::End;
use std::ops::Range;

/// Fewest words that a wish without "that" or a colon says.
const LEAST_BARE: usize = 3;
/// Words of one phrase in front of a wish.
const LEAD_WORDS: usize = 5;
/// Bytes in which a bound such as "for all my projects:" ends.
const REACH_BYTES: usize = 60;
/// Bytes in front of a wish in which its polite words are.
const LEAD_BYTES: usize = 96;
/// Words of wishes that are looked at in one sentence.
const CUES_EACH: usize = 64;

/// Where the words of a wish stand in a sentence.
struct Cue {
    range: Range<usize>,
    lead: Lead,
    strength: Strength,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Strength {
    Strong,
    Weak,
}

/// What is in front of the words of a wish.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lead {
    Nothing,
    /// Another clause, ended by a mark or a joint.
    Clause,
    /// What is to be kept, without a mark.
    Object,
}

/// Whether a sentence holds the words of a wish.
pub(crate) fn has_cue(low: &str) -> bool {
    cue(low).is_some()
}

/// Where the words of a wish end that open a text; none where they do not.
pub(crate) fn opens(low: &str) -> Option<usize> {
    cue(low).filter(|cue| cue.lead == Lead::Nothing).map(|cue| cue.range.end)
}

/// The wish in the sentence `at`. Sentences before `floor` are spent.
pub(super) fn find(piece: &Piece<'_>, at: usize, floor: usize) -> Option<Found> {
    let sentence = piece.sentences.get(at)?;
    let low = piece.low(at);
    let cue = cue(low)?;
    let left = part(low, 0..cue.range.start);
    let asked = sentence.end == End::Question && !ASKED.any(low);
    if asked || ONCE.any(low) || low.contains(" /s") || is_barred(left) {
        return None;
    }
    let (skipped, how) = connectors(part(low, cue.range.end..low.len()));
    let start = sentence.range.start + cue.range.end + skipped;
    let rest = part(piece.text, start..sentence.range.end);
    let says = weight(rest.trim_matches(|c: char| !c.is_alphanumeric()));
    let (ranges, next) = if says == 0 {
        elsewhere(piece, at, floor, left, &cue)?
    } else {
        if is_slight(low, left, &cue, how, says) {
            return None;
        }
        let first = start..cut(piece, start, sentence.range.end);
        // What only goes on from a secret says nothing by itself.
        if bars::is_secret(part(piece.text, first.clone()), part(&piece.low, first.clone())) {
            return None;
        }
        let more = if first.end < sentence.range.end {
            at + 1..at + 1
        } else {
            piece.extent(at, Extent::Wish)
        };
        let mut ranges = clause(piece, at, left, &cue);
        ranges.push(first);
        ranges.extend(more.clone().filter_map(|n| piece.sentences.get(n)).map(|s| s.range.clone()));
        (ranges, more.end.max(at + 1))
    };
    let body = piece.compose(&ranges)?;
    let task = how == How::Infinitive && !LASTING.any(low);
    if task && at > 0 {
        return None;
    }
    let weak = cue.strength == Strength::Weak && !LASTING.any(low);
    if cue.strength == Strength::Weak && MEANTIME.any(low) {
        return None;
    }
    let unsure = task || weak || MEANTIME.any(low) || bars::is_jest(low);
    let whole = piece.slice(at, next);
    Some(Found {
        body,
        everywhere: scope::Reach::of(whole),
        rule: "remember",
        certainty: if unsure { Certainty::Unsure } else { Certainty::Sure },
        next,
    })
}

fn is_barred(left: &str) -> bool {
    SAID.any(left)
        || TARGET.any(left)
        || MAYBE.any(left)
        || left.ends_with(['"', '“', '„', '«', '\'', '`'])
}

/// "don't forget the tests", "and remember to close it": no more than a task.
fn is_slight(low: &str, left: &str, cue: &Cue, how: How, says: usize) -> bool {
    let words = part(low, cue.range.clone());
    let after_task = cue.lead == Lead::Clause && bars::is_task(left.trim_start());
    match how {
        How::Bare if says < LEAST_BARE => true,
        How::Bare | How::Infinitive if after_task => {
            !LASTING.any(part(low, cue.range.end..low.len()))
        }
        How::Bare => FORGET.any(words) && says <= LEAST_BARE && !LASTING.any(low),
        How::Infinitive | How::Marked => false,
    }
}

/// The words of a wish that count, the first of them.
fn cue(low: &str) -> Option<Cue> {
    [(&*CUES, Strength::Strong), (&*WEAK, Strength::Weak)].into_iter().find_map(
        |(list, strength)| {
            let mut from = 0;
            for _ in 0..CUES_EACH {
                let range = list.find(low, from)?;
                if let Some(lead) = lead(low, &range)
                    && !looks_back(low, range.end)
                {
                    return Some(Cue { range, lead, strength });
                }
                from = range.end;
            }
            None
        },
    )
}

/// "remember when we …", "remember what …".
fn looks_back(low: &str, end: usize) -> bool {
    NO_WISH.starts(part(low, end..low.len()).trim_start()).is_some()
}

/// What is in front of the words of a wish; none where that makes them no wish.
fn lead(low: &str, cue: &Range<usize>) -> Option<Lead> {
    let mut left = part(low, 0..cue.start).trim_end();
    let mut in_clause = false;
    loop {
        if left.trim_start_matches(|c: char| !c.is_alphanumeric()).is_empty() {
            return Some(Lead::Nothing);
        }
        if left.ends_with([
            ',', ';', ':', '—', '–', '-', '(', '.', '…', '、', '，', '：', '；', '。', '!', '/',
            '>',
        ]) {
            let before = left.trim_end_matches(|c: char| !c.is_alphanumeric());
            return match strip_lead(before) {
                Some((rest, _)) if lead_only(rest) => Some(Lead::Nothing),
                _ => Some(Lead::Clause),
            };
        }
        match strip_lead(left) {
            Some((rest, joined)) => {
                in_clause |= joined;
                left = rest.trim_end();
            }
            None if in_clause => return Some(Lead::Clause),
            None => {
                let words = part(low, cue.clone());
                if left.ends_with(" i") && POLISH.starts(words).is_some() {
                    return Some(Lead::Clause);
                }
                let glued = words.chars().next_back().is_some_and(is_unspaced)
                    && !words.starts_with(['记', '記', '别', '別', '不', '牢']);
                let last = glued || LAST.starts(words).is_some();
                let (skipped, _) = connectors(part(low, cue.end..low.len()));
                let after = part(low, cue.end + skipped..low.len());
                return (last && weight(after) == 0).then_some(Lead::Object);
            }
        }
    }
}

/// Whether nothing but polite words is left.
fn lead_only(mut left: &str) -> bool {
    loop {
        left = left.trim_end_matches(|c: char| !c.is_alphanumeric());
        if left.is_empty() {
            return true;
        }
        match strip_lead(left) {
            Some((rest, _)) => left = rest,
            None => return false,
        }
    }
}

/// A text without the polite words at its end, and whether they join clauses.
fn strip_lead(left: &str) -> Option<(&str, bool)> {
    let mut starts: Vec<usize> = Vec::new();
    let mut inside = false;
    for (at, c) in left.char_indices().rev() {
        let letter = c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '.');
        if is_unspaced(c) {
            starts.push(at);
        } else if inside && !letter {
            starts.push(at + c.len_utf8());
        }
        if letter && at == 0 {
            starts.push(0);
        }
        inside = letter;
        if starts.len() >= LEAD_WORDS || left.len() - at > LEAD_BYTES {
            break;
        }
    }
    let start = starts.into_iter().rev().find(|start| LEAD.at(left, *start) == Some(left.len()))?;
    let joins = JOINT.at(left, start) == Some(left.len());
    Some((part(left, 0..start), joins))
}

/// How the words of a wish go over into what is wished.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Bare,
    /// With "that", a colon or the like.
    Marked,
    Infinitive,
}

/// How many bytes join the words of a wish to what is wished, and how.
fn connectors(rest: &str) -> (usize, How) {
    let mut how = How::Bare;
    let mut at = 0;
    loop {
        let tail = part(rest, at..rest.len());
        let space = tail.len() - tail.trim_start().len();
        let word = part(tail, space..tail.len());
        let Some(first) = word.chars().next() else { return (at + space, how) };
        let next = word.chars().nth(1);
        let mark =
            matches!(first, ':' | '：' | ',' | '，' | '、' | ';' | '–' | '—' | '!' | '！' | '。')
                || matches!(first, '-' | '.') && next.is_none_or(char::is_whitespace);
        if mark {
            how = How::Marked;
            at += space + first.len_utf8();
            continue;
        }
        if let Some(end) = reach(word) {
            how = How::Marked;
            at += space + end;
            continue;
        }
        let pointed = POINTER.starts(word).filter(|end| {
            let after = part(word, *end..word.len()).trim_start();
            reach(after).is_some()
                || after
                    .chars()
                    .next()
                    .is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '`' | '"' | '\'' | '/'))
        });
        if let Some(end) = pointed.or_else(|| AFTER.starts(word)) {
            if how == How::Bare && !matches!(part(word, 0..end), "please" | "bitte" | "even") {
                how = How::Marked;
            }
            at += space + end;
            continue;
        }
        if let Some(end) =
            infinitive(word).filter(|_| how != How::Marked || word.starts_with("to "))
        {
            return (at + space + end, How::Infinitive);
        }
        return (at + space, how);
    }
}

/// Where the "to" ends that a task follows.
fn infinitive(word: &str) -> Option<usize> {
    let romance = || {
        let end = OF.starts(word)?;
        let verb = part(word, end..word.len()).split_whitespace().next()?;
        (verb.ends_with('r') || verb.ends_with("re") || verb.ends_with("rti")).then_some(end)
    };
    let end = TO.starts(word).or_else(romance)?;
    let rest = part(word, end..word.len());
    Some(end + rest.len() - rest.trim_start().len())
}

/// Where a bound ends that says no more than where the wish holds.
fn reach(word: &str) -> Option<usize> {
    REACH.starts(word)?;
    let near = part(word, 0..word.floor_char_boundary(REACH_BYTES.min(word.len())));
    let colon = near.find([':', '：', ','])?;
    let head = part(word, 0..colon);
    (scope::is_everywhere(head) || scope::is_ever(head)).then_some(colon)
}

/// The clause in front that a wish depends on: "when you write tests, remember …".
fn clause(piece: &Piece<'_>, at: usize, left: &str, cue: &Cue) -> Vec<Range<usize>> {
    let Some(sentence) = piece.sentences.get(at) else { return Vec::new() };
    let own = left.trim_end_matches(|c: char| !c.is_alphanumeric());
    let depends =
        cue.lead == Lead::Clause && CLAUSE.starts(own).is_some() && weight(own) >= LEAST_BARE;
    if !depends || scope::is_everywhere(own) {
        return Vec::new();
    }
    let end = sentence.range.start + own.len();
    let end = piece.text.ceil_char_boundary(end + 1).min(sentence.range.end);
    std::iter::once(sentence.range.start..end).collect()
}

/// What is wished where nothing follows the words of the wish.
fn elsewhere(
    piece: &Piece<'_>,
    at: usize,
    floor: usize,
    left: &str,
    cue: &Cue,
) -> Option<(Vec<Range<usize>>, usize)> {
    let sentence = piece.sentences.get(at)?;
    let mut own = left.trim_end_matches(|c: char| !c.is_alphanumeric());
    while let Some((rest, true)) = strip_lead(own).filter(|_| cue.lead != Lead::Object) {
        own = rest.trim_end_matches(|c: char| !c.is_alphanumeric());
    }
    if cue.lead != Lead::Nothing && weight(own) >= LEAST_BARE {
        let end = sentence.range.start + own.len();
        return Some((std::iter::once(sentence.range.start..end).collect(), at + 1));
    }
    let before = piece.before(at, floor);
    if sentence.end != End::Colon && !before.is_empty() {
        return Some((
            before.filter_map(|n| piece.sentences.get(n)).map(|s| s.range.clone()).collect(),
            at + 1,
        ));
    }
    let after = piece.extent(at, Extent::Wish);
    let ranges: Vec<Range<usize>> =
        after.clone().filter_map(|n| piece.sentences.get(n)).map(|s| s.range.clone()).collect();
    (!ranges.is_empty()).then_some((ranges, after.end))
}

/// Where a task begins within a sentence: ", now run the install".
fn cut(piece: &Piece<'_>, start: usize, end: usize) -> usize {
    let low = part(&piece.low, start..end);
    [
        ", now ",
        "; now ",
        " and now ",
        " and then ",
        ", then ",
        "; then ",
        ", und jetzt ",
        ", jetzt ",
        " et maintenant ",
    ]
    .into_iter()
    .filter_map(|joint| low.find(joint).map(|at| (at, at + joint.len())))
    .filter(|(_, after)| {
        let rest = part(low, *after..low.len());
        bars::TASK.starts(rest).is_some() && !LASTING.any(rest)
    })
    .map(|(at, _)| start + at)
    .min()
    .unwrap_or(end)
}
