//! Logins without a word for a password: `admin / sunflower22`, an address and
//! what opens it, "protected with …". Who signs in is told by its name or by
//! the sentence, and the password by being a word with digits.

use super::clause::is_from_words;
use super::plain;
use super::proof::{self, entropy};
use super::shape::is_made_up;
use super::stand_in::{is_placeholder, is_reference};
use crate::pattern::compiled;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// One of these stands in every login below.
pub(super) const WORDS: &[&str] = &[
    "@",
    "admin",
    "root",
    "guest",
    "demo",
    "postgres",
    "sysadmin",
    "operator",
    "superuser",
    "deployer",
    "to log in",
    "to sign in",
    "to login",
    "to unlock",
    "to get in",
    "to connect",
    "to ssh",
    "um mich",
    "zum anmelden",
    "zum einloggen",
    "pour se connecter",
    "para entrar",
    "protected",
    "encrypted",
    "locked with",
    "secured with",
    "unlock",
    "opens with",
    "decrypt",
    "geschützt",
    "verschlüsselt",
    "protégé",
    "chiffré",
    "protegid",
    "cifrad",
    "protett",
    "cifrat",
    "logged",
    " / ",
    "connecte",
    "entra ",
    "entre ",
    "inicia",
    "logga",
    "logg ",
    "zaloguj",
    "log ind",
    "зайди",
    "войди",
    "einlogg",
    "authenticated",
    "cred",
    "login",
    "account",
    "zugang",
    "anmeld",
    "acceso",
    "acesso",
    "identifiant",
    "sign in",
    "log in",
    "вход",
];

/// Somebody who signs in, and what stands between that and the password.
static PAIR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r#"(?i)(?:^|[\s"'`(\[:=→>*])(?:(?:(?P<mail>[a-z0-9_.+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+)|(?:admin(?:istrator)?|root|user|guest|demo|sa|postgres|sysadmin|operator|superuser|deployer))["'`*]*(?:[ \t]*(?:(?P<tight>:)|/{1,2}|\||→|->|[—–])|[ \t]*(?P<open>\()|(?P<bare>[ \t])|(?P<and>,|[ \t](?:and|und|et|y|e|en|och|og|i|и|with|mit|pw|pass)(?-u:\b)))|(?P<any>[a-z][a-z0-9_.-]{1,30})["'`*]*[ \t]+/{1,2}[ \t])[ \t]*["'`*]*(?P<word>[^\s"'`|,;/()<>=]{5,64})"#,
    )
});
/// What is said before somebody signs in.
static SIGNS_IN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"(?i)log[ -]?(?:ged |s )?(?:in|on)|sign|uses|access|cred|account|zugang|anmeld|connect|acce[ds]|конто|вход|войти|inlog|with|mit|panel|console|dashboard|router|nas(?-u:\b)",
    )
});
/// What opens something, by a verb.
static OPENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r#"(?i)(?:(?:protected|encrypted|locked|secured|unlock(?:s|ed|able)?|opens?|decrypt(?:s|ed)?|logged in|authenticated)[ \t]+(?:with|by|using)|(?:geschützt|verschlüsselt|gesperrt|entsperrt)[ \t]+mit|mit[ \t]+(?P<last>\S{6,40})[ \t]+(?:geschützt|verschlüsselt|gesperrt)|(?:protégée?|chiffrée?)[ \t]+(?:par|avec)|(?:protegid|cifrad)[oa][ \t]+(?:con|com)|(?:protett|cifrat)[oa][ \t]+(?:con|da))[ \t]+["'`*]*(?P<word>[^\s"'`,;()<>=]{6,40})|(?:log[ -]?(?:in|on)|sign in|connect(?:e-toi|ez-vous)|entra|entre|accede|inicia sesión|logga in|logg (?:inn|ind|på)|zaloguj się|přihlas se|войди|зайди|einloggen|anmelden)[ \t]+(?:with|as|avec|con|com|met|med|als|jako|s|с|под|mit)[ \t]+[a-z0-9_.@+-]{2,40},?[ \t]+(?:and|und|et|y|e|en|och|og|i|и|a)[ \t]+["'`*]*(?P<second>[^\s"'`,;()<>=]{6,40})|(?:use|using|with|enter|type|try|nimm|mit|avec|con|com)[ \t]+["'`*]*(?P<used>[^\s"'`,;()<>=]{6,40})["'`*]*[ \t]+(?:to (?:log|sign|unlock|get in|connect|ssh|decrypt)|zum (?:anmelden|einloggen|entsperren)|pour se connecter|para (?:entrar|acceder))"#,
    )
});

/// Passwords beside who signs in.
pub(super) fn passwords(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (Some(pair), Some(opens)) = (PAIR.as_ref(), OPENS.as_ref()) else { return found };
    for hit in pair.captures_iter(text) {
        let (Some(whole), Some(word)) = (hit.get(0), hit.name("word")) else { continue };
        let line = line_before(text, whole.start());
        let says = SIGNS_IN.as_ref().is_some_and(|signs| signs.is_match(line));
        let at = trimmed(text, word.range());
        let own = text.get(at.clone()).unwrap_or_default();
        let is_one = if hit.name("bare").is_some() {
            let rest = text.get(at.end..).unwrap_or_default();
            hit.name("mail").is_some()
                && says
                && is_chosen(own)
                && (rest.is_empty() || rest.starts_with('\n'))
        } else if hit.name("open").is_some() {
            is_made_up(own)
        } else if hit.name("any").is_some() {
            is_made_up(own) || says && is_chosen(own)
        } else if hit.name("tight").is_some() && whole.as_str().contains(": ") {
            // `root: 2 jobs`, `admin: see wiki12`: what is said of somebody.
            says && is_made_up(own)
        } else if hit.name("and").is_some() {
            says && is_chosen(own)
        } else {
            is_chosen(own)
                || says
                    && hit.name("tight").is_some()
                    && hit.name("mail").is_none()
                    && plain::is_choice(own)
        };
        if is_one && !is_copied(line) {
            found.push(at);
        }
    }
    for hit in opens.captures_iter(text) {
        let word = hit
            .name("word")
            .or_else(|| hit.name("used"))
            .or_else(|| hit.name("second"))
            .or_else(|| hit.name("last"));
        let at = word.map(|word| trimmed(text, word.range()));
        found.extend(at.filter(|at| text.get(at.clone()).is_some_and(is_chosen)));
    }
    found
}

pub(super) fn is_chosen(word: &str) -> bool {
    (is_from_words(word) || is_made_up(word)) && !is_placeholder(word) && !is_reference(word)
}

/// `scp x mia@host.example:backup2024`: a folder there.
fn is_copied(line: &str) -> bool {
    ["scp", "rsync", "git", "sftp", "ssh-copy-id", "remote", "image", "tag"]
        .iter()
        .any(|own| line.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == *own))
}

fn trimmed(text: &str, at: Range<usize>) -> Range<usize> {
    let word = text.get(at.clone()).unwrap_or_default();
    // `root:secret@10.0.0.5`: the machine is no part of it.
    let word = match word.rsplit_once('@') {
        Some((own, host)) if host.contains('.') => own,
        _ => word,
    };
    let len = word.trim_end_matches(['.', ':', '*', '?']).len();
    at.start..at.start + len
}

fn line_before(text: &str, at: usize) -> &str {
    let near = text.floor_char_boundary(at.saturating_sub(80));
    let head = text.get(near..at).unwrap_or_default();
    head.rsplit('\n').next().unwrap_or_default()
}

/// What a key is called, where it may stand further off.
pub(super) const KEYS: &[&str] = &["key", "token", "secret", "credential", "schlüssel", "clé"];
static KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"(?i)(?:(?-u:\b)|_|-|[a-z])(?P<name>keys?|tokens?|secrets?|credentials?|schlüssel|clé)(?-u:\b)",
    )
});
/// How far a key is looked for behind its name.
const LINE_BYTES: usize = 120;
const LEAST_KEY: usize = 24;

/// Long random words in the line of a word for a key, however it says so.
pub(super) fn keys(text: &str) -> Vec<Range<usize>> {
    let Some(key) = KEY.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    let mut done = 0;
    for hit in key.captures_iter(text).filter_map(|hit| hit.name("name")) {
        // `site key`: what a page shows.
        if proof::is_kind_of_everybody(text, hit.start()) {
            continue;
        }
        let from = hit.end().max(done);
        let rest = text.get(from..).unwrap_or_default();
        let rest = rest.get(..rest.floor_char_boundary(LINE_BYTES + 80)).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default();
        done = from + line.len();
        let start_of = |part: &str| part.as_ptr().addr() - text.as_ptr().addr();
        let words = line.split(|c: char| c.is_whitespace() || "\"'`()[]{}<>|,;".contains(c));
        let words = words.map(|word| word.trim_end_matches(['.', ':', '!', '?']));
        found.extend(
            words
                .filter(|word| is_random(word) && start_of(word) < from + LINE_BYTES)
                .filter(|word| !is_of_everybody(line_before(text, start_of(word))))
                .map(|word| start_of(word)..start_of(word) + word.len()),
        );
    }
    found
}

/// Keys that are shown, and what only counts or compares.
pub(super) fn is_of_everybody(line: &str) -> bool {
    const SAYING: &str = "\
        public fingerprint checksum digest integrity sha sha1 sha256 sha512 md5 hash etag commit uuid primary cache \
        foreign partition sort page cursor s3 redis object idempotency id ids nonce cursor next \
        trace span request publishable pub sync continuation resume cancellation checkpoint design";
    line.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        // `nextToken`: the first hump says it.
        let hump = word.find(|c: char| c.is_ascii_uppercase()).filter(|at| *at > 0);
        let first = word.get(..hump.unwrap_or(word.len())).unwrap_or_default();
        SAYING.split_ascii_whitespace().any(|own| first.eq_ignore_ascii_case(own))
            || word.ends_with("Id")
    })
}

fn is_random(word: &str) -> bool {
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    word.len() >= LEAST_KEY
        && word.len() <= 200
        && word
            .trim_end_matches('=')
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        && count(u8::is_ascii_uppercase) >= 4
        && count(u8::is_ascii_lowercase) >= 4
        && count(u8::is_ascii_digit) >= 2
        && entropy(word) >= 3.9
        && !is_placeholder(word)
}

/// What signs in, when it is called.
static CALL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = "cred|auth|login|logon|connect|client|session|account|basic|ftp|smtp|imap|bind|open|sign|user";
    compiled(&format!(r"(?i)(?:{names})[a-z0-9_]*(?:(?:::|\.)[a-z_]{{2,16}})?[ \t]*\("))
});
/// How far the arguments of a call are read.
const CALL_BYTES: usize = 240;
/// One of these stands in every call.
pub(super) const CALLS: &[&str] = &[
    "cred", "auth", "login", "logon", "connect", "client", "session", "account", "basic", "ftp",
    "smtp", "imap", "bind", "open", "sign", "user",
];

/// What is given to such a call behind the name of somebody.
pub(super) fn arguments(text: &str) -> Vec<Range<usize>> {
    let Some(call) = CALL.as_ref() else { return Vec::new() };
    let is_name = |word: &str| {
        (2..=64).contains(&word.len())
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.@+-".contains(&b))
    };
    let text_at = |at: &Range<usize>| text.get(at.clone()).unwrap_or_default();
    let mut found = Vec::new();
    for hit in call.find_iter(text) {
        let strings = strings(text, hit.end());
        let pairs = strings.iter().zip(strings.iter().skip(1));
        found.extend(
            pairs
                .filter(|(name, word)| is_name(text_at(name)) && is_chosen(text_at(word)))
                .map(|(_, word)| word.clone()),
        );
    }
    found
}

/// What stands in quotes up to the end of a call.
fn strings(text: &str, from: usize) -> Vec<Range<usize>> {
    let rest = text.get(from..).unwrap_or_default();
    let rest = rest.get(..rest.floor_char_boundary(CALL_BYTES)).unwrap_or_default();
    let (mut found, mut open, mut depth) = (Vec::new(), None, 1);
    for (at, c) in rest.char_indices() {
        match (open, c) {
            (_, '\n') => break,
            (Some((quote, start)), c) if c == quote => {
                found.push(from + start..from + at);
                open = None;
            }
            (None, '"' | '\'') => open = Some((c, at + 1)),
            (None, '(') => depth += 1,
            (None, ')') => depth -= 1,
            // Within quotes, or between the arguments.
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    found
}
