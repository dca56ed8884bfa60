//! Keys of issuers that no table knows: a name, a sign, and a long run that
//! nobody typed: `acme_live_7fK2…`.

use super::proof::entropy;
use std::ops::Range;

/// The least that follows the name; ids of records are shorter.
const LEAST_RUN: usize = 32;

/// The same behind a name that says what it is: `acme_pat_…`.
const LEAST_SAID_RUN: usize = 16;
const SAYING: &str = "pat sk secret token apikey tok live prod test priv private oauth rk sec";

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
    let Some(run) = behind_name(word, LEAST_RUN).or_else(|| behind_saying(word)) else {
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
    let lower = word.to_ascii_lowercase();
    run.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=".contains(&b))
        && (is_mixed || is_lower)
        && !lower.contains("publi")
        && !OTHERS.split_ascii_whitespace().any(|other| lower.starts_with(other))
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
    named.then_some(rest)
}

/// What follows a name of which one part says that a key does.
fn behind_saying(word: &str) -> Option<&str> {
    let run = behind_name(word, LEAST_SAID_RUN)?;
    let name = word.get(..word.len() - run.len())?.to_ascii_lowercase();
    let mut parts = name.split(['_', '-']);
    parts.any(|part| SAYING.split_ascii_whitespace().any(|own| own == part)).then_some(run)
}

fn is_one_case(part: &str) -> bool {
    let is = |case: fn(&u8) -> bool| part.bytes().all(|b| b.is_ascii_digit() || case(&b));
    is(u8::is_ascii_lowercase) || is(u8::is_ascii_uppercase)
}
