//! A replay for programs.

use super::{Session, totals};
use everfold_replay::{LaneReport, Totals};
use serde_json::{Value, json};

/// What is told besides the sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) why: bool,
    pub(super) rounds: bool,
}

/// All sessions and their sums.
pub(super) fn value(sessions: &[Session], wanted: Wanted) -> Value {
    let (lanes, reported, truth) = totals(sessions);
    let policies: Vec<Value> = lanes
        .iter()
        .map(|(policy, own)| with(&json!({"policy": policy.to_string()}), own))
        .collect();
    json!({
        "sessions": sessions.iter().map(|own| session(own, wanted)).collect::<Vec<_>>(),
        "total": {
            "sessions": sessions.len(),
            "reported": reported,
            "truth": truth_value(&truth),
            "policies": policies,
        },
        "why": wanted.why.then(|| crate::causes::to_json(&super::causes(sessions))),
    })
}

fn session(own: &Session, wanted: Wanted) -> Value {
    let Session { file, found } = own;
    let lanes: Vec<Value> = found.outcome.lanes.iter().map(|own| lane(own, wanted)).collect();
    json!({
        "file": file.display().to_string(),
        "format": found.about.format,
        "version": found.about.version,
        "session_id": found.about.session,
        "cwd": found.about.cwd,
        "conversations": found.outcome.threads,
        "agent_files": found.agents.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
        "lines": found.about.tally.lines,
        "skipped": found.about.tally.skipped,
        "aside": found.about.tally.aside,
        "reported": found.outcome.reported,
        "truth": found.outcome.truth.as_ref().map(truth_value),
        "beside_usd": found.outcome.beside_usd,
        "policies": lanes,
    })
}

fn lane(own: &LaneReport, wanted: Wanted) -> Value {
    let mut value = with(&json!({"policy": own.policy.to_string()}), &own.totals);
    if let Some(map) = value.as_object_mut() {
        if wanted.why {
            map.insert("moments".to_owned(), json!(own.moments));
        }
        if wanted.rounds {
            map.insert("rounds".to_owned(), json!(own.rounds));
        }
    }
    value
}

fn with(head: &Value, totals: &Totals) -> Value {
    let mut value = head.clone();
    if let (Some(map), Value::Object(rest)) = (value.as_object_mut(), json!(totals)) {
        map.extend(rest);
        map.insert("cache_hit_rate".to_owned(), json!(totals.usage.hit_rate()));
    }
    value
}

fn truth_value(truth: &everfold_replay::Truth) -> Value {
    json!({
        "requests": truth.requests,
        "prompt": truth.prompt,
        "prompt_error_percent": truth.prompt.error_percent(),
        "cache_read": truth.cache_read,
        "cache_read_error_percent": truth.cache_read.error_percent(),
        "cache_write": truth.cache_write,
        "cache_write_error_percent": truth.cache_write.error_percent(),
        "input_usd": truth.usd,
        "input_usd_error_percent": truth.usd.error_percent(),
    })
}
