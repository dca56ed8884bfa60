//! What made-up passwords look like, in any language and any form: letters of
//! both cases, digits and signs in an order that words and names do not have.

use super::names::is_technical;
use super::proof::{has_digit, is_all_digits};

/// Shortest and longest word that is taken for a password by its shape alone.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=40;

/// Signs that people and generators put into passwords, and names do not have.
const SIGNS: &str = "@#$%^&*!?+~";

/// Pairs of letters that stand in names: `getUserById`, `openIoDb`.
const SHORT_WORDS: &str = "\
    a ad ai an api as at be by db do e en eq fs ge go gt hp http i id if in io ip is it js le lt me my \
    no of ok on op or os pc rx so sql ssl tcp tls to ts tx ui uk up us utf vm we x xml xy";

/// Letters and digits so mixed that it is neither a word nor a name: `kT9xQ2mLw4`.
pub(super) fn is_scrambled(word: &str) -> bool {
    if !is_candidate(word) || !has_digit(word) {
        return false;
    }
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let groups =
        word.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).count();
    let has = |is: fn(&u8) -> bool| word.bytes().any(|byte| is(&byte));
    let both = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    if both {
        let odd = odd_pieces(word);
        let uppers = word.bytes().filter(u8::is_ascii_uppercase).count();
        return odd >= 2
            || odd == 1 && (groups >= 2 || uppers >= 3 && word.len() >= 10)
            || groups >= 2 && digits >= 3;
    }
    // Of one case only: hexadecimal numbers and codes look the same.
    let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_plain && !is_hex && has(u8::is_ascii_lowercase) && groups >= 3 && word.len() >= 10
}

/// A word with digits and a sign in it: `falcon#2041`, `Harbor2041!`.
pub(super) fn is_marked(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    if !is_candidate(word) || digits == 0 || letters < 2 {
        return false;
    }
    let inner = word.trim_end_matches(|c| SIGNS.contains(c));
    // A sign at the end may be that of the sentence.
    let within = inner.contains(|c| SIGNS.contains(c));
    let upper = word.bytes().any(|byte| byte.is_ascii_uppercase());
    let digit_within = inner.trim_end_matches(|c: char| c.is_ascii_digit()).bytes();
    let digit_within = digit_within.skip(1).any(|byte| byte.is_ascii_digit());
    let sealed = upper && word.ends_with(['$', '#', '%', '&', '@', '^', '~']);
    (within && (upper || digits >= 2) && !is_host(word, digits))
        || sealed && inner.len() + 1 == word.len()
        || (inner.len() < word.len() && (digits >= 3 || upper && digit_within))
}

/// `root@MacBookPro2`: somebody at a machine.
fn is_host(word: &str, digits: usize) -> bool {
    word.split_once('@').is_some_and(|(name, host)| {
        (digits < 3 || is_technical(host))
            && name.bytes().all(|byte| byte.is_ascii_lowercase())
            && !host.contains(|c| SIGNS.contains(c))
    })
}

/// Letters of both cases with a sign among them that stands in no name.
pub(super) fn is_signed(word: &str) -> bool {
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    is_candidate(word)
        && count(u8::is_ascii_uppercase) >= 2
        && count(u8::is_ascii_lowercase) >= 2
        && word.trim_end_matches('$').contains(['^', '~', '%', '$'])
        && !word.contains(['(', ')', '='])
}

/// Whatever looks like a made-up password.
pub(super) fn is_made_up(word: &str) -> bool {
    !is_name_of_code(word)
        && (is_scrambled(word) || is_marked(word) || is_tangled(word) || is_signed(word))
}

/// `PasswordField2`, `Rust1.95`: what it is called by is part of it.
pub(super) fn is_name_of_code(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let lower = word.to_ascii_lowercase();
    let own = ["password", "passwd", "token", "secret", "login", "user", "auth", "session"];
    let version = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let is_version = version.len() < word.len()
        && version.contains('.')
        && version.split('.').all(is_all_digits);
    // `Orders#index2`: a method of a class.
    let is_method = odd_pieces(word) == 0
        && word.split_once('#').is_some_and(|(class, method)| {
            [class, method].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        });
    is_version || digits <= 1 && (is_method || own.iter().any(|name| lower.contains(name)))
}

/// Letters alone, of both cases, as no name has them: `kqRFBRigBlb`.
pub(super) fn is_tangled(word: &str) -> bool {
    is_unlike_a_name(word, 2)
}

/// The same where the place says that it is a password: one sign is enough.
pub(super) fn is_tangled_in_place(word: &str) -> bool {
    is_unlike_a_name(word, 1)
}

fn is_unlike_a_name(word: &str, least: usize) -> bool {
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    is_candidate(word)
        && word.len() >= if least == 1 { 8 } else { 10 }
        && count(u8::is_ascii_uppercase) > least.min(2)
        && count(u8::is_ascii_lowercase) >= 2
        && word.bytes().all(|byte| byte.is_ascii_alphabetic() || b"-_+#%!*&".contains(&byte))
        && (odd_pieces(word) >= least
            || least == 1 && (short_pieces(word) >= 2 || is_unspeakable(word)))
        && !(least == 1 && has_own_name(word))
}

/// A word that could be one at all.
fn is_candidate(word: &str) -> bool {
    let starts = |c: char| c.is_ascii_alphanumeric() || "!?*^~".contains(c);
    LENGTHS.contains(&word.len())
        && word.is_ascii()
        && word.starts_with(starts)
        && !word.contains(['/', '\\', '<', '>'])
        && !is_glued(word)
}

/// `v1.2.3`, `2024-03-01T10`, `user@host.example`: parts that each are plain.
fn is_glued(word: &str) -> bool {
    let is_plain = |part: &str| {
        is_all_digits(part)
            || part.bytes().all(|byte| byte.is_ascii_lowercase())
            || part.bytes().all(|byte| byte.is_ascii_uppercase())
            || part.len() <= 3
    };
    let dots = word.matches(['.', '-', '_', ':', '@']).count();
    dots >= 1 && word.split(['.', '-', '_', ':', '@']).all(is_plain) && {
        // `falc@ROCK010` is none, and neither is `aB3-xY9`.
        let signs = word.matches(['@']).count();
        signs == 0 || word.rsplit('@').next().is_some_and(|host| host.contains('.'))
    }
}

/// Pieces of one or two letters that are no words themselves.
fn odd_pieces(word: &str) -> usize {
    let is_known = |piece: &str| SHORT_WORDS.split_ascii_whitespace().any(|word| word == piece);
    pieces(word).iter().filter(|piece| piece.len() <= 2 && !is_known(piece)).count()
}

/// Humps without a vowel, that no abbreviation explains.
fn is_unspeakable(word: &str) -> bool {
    const SHORT_FORMS: &[&str] = &[
        "http", "html", "xml", "ssl", "sql", "cfg", "src", "str", "tmp", "msg", "btn", "img",
        "pwd", "cmd", "ctx", "pkg", "svc", "mgr", "hdr", "ptr", "css", "php", "tls", "dns", "rpc",
        "ssh", "jpg", "png", "pdf", "csv", "jwt", "dbg", "sch",
    ];
    let dumb = |piece: &&String| {
        piece.bytes().all(|b| b.is_ascii_lowercase() && !b"aeiouy".contains(&b))
            && !SHORT_FORMS.iter().any(|form| piece.contains(form))
    };
    let pieces = pieces(word);
    let lengths: Vec<usize> = pieces.iter().filter(dumb).map(String::len).collect();
    lengths.iter().any(|len| *len >= 4) || lengths.iter().filter(|len| **len == 3).count() >= 2
}

/// `KeePassXC`: what it is about is part of it.
fn has_own_name(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    ["pass", "token", "secret", "login", "user", "auth", "vault"]
        .iter()
        .any(|own| lower.contains(own))
}

fn short_pieces(word: &str) -> usize {
    pieces(word).iter().filter(|piece| piece.len() <= 2).count()
}

/// The humps of a name.
fn pieces(word: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in word.chars() {
        let begins =
            !before.is_ascii_alphabetic() || before.is_ascii_lowercase() && c.is_ascii_uppercase();
        if c.is_ascii_alphabetic() {
            match pieces.last_mut() {
                Some(piece) if !begins => piece.push(c.to_ascii_lowercase()),
                _ => pieces.push(c.to_ascii_lowercase().to_string()),
            }
        }
        before = c;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s15_passwords_are_told_from_names_by_their_shape() {
        for word in ["kT9xQ2mLw4", "BG99J3AVxmlv", "marb0SUMM250", "3w1k6e157g9r", "5t7LN-tw2fJe"] {
            assert!(is_scrambled(word), "{word}");
        }
        for word in ["falc@ROCK010", "Harbor2041!", "W5HFX+svYKMc", "falcon#2041"] {
            assert!(is_marked(word), "{word}");
        }
        for word in ["kqRFBRigBlb", "zNKfutHjDEMo", "dMGlG-OWEvZS"] {
            assert!(is_tangled_in_place(word), "{word}");
        }
        for word in [
            "getUserById2",
            "XMLHttpRequest",
            "SecretString",
            "OAuth2Token",
            "utf8mb4",
            "Node20.11",
            "deadbeef0123",
            "2024-03-01",
            "bob2@acme.example",
            "user_id_2024",
            "PasswordEncoder",
            "Argon2id",
            "us-east-1a",
            "release/2024",
            "--max-len=3",
            "MY_TOKEN_2",
            "important!",
            "root@MacBookPro2",
            "Rust1.95",
            "Foo#bar2",
        ] {
            assert!(!is_made_up(word), "{word}");
        }
    }
}
