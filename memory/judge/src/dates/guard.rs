//! Why a phrase stays as it is: it recurs, it is a name, it is part of
//! something longer, or its date is there already.

use super::lexicon::{Hit, Lexicon, Marked};
use super::phrase::{Mark, Meaning};
use super::token::{Gap, Token};

/// A text as it was read.
pub(super) struct Reading<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: &'a [Token],
    pub(super) marks: &'a [Marked],
    pub(super) lexicon: &'a Lexicon,
}

impl Reading<'_> {
    pub(super) fn stays(&self, hit: &Hit<'_>) -> bool {
        self.is_embedded(hit)
            || self.is_dated(hit)
            || self.recurs(hit)
            || self.is_name(hit)
            || self.is_counted(hit)
            || (hit.phrase.wants_language && !self.is_spoken(hit.phrase.tongue))
    }

    /// The bytes of a hit.
    pub(super) fn span(&self, hit: &Hit<'_>) -> (usize, usize) {
        let start = self.tokens.get(hit.first).map_or(0, |token| token.start);
        let end = hit.end.checked_sub(1).and_then(|at| self.tokens.get(at));
        (start, end.map_or(start, |token| token.end))
    }

    /// The bytes to replace: with the dot of a German ordinal, unless it ends
    /// the sentence.
    pub(super) fn place(&self, hit: &Hit<'_>) -> (usize, usize) {
        let (start, end) = self.span(hit);
        let last = hit.end.checked_sub(1).and_then(|at| self.tokens.get(at));
        let is_ordinal = hit.nth.is_some() && last.is_some_and(|token| token.is_number);
        let tail = self.text.get(end..).and_then(|tail| tail.strip_prefix('.'));
        let goes_on = tail.is_some_and(|tail| {
            tail.starts_with(',')
                || tail.strip_prefix(' ').is_some_and(|next| next.starts_with(char::is_lowercase))
        });
        (start, end + usize::from(is_ordinal && goes_on))
    }

    /// The text of some tokens.
    pub(super) fn words(&self, first: usize, end: usize) -> &str {
        let start = self.tokens.get(first).map_or(0, |token| token.start);
        let last = end.checked_sub(1).and_then(|at| self.tokens.get(at));
        last.and_then(|last| self.text.get(start..last.end)).unwrap_or_default()
    }

    pub(super) fn is_capital(&self, at: usize) -> bool {
        self.words(at, at + 1).starts_with(char::is_uppercase)
    }

    /// Whether a mark of its language stands directly before the hit.
    pub(super) fn follows(&self, hit: &Hit<'_>, mark: Mark) -> bool {
        let is_near = self.tokens.get(hit.first).is_some_and(|token| token.gap != Gap::Other);
        is_near && self.of(hit, mark).any(|marked| marked.end == hit.first)
    }

    /// Whether one stands directly behind it.
    fn precedes(&self, hit: &Hit<'_>, mark: Mark) -> bool {
        let is_near = self.tokens.get(hit.end).is_some_and(|token| token.gap != Gap::Other);
        is_near && self.of(hit, mark).any(|marked| marked.first == hit.end)
    }

    fn of(&self, hit: &Hit<'_>, mark: Mark) -> impl Iterator<Item = &Marked> {
        let tongue = hit.phrase.tongue;
        self.marks.iter().filter(move |marked| marked.mark == mark && marked.tongue == tongue)
    }

    /// The marks of its sentence that are not its own words.
    fn beside(&self, hit: &Hit<'_>, mark: Mark) -> impl Iterator<Item = &Marked> {
        let sentence = self.tokens.get(hit.first).map(|token| token.sentence);
        let (first, end) = (hit.first, hit.end);
        self.of(hit, mark).filter(move |marked| {
            self.tokens.get(marked.first).map(|token| token.sentence) == sentence
                && (marked.end <= first || marked.first >= end)
        })
    }

    pub(super) fn is_past(&self, hit: &Hit<'_>) -> bool {
        self.beside(hit, Mark::Past).next().is_some()
            && self.beside(hit, Mark::Once).next().is_none()
    }

    /// Whether no language has more everyday words in the text.
    fn is_spoken(&self, tongue: usize) -> bool {
        let count = |tongue: usize| {
            let is_stop = |marked: &&Marked| marked.mark == Mark::Stop && marked.tongue == tongue;
            self.marks.iter().filter(is_stop).count()
        };
        let own = count(tongue);
        own > 0 && (0..self.lexicon.tongues.len()).all(|other| count(other) <= own)
    }

    fn recurs(&self, hit: &Hit<'_>) -> bool {
        let meaning = hit.phrase.meaning;
        if self.follows(hit, Mark::Always) {
            return true;
        }
        if meaning.is_weekday()
            && (self.precedes(hit, Mark::Of) || self.precedes(hit, Mark::Always))
        {
            return true;
        }
        // "Always pay in 30 days", but not "it ends in 30 days, never forget".
        if matches!(meaning, Meaning::In) {
            let clause = self.tokens.get(hit.first).map(|token| token.clause);
            let is_before = |marked: &Marked| {
                marked.end <= hit.first
                    && self.tokens.get(marked.first).map(|token| token.clause) == clause
            };
            return self.of(hit, Mark::Always).any(is_before) || self.follows(hit, Mark::Span);
        }
        if !meaning.is_weak() {
            return false;
        }
        self.beside(hit, Mark::Always).next().is_some()
            || (meaning.is_doubtful() && self.beside(hit, Mark::Once).next().is_none())
            || self.is_range(hit)
    }

    /// `Monday until Friday`, `from Monday to Friday`: the days of any week.
    fn is_range(&self, hit: &Hit<'_>) -> bool {
        const REACH: usize = 3;
        if !hit.phrase.meaning.is_weekday() {
            return false;
        }
        let clause = self.tokens.get(hit.first).map(|token| token.clause);
        let before = hit.first.saturating_sub(REACH)..hit.first;
        let behind = hit.end..(hit.end + REACH).min(self.tokens.len());
        [before, behind].into_iter().filter_map(|range| self.tokens.get(range)).flatten().any(
            |token| Some(token.clause) == clause && self.lexicon.is_day(hit.phrase.tongue, token),
        )
    }

    /// A name has a capital within a sentence, or a noun that says what it is.
    fn is_name(&self, hit: &Hit<'_>) -> bool {
        let Some(first) = self.tokens.get(hit.first) else { return false };
        let is_word = matches!(
            hit.phrase.meaning,
            Meaning::Day(_)
                | Meaning::Week(_)
                | Meaning::Month(_)
                | Meaning::Weekend(_)
                | Meaning::Year(_)
        );
        if !is_word {
            return false;
        }
        let label = |at: usize| {
            let is_label = |marked: &&Marked| marked.mark == Mark::Label;
            self.marks.iter().filter(is_label).any(|marked| marked.first == at)
        };
        let behind = self.tokens.get(hit.first + 1..hit.end).unwrap_or_default();
        let is_single = behind.iter().all(|token| token.gap == Gap::Glued);
        let is_inside = hit.first > 0 && first.gap == Gap::Space;
        let is_capital = is_inside && self.is_capital(hit.first);
        let next = self.tokens.get(hit.end).filter(|token| token.gap != Gap::Other);
        if next.is_some() && label(hit.end) && (is_single || is_capital) {
            return true;
        }
        let is_called = |marked: &Marked| marked.mark == Mark::Called && marked.end == hit.first;
        if is_inside && self.marks.iter().any(is_called) {
            return true;
        }
        let before = hit.first.checked_sub(1);
        if is_capital && self.is_title(hit) {
            return true;
        }
        is_capital
            && (before.is_some_and(label)
                || (is_single && next.is_some() && self.is_capital(hit.end)))
    }

    /// `USA Today`, `The Day After Tomorrow`, but not a text in capitals.
    fn is_title(&self, hit: &Hit<'_>) -> bool {
        let words = self.words(hit.first, hit.end);
        let is_shouted = !words.contains(char::is_lowercase);
        let is_english = hit.phrase.tongue == 0;
        let before = hit.first.checked_sub(1).filter(|_| hit.end == hit.first + 1);
        let is_led = before.is_some_and(|at| self.is_capital(at) && !self.begins(at));
        let is_whole =
            hit.end > hit.first + 1 && (hit.first..hit.end).all(|at| self.is_capital(at));
        is_english && !is_shouted && (is_led || is_whole)
    }

    /// Whether a token begins a sentence.
    fn begins(&self, at: usize) -> bool {
        let sentence = |at: usize| self.tokens.get(at).map(|token| token.sentence);
        at.checked_sub(1).is_none_or(|before| sentence(before) != sentence(at))
    }

    /// Numbers and days that belong to more than the phrase.
    fn is_counted(&self, hit: &Hit<'_>) -> bool {
        let next = self.tokens.get(hit.end);
        match hit.phrase.meaning {
            // "By the 3rd party", "until the 2nd attempt".
            Meaning::Nth | Meaning::OnNth => {
                let is_open = next.is_none_or(|token| token.gap == Gap::Other);
                let is_signed = next.is_some_and(|token| token.gap == Gap::Glued);
                !is_open && !is_signed && !self.precedes(hit, Mark::Then)
            }
            // "March 3 2027" is absolute.
            Meaning::MonthDay | Meaning::EndOfNamed => self.has_year(hit),
            // "In a week or two", "in ten days after the release".
            Meaning::In | Meaning::Ago => {
                let near = next.filter(|token| token.gap == Gap::Space);
                let word = near.map_or("", |_| self.words(hit.end, hit.end + 1));
                let then = self.words(hit.end + 1, hit.end + 2);
                match word {
                    "or" | "oder" | "ou" | "o" | "eller" | "of" => {
                        self.tokens.get(hit.end + 1).is_some_and(|token| token.is_number)
                            || matches!(then, "two" | "three" | "so" | "less" | "more" | "fewer")
                            || word == "of"
                    }
                    "and" => self.words(hit.end + 2, hit.end + 3) == "half" || then == "half",
                    "after" | "before" | "following" | "nach" | "vor" | "après" | "avant"
                    | "después" | "antes" | "dopo" | "depois" | "na" => true,
                    _ => self.is_estimate(hit),
                }
            }
            // "Freitag morgen" is in the morning.
            Meaning::Day(1) => {
                hit.first.checked_sub(1).and_then(|at| self.tokens.get(at)).is_some_and(|before| {
                    let is_near = self.tokens.get(hit.first).is_some_and(|it| it.gap == Gap::Space);
                    is_near && self.lexicon.is_day(hit.phrase.tongue, before)
                })
            }
            _ => false,
        }
    }

    /// `two or three days ago`, `2 to 3 days ago`.
    fn is_estimate(&self, hit: &Hit<'_>) -> bool {
        let Some(before) = hit.first.checked_sub(1) else { return false };
        let word = self.words(before, hit.first);
        matches!(word, "or" | "to" | "oder" | "bis" | "ou" | "o" | "à" | "a" | "eller")
            && hit.number.is_some()
            && matches!(hit.phrase.meaning, Meaning::Ago)
    }

    fn has_year(&self, hit: &Hit<'_>) -> bool {
        let (_, end) = self.span(hit);
        let is_year = |token: &Token| {
            let between = self.text.get(end..token.start).unwrap_or("\n");
            let number = token.number.unwrap_or_default();
            between.chars().all(|sign| matches!(sign, ' ' | ',' | '.' | '\'' | '’'))
                && (number > 31 || between.ends_with(['\'', '’']))
        };
        let next = self.tokens.get(hit.end);
        let connective = ["de", "del", "of"];
        let behind = next.is_some_and(|_| {
            connective.contains(&self.words(hit.end, hit.end + 1))
                && self
                    .tokens
                    .get(hit.end + 1)
                    .is_some_and(|token| token.number.is_some_and(|number| number > 31))
        });
        let before = hit.first.checked_sub(1).and_then(|at| self.tokens.get(at));
        let is_led = before.is_some_and(|token| {
            self.tokens.get(hit.first).is_some_and(|first| first.gap != Gap::Other)
                && token.is_number
                && token.number.is_some_and(|number| number > 31)
        });
        let is_signed_year =
            hit.first >= 2 && matches!(self.words(hit.first - 1, hit.first), "年" | "년");
        behind || is_led || is_signed_year || next.is_some_and(is_year)
    }

    /// Its date stands beside it.
    fn is_dated(&self, hit: &Hit<'_>) -> bool {
        const MAX_SIGNS: usize = 40;
        let (start, end) = self.span(hit);
        let behind = self.text.get(end..).unwrap_or_default();
        let near = behind.trim_start_matches([' ', ',']);
        if let Some(inner) = near.strip_prefix(['(', '（', '[']) {
            let inner = inner.split([')', '）', ']']).next().unwrap_or_default();
            let digits = inner.chars().take(MAX_SIGNS).filter(char::is_ascii_digit).count();
            return digits >= 4 && has_year_digits(inner);
        }
        let before = self.text.get(..start).unwrap_or_default().trim_end_matches([' ', '(']);
        is_date(near.get(..10).unwrap_or_default())
            || before
                .len()
                .checked_sub(10)
                .and_then(|at| before.get(at..))
                .is_some_and(|date| is_date(date) && before.len() < start)
    }

    /// Part of an identifier, a path, a call, a flag.
    fn is_embedded(&self, hit: &Hit<'_>) -> bool {
        let (start, end) = self.span(hit);
        let head = self.text.get(..start).unwrap_or_default();
        let tail = self.text.get(end..).unwrap_or_default();
        let mut before = head.chars().rev();
        let (last, second) = (before.next(), before.next());
        let is_word = |sign: Option<char>| sign.is_some_and(char::is_alphanumeric);
        let is_elided = self.tokens.get(hit.first).is_some_and(|token| token.gap == Gap::Glued);
        let is_led = match last {
            Some('_' | '/' | '\\' | '@' | '#' | '$' | '&' | '=' | '~' | '^' | '<' | '%' | '+') => {
                true
            }
            Some('\'' | '’') if is_elided => false,
            Some('-' | '.' | ':' | ',' | '\'' | '’') => is_word(second) || second == last,
            Some(' ') => is_flag(head) || head.trim_end().ends_with(['=', '{']),
            _ => false,
        };
        let mut after = tail.chars();
        let (next, following) = (after.next(), after.next());
        let is_ascii =
            head.len() < self.text.len() && self.text.get(start..end).is_some_and(str::is_ascii);
        let is_trailed = match next {
            Some('(' | '[') => is_ascii,
            Some('_' | '/' | '\\' | '@' | '=' | '$' | '%' | '>') => true,
            Some('-' | '.' | ':' | '\'' | '’') => is_word(following) || following == Some('_'),
            Some(' ') => matches!(after_blank(tail), Some('=' | '}')) && is_ascii,
            _ => false,
        };
        is_led || is_trailed || is_argument(head) || self.is_glued_hangul(hit)
    }

    /// A Korean word begins behind a blank.
    fn is_glued_hangul(&self, hit: &Hit<'_>) -> bool {
        let is_hangul = |sign: char| matches!(sign, '\u{ac00}'..='\u{d7af}');
        let (start, _) = self.span(hit);
        let head = self.text.get(..start).unwrap_or_default();
        let tail = self.text.get(start..).unwrap_or_default();
        head.ends_with(is_hangul) && tail.starts_with(is_hangul)
    }
}

fn after_blank(tail: &str) -> Option<char> {
    tail.trim_start_matches(' ').chars().next()
}

/// `addDays(today, 1)`.
fn is_argument(head: &str) -> bool {
    let line = head.rsplit('\n').next().unwrap_or_default();
    let Some((call, arguments)) = line.rsplit_once('(') else { return false };
    !arguments.contains(')')
        && call.ends_with(|sign: char| sign.is_ascii_alphanumeric() || sign == '_')
}

/// `--since yesterday`.
fn is_flag(head: &str) -> bool {
    let word = head.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
    word.strip_prefix('-').is_some_and(|flag| {
        flag.trim_start_matches('-').starts_with(|sign: char| sign.is_ascii_alphabetic())
    })
}

fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

fn has_year_digits(text: &str) -> bool {
    text.split(|sign: char| !sign.is_ascii_digit()).any(|run| run.len() == 4)
}
