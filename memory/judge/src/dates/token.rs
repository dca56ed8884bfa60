//! Words with their gaps, sentences and clauses.
//!
//! A word keeps its inner hyphens and apostrophes ("après-demain", "today's",
//! `next-week`), so that compounds and identifiers are words of their own. Han,
//! Kana and Hangul are taken sign by sign: they are written without blanks, or
//! with endings attached.

use std::ops::Range;

/// A word that no table knows.
pub(super) const UNKNOWN: u16 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    Glued,
    Space,
    /// The dot of an ordinal, as in "30. November".
    Dot,
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) id: u16,
    /// The number that it begins with, up to four digits.
    pub(super) number: Option<i16>,
    /// Whether the number is all of it.
    pub(super) is_number: bool,
    /// Whether it can be the day of a month: "30", "30th", "1er".
    pub(super) is_ordinal: bool,
    /// What stands before it.
    pub(super) gap: Gap,
    pub(super) sentence: u16,
    pub(super) clause: u16,
}

/// Words that stand with their apostrophe before another one.
const ELIDED: &[&str] =
    &["d", "l", "qu", "jusqu", "lorsqu", "puisqu", "c", "s", "n", "dell", "all", "nell", "dall"];

pub(super) fn is_signed(sign: char) -> bool {
    matches!(sign, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{3005}')
}

fn is_word(sign: char) -> bool {
    (sign.is_alphanumeric() || sign == '_' || matches!(sign, '\u{300}'..='\u{36f}'))
        && !is_signed(sign)
}

/// The words of a text. What is shielded yields words that nothing knows.
pub(super) fn tokens(text: &str, shield: &[Range<usize>], id: impl Fn(&str) -> u16) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::with_capacity(text.len() / 5 + 1);
    let mut shield = shield.iter().peekable();
    let (mut sentence, mut clause) = (0_u16, 0_u16);
    let mut word = String::new();
    let mut at = 0;
    while let Some(length) = next_word(text, &mut at) {
        let (start, end) = (at, at + length);
        at = end;
        let between = text.get(found.last().map_or(0, |last| last.end)..start).unwrap_or_default();
        let raw = text.get(start..end).unwrap_or_default();
        let gap = gap(between, found.last(), raw);
        if !found.is_empty() && gap == Gap::Other {
            clause = clause.wrapping_add(u16::from(parts_clauses(between)));
            sentence = sentence.wrapping_add(u16::from(parts_sentences(between)));
        }
        while shield.next_if(|range| range.end <= start).is_some() {}
        let is_shielded = shield.peek().is_some_and(|range| range.start < end);
        lower(raw, &mut word);
        let (number, rest) = if is_shielded { (None, "") } else { number(&word) };
        let is_number = number.is_some() && rest.is_empty();
        let is_ordinal = number.is_some() && ORDINAL.contains(&rest);
        let id = if is_shielded { UNKNOWN } else { id(&word) };
        found.push(Token { start, end, id, number, is_number, is_ordinal, gap, sentence, clause });
    }
    found
}

/// Moves to the next word and tells its length.
fn next_word(text: &str, at: &mut usize) -> Option<usize> {
    let rest = text.get(*at..)?;
    let skip = rest.find(|sign| is_word(sign) || is_signed(sign))?;
    *at += skip;
    let rest = rest.get(skip..)?;
    let mut signs = rest.char_indices().peekable();
    let (_, first) = signs.next()?;
    if is_signed(first) {
        return Some(first.len_utf8());
    }
    let is_digits = first.is_numeric();
    while let Some((here, sign)) = signs.next() {
        if is_word(sign) {
            continue;
        }
        let is_joint = matches!(sign, '-' | '\'' | '’' | '\u{2011}');
        let goes_on = is_joint && signs.peek().is_some_and(|(_, next)| is_word(*next));
        if !goes_on {
            return Some(here);
        }
        if sign != '-' && !is_digits {
            let head = rest.get(..here).unwrap_or_default();
            if ELIDED.iter().any(|word| head.eq_ignore_ascii_case(word)) {
                return Some(here + sign.len_utf8());
            }
        }
    }
    Some(rest.len())
}

fn gap(between: &str, before: Option<&Token>, next: &str) -> Gap {
    if between.is_empty() {
        return Gap::Glued;
    }
    let bare = between.strip_prefix(['\'', '’']).unwrap_or(between);
    let is_blank = |text: &str| !text.is_empty() && text.chars().all(char::is_whitespace);
    if is_blank(bare) && bare.matches('\n').count() < 2 {
        return Gap::Space;
    }
    let is_ordinal = before.is_some_and(|last| last.is_number)
        && between.strip_prefix('.').is_some_and(|rest| is_blank(rest) && !rest.contains('\n'));
    if is_ordinal && next.starts_with(char::is_alphabetic) { Gap::Dot } else { Gap::Other }
}

fn parts_clauses(between: &str) -> bool {
    between.chars().any(|sign| !sign.is_whitespace() && !matches!(sign, '\'' | '’' | '*' | '`'))
}

fn parts_sentences(between: &str) -> bool {
    if between.contains(['!', '?', '。', '！', '？', '…']) || between.contains("\n\n") {
        return true;
    }
    let is_stop = |(at, _): (usize, &str)| {
        between.get(at + 1..).is_none_or(|rest| rest.is_empty() || !rest.starts_with('.'))
    };
    let ends = between.contains(char::is_whitespace) && between.match_indices('.').any(is_stop);
    let behind = between.rsplit_once('\n').map(|(_, behind)| behind.trim());
    ends || behind.is_some_and(|text| text.starts_with(['-', '*', '+', '#', '•', '|', '>']))
}

/// Lower case, one kind of apostrophe, and no dot on a Turkish capital.
fn lower(raw: &str, word: &mut String) {
    word.clear();
    for sign in raw.chars() {
        match sign {
            '’' => word.push('\''),
            '\u{2011}' => word.push('-'),
            'İ' => word.push('i'),
            '０'..='９' => {
                let digit = u32::from(sign) - u32::from('０') + u32::from('0');
                word.extend(char::from_u32(digit));
            }
            _ if sign.is_ascii() => word.push(sign.to_ascii_lowercase()),
            _ => word.extend(sign.to_lowercase()),
        }
    }
}

/// What may follow the digits of a day.
const ORDINAL: &[&str] = &[
    "", "st", "nd", "rd", "th", "er", "e", "ème", "eme", "de", "ste", "º", "ª", "°", "-го", "го",
    "-е", "-го", "-я", "η", "ου",
];

/// The leading number and what follows it.
fn number(word: &str) -> (Option<i16>, &str) {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 4 {
        return (None, "");
    }
    let (head, rest) = word.split_at_checked(digits).unwrap_or((word, ""));
    (head.parse().ok(), rest)
}
