//! Kill switches and limits of a session that runs (Q3, L1.6): their source is
//! asked at the start of each turn, and what changed there since is taken over.
//! What a session was started with besides stays, and so does what bytes depend
//! on: requests go on from the bytes that were sent before.

use crate::agents::outfit::NOT_FOR_AGENTS;
use crate::config::Config;
use crate::event::Event;
use crate::session::{Session, status};
use crate::tools::Snipping;
use everfold_kernel::ports::SwitchReading;
use everfold_kernel::{Flag, Flags, Limits};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Switches that the prelude was made with. The system prompt names the team's
/// directory and says how memories are kept, so that reviews after a turn have to
/// keep them in the same way; clearing by the API is a parameter of each request.
const FLAGS_AT_START: &[Flag] = &[Flag::TeamMemory, Flag::DailyLogs, Flag::PruneApi];

/// Limits that are read once.
const LIMITS_AT_START: &[&str] = &[
    // Parameters and tools of the prelude, which a compaction composes again.
    "max_output_tokens",
    "thinking_budget_tokens",
    "web_search_uses",
    "prune.api_trigger_tokens",
    "prune.api_clear_tokens",
    "prune.api_keep_thinking_turns",
    // The measure of the fold: all that it has counted was counted by it.
    "bytes_per_token_text",
    "bytes_per_token_json",
    "image_tokens",
    // No bytes depend on these, but the ports were made with them: the model's
    // client, the reader of pages, the logs and the look at the flag source.
    "max_retries",
    "retry_base_ms",
    "retry_max_ms",
    "retry_after_max_s",
    "retry_total_s",
    "stream_idle_s",
    "stream_ping_s",
    "wait_notice_ms",
    "connect_timeout_s",
    "sse_event_bytes",
    "web_bytes",
    "web_timeout_s",
    "transcript_line_bytes",
    "flag_poll_s",
];

/// The topic of what is said once about a source that cannot be read.
const SOURCE: &str = "switches";

/// Takes over the switches and limits that changed since the last turn, and
/// tells the person. A fork goes by what its parent has: it is part of a turn.
pub(crate) async fn follow_switches(session: &mut Session) {
    let Some(source) = session.world.switches.clone() else { return };
    if !session.keeps_itself() {
        return;
    }
    let mut now = source.current().await;
    tell_problem(session, now.problem.take());
    let Some(before) = session.config.switches.clone() else {
        let config = Config { switches: Some(Arc::new(now)), ..Config::clone(&session.config) };
        session.config = Arc::new(config);
        return;
    };
    // Results that no answer followed may have been sent as they are: another
    // cap would change those bytes, and waits until there is an answer.
    if !session.state.fold.last_results().is_empty() {
        now.limits.offload = before.limits.offload.clone();
    }
    if now == *before {
        return;
    }
    let changes = take_over(session, &before, now);
    if session.is_main() {
        tell(session, &changes);
    }
}

/// What changed, as people read it.
#[derive(Debug, Default, PartialEq)]
struct Changes {
    /// What holds from here on.
    taken: Vec<String>,
    /// What does not, because it is read at the start.
    left: Vec<String>,
}

fn take_over(session: &mut Session, before: &SwitchReading, now: SwitchReading) -> Changes {
    let mut config = Config::clone(&session.config);
    let mut changes = Changes::default();
    let not_mine = if session.is_main() { &[] } else { NOT_FOR_AGENTS };
    let had = config.flags.clone();
    follow_flags(&mut config.flags, not_mine, (&before.flags, &now.flags), &mut changes);
    config.limits =
        Arc::new(follow_limits(&config.limits, (&before.limits, &now.limits), &mut changes));
    config.switches = Some(Arc::new(now));
    let snipping = match config.flags.is_on(Flag::Snip) {
        on if on == had.is_on(Flag::Snip) => session.context.snipping,
        true => Snipping::On,
        false => Snipping::Off,
    };
    put_in_place(session, Arc::new(config), snipping);
    changes
}

/// Hands the new values to all that holds them.
fn put_in_place(session: &mut Session, config: Arc<Config>, snipping: Snipping) {
    let past = session.memory.past.clone().filter(|_| config.flags.is_on(Flag::PastSearch));
    session.world.past.clone_from(&past);
    let limits = Arc::clone(&config.limits);
    session.runtime.cache.detector.set_limits(limits.breaks.clone());
    session.context = Arc::new(session.context.under(Arc::clone(&limits), snipping, past));
    if session.is_main() {
        session.crew.agents.seat().history.follow(&limits);
        session.crew.agents.follow(Arc::clone(&config));
    }
    session.config = config;
    if session.is_main() {
        status::show_status(session);
    }
}

fn follow_flags(
    own: &mut Flags,
    not_mine: &[Flag],
    (before, now): (&Flags, &Flags),
    changes: &mut Changes,
) {
    for flag in Flag::ALL.iter().copied() {
        let on = now.is_on(flag);
        if on == before.is_on(flag) || not_mine.contains(&flag) {
            continue;
        }
        let said = format!("{} {}", flag.name(), if on { "on" } else { "off" });
        if FLAGS_AT_START.contains(&flag) {
            changes.left.push(said);
        } else {
            own.set(flag, on);
            changes.taken.push(said);
        }
    }
}

/// The limits with what changed at their source.
fn follow_limits(own: &Limits, (before, now): (&Limits, &Limits), changes: &mut Changes) -> Limits {
    let read = |limits: &Limits| serde_json::to_value(limits).unwrap_or_default();
    let mut value = read(own);
    follow_value(&mut value, (&read(before), &read(now)), "", changes);
    // Each value was of its type before, so this is only for the compiler.
    serde_json::from_value(value).unwrap_or_else(|_| own.clone())
}

fn follow_value(
    own: &mut Value,
    (before, now): (&Value, &Value),
    name: &str,
    changes: &mut Changes,
) {
    if let (Value::Object(own), Value::Object(before), Value::Object(now)) =
        (&mut *own, before, now)
    {
        follow_fields(own, (before, now), name, changes);
    } else if LIMITS_AT_START.contains(&name) {
        changes.left.push(format!("{name} {now}"));
    } else {
        own.clone_from(now);
        changes.taken.push(format!("{name} {now}"));
    }
}

fn follow_fields(
    own: &mut Map<String, Value>,
    (before, now): (&Map<String, Value>, &Map<String, Value>),
    name: &str,
    changes: &mut Changes,
) {
    let full = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    // Only caps by tool come and go.
    for key in before.keys().filter(|key| !now.contains_key(*key)) {
        own.remove(key);
        changes.taken.push(format!("{} as by default", full(key)));
    }
    for (key, now) in now {
        let before = before.get(key).unwrap_or(&Value::Null);
        if before != now {
            let at = own.entry(key.clone()).or_insert(Value::Null);
            follow_value(at, (before, now), &full(key), changes);
        }
    }
}

/// Says once that the source cannot be read, and again once it could be.
fn tell_problem(session: &mut Session, problem: Option<String>) {
    match problem {
        Some(problem) if session.is_main() => status::say_once(session, SOURCE, || {
            format!("switches and limits stay as they were last read: {problem}")
        }),
        Some(_) => {}
        None => {
            session.runtime.told.remove(SOURCE);
        }
    }
}

fn tell(session: &Session, changes: &Changes) {
    let mut told = Vec::new();
    if !changes.taken.is_empty() {
        told.push(format!("changed from this turn on: {}", changes.taken.join(", ")));
    }
    if !changes.left.is_empty() {
        told.push(format!("changed for new sessions only: {}", changes.left.join(", ")));
    }
    let text = told.join("; ");
    tracing::info!("switches or limits {text}");
    session.emit(|| Event::Notice(format!("Switches and limits {text}.")));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn limits(value: Value) -> Limits {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn q3_what_a_session_was_given_besides_stays() {
        let own = limits(json!({"turn_requests": 3, "offload": {"bash_chars": 100}}));
        let now = limits(json!({"max_output_tokens": 9, "offload": {"bash_chars": 200},
                                "read_lines": 7}));
        let mut changes = Changes::default();
        let after = follow_limits(&own, (&Limits::default(), &now), &mut changes);
        assert_eq!((after.turn_requests, after.read_lines), (3, 7));
        assert_eq!(after.offload.bash_chars, 200);
        assert_eq!(after.max_output_tokens, Limits::default().max_output_tokens);
        assert_eq!(changes.left, ["max_output_tokens 9"]);
        assert_eq!(changes.taken.len(), 2, "{changes:?}");
    }

    #[test]
    fn l1_6_caps_by_tool_come_and_go() {
        let capped = limits(json!({"offload": {"tool_chars": {"Bash": 5, "Grep": 6}}}));
        let fewer = limits(json!({"offload": {"tool_chars": {"Grep": 7}}}));
        let mut changes = Changes::default();
        let own = Limits::default();
        let with = follow_limits(&own, (&own, &capped), &mut changes);
        assert_eq!(with, capped);
        assert_eq!(follow_limits(&with, (&capped, &fewer), &mut changes), fewer);
        let back = follow_limits(&with, (&capped, &own), &mut changes);
        assert_eq!(back, own);
    }

    #[test]
    fn q3_every_limit_that_is_read_once_is_one() {
        let all = serde_json::to_value(Limits::default()).unwrap();
        for name in LIMITS_AT_START {
            let pointer = format!("/{}", name.replace('.', "/"));
            assert!(all.pointer(&pointer).is_some(), "{name}");
        }
    }

    #[test]
    fn q3_an_agent_is_not_given_what_only_a_conversation_does() {
        let (before, now) = (Flags::default().with(Flag::Extract, false), Flags::default());
        let (mut own, mut changes) = (before.clone(), Changes::default());
        follow_flags(&mut own, NOT_FOR_AGENTS, (&before, &now), &mut changes);
        assert_eq!((own, changes), (before, Changes::default()));
    }
}
