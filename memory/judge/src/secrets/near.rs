//! Passwords that stand near a word for one, however the two are joined: by a
//! sentence, a table, a tag, a call. What joins them varies without end; what a
//! password looks like does not.

use super::names::is_technical;
use super::nouns::with_nouns;
use super::shape::{is_made_up, is_marked, is_name_of_code, is_scrambled, is_tangled};
use super::stand_in::{is_placeholder, is_reference};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// How far before and behind the name is looked.
const BEFORE_BYTES: usize = 48;
const BEHIND_BYTES: usize = 80;
/// How much of its line is looked at for what it stands in.
const LONGEST_HEAD_BYTES: usize = 512;
/// A tag or the head of a table may stand between.
const MOST_LINES: usize = 3;

/// What a password is called.
pub(super) const NAMES: &[&str] = with_nouns![
    "assword",
    "passwd",
    "passwo",
    "passp",
    "passc",
    "passe",
    "hasł",
    "zaporka",
    "كلمة",
    "رمز",
    "暗証",
    "รหัส",
    "sandi",
    "wifi",
    "wi-fi",
    "wlan",
    " wpa",
    "psk",
    "rootpw",
    "kdbx",
    "keepass",
    "pass =",
    "pass=",
    "pass:",
    "-pass>",
    "api key",
    "api-key",
    "api_key",
    "apikey",
    "api 키",
    "api키",
    "apiキー",
    "apiの",
    "密钥",
    "密鑰",
    "люч api",
    "api-ключ",
    "klucz api",
];

/// Who or what one signs in as, and what does it.
pub(super) const LOGINS: &[&str] = &[
    "admin",
    "root",
    "login",
    "log in",
    "logon",
    "sign in",
    "signin",
    "user",
    "identify",
    "unlock",
    "auth",
    "connect",
    "cred",
    "basic",
    "community",
    "enable secret",
    "plaintext",
    "pdo",
    " pass ",
    "inlog",
    "jwt",
    "identifiant",
    "usuario",
    "огин",
    "konto",
    "snmp",
    "secret",
    "keystore",
    "ks.load",
    "keyspec",
    "eap ",
    "mysqli",
    "fernet",
    "pragma",
];

static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| one_of(NAMES));
static LOGIN: LazyLock<Option<Regex>> = LazyLock::new(|| one_of(LOGINS));

pub(super) fn one_of(words: &[&str]) -> Option<Regex> {
    let words: Vec<String> = words.iter().map(|word| regex::escape(word)).collect();
    Regex::new(&format!("(?i){}", words.join("|"))).ok()
}

/// Near what a password is called.
pub(super) fn passwords(text: &str) -> Vec<Range<usize>> {
    let Some(name) = NAME.as_ref() else { return Vec::new() };
    around(text, name, BEFORE_BYTES, MOST_LINES, is_made_up)
}

/// Behind who signs in, where fewer shapes are sure.
pub(super) fn logins(text: &str) -> Vec<Range<usize>> {
    let Some(name) = LOGIN.as_ref() else { return Vec::new() };
    around(text, name, 0, 1, |word| {
        let upper = word.bytes().any(|byte| byte.is_ascii_uppercase());
        let lower = word.bytes().any(|byte| byte.is_ascii_lowercase());
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let is_one = upper && lower && is_scrambled(word)
            || (upper || digits >= 3) && is_marked(word)
            || is_tangled(word);
        is_one && !is_name_of_code(word)
    })
}

fn around(
    text: &str,
    name: &Regex,
    before: usize,
    lines: usize,
    is_one: impl Fn(&str) -> bool,
) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut done = 0;
    for hit in name.find_iter(text) {
        // `1Password` is where one is kept.
        if text.get(..hit.start()).is_some_and(|head| head.ends_with("1P") || head.ends_with("1p"))
        {
            continue;
        }
        // A line of a megabyte is not looked through for each name in it.
        let head = text.floor_char_boundary(hit.start().saturating_sub(LONGEST_HEAD_BYTES));
        let newline = text.get(head..hit.start()).and_then(|head| head.rfind('\n'));
        let line = newline.map_or(head, |at| head + at + 1);
        let near = text.floor_char_boundary(hit.start().saturating_sub(before));
        // Behind `pass=` stands the value, and no more of the name.
        let is_whole = hit.as_str().ends_with(['=', ':', '>']);
        let behind = hit.end() + if is_whole { 0 } else { word_rest(text, hit.end()) };
        let start = if before == 0 { behind } else { word_start(text, near.max(line)) };
        let from = start.max(done);
        // `password = var.db_password`: what is called so here is a value itself.
        let is_value = text.get(line..hit.start()).is_some_and(|head| head.contains(['=', ':']));
        let most = if is_value { 1 } else { reach(text, behind, lines) };
        let to = end(text, behind, most).max(from);
        let window = text.get(from..to).unwrap_or_default();
        found.extend(
            words(window)
                .filter(|at| {
                    let word = window.get(at.clone()).unwrap_or_default();
                    is_one(word)
                        // A time in an address: `T00%3A00%3A00Z`.
                        && !word.contains("%3A")
                        && !is_placeholder(word)
                        && !is_reference(word)
                        && !is_technical(word)
                        && !is_name_of_something(text, from + at.start)
                })
                .map(|at| from + at.start..from + at.end),
        );
        // A long line with many names in it is looked at once.
        done = to;
    }
    found
}

/// The start of the word that a place is in.
fn word_start(text: &str, at: usize) -> usize {
    let head = text.get(..at).unwrap_or_default();
    head.rfind(is_gap).map_or(0, |gap| head.ceil_char_boundary(gap + 1)).max(at.saturating_sub(64))
}

/// What of a word is behind a name in it: `word` of `password`.
fn word_rest(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    // Chinese and Japanese have no gap before the next word.
    let is_part = |c: char| c < '\u{2e80}' && c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    rest.find(|c| !is_part(c)).unwrap_or(rest.len())
}

/// What is behind a place, as far as anything there is looked at.
fn tail_of(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    rest.get(..rest.floor_char_boundary(LONGEST_HEAD_BYTES)).unwrap_or_default()
}

/// How many lines are looked at: what stands in the next one belongs to the
/// name only where nothing but signs and tags are behind it.
fn reach(text: &str, at: usize, most: usize) -> usize {
    let rest = tail_of(text, at);
    let line = rest.split('\n').next().unwrap_or_default();
    let mut is_tag = false;
    let says = line.chars().any(|c| {
        match c {
            '<' => is_tag = true,
            '>' => is_tag = false,
            // `form["password"]` is where one comes from.
            c => return (c.is_alphanumeric() || matches!(c, ']' | ';')) && !is_tag,
        }
        false
    });
    if says { 1 } else { most }
}

/// Where the look behind a name ends: after so many bytes or lines, with the
/// word that stands there.
fn end(text: &str, at: usize, lines: usize) -> usize {
    let rest = tail_of(text, at);
    let by_bytes = rest.floor_char_boundary(BEHIND_BYTES);
    let by_lines = rest.match_indices('\n').nth(lines - 1).map_or(rest.len(), |(end, _)| end);
    let most = by_bytes.min(by_lines);
    let tail = rest.get(most..).unwrap_or_default();
    let more = if most < by_lines { tail.find(is_gap).unwrap_or(tail.len()) } else { 0 };
    at + rest.floor_char_boundary((most + more).min(most + 64))
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || !c.is_ascii() || "\"'`()[]{}<>|,;".contains(c)
}

/// The words of a text, and the values of pairs among them.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let start_in = |whole: &str, part: &str| part.as_ptr().addr() - whole.as_ptr().addr();
    let start_of = move |part: &str| start_in(text, part);
    let whole = text.split(is_gap).filter(|word| !word.is_empty() && !word.contains('/'));
    whole.flat_map(move |word| {
        let parts = word.split([':', '=']).filter(|part| !part.is_empty());
        parts.map(move |part| {
            // `send "…\r"`: how a program is told to press a key.
            // `?api_key=…&q=x`: what names the next value is none of this one.
            let named = word.get(start_in(word, part) + part.len()..).unwrap_or_default();
            let part = match part.rsplit_once('&') {
                Some((own, _)) if named.starts_with('=') => own,
                _ => part,
            };
            let part = part.strip_suffix("\\r").or(part.strip_suffix("\\n")).unwrap_or(part);
            let part = part.trim_end_matches('\\');
            let bold = part.starts_with('*');
            let part = part.trim_end_matches('.').trim_start_matches('*');
            let part = if bold { part.trim_end_matches('*') } else { part };
            // `root:secret@10.0.0.5`: the machine is no part of it.
            let part = match part.rsplit_once('@') {
                Some((own, host)) if host.contains('.') => own,
                _ => part,
            };
            start_of(part)..start_of(part) + part.len()
        })
    })
}

/// `[secret: a PIN]`: what stands for one says what it was.
pub(super) fn is_in_mark(text: &str, at: usize) -> bool {
    let head = text.get(text.floor_char_boundary(at.saturating_sub(64))..at).unwrap_or_default();
    head.rfind('[').and_then(|open| head.get(open..)).is_some_and(|inner| {
        inner.starts_with("[secret: ") && inner.len() <= 64 && !inner.contains(']')
    })
}

/// What stands there is called something else: `user id 7fK2…`, `hash=…`.
fn is_name_of_something(text: &str, at: usize) -> bool {
    const OTHERS: &[&str] = &[
        "id",
        "hash",
        "sha",
        "sum",
        "checksum",
        "digest",
        "commit",
        "version",
        "integrity",
        "uuid",
        "etag",
        "nonce",
        "salt",
        "fingerprint",
        "rev",
        "ref",
        "build",
        "branch",
        "cursor",
        "token",
        "data",
        "iv",
        "md5",
        "sha1",
        "sha256",
        "pool",
        "tenant",
        "release",
    ];
    let before = text.get(..at).unwrap_or_default();
    let before = before.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    OTHERS.iter().any(|other| word.eq_ignore_ascii_case(other))
        || word.len() > 2 && (word.ends_with("Id") || word.ends_with("ID"))
}
