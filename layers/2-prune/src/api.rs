//! Clearing by the API: the parameter that asks for it, and what the server
//! says that it did (L2.4).
//!
//! The parameter is the same for a whole conversation as long as its prelude
//! is, so that asking for it does not itself break anything: it depends on
//! the window, the model's prices and the tool list, not on the pace.

use crate::policy::MCP_PREFIX;
use everfold_economy::CostTerms;
use everfold_kernel::limits::PruneLimits;
use everfold_kernel::record::{AppliedEdit, CacheState};
use everfold_kernel::{ModelSpec, Prelude, Tokens, Window};
use serde_json::{Value, json};

const CLEAR_THINKING: &str = "clear_thinking_20251015";
const CLEAR_TOOL_USES: &str = "clear_tool_uses_20250919";

/// The `context_management` parameter. Thinking comes first, as the API wants
/// it, and only where the model is asked to think.
///
/// On a window that is too small for the trigger of the settings, the trigger
/// is where the person is warned, and the least amount is half of it. The
/// least amount is raised to what pays by the sum of L2.7, where prices are
/// known.
#[must_use]
pub fn context_management(
    prelude: &Prelude,
    model: &ModelSpec,
    window: &Window,
    limits: &PruneLimits,
) -> Value {
    let mut edits = Vec::new();
    if thinks(prelude) {
        let keep = match limits.api_keep_thinking_turns {
            0 => json!({"type": "all"}),
            turns => json!({"type": "thinking_turns", "value": turns}),
        };
        edits.push(json!({"type": CLEAR_THINKING, "keep": keep}));
    }
    let trigger = window.warning.min(Tokens(limits.api_trigger_tokens));
    let least = least_to_clear(prelude, model, trigger, limits);
    let mut tools = json!({
        "type": CLEAR_TOOL_USES,
        "trigger": {"type": "input_tokens", "value": trigger.0},
        "clear_at_least": {"type": "input_tokens", "value": least.0},
    });
    let excluded = mcp_tools(prelude);
    if let Some(map) = tools.as_object_mut().filter(|_| !excluded.is_empty()) {
        map.insert("exclude_tools".into(), Value::from(excluded));
    }
    edits.push(tools);
    json!({ "edits": edits })
}

/// The least amount that a clearing at the trigger has to reach. The server
/// may begin anywhere, so all of the prompt is taken as rewritten.
fn least_to_clear(
    prelude: &Prelude,
    model: &ModelSpec,
    trigger: Tokens,
    limits: &PruneLimits,
) -> Tokens {
    let set = if trigger < Tokens(limits.api_trigger_tokens) {
        Tokens(limits.api_clear_tokens.min(trigger.0 / 2))
    } else {
        Tokens(limits.api_clear_tokens)
    };
    let terms = CostTerms {
        prices: model.prices_for(trigger.0).copied(),
        ttl: prelude.params.cache,
        cache: CacheState::Warm,
        rounds: as_rounds(limits.expected_rounds),
    };
    let pays = terms.least_that_pays(trigger, limits.gain_percent);
    pays.unwrap_or(set).max(set)
}

#[expect(clippy::cast_precision_loss, reason = "a number of requests is far below 2^52")]
fn as_rounds(rounds: u64) -> f64 {
    rounds as f64
}

fn thinks(prelude: &Prelude) -> bool {
    let kind = prelude.params.thinking.as_ref().and_then(|thinking| thinking.get("type")?.as_str());
    kind.is_some_and(|kind| kind != "disabled")
}

fn mcp_tools(prelude: &Prelude) -> Vec<&str> {
    let names = prelude.tools.iter().filter_map(|tool| tool.get("name")?.as_str());
    names.filter(|name| name.starts_with(MCP_PREFIX)).collect()
}

/// What a server lists under `context_management.applied_edits`. Edits of
/// other forms are passed over.
#[must_use]
pub fn applied_edits(list: &Value) -> Vec<AppliedEdit> {
    let edits = list.as_array().into_iter().flatten();
    edits.filter_map(|edit| serde_json::from_value(edit.clone()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::window::Overrides;
    use everfold_kernel::{Limits, ModelTable, Params};

    fn ask(model: &str, spec: Option<&ModelSpec>, limits: &PruneLimits) -> Value {
        let table = ModelTable::builtin();
        let known = table.spec(&model.into());
        let window =
            Window::resolve(&model.into(), known, &[], &Overrides::default(), &Limits::default());
        let mut params = Params::new(model, 1_000);
        params.thinking = Some(json!({"type": "adaptive"}));
        let tool = |name: &str| json!({"name": name});
        let tools = vec![tool("Read"), tool("mcp__db__rows"), tool("mcp__web__get")];
        let prelude = Prelude { system: vec![], tools, params };
        context_management(&prelude, spec.unwrap_or(known), &window, limits)
    }

    #[test]
    fn l2_4_the_parameter_by_window() {
        let unpriced = ModelSpec::default();
        let limits = PruneLimits::default();
        insta::assert_snapshot!(ask("claude-fable-5-2", Some(&unpriced), &limits), @r#"{"edits":[{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":1}},{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":180000},"clear_at_least":{"type":"input_tokens","value":140000},"exclude_tools":["mcp__db__rows","mcp__web__get"]}]}"#);
        let small = ask("claude-haiku-4-5", Some(&unpriced), &limits);
        assert_eq!(small["edits"][1]["trigger"]["value"], 147_000);
        assert_eq!(small["edits"][1]["clear_at_least"]["value"], 73_500);
    }

    #[test]
    fn l2_4_all_thinking_is_kept_on_demand_and_not_spoken_of_where_there_is_none() {
        let limits = PruneLimits { api_keep_thinking_turns: 0, ..PruneLimits::default() };
        let all = ask("claude-opus-5-5", None, &limits);
        assert_eq!(all["edits"][0]["keep"], json!({"type": "all"}));
        let params = Params::new("claude-opus-5-5", 1_000);
        let prelude = Prelude { system: vec![], tools: vec![], params };
        let table = ModelTable::builtin();
        let model = "claude-opus-5-5".into();
        let spec = table.spec(&model);
        let window = Window::resolve(&model, spec, &[], &Overrides::default(), &Limits::default());
        let value = context_management(&prelude, spec, &window, &limits);
        assert_eq!(value["edits"].as_array().unwrap().len(), 1);
        assert!(value["edits"][0].get("exclude_tools").is_none());
    }

    #[test]
    fn l2_4_l2_7_the_least_amount_is_raised_to_what_pays() {
        let least = |rounds| {
            let limits = PruneLimits { expected_rounds: rounds, ..PruneLimits::default() };
            let value = ask("claude-sonnet-5-5", None, &limits);
            value["edits"][1]["clear_at_least"]["value"].as_u64().unwrap()
        };
        assert_eq!(least(10), 140_000, "by the settings: 130,550 would pay");
        assert!((170_000..=180_000).contains(&least(1)), "{}", least(1));
        assert!(least(3) > least(5));
    }

    #[test]
    fn l2_4_what_the_server_cleared_is_read() {
        let list = json!([
            {"type": "clear_thinking_20251015", "cleared_input_tokens": 7, "cleared_thinking_turns": 2},
            {"type": "clear_tool_uses_20250919", "cleared_input_tokens": 150_000, "cleared_tool_uses": 30},
            {"kind": "of another form"}]);
        let edits = applied_edits(&list);
        assert_eq!(edits.len(), 2);
        assert_eq!(edits[0].cleared_thinking_turns, Some(2));
        assert_eq!(
            (edits[1].cleared_input_tokens, edits[1].cleared_tool_uses),
            (Tokens(150_000), Some(30))
        );
        assert!(applied_edits(&Value::Null).is_empty());
    }
}
