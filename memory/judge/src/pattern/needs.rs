//! The words without which a pattern cannot match, read from its source.
//!
//! Of what follows on each other the element counts whose shortest word is the
//! longest; of alternatives, all count. What is optional, or a class, needs
//! nothing. Only what the judge's patterns are written in is understood: no
//! flags within, no comments.

use std::iter::Peekable;
use std::str::Chars;

/// One of these stands in every text that a pattern matches; none where that
/// cannot be said.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Needs(Option<Vec<String>>);

impl Needs {
    pub(super) fn of(source: &str, flags: &str) -> Self {
        let mut reader =
            Reader { signs: source.chars().peekable(), is_spaced: flags.contains('x') };
        Self(reader.alternatives())
    }

    pub(super) fn are_met(&self, text: &str) -> bool {
        self.0.as_ref().is_none_or(|words| words.iter().any(|word| text.contains(word.as_str())))
    }
}

/// The flags that a source begins with, and the rest of it.
pub(super) fn flags(source: &str) -> (&str, &str) {
    let end = source.find(')').map_or(0, |end| end + 1);
    let (head, rest) = source.split_at_checked(end).unwrap_or(("", source));
    let inner = head.strip_prefix("(?").and_then(|flags| flags.strip_suffix(')'));
    match inner {
        Some(flags) if !flags.is_empty() && flags.chars().all(char::is_alphabetic) => (head, rest),
        _ => ("", source),
    }
}

/// The alternatives of a source.
pub(super) fn alternatives(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    let mut signs = source.char_indices().peekable();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '\\' => _ = signs.next(),
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '[' => {
                // A bracket that a class opens with is one of its signs.
                let mut first = true;
                while let Some((_, sign)) = signs.next() {
                    match sign {
                        '\\' => _ = signs.next(),
                        ']' if !first => break,
                        '^' if first => continue,
                        _ => {}
                    }
                    first = false;
                }
            }
            '|' if depth == 0 => {
                found.push(source.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(source.get(start..).unwrap_or_default());
    found
}

/// How often something stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    Once,
    /// At least once.
    More,
    /// Perhaps never.
    Maybe,
}

struct Reader<'a> {
    signs: Peekable<Chars<'a>>,
    /// Whether white space means nothing.
    is_spaced: bool,
}

impl Reader<'_> {
    /// Up to the end, or the bracket that closes.
    fn alternatives(&mut self) -> Option<Vec<String>> {
        let mut all = Some(Vec::new());
        loop {
            let branch = self.row();
            all = match (all, branch) {
                (Some(mut all), Some(branch)) => {
                    all.extend(branch);
                    Some(all)
                }
                _ => None,
            };
            if self.signs.next() != Some('|') {
                return all;
            }
        }
    }

    /// What follows on each other, up to what ends it.
    fn row(&mut self) -> Option<Vec<String>> {
        let mut best: Option<Vec<String>> = None;
        let mut run = String::new();
        while let Some(sign) = self.signs.next_if(|sign| !matches!(sign, '|' | ')')) {
            let letter = match sign {
                '(' => {
                    better(&mut best, Some(vec![std::mem::take(&mut run)]));
                    let within = self.group();
                    if self.times() != Times::Maybe {
                        better(&mut best, within);
                    }
                    continue;
                }
                '[' => {
                    self.class();
                    None
                }
                '\\' => self.escaped(),
                '^' | '$' | '.' => None,
                space if self.is_spaced && space.is_whitespace() => continue,
                sign => Some(sign),
            };
            let times = self.times();
            if let Some(letter) = letter.filter(|_| times != Times::Maybe) {
                run.push(letter);
            }
            if letter.is_none() || times != Times::Once {
                better(&mut best, Some(vec![std::mem::take(&mut run)]));
            }
        }
        better(&mut best, Some(vec![run]));
        best
    }

    /// Behind the bracket that opens it, to the one that closes it.
    fn group(&mut self) -> Option<Vec<String>> {
        if self.signs.next_if_eq(&'?').is_some() {
            // Up to the colon, or the end of a name.
            while self.signs.next().is_some_and(|sign| !matches!(sign, ':' | '>')) {}
        }
        self.alternatives()
    }

    fn class(&mut self) {
        self.signs.next_if_eq(&'^');
        self.signs.next_if_eq(&']');
        while let Some(sign) = self.signs.next() {
            match sign {
                '\\' => _ = self.signs.next(),
                ']' => return,
                _ => {}
            }
        }
    }

    /// The sign that is meant, if it is one.
    fn escaped(&mut self) -> Option<char> {
        match self.signs.next()? {
            'n' => Some('\n'),
            'x' => {
                let digits: String = self.signs.by_ref().take(2).collect();
                u8::from_str_radix(&digits, 16).ok().map(char::from)
            }
            sign if sign.is_alphanumeric() => None,
            sign => Some(sign),
        }
    }

    /// How often what was read stands.
    fn times(&mut self) -> Times {
        let times = match self.signs.peek() {
            Some('?' | '*') => Times::Maybe,
            Some('+' | '{') => Times::More,
            _ => return Times::Once,
        };
        let is_counted = self.signs.next() == Some('{');
        let is_none = is_counted && self.signs.peek() == Some(&'0');
        if is_counted {
            while self.signs.next().is_some_and(|sign| sign != '}') {}
        }
        self.signs.next_if_eq(&'?');
        if is_none { Times::Maybe } else { times }
    }
}

/// Keeps of two sets of words the one that is in fewer texts.
fn better(best: &mut Option<Vec<String>>, other: Option<Vec<String>>) {
    let length = |words: &Vec<String>| words.iter().map(String::len).min().unwrap_or(0);
    let Some(other) = other.filter(|words| length(words) > 0) else { return };
    if best.as_ref().is_none_or(|best| length(&other) > length(best)) {
        *best = Some(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_a_pattern_needs_are_read_from_it() {
        let cases: [(&str, &str, Option<&[&str]>); 12] = [
            ("abc", "", Some(&["abc"])),
            (r"\babc\b", "", Some(&["abc"])),
            ("ab?cd", "", Some(&["cd"])),
            ("a+b", "", Some(&["a"])),
            ("(?:abc|de)x?", "", Some(&["abc", "de"])),
            ("(?:abc|d?)x", "", Some(&["x"])),
            (r" a\ b  c ", "(?x)", Some(&["a bc"])),
            (r"[xyz|)]{2,3}", "", None),
            (r"(?:\w+ ){0,2}(?P<k>long|word)", "", Some(&["long", "word"])),
            (r"(?:(?-u:\b)it|[]a]) end", "", Some(&[" end"])),
            (r"\x22\.[^\]]*", "", Some(&["\"."])),
            ("a|", "", None),
        ];
        for (source, flags, expected) in cases {
            let expected =
                expected.map(|words| words.iter().map(ToString::to_string).collect::<Vec<_>>());
            assert_eq!(Needs::of(source, flags), Needs(expected), "{source}");
        }
    }

    #[test]
    fn alternatives_are_split_where_they_stand_alone() {
        assert_eq!(alternatives(r"a\|b|(c|d)|[|\]]|e"), [r"a\|b", "(c|d)", r"[|\]]", "e"]);
        assert_eq!(flags("(?x)a|b"), ("(?x)", "a|b"));
        assert_eq!(flags("(?:a)"), ("", "(?:a)"));
    }
}
