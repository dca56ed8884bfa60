//! How much of a request is what, by its own bytes.

use everfold_kernel::Limits;
use everfold_kernel::tokens::{estimate_json_bytes, estimate_text};
use everfold_replay::{Round, RoundShares};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How much of one request is what, in estimated tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodyShares {
    /// System prompt and tools.
    pub prelude: u64,
    /// What the person said.
    pub said: u64,
    /// What the model wrote.
    pub written: u64,
    /// Results of tools.
    pub results: u64,
    /// What was injected.
    pub injected: u64,
}

impl BodyShares {
    pub(super) fn of(body: &Value, limits: &Limits) -> Self {
        let bytes = |value: &Value| estimate_json_bytes(value.to_string().len(), limits).0;
        let prelude = ["system", "tools"].iter().filter_map(|key| body.get(key)).map(bytes).sum();
        let mut own = Self { prelude, ..Self::default() };
        for message in body.get("messages").and_then(Value::as_array).into_iter().flatten() {
            own.add(message, limits);
        }
        own
    }

    fn add(&mut self, message: &Value, limits: &Limits) {
        let word = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
        let role = word(message, "role").unwrap_or_default();
        let Some(content) = message.get("content") else { return };
        let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
        for block in blocks {
            let text = block.as_str().or_else(|| block.get("text")?.as_str());
            let tokens = match text {
                Some(text) => estimate_text(text, limits).0,
                None => estimate_json_bytes(block.to_string().len(), limits).0,
            };
            let is_injected = text.is_some_and(|text| text.starts_with("<system-reminder>"));
            let part = match (role.as_str(), word(block, "type").as_deref()) {
                ("assistant", _) => &mut self.written,
                (_, Some("tool_result")) => &mut self.results,
                ("system", _) => &mut self.injected,
                _ if is_injected => &mut self.injected,
                _ => &mut self.said,
            };
            *part += tokens;
        }
    }

    /// Gives a round these shares; its prompt stays what was reported.
    pub fn put(&self, round: &mut Round) {
        let parts = [self.prelude, self.said, self.written, self.results, self.injected];
        let whole: u128 = parts.iter().map(|part| u128::from(*part)).sum::<u128>().max(1);
        let prompt = round.prompt();
        let scaled = parts.map(|part| u128::from(part) * u128::from(prompt) / whole);
        let scaled = scaled.map(|part| u32::try_from(part).unwrap_or(u32::MAX));
        // What rounding left is in the prelude.
        let left = prompt.saturating_sub(scaled.iter().map(|part| u64::from(*part)).sum());
        let [prelude, said, written, results, injected] = scaled;
        round.prelude = prelude.saturating_add(u32::try_from(left).unwrap_or(0));
        round.shares = RoundShares { said, written, results, injected };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w3_shares_keep_the_prompt_that_was_reported() {
        let shares = BodyShares { prelude: 10, said: 1, written: 2, results: 30, injected: 7 };
        let mut round = Round {
            at: jiff::Timestamp::UNIX_EPOCH,
            prelude: 1_000,
            shares: RoundShares { said: 1, written: 0, results: 0, injected: 0 },
            read: 0,
            written: 0,
            output: 0,
            usd: 0.0,
            before: everfold_replay::Before::Nothing,
        };
        let prompt = round.prompt();
        shares.put(&mut round);
        assert_eq!(round.prompt(), prompt);
        assert_eq!(round.shares.results, 600);
    }
}
