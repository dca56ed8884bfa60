//! A value in the place of another, with the rest of the sentence as it was.

use super::Edit;
use super::style::{applied, capitalised, finished, finished_as, finished_small, tidied};
use crate::merge::comparison::Pair;
use crate::merge::heard::{Heard, Said};
use crate::merge::keys::{CONTENT, Keys};
use crate::merge::lexicon;
use crate::merge::markers;
use crate::merge::old::Old;
use crate::merge::sentences::{Clause, Sentence, sentences};
use crate::merge::words::{Kind, Word};

/// A name of several words is replaced as a whole.
pub(super) fn widened(pair: &Pair, heard: &Heard, target: &Sentence, body: &str) -> Pair {
    let text = heard.said.get(pair.said).map_or("", |said| said.text.as_str());
    let new = heard.said.get(pair.said).map(|said| run(&pair.new, &said.sentence, text, &[]));
    let keep: Vec<&str> = heard.words().map(|word| word.key.as_str()).collect();
    Pair {
        new: new.unwrap_or_else(|| pair.new.clone()),
        said: pair.said,
        old: run(&pair.old, target, body, &keep),
    }
}

/// A word with the names right beside it, but for those in `keep`.
fn run(word: &Word, sentence: &Sentence, text: &str, keep: &[&str]) -> Word {
    let mut wide = word.clone();
    if !matches!(word.kind, Kind::Name | Kind::MaybeName | Kind::Tool(_)) {
        return wide;
    }
    let is_name = |other: &&Word| {
        matches!(other.kind, Kind::Name | Kind::Tool(_)) && !keep.contains(&other.key.as_str())
    };
    for other in sentence.words().filter(is_name) {
        if other.start > wide.end && text.get(wide.end..other.start) == Some(" ") {
            wide.end = other.end;
        }
    }
    wide
}

/// Whether values can be exchanged in the sentence and it is true again.
pub(super) fn is_clean(pairs: &[Pair], over: &[Word], target: &Sentence) -> bool {
    let holds = |word: &Word| target.words().any(|known| known.key == word.key);
    let all_paired = over
        .iter()
        .filter(|word| holds(word))
        .all(|word| pairs.iter().any(|pair| pair.old.key == word.key));
    let once = pairs.iter().all(|pair| {
        let is_name = matches!(
            pair.old.kind,
            Kind::Name | Kind::MaybeName | Kind::Tool(_) | Kind::Identifier
        );
        let count = target
            .words()
            .filter(|word| word.key == pair.old.key || word.parts.contains(&pair.old.key))
            .count();
        !is_name || count == 1
    });
    let is_plain = pairs
        .iter()
        .all(|pair| pair.old.kind == Kind::Identifier || pair.new.kind != Kind::Identifier);
    all_paired && once && is_plain
}

/// The sentence with its values exchanged, and what was said besides.
pub(super) fn substituted(
    heard: &Heard,
    old: &Old<'_>,
    target: &Sentence,
    pairs: &[Pair],
    over: &[Word],
    ended: &mut Vec<String>,
) -> (String, Vec<String>) {
    let body = &old.known.body;
    for clause in &target.clauses {
        if clause.words.iter().any(|word| pairs.iter().any(|pair| pair.old.key == word.key)) {
            ended.push(clause.text(body).to_owned());
        }
    }
    let mut sentence = exchanged(body, target.start, target.end, target.words(), pairs, heard);
    let said_now: Vec<Sentence> = sentences(&sentence);
    let mut known = Keys::of(said_now.iter().flat_map(Sentence::words));
    known.add(
        old.main()
            .filter(|(_, known)| known.start != target.start)
            .flat_map(|(_, known)| known.words()),
    );
    let mut more = Vec::new();
    for said in &heard.said {
        let is_told = |word: &Word| {
            word.kind.weight() < CONTENT
                || known.has(word)
                || old.label.has(word)
                || over.iter().any(|over| over.key == word.key)
        };
        let untold: Vec<&Clause> = said
            .sentence
            .clauses
            .iter()
            .filter(|clause| !is_cut(clause, said, over))
            .filter(|clause| !clause.words.iter().all(is_told))
            .collect();
        let has_core = untold.iter().any(|clause| {
            clause.words.iter().any(|word| pairs.iter().any(|pair| pair.new.key == word.key))
        });
        if has_core || untold.len() == said.sentence.clauses.len() {
            more.push(finished(&standing(said, over)));
        } else if !untold.is_empty() {
            for clause in untold {
                let text = clause.text(&said.text);
                if markers::is_reason(text) {
                    sentence = format!(
                        "{}, {}",
                        sentence.trim_end_matches(['.', '。', '!']),
                        finished_small(text)
                    );
                } else {
                    more.push(finished(&markers::without_chatter(text)));
                }
            }
        }
    }
    (finished_as(&sentence, body, target), more)
}

/// A part of a text with its values exchanged.
fn exchanged<'w>(
    text: &str,
    from: usize,
    to: usize,
    words: impl Iterator<Item = &'w Word>,
    pairs: &[Pair],
    heard: &Heard,
) -> String {
    let mut edits: Vec<Edit> = Vec::new();
    for word in words {
        if let Some(pair) = pairs.iter().find(|pair| pair.old.key == word.key) {
            let end = if word.start == pair.old.start { pair.old.end } else { word.end };
            let shown = text.get(word.start..end).unwrap_or_default();
            edits.push((word.start - from, end - from, value(shown, word, pair, heard)));
        }
    }
    applied(text.get(from..to).unwrap_or_default(), edits)
}

/// The new value, in the form of the old one.
fn value(shown: &str, word: &Word, pair: &Pair, heard: &Heard) -> String {
    let text = heard.said.get(pair.said).map_or("", |said| said.text.as_str());
    let new = text.get(pair.new.start..pair.new.end).unwrap_or_default();
    let has_capital = shown.chars().next().is_some_and(char::is_uppercase);
    match (word.kind, pair.new.kind) {
        (Kind::Weekday(day, language), Kind::Weekday(to, _))
            if !lexicon::weekday(to, language).is_empty() =>
        {
            let suffix =
                word.lower.strip_prefix(lexicon::weekday(day, language)).unwrap_or_default();
            let name = format!("{}{suffix}", lexicon::weekday(to, language));
            if has_capital { capitalised(&name) } else { name }
        }
        (Kind::Number, _) if new.chars().all(|c| c.is_ascii_digit()) => {
            let digit = |c: char| c.is_ascii_digit();
            let before = shown.split(digit).next().unwrap_or_default();
            let behind = shown.rsplit(digit).next().unwrap_or_default();
            if shown.contains(digit) { format!("{before}{new}{behind}") } else { new.to_owned() }
        }
        (Kind::Date, _) => capitalised(new),
        _ if has_capital
            && (!matches!(pair.new.kind, Kind::Tool(_)) || word.kind == Kind::MaybeName) =>
        {
            capitalised(new)
        }
        _ => new.to_owned(),
    }
}

/// Whether a clause only says that something is over, which is over.
fn is_cut(clause: &Clause, said: &Said, over: &[Word]) -> bool {
    said.ended.iter().any(|ended| {
        ended.cut.contains(&clause.start)
            && !ended.is_displaced
            && ended.words.iter().any(|word| over.iter().any(|over| over.key == word.key))
    })
}

/// What a sentence says without what it says is over.
pub(super) fn standing(said: &Said, over: &[Word]) -> String {
    let mut edits: Vec<Edit> = Vec::new();
    for ended in &said.ended {
        if ended.words.iter().any(|word| over.iter().any(|over| over.key == word.key)) {
            edits.push((ended.cut.start, ended.cut.end, ended.instead.to_owned()));
        }
    }
    let text = applied(&said.text, edits);
    tidied(&text)
}
