//! From a text to words, each with what it is: a name, a number, a day, a
//! word that carries a meaning, or one that does not.

mod dates;
mod signs;

use super::lexicon::{self, Entry};
use everfold_memory_recall::stems;

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Stop,
    Generic,
    Plain,
    /// Two signs of a script that is written without spaces.
    Signs,
    Name,
    /// A capital at the start of a sentence, or any in German.
    MaybeName,
    /// A path, an identifier, an address, a setting.
    Identifier,
    Number,
    Date,
    Time,
    /// From Monday, in a language.
    Weekday(usize, usize),
    /// With its families, a bit for each.
    Tool(u64),
}

impl Kind {
    /// How much it says about the subject, in tenths of a plain word.
    pub(super) fn weight(self) -> u32 {
        match self {
            Self::Stop => 0,
            Self::Generic => 2,
            Self::Signs | Self::Weekday(..) => 7,
            Self::Number => 8,
            Self::Plain | Self::Date | Self::Time => 10,
            Self::MaybeName => 12,
            Self::Name | Self::Identifier | Self::Tool(_) => 15,
        }
    }

    /// Whether one word of this kind may take the place of the other.
    pub(super) fn pairs_with(self, other: Self) -> bool {
        use Kind::{Date, Identifier, MaybeName, Name, Number, Time, Tool, Weekday};
        match (self, other) {
            (Tool(a), Tool(b)) => a & b != 0,
            (Number, Number)
            | (Date, Date)
            | (Time, Time)
            | (Identifier, Identifier)
            | (Weekday(..), Weekday(..))
            | (Name, Name | MaybeName | Tool(_))
            | (MaybeName | Tool(_), Name) => true,
            _ => false,
        }
    }
}

/// A word at its place.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    /// As it stands, in lower case.
    pub(super) lower: String,
    /// What it is compared by.
    pub(super) key: String,
    /// The parts of a compound.
    pub(super) parts: Vec<String>,
    pub(super) kind: Kind,
    pub(super) negates: bool,
}

/// How capitals are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Capitals {
    Names,
    /// Every noun has one.
    Nouns,
}

/// The words of a sentence that starts at `offset`.
pub(super) fn words(text: &str, offset: usize, capitals: Capitals) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let mut rest = text;
    let mut at = offset;
    while let Some(first) = rest.chars().next() {
        let length = match Script::of(first) {
            Script::None => first.len_utf8(),
            script => {
                let length = chunk(rest, script);
                let part = rest.get(..length).unwrap_or_default();
                let is_first = found.is_empty();
                match script {
                    Script::Signs => signs::signs(part, at, &mut found),
                    _ => found.extend(word(part, at, is_first, capitals)),
                }
                length
            }
        };
        rest = rest.get(length..).unwrap_or_default();
        at += length;
    }
    dates::dated(found)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    None,
    Letters,
    /// Han and kana.
    Signs,
}

impl Script {
    fn of(sign: char) -> Self {
        match sign {
            '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => {
                Self::Signs
            }
            '#' | '@' | '$' | '€' | '£' | '/' | '_' | '~' => Self::Letters,
            _ if sign.is_alphanumeric() => Self::Letters,
            _ => Self::None,
        }
    }
}

/// The bytes of the run at the start of a text.
fn chunk(text: &str, script: Script) -> usize {
    let mut end = 0;
    let mut signs = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, sign)) = signs.next() {
        let next = signs.peek().map_or(' ', |(_, next)| *next);
        let joins = matches!(
            sign,
            '-' | '.' | ':' | '=' | '+' | '\'' | '’' | '&' | ',' | '/' | '@' | '#' | '%'
        ) && before.is_alphanumeric();
        let inside = Script::of(sign) == script
            || (script == Script::Letters && joins && goes_on(before, sign, next));
        if !inside {
            break;
        }
        end = at + sign.len_utf8();
        before = sign;
    }
    end.max(text.chars().next().map_or(1, char::len_utf8))
}

/// Whether a sign belongs to the word that it follows.
fn goes_on(before: char, sign: char, next: char) -> bool {
    let next_is_word = Script::of(next) == Script::Letters;
    match sign {
        '%' => before.is_ascii_digit(),
        ',' | ':' => before.is_ascii_digit() && next.is_ascii_digit(),
        _ => next_is_word,
    }
}

/// A word of a script with spaces.
fn word(text: &str, at: usize, is_first: bool, capitals: Capitals) -> Option<Word> {
    let bare = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s")).unwrap_or(text);
    let bare = bare.trim_end_matches(['/', '~']);
    if !bare.chars().any(char::is_alphanumeric) {
        return None;
    }
    let lower = bare.to_lowercase().replace('’', "'");
    let mut word = Word {
        start: at,
        end: at + bare.len(),
        key: String::new(),
        parts: Vec::new(),
        kind: Kind::Stop,
        negates: false,
        lower,
    };
    let (kind, key) = told(&word.lower, bare, is_first, capitals);
    word.negates = matches!(lexicon::entry(&word.lower), Some(Entry::Negation))
        || word.lower.ends_with("n't")
        || word.lower.starts_with("n'")
        || (!word.lower.is_ascii() && HANGUL_NOT.iter().any(|not| word.lower.contains(not)));
    word.parts = parts(&word.lower);
    word.kind = kind;
    word.key = key;
    Some(word)
}

const HANGUL_NOT: &[&str] = &["않", "말고", "마세요", "말아", "금지", "없"];

/// What a word is, and what it is compared by.
fn told(lower: &str, text: &str, is_first: bool, capitals: Capitals) -> (Kind, String) {
    if let Some(found) = numeric(lower) {
        return found;
    }
    match lexicon::entry(lower) {
        Some(Entry::Stop | Entry::Negation) => return (Kind::Stop, lower.to_owned()),
        Some(Entry::Generic) => return (Kind::Generic, stem(lower)),
        Some(Entry::Weekday(day, language)) => {
            return (Kind::Weekday(day, language), format!("day {day}"));
        }
        Some(Entry::Month(month)) => return (Kind::Plain, format!("month {month}")),
        Some(Entry::Number(number)) => return (Kind::Number, number.to_string()),
        Some(Entry::Tool(_)) if lexicon::is_common(lower) && (is_first || text == lower) => {}
        Some(Entry::Tool(family)) => return (Kind::Tool(family), lower.to_owned()),
        Some(Entry::Concept(concept)) => return (Kind::Plain, concept.to_owned()),
        Some(Entry::Alias(tool)) => return told(tool, tool, is_first, capitals),
        None => {}
    }
    if lower.chars().any(is_hangul) {
        return hangul(lower);
    }
    // A contraction: "we're", "i'll", "l'équipe".
    if let Some((head, tail)) = lower.split_once('\'') {
        if tail.chars().count() <= 2 {
            return (Kind::Stop, head.to_owned());
        }
        return told(tail, tail, true, capitals);
    }
    if is_identifier(text) {
        return (Kind::Identifier, lower.to_owned());
    }
    let has_capital = text.chars().next().is_some_and(char::is_uppercase);
    let is_shouted = text.chars().count() > 1 && !text.chars().any(char::is_lowercase);
    let kind = match (has_capital, is_first || capitals == Capitals::Nouns) {
        (false, _) => Kind::Plain,
        (true, _) if is_shouted => Kind::Plain,
        (true, true) => Kind::MaybeName,
        (true, false) => Kind::Name,
    };
    (kind, stem(lower))
}

/// A time, a date or a number.
fn numeric(lower: &str) -> Option<(Kind, String)> {
    let body = lower.trim_start_matches(['$', '€', '£', 'v', '#', '~']);
    if !body.starts_with(|c: char| c.is_ascii_digit()) || lower.starts_with('#') {
        return None;
    }
    let digits: String = body
        .chars()
        .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | ':' | '-' | '/'))
        .collect();
    let unit = body.get(digits.len()..).unwrap_or_default();
    let digits = digits.trim_end_matches(['.', ',', ':', '-', '/']);
    let fields: Vec<&str> = digits.split(['-', '/']).collect();
    let is_date = matches!(fields.as_slice(), [year, ..] if fields.len() >= 2 && year.len() == 4)
        || (fields.len() == 3 && fields.iter().all(|field| !field.is_empty()));
    if is_date && unit.is_empty() {
        return Some((Kind::Date, digits.to_owned()));
    }
    if (digits.contains(':') && unit.len() <= 2) || matches!(unit, "am" | "pm" | "uhr") {
        return Some((Kind::Time, format!("{digits}{unit}")));
    }
    // 2e4, 3f9ab: an identifier; 30s, 90%, 5mb, 26th: a number.
    let is_number =
        fields.len() == 1 && unit.chars().count() <= 4 && !unit.chars().any(|c| c.is_ascii_digit());
    is_number.then(|| (Kind::Number, digits.replace(',', ".")))
}

fn is_identifier(text: &str) -> bool {
    let inner = text.get(1..).unwrap_or_default();
    let camel =
        text.chars().zip(text.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let has_digit = text.chars().any(|c| c.is_ascii_digit());
    text.starts_with(['#', '@', '/', '~', '_'])
        || inner.contains(['_', '/', '=', '.', '@', ':', '+', '&'])
        || (inner.contains('-') && !inner.chars().any(char::is_uppercase))
        || camel
        || has_digit
}

/// What binds the parts of a compound.
const COMPOUNDS: [char; 6] = ['-', '_', '/', '.', '=', '@'];

/// The parts of a compound, as they are compared.
fn parts(lower: &str) -> Vec<String> {
    if !lower.contains(COMPOUNDS) {
        return Vec::new();
    }
    let parts = lower.split(COMPOUNDS).filter(|part| part.chars().count() > 1);
    parts
        .filter(|part| part.chars().all(char::is_alphabetic))
        .map(|part| match lexicon::entry(part) {
            Some(Entry::Concept(concept)) => concept.to_owned(),
            _ => stem(part),
        })
        .collect()
}

fn stem(lower: &str) -> String {
    if !lower.chars().all(char::is_alphanumeric) {
        return lower.to_owned();
    }
    stems(lower).into_iter().next().unwrap_or_else(|| lower.to_owned())
}

fn is_hangul(sign: char) -> bool {
    matches!(sign, '\u{ac00}'..='\u{d7a3}')
}

/// What binds a Korean word to the next one, the longest first.
const PARTICLES: &str = "에서는 으로는 에서 으로 에는 에게 까지 부터 입니다 이다 은 는 이 가 을 를 에 의 로 와 과 도 만";

/// A Korean word without the particle behind it.
fn hangul(lower: &str) -> (Kind, String) {
    if let Some((before, _)) = lower.split_once("요일")
        && let Some(day) = before
            .chars()
            .next_back()
            .and_then(|day| "월화수목금토일".chars().position(|d| d == day))
    {
        return (Kind::Weekday(day, usize::MAX), format!("day {day}"));
    }
    let bare = PARTICLES
        .split(' ')
        .find_map(|particle| lower.strip_suffix(particle))
        .filter(|bare| bare.chars().count() > 1)
        .unwrap_or(lower);
    match lexicon::entry(bare) {
        Some(Entry::Concept(concept)) => (Kind::Plain, concept.to_owned()),
        _ if bare.is_ascii() => told(bare, bare, true, Capitals::Names),
        _ => (Kind::Plain, bare.to_owned()),
    }
}
