//! How much text is how many tokens.
//!
//! The canonical count of a conversation (T1) is what the API last reported
//! plus an estimate of what came after. The estimate is a fixed number of
//! bytes per token (T2), corrected by what this session's requests turned out
//! to hold (T7). All layers use the functions here and [`Calibration::apply`], and nothing else.

use crate::block::{Block, BlockView};
use crate::limits::Limits;
use crate::record::Prelude;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

/// A number of tokens.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Tokens(pub u64);

impl Add for Tokens {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Tokens {
    type Output = Self;
    /// Never below zero.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self(0), Add::add)
    }
}

/// The uncalibrated estimate of a plain text (T2).
#[must_use]
pub fn estimate_text(text: &str, limits: &Limits) -> Tokens {
    per(text.len(), limits.bytes_per_token_text)
}

/// The uncalibrated estimate of a JSON text of this many bytes (T2).
#[must_use]
pub fn estimate_json_bytes(bytes: usize, limits: &Limits) -> Tokens {
    per(bytes, limits.bytes_per_token_json)
}

/// The uncalibrated estimate of a fixed prompt: the descriptions of tools are
/// text, what stands around them JSON (T2).
#[must_use]
pub fn estimate_prelude(prelude: &Prelude, limits: &Limits) -> Tokens {
    let system: Tokens = prelude.system.iter().map(|own| estimate_text(&own.text, limits)).sum();
    let tools = prelude.tools.iter().map(|tool| {
        let described = described_bytes(tool);
        let rest = json_len(tool).saturating_sub(described);
        per(described, limits.bytes_per_token_text) + estimate_json_bytes(rest, limits)
    });
    system + tools.sum()
}

/// Bytes of the descriptions in a tool's definition.
fn described_bytes(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(described_bytes).sum(),
        Value::Object(map) => map
            .iter()
            .map(|(key, item)| match item {
                Value::String(text) if key == "description" => text.len(),
                other => described_bytes(other),
            })
            .sum(),
        _ => 0,
    }
}

/// The uncalibrated estimate of one block (T2): text by its bytes, arguments
/// and unknown blocks as JSON, a picture or document at a flat rate.
#[must_use]
pub fn estimate_block(block: &Block, limits: &Limits) -> Tokens {
    match block.view() {
        BlockView::Text(text) | BlockView::Thinking(text) => estimate_text(text, limits),
        BlockView::ToolUse { name, input, .. } => {
            estimate_text(name, limits) + estimate_json_bytes(json_len(input), limits)
        }
        BlockView::ToolResult { content, .. } => estimate_content(content, limits),
        BlockView::Image | BlockView::Document => Tokens(limits.image_tokens),
        BlockView::RedactedThinking | BlockView::Other(_) => {
            let bytes = block.as_map().values().map(json_len).sum();
            estimate_json_bytes(bytes, limits)
        }
    }
}

fn estimate_content(content: &Value, limits: &Limits) -> Tokens {
    match content {
        Value::String(text) => estimate_text(text, limits),
        Value::Array(parts) => parts
            .iter()
            .map(|part| match part.as_object() {
                Some(map) => estimate_block_map(map, limits),
                None => estimate_json_bytes(json_len(part), limits),
            })
            .sum(),
        Value::Null => Tokens(0),
        other => estimate_json_bytes(json_len(other), limits),
    }
}

fn estimate_block_map(map: &serde_json::Map<String, Value>, limits: &Limits) -> Tokens {
    match map.get("type").and_then(Value::as_str) {
        Some("text") => {
            estimate_text(map.get("text").and_then(Value::as_str).unwrap_or(""), limits)
        }
        Some("image" | "document") => Tokens(limits.image_tokens),
        _ => estimate_json_bytes(map.values().map(json_len).sum(), limits),
    }
}

/// About how many bytes a value takes as JSON, without writing it.
fn json_len(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| json_len(item) + 1).sum::<usize>() + 1,
        Value::Object(map) => {
            map.iter().map(|(key, item)| key.len() + 4 + json_len(item)).sum::<usize>() + 1
        }
    }
}

fn per(bytes: usize, bytes_per_token: u64) -> Tokens {
    Tokens((bytes as u64).div_ceil(bytes_per_token.max(1)))
}

/// What this session's requests taught about the estimate (T7).
///
/// Each response tells how many tokens were really added since the response
/// before; the sums of real and estimated tokens give one factor for what
/// comes next. Counts never carry over to another model.
///
/// ```
/// use everfold_kernel::{Calibration, Tokens};
///
/// let mut calibration = Calibration::default();
/// calibration.observe(Tokens(1_000), Tokens(1_250));
/// assert_eq!(calibration.apply(Tokens(100)), Tokens(125));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    estimated: u64,
    reported: u64,
    /// Samples in a row that were unlike all before them.
    #[serde(default)]
    odd: u32,
}

/// A whole first request says little about what comes after it: its system
/// prompt and tools are another kind of text. So it counts as this many
/// tokens of evidence, however long it was.
const FIRST_REQUEST_WEIGHT: u64 = 100;

/// The factor stays within these hundredths, so that one odd response cannot
/// make thresholds meaningless.
const FACTOR_PERCENT: (u64, u64) = (50, 300);

/// From so many tokens on, what was learned is taken for settled.
const SETTLED_TOKENS: u64 = 500;

/// A sample that differs from what is settled by more than this, in hundredths,
/// is odd.
const ODD_PERCENT: u64 = 160;

impl Calibration {
    /// Learns from the first request of a session, system prompt and tools
    /// included.
    pub fn observe_first(&mut self, estimated: Tokens, reported: Tokens) {
        let weight = estimated.0.min(FIRST_REQUEST_WEIGHT);
        if weight > 0 {
            let share = u128::from(reported.0) * u128::from(weight) / u128::from(estimated.0);
            let share = u64::try_from(share).unwrap_or(u64::MAX);
            self.observe(Tokens(weight), Tokens(share.clamp(weight / 2, weight * 2)));
        }
    }

    /// Learns from one request: so much was estimated as new, so much it was.
    pub fn observe(&mut self, estimated: Tokens, reported: Tokens) {
        if estimated.0 == 0 || reported.0 == 0 {
            return;
        }
        self.odd = if self.is_odd(estimated.0, reported.0) { self.odd + 1 } else { 0 };
        // One alone may be anything: an answer that was stopped, a server that
        // miscounts. A second one like it is how things are now (E8).
        if self.odd == 1 {
            return;
        }
        let (low, high) = FACTOR_PERCENT;
        let bounded = reported.0.clamp(percent(estimated.0, low), percent(estimated.0, high));
        self.estimated = self.estimated.saturating_add(estimated.0);
        self.reported = self.reported.saturating_add(bounded);
    }

    fn is_odd(&self, estimated: u64, reported: u64) -> bool {
        if self.estimated < SETTLED_TOKENS {
            return false;
        }
        let own = u128::from(reported) * u128::from(self.estimated);
        let settled = u128::from(self.reported) * u128::from(estimated);
        let (odd, all) = (u128::from(ODD_PERCENT), 100);
        own * all > settled * odd || settled * all > own * odd
    }

    /// Corrects a raw estimate.
    #[must_use]
    pub fn apply(&self, raw: Tokens) -> Tokens {
        if self.estimated == 0 {
            return raw;
        }
        let (low, high) = FACTOR_PERCENT;
        let corrected = u128::from(raw.0) * u128::from(self.reported) / u128::from(self.estimated);
        let corrected = u64::try_from(corrected).unwrap_or(u64::MAX);
        Tokens(corrected.clamp(percent(raw.0, low), percent(raw.0, high)))
    }
}

fn percent(value: u64, hundredths: u64) -> u64 {
    value.saturating_mul(hundredths) / 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ToolUseId;
    use serde_json::json;

    #[test]
    fn t2_text_by_four_json_by_two_images_flat() {
        let limits = Limits::default();
        assert_eq!(estimate_block(&Block::text("x".repeat(400)), &limits), Tokens(100));
        assert_eq!(estimate_block(&Block::image("image/png", "AAAA"), &limits), Tokens(2_000));
        let call = Block::tool_use(&ToolUseId::new("t"), "", json!({"k": "x".repeat(190)}));
        let tokens = estimate_block(&call, &limits).0;
        assert!((95..=105).contains(&tokens), "{tokens}");
        let result = Block::tool_result(
            &ToolUseId::new("t"),
            json!([{"type":"text","text":"x".repeat(40)},{"type":"image"}]),
        );
        assert_eq!(estimate_block(&result, &limits), Tokens(2_010));
    }

    #[test]
    fn e8_one_odd_sample_moves_nothing_and_a_second_does() {
        let mut calibration = Calibration::default();
        for _ in 0..5 {
            calibration.observe(Tokens(1_000), Tokens(1_200));
        }
        calibration.observe(Tokens(20_000), Tokens(60_000));
        assert_eq!(calibration.apply(Tokens(1_000)), Tokens(1_200));
        calibration.observe(Tokens(1_000), Tokens(1_200));
        calibration.observe(Tokens(100), Tokens(90_000));
        assert_eq!(calibration.apply(Tokens(1_000)), Tokens(1_200), "again one alone");
        calibration.observe(Tokens(5_000), Tokens(10_000));
        assert!(calibration.apply(Tokens(1_000)) > Tokens(1_500), "so it is from here on");
    }

    #[test]
    fn t7_one_odd_response_cannot_make_the_count_meaningless() {
        let mut calibration = Calibration::default();
        calibration.observe(Tokens(1), Tokens(1_000_000));
        assert_eq!(calibration.apply(Tokens(100)), Tokens(300));
    }
}
