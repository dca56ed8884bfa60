//! Secrets in pieces: what a name for a secret is put together from, and the
//! variables that hold it (S15).
//!
//! `a = "AKIA…"; b = "…"; key = a + b`: neither piece is a key, and none of
//! the three lines says one. Who puts them together says what they are.

use super::plain;
use super::proof::{entropy, has_digit};
use super::stand_in::{is_placeholder, is_reference};
use crate::pattern::compiled;
use regex::{Captures, Regex};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

/// Texts with more definitions than this are programs, not notes.
const MOST_DEFINITIONS: usize = 400;
/// Pieces of a key, at least.
const LEAST_KEY_PIECE: usize = 6;
const LEAST_PASSWORD_PIECE: usize = 3;

/// What is put together under a name for a secret.
static SUM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let password = "(?P<password>password|passwd|pwd|passphrase|pass)";
    let key = "(?:secret|token|api_?key|access_?key|private_?key|key|auth|credential|creds|dsn)";
    compiled(&format!(
        r"(?i)\b[A-Za-z0-9_]*(?:{password}|{key})[A-Za-z0-9_]*[\x22']?[ \t]*(?:=>|:=|[:=])[ \t]*(?P<sum>[\x20-\x22$-:<-~]{{3,200}})"
    ))
});
/// A name, and the literal that it stands for.
static DEFINITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r#"(?P<name>[A-Za-z_][A-Za-z0-9_]*)["']?[ \t]*(?::[ \t]*&?[A-Za-z0-9_]+[ \t]*)?(?:=>|:=|[:=])[ \t]*["'`]?(?P<value>[^\s"'`;,(){}$]{3,200})"#,
    )
});

/// The pieces of what is put together under the name of a secret.
pub(super) fn summed(text: &str) -> Vec<Range<usize>> {
    let Some(sum) = SUM.as_ref() else { return Vec::new() };
    let is_sum = |hit: &Captures<'_>| {
        hit.name("sum")
            .is_some_and(|right| is_joint(right.as_str()) && names(right.as_str()).nth(1).is_some())
    };
    let sums: Vec<Captures<'_>> = sum.captures_iter(text).filter(is_sum).collect();
    if sums.is_empty() {
        return Vec::new();
    }
    let defined = definitions(text);
    let mut found = Vec::new();
    for hit in sums {
        let Some(right) = hit.name("sum") else { continue };
        let is_elsewhere = |at: &&Range<usize>| !right.range().contains(&at.start);
        let known = names(right.as_str()).filter_map(|name| defined.get(name));
        let pieces: Vec<&Range<usize>> = known.filter(is_elsewhere).collect();
        let is_password = hit.name("password").is_some();
        let is_one =
            |at: &Range<usize>| text.get(at.clone()).is_some_and(|it| is_piece(it, is_password));
        if pieces.len() >= 2 && pieces.iter().all(|at| is_one(at)) {
            found.extend(pieces.into_iter().cloned());
        }
    }
    found
}

/// What names stand for in a text.
fn definitions(text: &str) -> BTreeMap<&str, Range<usize>> {
    let hits =
        DEFINITION.as_ref().into_iter().flat_map(|definition| definition.captures_iter(text));
    hits.take(MOST_DEFINITIONS)
        .filter_map(|hit| Some((hit.name("name")?.as_str(), hit.name("value")?.range())))
        .collect()
}

/// The names in an expression.
fn names(right: &str) -> impl Iterator<Item = &str> {
    right
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// Whether an expression puts texts together.
fn is_joint(right: &str) -> bool {
    const JOINTS: &[&str] =
        &["+", "..", " . ", "||", "<>", "&", "}{", "}${", "concat", "join", "%s", "format"];
    right.matches('$').count() >= 2 || JOINTS.iter().any(|joint| right.contains(joint))
}

fn is_piece(piece: &str, of_password: bool) -> bool {
    if is_placeholder(piece) || is_reference(piece) {
        return false;
    }
    let count = |is: fn(&u8) -> bool| piece.bytes().filter(is).count();
    let is_jumbled = count(u8::is_ascii_uppercase) >= 3 && count(u8::is_ascii_lowercase) >= 3;
    let is_random = piece.len() >= LEAST_KEY_PIECE
        && (has_digit(piece) && entropy(piece) >= 2.2 || is_jumbled && entropy(piece) >= 3.0);
    let is_number = piece.len() >= 2 && piece.bytes().all(|b| b.is_ascii_digit());
    is_random
        || of_password && is_number
        || of_password && piece.len() >= LEAST_PASSWORD_PIECE && !plain::is_ordinary(piece)
}
