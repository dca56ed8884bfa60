//! Bytes as text that stands in JSON as it is.
//!
//! Two of 91 printable signs hold 13 bits: a text is 1.23 times its bytes, where
//! base64 takes 1.33. Neither quote nor backslash is among them, so nothing has
//! to be escaped.

/// Bits that two signs hold: 91 times 91 is a little more than 2 to the 13th.
const BITS: u32 = 13;
const SIGNS: u32 = 91;
/// The signs are those of ASCII from here on, without the two that JSON escapes.
const FIRST: u8 = b'!';

/// The text of some bytes.
pub(super) fn write(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 13 * 16 + 16);
    let (mut held, mut bits) = (0_u32, 0);
    let mut put = |value: u32| {
        text.push(sign(value % SIGNS));
        text.push(sign(value / SIGNS));
    };
    for byte in bytes {
        held |= u32::from(*byte) << bits;
        bits += 8;
        if bits >= BITS {
            put(held & ((1 << BITS) - 1));
            held >>= BITS;
            bits -= BITS;
        }
    }
    if bits > 0 {
        put(held);
    }
    text
}

/// The bytes of a text; none if it is not one. There may be a zero byte behind
/// them, where the last two signs had room for it.
pub(super) fn read(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 16 * 13 + 16);
    let (mut held, mut bits) = (0_u32, 0);
    for pair in text.as_bytes().chunks(2) {
        let [low, high] = *pair else { return None };
        let value = value(low)? + value(high)? * SIGNS;
        if value >> BITS != 0 {
            return None;
        }
        held |= value << bits;
        bits += BITS;
        while bits >= 8 {
            bytes.push(u8::try_from(held & 0xff).ok()?);
            held >>= 8;
            bits -= 8;
        }
    }
    Some(bytes)
}

fn sign(value: u32) -> char {
    let mut sign = FIRST + u8::try_from(value).unwrap_or_default();
    sign += u8::from(sign >= b'"');
    sign += u8::from(sign >= b'\\');
    char::from(sign)
}

fn value(sign: u8) -> Option<u32> {
    let left_out = u8::from(sign > b'"') + u8::from(sign > b'\\');
    let value = u32::from(sign.checked_sub(FIRST)?.checked_sub(left_out)?);
    (value < SIGNS && sign != b'"' && sign != b'\\').then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_sign_stands_for_one_value_and_needs_no_escape() {
        let signs: String = (0..SIGNS).map(sign).collect();
        assert_eq!(serde_json::to_string(&signs).unwrap().len(), signs.len() + 2);
        let values: Vec<u32> = signs.bytes().filter_map(value).collect();
        assert_eq!(values, (0..SIGNS).collect::<Vec<_>>());
        assert_eq!((0..=255).filter_map(value).count(), signs.len());
    }

    #[test]
    fn what_is_no_such_text_is_not_read() {
        for text in ["!", "a\"", "\\a", "é", "  ", "~~"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let text = write(&bytes);
            prop_assert!(text.len() <= bytes.len() * 16 / 13 + 2);
            let mut back = read(&text).unwrap();
            prop_assert!(back.len() - bytes.len() <= 1 && back[bytes.len()..].iter().all(|byte| *byte == 0));
            back.truncate(bytes.len());
            prop_assert_eq!(back, bytes);
        }
    }
}
