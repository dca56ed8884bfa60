//! Secrets that are written in base64: what is read is what they decode to.

use std::ops::Range;

/// Shortest word that can hold a key, and the longest that is decoded.
const LENGTHS: Range<usize> = 24..4096;

/// Words in base64 whose text holds a key.
pub(super) fn keys(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for word in text.as_bytes().split(|b| !is_sign(*b)) {
        let at = start..start + word.len();
        start = at.end + 1;
        if LENGTHS.contains(&word.len())
            && (word.iter().all(u8::is_ascii_hexdigit)
                || word.iter().any(u8::is_ascii_lowercase)
                    && word.iter().any(u8::is_ascii_uppercase))
            && text.get(at.clone()).is_some_and(is_key)
        {
            found.push(at);
        }
    }
    found
}

fn is_key(word: &str) -> bool {
    unhexed(word)
        .or_else(|| decoded(word))
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .is_some_and(|inner| {
            inner.chars().all(|c| !c.is_control() || c.is_whitespace())
                && !super::spans(&inner).is_empty()
        })
}

/// The bytes of a word of hexadecimal digits; what is no text stays a number.
fn unhexed(word: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let pairs = word.as_bytes().chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    let byte = |pair: &[u8]| Some(digit(*pair.first()?)? << 4 | digit(*pair.last()?)?);
    pairs.map(|pair| byte(pair).filter(u8::is_ascii)).collect()
}

fn is_sign(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// The bytes of a word in base64, of either alphabet.
pub(super) fn decoded(word: &str) -> Option<Vec<u8>> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut bytes) = (0_u32, 0_u32, Vec::new());
    for byte in word.bytes().take_while(|b| *b != b'=') {
        let plain = match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        };
        let sextet = ALPHABET.iter().position(|b| *b == plain)?;
        bits = bits << 6 | u32::try_from(sextet).unwrap_or(0);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).unwrap_or(0));
        }
        bits &= (1 << held) - 1;
    }
    Some(bytes)
}
