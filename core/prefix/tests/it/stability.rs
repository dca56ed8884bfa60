//! The promise that everything hangs on: what was sent is sent the same again.

use crate::conversations::{Log, body_of, rounds, without_marks, write};
use everfold_prefix::Directive;
use proptest::prelude::*;
use serde_json::Value;

/// Whether `later` starts with all that `earlier` said. The last message may
/// have been extended.
fn is_prefix(earlier: &Value, later: &Value) -> bool {
    let messages = |body: &Value| body["messages"].as_array().cloned().unwrap();
    let (old, new) = (messages(earlier), messages(later));
    let Some((last, before)) = old.split_last() else {
        return true;
    };
    if new.len() < old.len() || new[..before.len()] != *before {
        return false;
    }
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap();
    let (last_blocks, new_blocks) = (blocks(last), blocks(&new[before.len()]));
    let head = |body: &Value| {
        let mut head = body.clone();
        head["messages"] = Value::Null;
        head
    };
    last["role"] == new[before.len()]["role"]
        && new_blocks.starts_with(&last_blocks)
        && head(earlier) == head(later)
}

fn ends_with_user(body: &Value) -> bool {
    body["messages"].as_array().unwrap().last().is_some_and(|message| message["role"] == "user")
}

fn is_valid(body: &Value) -> Result<(), String> {
    let messages = body["messages"].as_array().ok_or("no messages")?;
    for (index, message) in messages.iter().enumerate() {
        let content = message["content"].as_array().ok_or("no content")?;
        if content.is_empty() {
            return Err(format!("message {index} is empty"));
        }
        let calls: Vec<&Value> = content
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|block| &block["id"])
            .collect();
        let results: Vec<&Value> = messages
            .get(index + 1)
            .and_then(|next| next["content"].as_array())
            .into_iter()
            .flatten()
            .take_while(|block| block["type"] == "tool_result")
            .map(|block| &block["tool_use_id"])
            .collect();
        let answered = calls.iter().all(|id| results.contains(id)) && calls.len() == results.len();
        if message["role"] == "assistant" && !answered && index + 1 < messages.len() {
            return Err(format!("message {index}: calls {calls:?} results {results:?}"));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pc1_a_longer_log_starts_with_the_bytes_of_the_shorter(rounds in rounds()) {
        let mut log = Log::started();
        log.user("start");
        let mut previous = without_marks(log.body());
        for (number, round) in rounds.iter().enumerate() {
            write(&mut log, round, number);
            let body = log.body();
            prop_assert_eq!(is_valid(&body), Ok(()));
            let body = without_marks(body);
            if ends_with_user(&body) {
                prop_assert!(is_prefix(&previous, &body), "{previous:#}\n{body:#}");
                previous = body;
            }
        }
    }

    #[test]
    fn pc1_folding_in_steps_is_folding_at_once(rounds in rounds()) {
        let mut log = Log::started();
        let mut stepwise = log.fold();
        let mut taken = log.records.len();
        for (number, round) in rounds.iter().enumerate() {
            write(&mut log, round, number);
            for record in &log.records[taken..] {
                stepwise.push(record.clone());
                let _ = stepwise.request(None);
            }
            taken = log.records.len();
        }
        let at_once = log.fold().request(None);
        prop_assert_eq!(stepwise.request(None).map(|r| (r.body, r.prefix)), at_once.map(|r| (r.body, r.prefix)));
        prop_assert_eq!(stepwise.count(), log.fold().count());
    }

    #[test]
    fn a_fork_shares_the_parents_bytes(rounds in rounds()) {
        let mut log = Log::started();
        log.user("start");
        for (number, round) in rounds.iter().enumerate() {
            write(&mut log, round, number);
        }
        let mut fold = log.fold();
        let parent = without_marks(body_of(&mut fold));
        let fork = fold.request(Some(Directive("look back"))).unwrap();
        let fork: Value = serde_json::from_slice(&fork.body.whole()).unwrap();
        prop_assert_eq!(is_valid(&fork), Ok(()));
        prop_assert!(ends_with_user(&fork));
        prop_assert!(is_prefix(&parent, &without_marks(fork)));
    }

    #[test]
    fn at_most_four_breakpoints(rounds in rounds()) {
        let mut log = Log::started();
        log.user("start");
        for (number, round) in rounds.iter().enumerate() {
            write(&mut log, round, number);
            let body = log.fold().request(None).unwrap().body.whole();
            let marks = String::from_utf8_lossy(&body).matches("\"cache_control\"").count();
            prop_assert!((3..=4).contains(&marks), "{marks}");
        }
    }
}
