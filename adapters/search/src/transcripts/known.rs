//! Secrets that a transcript calls so in one place and only uses in others: what
//! is shown of it to somebody else has them masked everywhere (S15).

use everfold_disk::jsonl;
use everfold_memory_judge::secrets::{self, KnownSecrets};
use everfold_transcript::redaction::each_text;
use std::collections::BTreeSet;
use std::path::Path;

/// A shorter word is no secret that is told from other words.
const LEAST_WORD: usize = 6;

/// A text out of a transcript, without the secrets that stand in that file.
/// Only lines that have a word of the text are looked at. Blocks.
#[must_use]
pub fn mask_known(transcript: &Path, max_line: u64, text: &str) -> String {
    let words = words(text);
    if words.is_empty() {
        return secrets::mask(text);
    }
    let mut known = KnownSecrets::default();
    // What cannot be read teaches nothing.
    let _ = jsonl::read(transcript, max_line, &mut |line| {
        let shown = String::from_utf8_lossy(line);
        if words.iter().any(|word| shown.contains(word)) {
            each_text(line, &mut |name, text| {
                known.learn(text);
                if let Some(name) = name {
                    known.learn_named(name, text);
                }
            });
        }
    });
    known.mask(text)
}

/// Words of a text that could be secret, as they would stand in a line of JSON.
fn words(text: &str) -> BTreeSet<&str> {
    let could_be = |word: &&str| {
        let plain = word.chars().all(char::is_alphabetic);
        word.len() >= LEAST_WORD && (!plain || word.len() >= 2 * LEAST_WORD)
    };
    let parts = text.split(|c: char| c.is_whitespace() || "\"\\,;()[]{}<>…".contains(c));
    parts.map(|word| word.trim_matches(['.', ':', '!', '?', '\''])).filter(could_be).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s15_a_password_is_masked_where_only_another_line_calls_it_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let said = r#"{"type":"user","message":{"content":"the db password is Falcon-77-tundra"}}"#;
        std::fs::write(file.path(), format!("{said}\n")).unwrap();
        let masked = mask_known(file.path(), 1 << 20, "I used Falcon-77-tundra, as you said.");
        assert_eq!(masked, "I used [secret: a password], as you said.");
        let plain = "nothing of it is said here";
        assert_eq!(mask_known(file.path(), 1 << 20, plain), plain);
    }
}
