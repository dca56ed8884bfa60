//! Texts that tell their reader to act (S4, L5.26).
//!
//! What does not rest on the person's own words may be a fact; it may not be
//! an order. [`tells_to_act`] finds imperatives and obligations in the
//! languages of R15, through the usual disguises, and rather finds too many
//! than too few. [`sets_itself_above`] finds the few that nobody may write.

mod english;
mod lexicon;

use crate::folding::{folded, sentences};
use crate::pattern::patterns;
use lexicon::TONGUES;
use std::fmt;

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
    let is_above = |text: &str| lexicon::ABOVE.is_in(text) || lexicon::ENVELOPE.is_in(text);
    is_above(&plain) || closed_up(&plain).is_some_and(|shape| is_above(&shape))
}

fn in_shape(text: &str) -> Option<OrderKind> {
    if lexicon::ABOVE.is_in(text) || lexicon::ENVELOPE.is_in(text) || lexicon::POSES.is_in(text) {
        return Some(OrderKind::Above);
    }
    if lexicon::BEHIND.is_in(text) {
        return Some(OrderKind::Behind);
    }
    if lexicon::SHELL.is_in(text) {
        return Some(OrderKind::Shell);
    }
    if lexicon::DECODE.is_in(text) && BLOB.is_in(text) {
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
        if tongue.imperative.is_in(sentence) {
            Some(OrderKind::Imperative)
        } else if tongue.duty.is_in(sentence) && tongue.act.is_in(sentence) {
            Some(OrderKind::Obligation)
        } else {
            None
        }
    })
}

/// Words that were s p a c e d out, closed up; none where there are none.
fn closed_up(text: &str) -> Option<String> {
    SPACED.is_in(text).then(|| {
        SPACED.replaced(text, |whole| {
            // Two blanks part words that one blank parts into letters.
            let words = whole
                .split("  ")
                .map(|word| word.chars().filter(|c| c.is_alphanumeric()).collect());
            words.collect::<Vec<String>>().join(" ")
        })
    })
}

/// Letters written as digits, as letters; none where no word mixes them.
fn spelled_out(text: &str) -> Option<String> {
    let letter = |sign| match sign {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    };
    let mixes = text.contains(|sign| letter(sign) != sign) && LEET.is_in(text);
    mixes.then(|| LEET.replaced(text, |word| word.chars().map(letter).collect()))
}

/// A text without marks of Markdown and HTML that would stand between words.
fn unmarked(text: &str) -> Option<String> {
    MARKS.is_in(text).then(|| MARKS.replaced(text, |_| String::new()))
}

patterns! {
    SPACED = r"\b[a-z](?:[ ._\-*]{1,2}[a-z]){3,}\b";
    LEET = r"\b[a-z0-9@$]*(?:[a-z][013457@$]+[a-z]|\b[013457@$][a-z]{2})[a-z0-9@$]*";
    MARKS = r"<!--|-->|</?[a-z][a-z0-9]{0,9}>|\*+|__+|~~|`+|\\";
    BLOB = r"[a-z0-9+/_-]{16,}={0,2}|(?:\\x[0-9a-f]{2}){4,}|\b(?:[0-9a-f]{2} ){6,}";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_every_pattern_compiles() {
        for pattern in [&SPACED, &LEET, &MARKS, &BLOB] {
            assert_eq!(pattern.faults(), [""; 0]);
        }
    }
}
