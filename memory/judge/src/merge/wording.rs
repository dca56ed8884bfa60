//! A memory as it becomes: values put in the place of others, clauses and
//! sentences replaced or added, all else as it was.

mod exchange;
mod style;

use super::clauses::clause_is_in;
use super::comparison::{Finding, Pair};
use super::heard::{Heard, Said};
use super::keys::{CONTENT, Keys};
use super::markers::{self, End};
use super::old::Old;
use super::sentences::{Clause, Sentence, sentences};
use super::words::{Kind, Word};
use exchange::{is_clean, standing, substituted, widened};
use style::{applied, capitalised, cut, finished, finished_as, uncapitalised};

/// Characters of a description.
const DESCRIPTION_CHARS: usize = 150;
/// Characters of a statement of what changed.
const CHANGED_CHARS: usize = 120;

/// A memory as it becomes.
#[derive(Debug)]
pub(super) struct Worded {
    pub(super) body: String,
    pub(super) description: String,
    pub(super) changed: Vec<String>,
    pub(super) ended: Vec<String>,
}

/// A place in a text, and what it becomes.
type Edit = (usize, usize, String);

/// The memory with the new sentences behind the last one on the subject.
pub(super) fn extended(heard: &Heard, old: &Old<'_>, target: usize) -> Worded {
    let added: Vec<String> = heard.said.iter().filter_map(|said| addition(said, old)).collect();
    let about = |sentence: &Sentence| {
        let shared: u32 = sentence.words().map(|word| heard.keys.weight(word)).sum();
        shared >= 2 * CONTENT
    };
    let last = old.main().filter(|(at, sentence)| *at == target || about(sentence)).last();
    let body = match last {
        Some((_, sentence)) => {
            applied(&old.known.body, vec![behind(&old.known.body, sentence, &added)])
        }
        None => old.known.body.clone(),
    };
    let body = with_reasons(body, heard, old);
    let description = &old.known.description;
    let why = heard.reasons.iter().filter(|reason| !old.gives(reason));
    let first = added.first().map_or("", |added| added.trim_end_matches(['.', '。']));
    let joined = format!("{}; {}", description.trim_end_matches(['.', '。']), uncapitalised(first));
    let fits =
        !first.is_empty() && !description.is_empty() && joined.chars().count() <= DESCRIPTION_CHARS;
    Worded {
        body,
        description: if fits { joined } else { description.clone() },
        changed: added.iter().chain(why).map(|added| cut(added, CHANGED_CHARS)).collect(),
        ended: Vec::new(),
    }
}

/// What a sentence adds; none where it is there already.
fn addition(said: &Said, old: &Old<'_>) -> Option<String> {
    let clauses = &said.sentence.clauses;
    if clauses.iter().all(|clause| clause_is_in(clause, &old.sentences)) {
        return None;
    }
    // "No lodash, and no ramda": the first part was said before.
    let repeated = clauses.first().is_some_and(|clause| clause_is_in(clause, &old.sentences));
    let joins = |clause: &Clause| {
        clause.words.first().is_some_and(|word| {
            matches!(word.lower.as_str(), "and" | "und" | "et" | "y" | "e" | "en")
        })
    };
    let text = match clauses.get(1).filter(|second| repeated && joins(second)) {
        Some(second) => said.text.get(second.start..).unwrap_or(&said.text),
        None => &said.text,
    };
    Some(finished(&markers::without_chatter(text)))
}

/// New sentences behind a known one, in its layout.
fn behind(body: &str, sentence: &Sentence, added: &[String]) -> Edit {
    let mut text = String::new();
    let own = sentence.text(body);
    let mark = sentence.bullet.trim_start();
    for sentence_added in added {
        if mark.is_empty() {
            if text.is_empty() && !own.ends_with(['.', '!', '?', '。', '！', '？', ':', '*', '…'])
            {
                text.push('.');
            }
            text.push(' ');
        } else {
            text.push('\n');
            text.push_str(&sentence.bullet);
        }
        text.push_str(sentence_added);
    }
    // A list goes on behind the last sentence of its point.
    let line_end = body
        .get(sentence.end..)
        .and_then(|rest| rest.find('\n'))
        .map_or(body.len(), |at| sentence.end + at);
    let at = if mark.is_empty() { sentence.end } else { line_end };
    (at, at, text)
}

/// The reasons that were given, where the memory does not have them.
fn with_reasons(mut body: String, heard: &Heard, old: &Old<'_>) -> String {
    for reason in &heard.reasons {
        if !old.gives(reason) && !body.contains(reason.as_str()) {
            body = format!("{}\n\n{reason}\n", body.trim_end());
        }
    }
    body
}

/// The memory with the newer words in the place of what they replace.
pub(super) fn superseded(
    heard: &Heard,
    old: &Old<'_>,
    finding: &Finding,
    pairs: &[Pair],
    over: &[Word],
    turned: &[usize],
) -> Worded {
    let body = &old.known.body;
    let Some(target) = old.sentences.get(finding.target) else {
        return extended(heard, old, finding.target);
    };
    let pairs: Vec<Pair> = pairs.iter().map(|pair| widened(pair, heard, target, body)).collect();
    let is_withdrawn =
        heard.said.iter().flat_map(|said| &said.ended).any(|ended| ended.how == End::Withdrawn);
    let is_clean =
        turned.is_empty() && !is_withdrawn && !pairs.is_empty() && is_clean(&pairs, over, target);
    let mut edits: Vec<Edit> = Vec::new();
    let mut ended = Vec::new();
    let (sentence, more) = if is_clean {
        substituted(heard, old, target, &pairs, over, &mut ended)
    } else {
        replaced(heard, old, target, &pairs, over, turned, &mut ended)
    };
    edits.push((
        target.start,
        target.end,
        std::iter::once(&sentence).chain(&more).cloned().collect::<Vec<_>>().join(" "),
    ));
    others(old, finding.target, target, over, heard, &mut edits, &mut ended);
    let text = with_reasons(applied(body, edits), heard, old);
    let description = description(old, target, &pairs, over, &sentence, is_clean);
    let changed =
        std::iter::once(&sentence).chain(&more).map(|text| cut(text, CHANGED_CHARS)).collect();
    Worded { body: text, description, changed, ended }
}

/// The sentence with the newer words in the place of the clauses that no
/// longer hold, and what else was said.
fn replaced(
    heard: &Heard,
    old: &Old<'_>,
    target: &Sentence,
    pairs: &[Pair],
    over: &[Word],
    turned: &[usize],
    ended: &mut Vec<String>,
) -> (String, Vec<String>) {
    let body = &old.known.body;
    let mut texts: Vec<String> = heard
        .said
        .iter()
        .map(|said| standing(said, over))
        .filter(|text| text.chars().any(char::is_alphanumeric))
        .collect();
    if texts.is_empty() {
        texts = heard.said.iter().map(|said| said.text.clone()).collect();
    }
    let mut first = if texts.is_empty() { String::new() } else { texts.remove(0) };
    let shares = sentences(&first)
        .iter()
        .flat_map(Sentence::words)
        .any(|word| word.kind.weight() >= CONTENT && old.keys.has(word));
    let name = old.known.name.replace(['-', '_'], " ");
    let names_old = over.iter().any(|word| name.to_lowercase().contains(&word.lower));
    if !shares && !names_old && !name.trim().is_empty() && !first.contains(':') {
        first = format!("{}: {first}", name.trim());
    }
    let affected = affected(target, heard, pairs, over, turned);
    for clause in target
        .clauses
        .iter()
        .enumerate()
        .filter(|(at, _)| affected.contains(at))
        .map(|(_, clause)| clause)
    {
        ended.push(clause.text(body).to_owned());
    }
    let start = affected.first().copied().unwrap_or_default();
    let mut out: Vec<Edit> = Vec::new();
    let mut before_end = target.start;
    for (at, clause) in target.clauses.iter().enumerate() {
        if at == start {
            let new = if at == 0 { capitalised(&first) } else { first.clone() };
            out.push((
                clause.start - target.start,
                clause.end - target.start,
                new.trim_end_matches(['.', '。', '!']).to_owned(),
            ));
        } else if affected.contains(&at) {
            out.push((before_end - target.start, clause.end - target.start, String::new()));
        }
        before_end = clause.end;
    }
    let sentence =
        applied(target.text(body), out).replace("()", "").replace(" .", ".").replace(" ,", ",");
    (finished_as(&sentence, body, target), texts.iter().map(|text| finished(text)).collect())
}

/// Which clauses of a sentence no longer hold.
fn affected(
    target: &Sentence,
    heard: &Heard,
    pairs: &[Pair],
    over: &[Word],
    turned: &[usize],
) -> Vec<usize> {
    if !turned.is_empty() {
        return turned.to_vec();
    }
    let is_hit = |word: &Word| {
        let gone = |key: &String| *key == word.key || word.parts.contains(key);
        over.iter().any(|over| gone(&over.key)) || pairs.iter().any(|pair| gone(&pair.old.key))
    };
    let hit: Vec<usize> = (0..target.clauses.len())
        .filter(|at| target.clauses.get(*at).is_some_and(|clause| clause.words.iter().any(is_hit)))
        .collect();
    if !hit.is_empty() {
        return hit;
    }
    let shared =
        |clause: &Clause| clause.words.iter().map(|word| heard.keys.weight(word)).sum::<u32>();
    let best = target
        .clauses
        .iter()
        .enumerate()
        .reduce(|a, b| if shared(b.1) > shared(a.1) { b } else { a });
    best.map(|(at, _)| at).into_iter().collect()
}

/// Other sentences that rest on what is over.
fn others(
    old: &Old<'_>,
    at: usize,
    target: &Sentence,
    over: &[Word],
    heard: &Heard,
    edits: &mut Vec<Edit>,
    ended: &mut Vec<String>,
) {
    let body = &old.known.body;
    let displaced = heard.said.iter().flat_map(|said| &said.ended).any(|ended| ended.is_displaced);
    for (_, sentence) in
        old.main().filter(|(other, sentence)| *other != at && sentence.start != target.start)
    {
        let hit = |clause: &&Clause| {
            !clause.is_negative
                && clause.words.iter().any(|word| over.iter().any(|over| over.key == word.key))
        };
        let Some(first) = sentence.clauses.iter().find(hit) else { continue };
        let named = over
            .iter()
            .any(|over| matches!(over.kind, Kind::Name | Kind::Tool(_) | Kind::Identifier));
        let shares = sentence.words().any(|word| {
            word.kind.weight() >= CONTENT
                && heard.keys.has(word)
                && !over.iter().any(|over| over.key == word.key)
        });
        if !(shares || (named && !displaced)) {
            continue;
        }
        let is_whole = sentence.clauses.first().is_some_and(|clause| clause.start == first.start);
        if is_whole {
            // The line goes with its bullet and the space before it.
            let before = body.get(..sentence.start).unwrap_or_default();
            let start = before
                .strip_suffix(sentence.bullet.as_str())
                .filter(|_| !sentence.bullet.trim().is_empty())
                .unwrap_or(before);
            ended.push(sentence.text(body).to_owned());
            edits.push((start.trim_end_matches([' ', '\n']).len(), sentence.end, String::new()));
        } else {
            let before = sentence
                .clauses
                .iter()
                .rfind(|clause| clause.end <= first.start)
                .map_or(first.start, |clause| clause.end);
            ended.push(first.text(body).to_owned());
            edits.push((before, first.end, String::new()));
        }
    }
}

/// A description that says nothing that is over, and says what is new.
fn description(
    old: &Old<'_>,
    target: &Sentence,
    pairs: &[Pair],
    over: &[Word],
    sentence: &str,
    is_clean: bool,
) -> String {
    let text = &old.known.description;
    let parsed = sentences(text);
    let keys = Keys::of(parsed.iter().flat_map(Sentence::words));
    let states_old = over.iter().any(|word| keys.has_key(&word.key))
        || pairs.iter().any(|pair| keys.has_key(&pair.old.key));
    let shared: u32 = target.words().map(|word| keys.weight(word)).sum();
    let was_copy =
        target.words().filter(|word| word.kind.weight() >= CONTENT).all(|word| keys.has(word));
    if text.trim().is_empty() || states_old || was_copy || (is_clean && shared >= 2 * CONTENT) {
        return cut(sentence, DESCRIPTION_CHARS);
    }
    if shared >= 2 * CONTENT { cut(sentence, DESCRIPTION_CHARS) } else { text.clone() }
}
