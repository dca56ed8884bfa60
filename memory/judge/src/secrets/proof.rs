//! How sure a rule has to be before a match counts.
//!
//! A key of a known form is a key. A word after "password" may be anything:
//! "password: required", `password: String` and "the password is hashed" are
//! let through, and so is whatever stands for a secret without being one.

use super::encoded::decoded;
use super::logins;
use super::names::{is_digest, is_numbered, is_snake_case, is_technical, is_word};
use super::plain;
use super::shape::{is_made_up, is_tangled, is_tangled_in_place};
use super::stand_in::{is_for_everybody, is_placeholder, is_reference};
use super::value::{Dress, Value};
use std::collections::BTreeMap;
use std::ops::Range;

/// What has to hold of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// The form is enough, unless it is only shown: `ghp_xxxx`.
    Certain,
    /// The form is also that of harmless things: it has to look random.
    Random,
    /// The form tells the place of a password, which may be a stand-in.
    Spot,
    /// The form tells the place of a password, which has letters and digits.
    Mixed,
    /// The form tells the place of a password, which has the looks of one.
    Shaped,
    /// The form tells the place of a password, which has a word and digits.
    Worded,
    /// The form tells the place of a password so surely that any word is one
    /// that is not about passwords.
    Chosen,
    /// Base64 of `user:password`.
    Basic,
    /// What follows is a password by its place: `sshpass -p …`.
    Given,
    /// What follows a name and a separator is one if it is not plain words.
    Named,
    /// The same, and plain words count that are not about passwords.
    Entered,
    /// What follows loosely is one if it has letters and digits.
    Loose,
    /// What follows is one if it looks like a made-up token.
    Token,
    /// What follows loosely is one if it is long and looks random.
    LooseToken,
    /// What follows is a number of four to twelve digits.
    Digits,
}

impl Proof {
    /// Whether the pattern is only what leads to the secret.
    pub(super) fn takes_what_follows(self) -> bool {
        !matches!(
            self,
            Self::Certain
                | Self::Random
                | Self::Spot
                | Self::Mixed
                | Self::Shaped
                | Self::Worded
                | Self::Chosen
                | Self::Basic
        )
    }

    /// Whether tokens are looked for, which have fewer signs than passwords.
    pub(super) fn is_of_tokens(self) -> bool {
        matches!(self, Self::Token | Self::LooseToken)
    }

    /// For a secret that the pattern itself took.
    pub(super) fn holds_for_form(self, hit: &str) -> bool {
        match self {
            Self::Random => !is_placeholder(hit) && has_digit(hit) && entropy(hit) >= 3.0,
            Self::Spot => !is_placeholder(hit) && !is_port(hit) && !is_stock_word(hit),
            Self::Mixed => {
                !is_placeholder(hit)
                    && !is_reference(hit)
                    && (is_mixed(hit) && !is_technical(hit) && !is_snake_case(hit)
                        || is_tangled_in_place(hit)
                        || is_passphrase(hit))
            }
            Self::Shaped => {
                !is_placeholder(hit)
                    && !is_reference(hit)
                    && (is_made_up(hit) || is_tangled_in_place(hit) || is_passphrase(hit))
            }
            Self::Worded => logins::is_chosen(hit) || is_tangled_in_place(hit),
            Self::Chosen => {
                let word = hit.trim_matches(|c: char| !c.is_alphanumeric());
                let is_plain = word.chars().all(|c| c.is_alphabetic() || " _-.".contains(c));
                Self::Spot.holds_for_form(hit)
                    && !is_reference(hit)
                    && (!is_plain || plain::is_choice(word))
            }
            Self::Basic => is_pair_in_base64(hit),
            _ => !is_shown(hit),
        }
    }

    /// For what follows the pattern.
    pub(super) fn holds_for(self, text: &str, lead: Range<usize>, value: &Value<'_>) -> bool {
        let word = value.text;
        let is_command = word.contains(' ')
            && text.get(..value.at.start).is_some_and(|head| head.ends_with("=`"));
        if is_command || is_placeholder(word) || is_reference(word) || is_counted(word, value.rest)
        {
            return false;
        }
        let chars = word.chars().count();
        match self {
            Self::Given => {
                chars >= 3
                    && (word == "secret" || !is_stock_word(word))
                    && !word.starts_with('-')
                    && !is_switch(word)
            }
            Self::Named => chars >= 4 && (is_password(value) || plain::fits(text, &lead, value)),
            Self::Entered => chars >= 4 && (is_password(value) || plain::is_choice(word)),
            Self::Loose | Self::LooseToken if is_pair(word) => false,
            Self::Loose => {
                chars >= 6
                    && is_mixed(word)
                    && !is_technical(word)
                    && !is_snake_case(word)
                    && !is_numbered(word)
                    || is_tangled_in_place(word)
                    || is_passphrase(word)
            }
            Self::Token => {
                // `token: sv=2024-11-04`: the value has a name of its own.
                let own =
                    if is_pair(word) { word.split_once('=').map(|(_, value)| value) } else { None };
                let own = own.unwrap_or(word);
                chars >= 8 && is_token(own, 2.5) && !is_other_token(text, &lead)
            }
            Self::LooseToken => {
                let head = text.get(..value.at.start).unwrap_or_default();
                chars >= 16
                    && is_token(word, 3.0)
                    && !is_uuid(word)
                    && !is_digest(head, word)
                    && !is_other_token(text, &lead)
            }
            Self::Digits => (4..=12).contains(&chars) && word.bytes().all(|b| b.is_ascii_digit()),
            Self::Certain
            | Self::Random
            | Self::Spot
            | Self::Mixed
            | Self::Shaped
            | Self::Worded
            | Self::Chosen
            | Self::Basic => true,
        }
    }
}

/// `/user:mia`, `/domain`.
fn is_switch(word: &str) -> bool {
    word.strip_prefix('/')
        .is_some_and(|own| own.contains(':') || own.bytes().all(|b| b.is_ascii_alphabetic()))
}

/// `8080/path`: of an address with a port.
fn is_port(hit: &str) -> bool {
    hit.split_once('/').is_some_and(|(port, _)| is_all_digits(port))
}

/// A form that is shown, not filled: `xxxxxxxx`, `your-key-here`.
fn is_shown(hit: &str) -> bool {
    let body = hit.rsplit(['_', '-', '.', ':', '/']).next().unwrap_or(hit);
    let body = if body.len() < 8 { hit } else { body };
    let lower = hit.to_ascii_lowercase();
    distinct(body) <= 2
        || is_repeated_word(body)
        || ["xxxxxxxx", "XXXXXXXX"].iter().any(|run| hit.contains(run))
        || is_for_everybody(hit)
        || ["your", "placeholder", "redacted", "...", "…", "****", "<", "{{", "${"]
            .iter()
            .any(|mark| lower.contains(mark))
}

/// `EXAMPLEEXAMPLEEXAMPLE`: letters that say the same again and again.
fn is_repeated_word(body: &str) -> bool {
    let is_period = |len: usize| {
        let (bytes, unit) = (body.as_bytes(), body.as_bytes().get(..len).unwrap_or_default());
        bytes.len() >= 2 * len && bytes.chunks(len).all(|part| unit.starts_with(part))
    };
    body.bytes().all(|b| b.is_ascii_alphabetic()) && (1..=12).any(is_period)
}

/// `12 characters`, `8-64 chars`, `90 days`.
fn is_counted(word: &str, rest: &str) -> bool {
    const UNITS: &str = "\
        char zeichen caract carat letter digit symbol word minute day hour second bit byte \
        times stellen ziffern tecken tegn tekens merkki символ znak karakter 文字 字符 자 more \
        attempts andup month week year token per requests";
    let next = rest.trim_start_matches([' ', '-', ')', '.']);
    word.chars().next().is_some_and(|c| c.is_ascii_digit() || matches!(c, '≥' | '>'))
        && word.chars().all(|c| !c.is_alphabetic())
        && UNITS.split_ascii_whitespace().any(|unit| next.starts_with(unit))
}

/// `name=value`: the value has a name of its own.
fn is_pair(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, value)| !name.is_empty() && !value.trim_matches('=').is_empty())
}

/// Words that stand where a password could stand, and are none.
fn is_stock_word(word: &str) -> bool {
    const WORDS: &str = "\
        password passwd pass secret string str text required optional true false none null \
        nil undefined hidden prompt stdin file env example token key the and for with from \
        your number varchar bytes blank empty yes value flag option argument is are was not \
        disabled enabled unset unknown bearer basic n/a tbd parameter field input label \
        1password bitwarden keepass lastpass auto ask read write wpa2 wpa3 wpa wep sae wpa-psk \
        wpa2-psk";
    let lower = word.to_ascii_lowercase();
    WORDS.split_ascii_whitespace().any(|stock| stock == lower)
}

/// Passwords without a digit that everybody has seen.
fn is_known_password(word: &str) -> bool {
    const KNOWN: &str = "\
        letmein qwerty qwertz azerty swordfish iloveyou opensesame correcthorse \
        correcthorsebatterystaple sunshine dragon monkey princess superman batman trustnoone \
        asdfgh zxcvbn hunter geheim";
    let lower = word.to_ascii_lowercase();
    KNOWN.split_ascii_whitespace().any(|known| known == lower)
}

fn is_password(value: &Value<'_>) -> bool {
    let word = value.text;
    if is_known_password(word) {
        return true;
    }
    if is_stock_word(word.trim_end_matches(['!', '?'])) || is_technical(word) {
        return false;
    }
    if word.contains(char::is_whitespace) {
        return word
            .split_whitespace()
            .any(|part| part.chars().count() >= 6 && is_mixed(part) && !is_technical(part));
    }
    // In Chinese and Japanese the sentence goes on: 密码必须至少12个字符.
    if word.starts_with(|c| c >= '\u{2e80}') {
        return false;
    }
    // Of a script without capitals: 'in the safe', in Thai or Hebrew.
    if word.starts_with(|c| c >= '\u{590}') && !word.contains(|c: char| c.is_ascii_alphanumeric()) {
        return false;
    }
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let symbols = word.chars().any(|c| !c.is_alphanumeric() && !"-_./:,()'’|?[]{}…–".contains(c));
    if letters == 0 {
        return digits >= 4 && (is_all_digits(word) || symbols);
    }
    let hints = ["password", "passwd", "secret", "token"]
        .iter()
        .any(|name| word.to_ascii_lowercase().contains(name));
    let is_identifier = hints && digits <= 1 && !symbols && value.dress == Dress::Bare;
    let four_words = word.split('-').filter(|part| part.chars().count() >= 3).count() >= 4;
    (digits > 0
        || symbols
        || four_words && !is_identifier_of_own(word)
        || is_tangled_in_place(word))
        && !is_identifier
}

/// A cell of a table, or what else stands for itself.
pub(super) fn is_password_alone(word: &str) -> bool {
    let value = Value { at: 0..word.len(), text: word, dress: Dress::Quoted, rest: "" };
    word.chars().count() >= 4
        && !is_placeholder(word)
        && !is_reference(word)
        && !word.contains(char::is_whitespace)
        && is_password(&value)
}

/// `correct-horse-battery-staple`: words that make no name together.
fn is_passphrase(word: &str) -> bool {
    let parts = || word.split(['-', '.', '_']);
    parts().count() >= 4
        && parts().all(|part| {
            (4..=12).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_lowercase())
        })
        && !is_identifier_of_own(word)
}

fn is_identifier_of_own(word: &str) -> bool {
    ["pass", "token", "secret", "user", "login", "auth", "reset", "service"]
        .iter()
        .any(|own| word.contains(own))
}

/// Letters and digits in one word, as people and generators mix them.
fn is_mixed(word: &str) -> bool {
    word.chars().any(char::is_alphabetic) && has_digit(word) && !word.contains(char::is_whitespace)
}

/// Letters and digits mixed as no word mixes them.
fn is_token(word: &str, least_bits: f64) -> bool {
    let is_wordy = word.split(['-', '_', '/', '.', ':', ',']).all(|part| {
        is_word(part)
            || part.chars().all(char::is_alphabetic)
            || part.len() <= 4 && is_all_digits(part)
            // `default-token-x7k2p`: how a cluster calls things.
            || part.len() == 5 && word.matches('-').count() >= 2 && is_lower_name(part)
    });
    let has_signs = word.chars().all(|c| c.is_ascii_graphic());
    let is_jumbled = word.len() >= 20
        && word.bytes().filter(u8::is_ascii_uppercase).count() >= 5
        && word.bytes().filter(u8::is_ascii_lowercase).count() >= 5
        && entropy(word) >= 4.0;
    let mixed = is_mixed(word) && !is_wordy && !is_technical(word);
    let is_jumbled = is_jumbled || word.len() >= 16 && is_tangled(word);
    has_signs && (mixed || is_jumbled) && entropy(word) >= least_bits
}

/// Tokens and keys that open nothing: of pages, of designs, of caches.
fn is_other_token(text: &str, lead: &Range<usize>) -> bool {
    let before = text.get(..lead.start).unwrap_or_default();
    let own = text.get(lead.clone()).unwrap_or_default();
    // What stands before a question mark or an ampersand is another word.
    if own.starts_with(['?', '&']) {
        return false;
    }
    // Git is told by a fingerprint which key signs.
    if own.trim_start().starts_with("signingkey") && before.ends_with(['\t', ' ', '.', '\n']) {
        return true;
    }
    // `GPG_KEY_ID`: what a key is called opens nothing.
    if own.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).ends_with("KEY_ID") {
        return true;
    }
    if before.ends_with(':') || own.trim_end().ends_with("sha256:") {
        return true;
    }
    is_kind_of_everybody(text, lead.start)
}

/// Whether the word before a name for a key says that it is one of those.
pub(super) fn is_kind_of_everybody(text: &str, at: usize) -> bool {
    const KINDS: &str = "\
        page next continuation sync cursor design public cache primary partition sort \
        pagination idempotency foreign cancellation object verifying public_ resume \
        checkpoint max publishable_ publishable site publickey";
    let before = text.get(..at).unwrap_or_default();
    let before = before.trim_end_matches(['_', '-', ' ', '\'', '"']);
    let tail = before
        .get(before.floor_char_boundary(before.len().saturating_sub(16))..)
        .unwrap_or_default();
    let lower = tail.to_ascii_lowercase();
    KINDS.split_ascii_whitespace().any(|kind| lower.ends_with(kind))
}

fn is_lower_name(part: &str) -> bool {
    part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

fn is_uuid(word: &str) -> bool {
    word.len() == 36
        && word.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && word.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

fn is_pair_in_base64(hit: &str) -> bool {
    let Some(decoded) = decoded(hit) else { return false };
    let at = decoded.iter().position(|b| *b == b':');
    // A form with random content is still one where the header names it.
    at.is_some_and(|at| at + 3 < decoded.len()) && std::str::from_utf8(&decoded).is_ok()
        || hit.len() >= 16 && has_digit(hit) && entropy(hit) >= 3.0
}

pub(super) fn is_all_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
}

pub(super) fn has_digit(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit())
}

pub(super) fn distinct(word: &str) -> usize {
    word.chars().collect::<std::collections::BTreeSet<char>>().len()
}

/// Bits a character, by how often each occurs.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = BTreeMap::<char, u32>::new();
    text.chars().for_each(|c| *counts.entry(c).or_default() += 1);
    let total = f64::from(counts.values().sum::<u32>().max(1));
    counts.values().map(|count| f64::from(*count) / total).map(|share| -share * share.log2()).sum()
}
