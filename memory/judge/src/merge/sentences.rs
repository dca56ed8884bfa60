//! A text as sentences and clauses, each at its place, so that a part can be
//! replaced and all else stays as it was written.

use super::keys::Keys;
use super::lexicon;
use super::words::{Capitals, Word, words};

/// What a sentence is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Main,
    /// It belongs to a **Why** or a **How to apply**.
    Reason,
    /// A heading, a table, code: never changed.
    Fixed,
}

/// A sentence at its place, with the sign that ends it.
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) part: Part,
    /// What stands before it on its line: a bullet.
    pub(super) bullet: String,
    pub(super) clauses: Vec<Clause>,
    pub(super) keys: Keys,
}

/// A part of a sentence that holds by itself.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) words: Vec<Word>,
    pub(super) keys: Keys,
    pub(super) is_negative: bool,
}

impl Sentence {
    pub(super) fn words(&self) -> impl Iterator<Item = &Word> {
        self.clauses.iter().flat_map(|clause| &clause.words)
    }

    pub(super) fn text<'a>(&self, whole: &'a str) -> &'a str {
        whole.get(self.start..self.end).unwrap_or_default()
    }

    pub(super) fn is_negative(&self) -> bool {
        self.clauses.iter().any(|clause| clause.is_negative)
    }
}

impl Clause {
    pub(super) fn text<'a>(&self, whole: &'a str) -> &'a str {
        whole.get(self.start..self.end).unwrap_or_default()
    }
}

/// The sentences of a text.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let capitals = if lexicon::is_german(text) { Capitals::Nouns } else { Capitals::Names };
    let mut found = Vec::new();
    let mut at = 0;
    let mut belongs_to = Part::Main;
    let mut inside_code = false;
    for line in text.split_inclusive('\n') {
        let line_start = at;
        at += line.len();
        let trimmed = line.trim();
        if trimmed.is_empty() {
            belongs_to = Part::Main;
            continue;
        }
        let is_fence = trimmed.starts_with("```");
        if inside_code || is_fence || trimmed.starts_with(['#', '|']) {
            inside_code ^= is_fence;
            let indent = line.len() - line.trim_start().len();
            found.push(Sentence {
                start: line_start + indent,
                end: line_start + indent + trimmed.len(),
                part: Part::Fixed,
                bullet: String::new(),
                clauses: Vec::new(),
                keys: Keys::default(),
            });
            continue;
        }
        let lead = bullet(line);
        let content = line.get(lead..).unwrap_or_default();
        for (from, to) in cut(content) {
            let sentence = content.get(from..to).unwrap_or_default();
            if is_reason(sentence) {
                belongs_to = Part::Reason;
            }
            let from = line_start + lead + from;
            let clauses = clauses(sentence, from, capitals);
            found.push(Sentence {
                start: from,
                end: from + sentence.len(),
                part: belongs_to,
                bullet: line.get(..lead).unwrap_or_default().to_owned(),
                keys: Keys::of(clauses.iter().flat_map(|clause| &clause.words)),
                clauses,
            });
        }
    }
    found
}

/// Whether a sentence opens a part that gives reasons.
fn is_reason(sentence: &str) -> bool {
    let lower = sentence.trim_start_matches('*').to_lowercase();
    ["why:", "why*", "how to apply", "warum:", "pourquoi", "por qué:", "perché:", "原因", "理由"]
        .iter()
        .any(|start| lower.starts_with(start))
}

/// The bytes of the indent and the bullet of a line.
fn bullet(line: &str) -> usize {
    let indent = line.len() - line.trim_start().len();
    let rest = line.trim_start();
    for mark in ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "> ", "• "] {
        if rest.starts_with(mark) {
            return indent + mark.len();
        }
    }
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    let behind = rest.get(digits..).unwrap_or_default();
    if (1..3).contains(&digits) && (behind.starts_with(". ") || behind.starts_with(") ")) {
        return indent + digits + 2;
    }
    indent
}

/// Where the sentences of a line start and end.
fn cut(line: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut in_code = false;
    let mut depth = 0_usize;
    let mut signs = line.char_indices().peekable();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '`' => in_code = !in_code,
            '(' | '（' => depth += 1,
            ')' | '）' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let mut end = at + sign.len_utf8();
        let is_end = match sign {
            '。' | '！' | '？' => !in_code,
            '.' | '!' | '?' | '…' => !in_code && depth == 0,
            _ => false,
        };
        if !is_end {
            continue;
        }
        while let Some((_, next)) = signs
            .next_if(|(_, c)| matches!(c, '.' | '!' | '?' | '"' | '”' | '*' | '\'' | ')' | '」'))
        {
            end += next.len_utf8();
        }
        let behind = line.get(end..).unwrap_or_default();
        let open = behind.is_empty() || behind.starts_with(char::is_whitespace) || !sign.is_ascii();
        if open && !(sign == '.' && is_abbreviated(line.get(from..at).unwrap_or_default(), behind))
        {
            push(line, from, end, &mut found);
            from = end;
        }
    }
    push(line, from, line.len(), &mut found);
    found
}

fn push(line: &str, from: usize, to: usize, found: &mut Vec<(usize, usize)>) {
    let text = line.get(from..to).unwrap_or_default();
    let trimmed = text.trim();
    if trimmed.chars().any(char::is_alphanumeric) {
        let start = from + (text.len() - text.trim_start().len());
        found.push((start, start + trimmed.len()));
    } else if let Some(last) = found.last_mut()
        && !trimmed.is_empty()
    {
        last.1 = from + text.trim_end().len();
    }
}

/// Whether a full stop ends no sentence: "e.g. this", "26. Januar".
fn is_abbreviated(before: &str, behind: &str) -> bool {
    const SHORT: &[&str] = &[
        "e.g", "i.e", "eg", "z.b", "vs", "bzw", "ca", "dr", "mr", "mrs", "ms", "approx", "nr",
        "incl", "p.ej", "d.h", "st", "inkl", "evtl", "ggf", "usw",
    ];
    let last = before.rsplit(char::is_whitespace).next().unwrap_or_default().to_lowercase();
    let last = last.trim_start_matches(['(', '"']);
    let is_ordinal = (1..=2).contains(&last.len()) && last.chars().all(|c| c.is_ascii_digit());
    let next = behind.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_month =
        matches!(lexicon::entry(next.trim_end_matches(['.', ','])), Some(lexicon::Entry::Month(_)));
    SHORT.contains(&last) || (is_ordinal && is_month)
}

/// Words that open a clause of their own.
const CONJUNCTIONS: &[&str] = &["and", "und", "et"];
/// The same, however little follows.
const CONTRASTS: &[&str] = &["but", "aber", "sondern", "mais", "pero", "sino", "maar"];
/// Words on either side of a conjunction that make a clause.
const CLAUSE_WORDS: usize = 3;

fn clauses(sentence: &str, offset: usize, capitals: Capitals) -> Vec<Clause> {
    let mut all = words(sentence, offset, capitals);
    let mut bounds = punctuated(sentence, offset);
    bounds.push(offset + sentence.len());
    let mut found = Vec::new();
    let mut from = offset;
    for bound in bounds {
        let behind = all.iter().position(|word| word.start >= bound).unwrap_or(all.len());
        let mut rest = all.split_off(behind);
        std::mem::swap(&mut all, &mut rest);
        split_at_conjunction(rest, from, bound, &mut found);
        from = bound;
    }
    for clause in &mut found {
        trim(clause, sentence, offset);
    }
    found.retain(|clause| !clause.words.is_empty());
    found
}

fn split_at_conjunction(mut words: Vec<Word>, from: usize, to: usize, found: &mut Vec<Clause>) {
    let last = words.len().saturating_sub(CLAUSE_WORDS);
    let at = words.iter().enumerate().position(|(at, word)| {
        let contrasts = CONTRASTS.contains(&word.lower.as_str()) && at + 1 < words.len();
        let joins = CONJUNCTIONS.contains(&word.lower.as_str()) && at <= last;
        at >= CLAUSE_WORDS && (contrasts || joins)
    });
    let Some(at) = at else {
        found.push(clause(words, from, to));
        return;
    };
    let behind = words.split_off(at);
    let bound = behind.first().map_or(to, |word| word.start);
    found.push(clause(words, from, bound));
    found.push(clause(behind, bound, to));
}

fn clause(words: Vec<Word>, start: usize, end: usize) -> Clause {
    let is_negative = words.iter().enumerate().any(|(at, word)| {
        let next = words.get(at + 1).map_or("", |next| next.lower.as_str());
        word.negates && !NOT_ONLY.contains(&next)
    });
    Clause { start, end, keys: Keys::of(&words), words, is_negative }
}

/// "Not only" negates nothing.
const NOT_ONLY: &[&str] = &[
    "just",
    "only",
    "nur",
    "bloß",
    "seulement",
    "solo",
    "sólo",
    "soltanto",
    "só",
    "apenas",
    "alleen",
    "longer",
];

fn trim(clause: &mut Clause, sentence: &str, offset: usize) {
    let text = sentence.get(clause.start - offset..clause.end - offset).unwrap_or_default();
    let is_edge = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                ',' | ';'
                    | ':'
                    | '('
                    | ')'
                    | '—'
                    | '–'
                    | '，'
                    | '；'
                    | '：'
                    | '（'
                    | '）'
                    | '、'
                    | '.'
                    | '。'
                    | '!'
                    | '！'
            )
    };
    let front = text.len() - text.trim_start_matches(is_edge).len();
    let body = text.trim_matches(is_edge);
    clause.start += front;
    clause.end = clause.start + body.len();
}

/// Where punctuation ends a clause.
fn punctuated(sentence: &str, offset: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut in_code = false;
    let mut before = ' ';
    for (at, sign) in sentence.char_indices() {
        let end = at + sign.len_utf8();
        let behind = sentence.get(end..).unwrap_or_default();
        let is_open = behind.starts_with(' ');
        if sign == '`' {
            in_code = !in_code;
        }
        let is_bound = match sign {
            '(' | ';' | ')' | '—' | '，' | '；' | '、' | '（' | '）' | '：' => true,
            ',' => !behind.starts_with(|c: char| c.is_ascii_digit()) && !is_year(before, behind),
            ':' | '–' => is_open,
            '-' => is_open && before == ' ',
            _ => false,
        };
        if is_bound && !in_code {
            found.push(offset + end);
        }
        before = sign;
    }
    found
}

/// "January 26, 2027" is one date.
fn is_year(before: char, behind: &str) -> bool {
    let digits = behind.trim_start().chars().take_while(char::is_ascii_digit).count();
    before.is_ascii_digit() && digits == 4
}
