//! A text as a reader sees it, with the way back to its bytes.
//!
//! Signs without width are left out, full-width and mathematical letters
//! become plain ones, curly quotes straight ones, and a line that goes on
//! after a backslash is one line, and so is a key that a terminal has wrapped.
//! Most text needs none of this and is borrowed.

use super::spaced;
use std::ops::Range;

/// A text without what only looks different.
pub(super) struct View<'a> {
    text: &'a str,
    folded: Option<Folded>,
}

#[derive(Default)]
struct Folded {
    text: String,
    /// For each byte of the folded text, the bytes it came from.
    from: Vec<Range<usize>>,
}

/// What becomes of a character.
enum Fold {
    Keep,
    Drop,
    Into(char),
}

impl<'a> View<'a> {
    /// How the text reads.
    pub(super) fn of(text: &'a str) -> Self {
        let continued = text.contains('\\') && (text.contains("\\\n") || text.contains("\\\r\n"))
            || text.contains('+') && has_joined_strings(text)
            || text.contains('%') && has_coded_letters(text)
            || has_wrapped_key(text)
            || has_parted_key(text);
        let blanks = spaced::blanks(text, OPENINGS);
        let odd = !text.is_ascii()
            && (text.chars().any(|c| !matches!(fold(c), Fold::Keep)) || has_disguised_word(text));
        let folded = (continued || odd || !blanks.is_empty()).then(|| folded(text, &blanks));
        Self { text, folded }
    }

    /// The text to search.
    pub(super) fn text(&self) -> &str {
        self.folded.as_ref().map_or(self.text, |folded| &folded.text)
    }

    /// The place in the original text of a place in [`View::text`].
    pub(super) fn original(&self, at: &Range<usize>) -> Range<usize> {
        let Some(folded) = &self.folded else { return at.clone() };
        let start = folded.from.get(at.start).map_or(self.text.len(), |from| from.start);
        let end = at.end.checked_sub(1).and_then(|last| folded.from.get(last));
        start..end.map_or(start, |from| from.end).max(start)
    }
}

/// The Latin letter that a letter of another script looks like.
fn twin(c: char) -> Option<char> {
    const TWINS: &[(char, char)] = &[
        ('а', 'a'),
        ('с', 'c'),
        ('е', 'e'),
        ('і', 'i'),
        ('ј', 'j'),
        ('к', 'k'),
        ('о', 'o'),
        ('р', 'p'),
        ('ѕ', 's'),
        ('т', 't'),
        ('у', 'y'),
        ('х', 'x'),
        ('ԁ', 'd'),
        ('ԝ', 'w'),
        ('ο', 'o'),
        ('ρ', 'p'),
        ('α', 'a'),
        ('ı', 'i'),
        ('А', 'A'),
        ('В', 'B'),
        ('Е', 'E'),
        ('К', 'K'),
        ('О', 'O'),
        ('Р', 'P'),
        ('С', 'C'),
        ('Т', 'T'),
        ('Х', 'X'),
    ];
    TWINS.iter().find(|(other, _)| *other == c).map(|(_, plain)| *plain)
}

/// Whether the word around a place is of Latin letters and of some that only
/// look so.
fn is_disguised(text: &str, at: usize) -> bool {
    let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    let is_letter = |c: &char| c.is_alphabetic();
    let letters = || {
        before
            .chars()
            .rev()
            .take(MOST_LETTERS)
            .take_while(is_letter)
            .chain(rest.chars().take(MOST_LETTERS).take_while(is_letter))
    };
    letters().any(|c| c.is_ascii()) && letters().all(|c| c.is_ascii() || twin(c).is_some())
}

/// A longer word is none.
const MOST_LETTERS: usize = 32;

fn has_disguised_word(text: &str) -> bool {
    text.char_indices().any(|(at, c)| twin(c).is_some() && is_disguised(text, at))
}

fn has_joined_strings(text: &str) -> bool {
    ["\" + \"", "' + '", "\"+\"", "'+'"].iter().any(|join| text.contains(join))
}

fn folded(text: &str, blanks: &[usize]) -> Folded {
    let mut into =
        Folded { text: String::with_capacity(text.len()), from: Vec::with_capacity(text.len()) };
    let mut at = 0;
    let mut blanks = blanks.iter().copied().peekable();
    while let Some(rest) = text.get(at..)
        && let Some(c) = rest.chars().next()
    {
        while blanks.next_if(|blank| *blank < at).is_some() {}
        if blanks.next_if_eq(&at).is_some() {
            at += 1;
            continue;
        }
        if let Some(skip) =
            wrap(&into.text, rest).or_else(|| joint(rest)).or_else(|| parted(&into.text, rest))
        {
            at += skip;
            continue;
        }
        let end = at + c.len_utf8();
        if let Some(letter) = coded_letter(rest) {
            into.text.push(letter);
            into.from.resize(into.text.len(), at..at + 3);
            at += 3;
            continue;
        }
        let sign = match fold(c) {
            Fold::Keep => Some(twin(c).filter(|_| is_disguised(text, at)).unwrap_or(c)),
            Fold::Drop => None,
            Fold::Into(plain) => Some(plain),
        };
        if let Some(sign) = sign {
            into.text.push(sign);
            into.from.resize(into.text.len(), at..end);
        }
        at = end;
    }
    into
}

/// `%77`: a letter that needs no code, and has one.
fn coded_letter(rest: &str) -> Option<char> {
    let code = rest.strip_prefix('%')?.get(..2)?;
    let letter = char::from(u8::from_str_radix(code, 16).ok()?);
    letter.is_ascii_alphabetic().then_some(letter)
}

fn has_coded_letters(text: &str) -> bool {
    text.match_indices('%').any(|(at, _)| text.get(at..).and_then(coded_letter).is_some())
}

/// How many bytes to leave out here because a line or a string goes on.
fn joint(rest: &str) -> Option<usize> {
    if rest.starts_with("\\\n") {
        return Some(2);
    }
    if rest.starts_with("\\\r\n") {
        return Some(3);
    }
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let after = rest.strip_prefix(quote)?.trim_start_matches([' ', '\n']);
    let after = after.strip_prefix('+')?.trim_start_matches([' ', '\n']).strip_prefix(quote)?;
    Some(rest.len() - after.len())
}

/// How keys begin that are long enough to be wrapped.
const OPENINGS: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_",
    "rk_",
    "xox",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "hf_",
    "gsk_",
    "xai-",
    "npm_",
    "pypi-",
    "SG.",
    "dop_v1_",
    "hvs.",
    "glsa_",
    "sntrys_",
    "dckr_pat_",
    "pat-",
    "shpat_",
    "figd_",
    "lin_api_",
    "ATATT3",
    "whsec_",
    "tskey-",
    "pscale_",
    "nfp_",
    "dapi",
    "AGE-SECRET-KEY-",
];

fn has_wrapped_key(text: &str) -> bool {
    text.match_indices('\n').any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let before = before.strip_suffix('\r').unwrap_or(before);
        wrap(before, text.get(before.len()..).unwrap_or_default()).is_some()
    })
}

/// How many bytes to leave out here because a key goes on in the next line.
fn wrap(before: &str, rest: &str) -> Option<usize> {
    let rest_of_line = rest.strip_prefix('\\').unwrap_or(rest);
    let line = rest_of_line.strip_prefix('\r').unwrap_or(rest_of_line).strip_prefix('\n')?;
    let is_sign =
        |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '/' | '%');
    let len = before.chars().rev().take(MOST_WRAPPED).take_while(is_sign).count();
    let key = before.get(before.len() - len..)?;
    let opening = OPENINGS.iter().find(|opening| key.starts_with(**opening))?;
    // What has its whole length already is followed by something else.
    let is_full = matches!(*opening, "AKIA" | "ASIA") && len >= least_of(opening, '\n');
    if len < 12 || is_full {
        return None;
    }
    let next = line.trim_start_matches([' ', '\t']);
    let run: String = next.chars().take_while(is_sign).collect();
    let ends = next.get(run.len()..)?.chars().next();
    let is_whole = ends.is_none_or(|c| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ','));
    let count = |is: fn(&char) -> bool| run.chars().filter(is).count();
    let is_jumbled = count(char::is_ascii_digit) >= 1
        && (count(char::is_ascii_uppercase) >= 2 && count(char::is_ascii_lowercase) >= 2
            || run.len() >= 16);
    let is_other = OPENINGS.iter().any(|opening| run.starts_with(opening));
    (run.len() >= 8 && is_whole && is_jumbled && !is_other).then(|| rest.len() - next.len())
}

fn has_parted_key(text: &str) -> bool {
    text.match_indices(['"', '\'', '\n']).any(|(at, _)| {
        let (before, rest) = text.split_at_checked(at).unwrap_or_default();
        parted(before, rest).is_some()
    })
}

/// How many bytes to leave out here because a key goes on in the next string:
/// `"ghp_ab" "cd"`, `["ghp_", "abcd"]`, `a = "ghp_ab"; b = "cd"`.
fn parted(before: &str, rest: &str) -> Option<usize> {
    let end = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '\n'))?;
    let is_sign = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let len = before.chars().rev().take(MOST_WRAPPED).take_while(is_sign).count();
    let key = before.get(before.len() - len..)?;
    let opening = OPENINGS.iter().find(|opening| key.starts_with(**opening))?;
    let after = rest.strip_prefix(end)?;
    let gap = |c: char| c.is_whitespace() || matches!(c, '+' | ',' | '.' | '&');
    let near = after.trim_start_matches(gap).strip_prefix(end).filter(|_| end != '\n');
    let next = match near {
        Some(next) => next,
        // `Keys start with sk_test_`: the end of a sentence is no piece of one.
        None if end == '\n' && !key.bytes().any(|b| b.is_ascii_digit()) => return None,
        // What is a key already does not go on in another variable.
        None if len < least_of(opening, end) => behind_name(after, end)?,
        None => return None,
    };
    let run = next.chars().take_while(is_sign).count();
    let (own, tail) = next.split_at_checked(run)?;
    let is_whole = if end == '\n' {
        tail.is_empty() || tail.starts_with(['\n', '\r'])
    } else {
        tail.starts_with(end)
    };
    let is_other = OPENINGS.iter().any(|opening| next.starts_with(opening));
    let least = if near.is_some() { 8 } else { 6 };
    let is_jumbled = near.is_some() || own.bytes().any(|b| b.is_ascii_digit());
    (run >= least && is_whole && !is_other && is_jumbled).then(|| rest.len() - next.len())
}

/// Signs from which on a key is whole: fewer where no quote says that the
/// next line goes on with it.
fn least_of(opening: &str, end: char) -> usize {
    match opening {
        "AKIA" | "ASIA" => 20,
        _ if end == '\n' => opening.len() + 13,
        _ => opening.len() + 19,
    }
}

/// Behind the name of the next variable: `; b = "`, `B=`.
fn behind_name(after: &str, end: char) -> Option<&str> {
    let near = after.get(..after.floor_char_boundary(MOST_BETWEEN))?;
    let at = near.find(['=', ':'])?;
    let name = near.get(..at)?.trim_end_matches([':', ' ']);
    let is_name = |c: char| c.is_ascii_alphanumeric() || " \t\n;,_$\"'-{}".contains(c);
    let value = after.get(at..)?.trim_start_matches(['=', ':', '>', ' ']);
    (!name.is_empty() && name.chars().all(is_name))
        .then(|| if end == '\n' { Some(value) } else { value.strip_prefix(end) })?
}

/// Between the pieces of a key in two variables.
const MOST_BETWEEN: usize = 60;

/// The longest key that is looked for across lines.
const MOST_WRAPPED: usize = 2_000;

fn fold(c: char) -> Fold {
    match c {
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{e0000}'..='\u{e01ef}' => Fold::Drop,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            Fold::Into(' ')
        }
        '“' | '”' | '„' | '‟' | '«' | '»' | '「' | '」' | '『' | '』' => {
            Fold::Into('"')
        }
        '‘' | '’' | '‚' | '‛' | '‹' | '›' => Fold::Into('\''),
        '\u{2010}' | '\u{2011}' | '\u{2212}' => Fold::Into('-'),
        '\u{ff01}'..='\u{ff5e}' => plain(u32::from(c) - 0xfee0),
        '\u{1d400}'..='\u{1d6a3}' => {
            let letter = (u32::from(c) - 0x1_d400) % 52;
            plain(if letter < 26 { 0x41 + letter } else { 0x61 + letter - 26 })
        }
        '\u{1d7ce}'..='\u{1d7ff}' => plain(0x30 + (u32::from(c) - 0x1_d7ce) % 10),
        _ => Fold::Keep,
    }
}

fn plain(code: u32) -> Fold {
    char::from_u32(code).map_or(Fold::Keep, Fold::Into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s15_the_view_leads_back_to_the_bytes() {
        let text = "a\u{200b}b ｃ\\\nd “x” \"e\" + \"f\"";
        let view = View::of(text);
        assert_eq!(view.text(), "ab cd \"x\" \"ef\"");
        assert_eq!(text.get(view.original(&(0..2))), Some("a\u{200b}b"));
        assert_eq!(text.get(view.original(&(3..5))), Some("ｃ\\\nd"));
        assert_eq!(text.get(view.original(&(11..13))), Some("e\" + \"f"));
    }
}
