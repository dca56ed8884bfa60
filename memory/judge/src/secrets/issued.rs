//! Keys of issuers that no table knows: a name, a sign, and a long run that
//! nobody typed: `acme_live_7fK2…`.

use super::logins;
use super::names::is_word;
use super::proof::{entropy, has_digit};
use std::ops::Range;

/// The least that follows the name; ids of records are shorter.
const LEAST_RUN: usize = 32;

/// The same behind a name that says what it is: `acme_pat_…`.
const LEAST_SAID_RUN: usize = 16;
const SAYING: &str = "pat sk secret token apikey tok live prod test priv private oauth rk sec";
/// Those of them that name nothing but a key.
const NAMING: &str = "pat sk secret token apikey tok rk sec key";

/// Beginnings of what is long and random, and opens nothing.
const OTHERS: &str = "phc_ sha pk_ cs_ chatcmpl resp_ ssh cert fingerprint build req asset";

/// Words that look like a key somebody issued.
pub(super) fn keys(text: &str) -> Vec<Range<usize>> {
    let start_of = |part: &str| part.as_ptr().addr() - text.as_ptr().addr();
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "_-+/.".contains(c)))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| word.len() > LEAST_SAID_RUN + 4 && is_key(word))
        .map(|word| start_of(word)..start_of(word) + word.len())
        .collect()
}

fn is_key(word: &str) -> bool {
    if is_id_with_secret(word) {
        return true;
    }
    let Some(run) = behind_name(word, LEAST_RUN).or_else(|| behind(word, LEAST_SAID_RUN, SAYING))
    else {
        return false;
    };
    let count = |is: fn(&u8) -> bool| run.bytes().filter(is).count();
    let digits = count(u8::is_ascii_digit);
    let is_mixed = digits >= 2
        && count(u8::is_ascii_uppercase) >= 4
        && count(u8::is_ascii_lowercase) >= 4
        && entropy(run) >= 3.8;
    let groups = run.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).count();
    let is_lower = run.len() >= LEAST_RUN
        && groups >= 5
        && run.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && !run.bytes().all(|b| b.is_ascii_hexdigit());
    let is_named = behind(word, LEAST_SAID_RUN, NAMING)
        .is_some_and(|run| is_long_number(run, word) || is_in_groups(run));
    let lower = word.to_ascii_lowercase();
    run.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=".contains(&b))
        && (is_mixed || is_lower || is_named)
        && !lower.contains("publi")
        && !OTHERS.split_ascii_whitespace().any(|other| lower.starts_with(other))
}

/// `KBNuGFDd.eGXbdoJg…`: what names a key, and the key.
fn is_id_with_secret(word: &str) -> bool {
    let is_alphanumeric = |part: &str| part.bytes().all(|b| b.is_ascii_alphanumeric());
    let has = |part: &str, is: fn(&u8) -> bool| part.bytes().filter(is).count() >= 2;
    word.split_once('.').is_some_and(|(id, secret)| {
        let is_number = id.len() == LEAST_RUN && id.bytes().all(|b| b.is_ascii_hexdigit());
        let least = if is_number { LEAST_SAID_RUN } else { LEAST_RUN };
        (is_number || (6..=32).contains(&id.len()))
            && secret.len() >= least
            && is_alphanumeric(id)
            && is_alphanumeric(secret)
            && has(secret, u8::is_ascii_uppercase)
            && has(secret, u8::is_ascii_lowercase)
            && has_digit(secret)
            && entropy(secret) >= if is_number { 3.2 } else { 4.0 }
    })
}

/// What follows up to three short parts of one case: `acme_live_…`.
fn behind_name(word: &str, least: usize) -> Option<&str> {
    let mut rest = word;
    for _ in 0..3 {
        match rest.split_once(['_', '-']) {
            Some((part, more))
                if (1..=10).contains(&part.len()) && is_one_case(part) && more.len() >= least =>
            {
                rest = more;
            }
            _ => break,
        }
    }
    let named = rest.len() < word.len() && word.starts_with(|c: char| c.is_ascii_alphabetic());
    // Base64 of a URL has these signs too, and is then cut anywhere.
    let first = word.split(['_', '-']).next().unwrap_or_default();
    let letters = first.bytes().take_while(u8::is_ascii_lowercase).count();
    let is_said = SAYING.split_ascii_whitespace().any(|own| first.eq_ignore_ascii_case(own));
    (named && (letters >= 2 || is_said || !rest.contains(['_', '-']))).then_some(rest)
}

/// What follows a name of which one part says that a key does.
fn behind<'a>(word: &'a str, least: usize, saying: &str) -> Option<&'a str> {
    let run = behind_name(word, least)?;
    let name = word.get(..word.len() - run.len())?.to_ascii_lowercase();
    let mut parts = name.split(['_', '-']);
    parts.any(|part| saying.split_ascii_whitespace().any(|own| own == part)).then_some(run)
}

/// Hexadecimal digits behind a name that is not that of a digest.
fn is_long_number(run: &str, word: &str) -> bool {
    let name = word.get(..word.len() - run.len()).unwrap_or_default();
    run.len() >= LEAST_RUN
        && run.bytes().all(|b| b.is_ascii_hexdigit())
        && entropy(run) >= 3.0
        && !logins::is_of_everybody(name)
}

/// `2cil4ny-9im3ym8-1u79xgs`: groups of which most are no words.
fn is_in_groups(run: &str) -> bool {
    let is_group = |part: &str| part.len() >= 5 && part.bytes().all(|b| b.is_ascii_alphanumeric());
    let is_odd = |part: &&str| has_digit(part) && !is_word(part);
    let count = run.split('-').count();
    count >= 3 && run.split('-').all(is_group) && run.split('-').filter(is_odd).count() * 2 > count
}

fn is_one_case(part: &str) -> bool {
    let is = |case: fn(&u8) -> bool| part.bytes().all(|b| b.is_ascii_digit() || case(&b));
    is(u8::is_ascii_lowercase) || is(u8::is_ascii_uppercase)
}
