//! Texts that tell their reader to act (S4, L5.26).
//!
//! What does not rest on the person's own words may be a fact; it may not be
//! an order. [`tells_to_act`] finds imperatives and obligations in the
//! languages of R15, through the usual disguises, and rather finds too many
//! than too few. [`sets_itself_above`] finds the few that nobody may write.

mod english;
mod lexicon;

use crate::folding::{folded, sentences};
use lexicon::TONGUES;
use regex::Regex;
use std::fmt;
use std::sync::LazyLock;

/// How a text tells its reader to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderKind {
    /// It sets aside what its reader was told, or poses as the system.
    Above,
    /// It hands its reader a power, or asks to keep something from the person.
    Behind,
    /// It holds a command line that fetches and runs, or destroys.
    Shell,
    /// It asks to decode something.
    Encoded,
    /// It tells its reader to do something.
    Imperative,
    /// It says that something has to be done.
    Obligation,
}

impl OrderKind {
    /// Why it is not a note, in words for people.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Above => "it sets itself above the instructions of its reader",
            Self::Behind => "it claims a permission, or asks to keep something from the person",
            Self::Shell => "it holds a command that fetches and runs something, or destroys it",
            Self::Encoded => "it asks its reader to decode something",
            Self::Imperative => "it tells its reader to do something",
            Self::Obligation => "it says that its reader has to do something",
        }
    }
}

impl fmt::Display for OrderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

/// What in a text tells an assistant or a person to act; none for facts.
///
/// ```
/// use everfold_memory_judge::orders::tells_to_act;
///
/// assert!(tells_to_act("Before building, run the installer.").is_some());
/// assert!(tells_to_act("The nightly import runs at 01:00.").is_none());
/// ```
#[must_use]
pub fn tells_to_act(text: &str) -> Option<OrderKind> {
    let plain = folded(text);
    let mut shapes = vec![plain.clone()];
    shapes.extend(closed_up(&plain));
    shapes.extend(spelled_out(&plain));
    shapes.extend(unmarked(&plain));
    shapes.iter().find_map(|shape| in_shape(shape))
}

/// Whether a text would set itself above its reader's instructions, or close
/// the envelope that it is shown in. That is refused whoever says it.
#[must_use]
pub fn sets_itself_above(text: &str) -> bool {
    let plain = folded(text);
    let is_above =
        |text: &str| is(lexicon::ABOVE.as_ref(), text) || is(lexicon::ENVELOPE.as_ref(), text);
    is_above(&plain) || closed_up(&plain).is_some_and(|shape| is_above(&shape))
}

fn in_shape(text: &str) -> Option<OrderKind> {
    if is(lexicon::ABOVE.as_ref(), text)
        || is(lexicon::ENVELOPE.as_ref(), text)
        || is(lexicon::POSES.as_ref(), text)
    {
        return Some(OrderKind::Above);
    }
    if is(lexicon::BEHIND.as_ref(), text) {
        return Some(OrderKind::Behind);
    }
    if is(lexicon::SHELL.as_ref(), text) {
        return Some(OrderKind::Shell);
    }
    if is(BLOB.as_ref(), text) && is(lexicon::DECODE.as_ref(), text) {
        return Some(OrderKind::Encoded);
    }
    sentences(text).into_iter().find_map(in_sentence)
}

fn in_sentence(sentence: &str) -> Option<OrderKind> {
    if let Some(order) = english::order(sentence) {
        return Some(order);
    }
    let written =
        |tongue: &&lexicon::Tongue| sentence.contains(|sign| tongue.script.contains(&sign));
    TONGUES.iter().filter(written).find_map(|tongue| {
        if is(tongue.imperative.as_ref(), sentence) {
            Some(OrderKind::Imperative)
        } else if is(tongue.duty.as_ref(), sentence) && is(tongue.act.as_ref(), sentence) {
            Some(OrderKind::Obligation)
        } else {
            None
        }
    })
}

fn is(pattern: Option<&Regex>, text: &str) -> bool {
    pattern.is_some_and(|pattern| pattern.is_match(text))
}

/// Words that were s p a c e d out, closed up; none where there are none.
fn closed_up(text: &str) -> Option<String> {
    let spaced = SPACED.as_ref()?;
    spaced.is_match(text).then(|| {
        let closed = spaced.replace_all(text, |found: &regex::Captures<'_>| {
            let whole = found.get(0).map_or("", |whole| whole.as_str());
            // Two blanks part words that one blank parts into letters.
            let words = whole
                .split("  ")
                .map(|word| word.chars().filter(|c| c.is_alphanumeric()).collect());
            words.collect::<Vec<String>>().join(" ")
        });
        closed.into_owned()
    })
}

/// Letters written as digits, as letters; none where no word mixes them.
fn spelled_out(text: &str) -> Option<String> {
    let leet = LEET.as_ref()?;
    leet.is_match(text).then(|| {
        let spelled = leet.replace_all(text, |found: &regex::Captures<'_>| {
            let word = found.get(0).map_or("", |word| word.as_str());
            let letter = |sign| match sign {
                '0' => 'o',
                '1' => 'i',
                '3' => 'e',
                '4' | '@' => 'a',
                '5' | '$' => 's',
                '7' => 't',
                other => other,
            };
            word.chars().map(letter).collect::<String>()
        });
        spelled.into_owned()
    })
}

/// A text without marks of Markdown and HTML that would stand between words.
fn unmarked(text: &str) -> Option<String> {
    let marks = MARKS.as_ref()?;
    marks.is_match(text).then(|| marks.replace_all(text, "").into_owned())
}

static SPACED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b[a-z](?:[ ._\-*]{1,2}[a-z]){3,}\b").ok());
static LEET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b[a-z0-9@$]*(?:[a-z][013457@$]+[a-z]|\b[013457@$][a-z]{2})[a-z0-9@$]*").ok()
});
static MARKS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"<!--|-->|</?[a-z][a-z0-9]{0,9}>|\*+|__+|~~|`+|\\").ok());
static BLOB: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[a-z0-9+/_-]{16,}={0,2}|(?:\\x[0-9a-f]{2}){4,}|\b(?:[0-9a-f]{2} ){6,}").ok()
});
