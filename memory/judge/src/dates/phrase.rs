//! A phrase of a table: what it means, the words it is made of, how the date is
//! put.
//!
//! A line of a table is `meaning [number] [?] [> wording]: pattern ; pattern`.
//! A pattern is a row of slots: `a|b` for words (`_` is a blank), `[a|b]` for
//! words that stay, `<day>`, `<month>`, `<unit>`, `<n>`, `<nth>`; with `?` behind
//! it a slot may be missing. In a wording `{}` is the date and `$` what stays.
//! The `?` behind a meaning asks for other words of that language in the text.

/// What a phrase says of the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// It recurs or holds always.
    Always,
    /// It happens once.
    Once,
    Past,
    /// A noun that a name stands with: view, page, button.
    Label,
    /// The next word is a name: called, named.
    Called,
    /// A preposition: a date behind it takes none of its own.
    Preposition,
    /// May follow "until the 30th" without being counted by it.
    Then,
    /// A weekday followed by it is one of a month.
    Of,
    /// "In two days" behind it says how long it took.
    Span,
    /// An everyday word, which tells the language.
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Stays as it is, with everything in it.
    Keep,
    Mark(Mark),
    Day(i16),
    /// `next Thursday`.
    Next,
    /// `this Friday`: the coming one, today included.
    This,
    /// `coming Friday`: the coming one, not today.
    Coming,
    /// `el próximo viernes`: the coming one, but not tomorrow.
    Nearest,
    Last,
    /// `by Friday`, unless it recurs.
    Due,
    /// `since Monday`, unless it recurs.
    Since,
    /// `on Monday`, where something says that it happens once.
    On,
    /// `Thursday next week`.
    InWeek(i16),
    In,
    Ago,
    /// `a week from Friday`.
    FromDay,
    Week(i16),
    Weekend(i16),
    Month(i16),
    Year(i16),
    Quarter(i16),
    /// `the 31st of next month`.
    NthOf(i16),
    /// `until the 30th`, unless it recurs.
    Nth,
    /// `on the 30th`, where something says that it happens once.
    OnNth,
    /// `March 3`.
    MonthDay,
    /// `end of February`.
    EndOfNamed,
    EndOfMonth(i16),
    /// `at the end of the month`, where something says that it happens once.
    AtEndOfMonth,
    EndOfYear(i16),
    /// `by the end of the week`: its Friday, unless it recurs.
    EndOfWeek(i16),
    NextNamed,
    LastNamed,
}

impl Meaning {
    pub(super) fn parse(name: &str, step: i16) -> Option<Self> {
        Some(match name {
            "keep" => Self::Keep,
            "always" => Self::Mark(Mark::Always),
            "once" => Self::Mark(Mark::Once),
            "past" => Self::Mark(Mark::Past),
            "label" => Self::Mark(Mark::Label),
            "called" => Self::Mark(Mark::Called),
            "preposition" => Self::Mark(Mark::Preposition),
            "then" => Self::Mark(Mark::Then),
            "of" => Self::Mark(Mark::Of),
            "span" => Self::Mark(Mark::Span),
            "stop" => Self::Mark(Mark::Stop),
            "day" => Self::Day(step),
            "next" => Self::Next,
            "this" => Self::This,
            "coming" => Self::Coming,
            "nearest" => Self::Nearest,
            "last" => Self::Last,
            "due" => Self::Due,
            "since" => Self::Since,
            "on" => Self::On,
            "in-week" => Self::InWeek(step),
            "in" => Self::In,
            "ago" => Self::Ago,
            "from-day" => Self::FromDay,
            "week" => Self::Week(step),
            "weekend" => Self::Weekend(step),
            "month" => Self::Month(step),
            "year" => Self::Year(step),
            "quarter" => Self::Quarter(step),
            "nth-of" => Self::NthOf(step),
            "nth" => Self::Nth,
            "on-nth" => Self::OnNth,
            "month-day" => Self::MonthDay,
            "end-of-named" => Self::EndOfNamed,
            "end-of-month" => Self::EndOfMonth(step),
            "at-end-of-month" => Self::AtEndOfMonth,
            "end-of-year" => Self::EndOfYear(step),
            "end-of-week" => Self::EndOfWeek(step),
            "next-named" => Self::NextNamed,
            "last-named" => Self::LastNamed,
            _ => return None,
        })
    }

    /// Whether a sentence that speaks of what recurs takes it along.
    pub(super) fn is_weak(self) -> bool {
        matches!(
            self,
            Self::Due
                | Self::Since
                | Self::Nth
                | Self::MonthDay
                | Self::EndOfNamed
                | Self::EndOfMonth(0)
                | Self::EndOfYear(0)
                | Self::EndOfWeek(0)
        ) || self.is_doubtful()
    }

    /// Whether it needs a word that says that it happens once.
    pub(super) fn is_doubtful(self) -> bool {
        matches!(self, Self::On | Self::OnNth | Self::AtEndOfMonth)
    }

    /// Whether it rests on a weekday.
    pub(super) fn is_weekday(self) -> bool {
        matches!(
            self,
            Self::Next
                | Self::This
                | Self::Coming
                | Self::Nearest
                | Self::Last
                | Self::Due
                | Self::Since
                | Self::On
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Day,
    Month,
    Unit,
    Number,
    /// The day of a month.
    Nth,
}

/// One part of a pattern; words with `|` between them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot<'a> {
    Words(&'a str),
    Kept(&'a str),
    Class(Class),
}

#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    pub(super) meaning: Meaning,
    pub(super) wants_language: bool,
    pub(super) wording: &'a str,
    pub(super) patterns: Vec<Vec<(Slot<'a>, Presence)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Needed,
    /// It may be missing.
    Optional,
}

/// `None` where the line is not one of phrases.
pub(super) fn line(text: &str) -> Option<Line<'_>> {
    let (head, patterns) = text.split_once(':')?;
    let (head, wording) = head.split_once('>').unwrap_or((head, ""));
    let (head, wants_language) = match head.trim().strip_suffix('?') {
        Some(head) => (head, true),
        None => (head, false),
    };
    let mut words = head.split_whitespace();
    let name = words.next()?;
    let step = words.next().map_or(Some(0), |step| step.parse().ok())?;
    let patterns = patterns.split(';').map(pattern).collect();
    Some(Line {
        meaning: Meaning::parse(name, step)?,
        wants_language,
        wording: wording.trim(),
        patterns,
    })
}

fn pattern(text: &str) -> Vec<(Slot<'_>, Presence)> {
    text.split_whitespace().map(present_slot).collect()
}

fn present_slot(word: &str) -> (Slot<'_>, Presence) {
    match word.strip_suffix('?') {
        Some(word) => (slot(word), Presence::Optional),
        None => (slot(word), Presence::Needed),
    }
}

/// A row with and without each that may be missing.
pub(super) fn variants<T: Clone>(row: &[(T, Presence)]) -> Vec<Vec<T>> {
    let mut all: Vec<Vec<T>> = vec![Vec::with_capacity(row.len())];
    for (part, presence) in row {
        if *presence == Presence::Needed {
            for row in &mut all {
                row.push(part.clone());
            }
            continue;
        }
        let without = std::mem::take(&mut all).into_iter();
        all = without
            .flat_map(|row| {
                let mut with = row.clone();
                with.push(part.clone());
                [row, with]
            })
            .collect();
    }
    all.retain(|row| !row.is_empty());
    all
}

fn slot(word: &str) -> Slot<'_> {
    match word {
        "<day>" => Slot::Class(Class::Day),
        "<month>" => Slot::Class(Class::Month),
        "<unit>" => Slot::Class(Class::Unit),
        "<n>" => Slot::Class(Class::Number),
        "<nth>" => Slot::Class(Class::Nth),
        _ => match word.strip_prefix('[').and_then(|word| word.strip_suffix(']')) {
            Some(kept) => Slot::Kept(kept),
            None => Slot::Words(word),
        },
    }
}
