//! The end of a turn as programs read it (CONTRACTS 2.12).

use super::failure_text;
use super::tally::Tally;
use crate::failure;
use everfold_agent::engine::{Denial, TurnEnd};
use everfold_agent::{EndReason, Session};
use everfold_kernel::usage::LedgerLine;
use everfold_kernel::{ModelId, Usage};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// How a turn ended, and in which session.
pub(crate) struct Outcome<'a> {
    session: &'a Session,
    end: TurnEnd,
}

impl<'a> Outcome<'a> {
    /// An outcome. A log that cannot be written ends a turn like any failure.
    pub(super) fn new(
        session: &'a Session,
        end: Result<TurnEnd, everfold_agent::engine::Error>,
    ) -> Self {
        let end = end.unwrap_or_else(|error| {
            let told = failure::told(&error.into());
            let parts = [told.message, told.hint].into_iter().flatten();
            let why = parts.collect::<Vec<_>>().join("; ");
            TurnEnd { reason: EndReason::Failed(why), ..TurnEnd::default() }
        });
        Self { session, end }
    }

    /// The text of the last answer.
    pub(super) fn text(&self) -> &str {
        &self.end.text
    }

    pub(super) fn reason(&self) -> &EndReason {
        &self.end.reason
    }

    /// Why it is no success.
    pub(super) fn failure(&self) -> Option<String> {
        failure_text(&self.end.reason)
    }

    /// Calls that were refused.
    pub(super) fn denials(&self) -> &[Denial] {
        &self.end.denials
    }

    fn subtype(&self) -> &'static str {
        match self.end.reason {
            EndReason::Completed | EndReason::OutputLimit => "success",
            EndReason::TooManyRequests(_) => "error_max_turns",
            EndReason::SpendingCeiling(_) => "error_spending_ceiling",
            EndReason::Refused | EndReason::Cancelled | EndReason::Failed(_) => {
                "error_during_execution"
            }
        }
    }

    /// The `result` object.
    pub(super) fn to_json(&self, tally: &Tally) -> Value {
        let failure = self.failure();
        let text = match (&failure, self.text()) {
            (Some(failure), "") => failure.as_str(),
            (_, text) => text,
        };
        let mut result = json!({
            "type": "result",
            "subtype": self.subtype(),
            "is_error": failure.is_some(),
            "result": text,
            "session_id": self.session.id(),
            "num_turns": self.end.requests,
            "duration_ms": millis(tally.duration()),
            "duration_api_ms": millis(tally.duration_waiting()),
            "stop_reason": tally.stop_reason,
            "total_cost_usd": tally.ledger.total().cost.0,
            "usage": usage(&self.end.usage),
            "modelUsage": self.by_model(tally),
            "permission_denials": self.denials().iter().map(denial).collect::<Vec<_>>(),
            "uuid": uuid::Uuid::now_v7().to_string(),
        });
        if let (Some(failure), Some(map)) = (failure, result.as_object_mut()) {
            map.insert("errors".into(), json!([failure]));
        }
        result
    }

    fn by_model(&self, tally: &Tally) -> Map<String, Value> {
        let mut sums: BTreeMap<&str, Vec<&LedgerLine>> = BTreeMap::new();
        for (_, model, line) in tally.ledger.lines() {
            sums.entry(model).or_default().push(line);
        }
        let objects = sums.into_iter().map(|(name, lines)| {
            let mut tokens = Usage::default();
            let (mut cost, mut unpriced) = (0.0, 0);
            for line in lines {
                tokens.add(&line.usage);
                cost += line.cost.0;
                unpriced += line.unpriced;
            }
            (name.to_owned(), self.model_object(name, &tokens, cost, unpriced))
        });
        objects.collect()
    }

    fn model_object(&self, name: &str, tokens: &Usage, cost: f64, unpriced: u64) -> Value {
        let config = self.session.config();
        let model = ModelId::new(name);
        let spec = config.models.table.spec(&model);
        // A server of one's own may answer under another name than it was asked by.
        let is_known = config.models.table.knows(&model);
        let window = if is_known { config.window(&model) } else { self.session.window() };
        json!({
            "inputTokens": tokens.input,
            "outputTokens": tokens.output,
            "cacheReadInputTokens": tokens.cache_read,
            "cacheCreationInputTokens": tokens.cache_write(),
            "cacheCreationEphemeral5mInputTokens": tokens.cache_write_5m,
            "cacheCreationEphemeral1hInputTokens": tokens.cache_write_1h,
            "webSearchRequests": tokens.web_searches,
            "costUSD": cost,
            "contextWindow": window.size,
            "maxOutputTokens": spec.max_output,
            "unpricedRequests": unpriced,
        })
    }
}

fn denial(denial: &Denial) -> Value {
    json!({"tool_name": denial.name, "tool_use_id": denial.id, "tool_input": denial.input})
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Usage with the names of the API.
pub(super) fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write(),
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_5m,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "server_tool_use": {"web_search_requests": usage.web_searches},
    })
}
