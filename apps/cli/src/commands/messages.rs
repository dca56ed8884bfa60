//! `/messages`, `/pin`, `/unpin`, `/snip`, `/unsnip`, `/expand`: pointing at
//! what the model sees, or saw (L4.14, L4.16).
//!
//! A message is named by its number in the list, by its record's id, or by
//! the start of that.

use super::{CommandContext, Flow};
use crate::presenter::{TextStyle, grouped};
use anyhow::{Result, anyhow};
use everfold_agent::engine::session::lookup;
use everfold_agent::engine::window::compaction;
use everfold_agent::engine::window::in_view;
use everfold_agent::engine::window::in_view::InView;
use everfold_kernel::ToolUseId;
use everfold_kernel::provenance::Source;
use everfold_prefix::Showing;
use serde_json::json;

/// Columns from which ids fit beside the words.
const WIDE: usize = 120;

/// The message that a text names.
pub(super) fn named<'a>(list: &'a [InView], text: &str) -> Result<&'a InView> {
    let number = text.trim_start_matches('#').parse::<usize>().ok();
    let by_number = number.and_then(|number| list.get(number.checked_sub(1)?));
    let by_id = || list.iter().find(|entry| entry.record.as_str() == text);
    if let Some(entry) = by_number.or_else(by_id) {
        return Ok(entry);
    }
    let mut by_start =
        list.iter().filter(|entry| !text.is_empty() && entry.record.as_str().starts_with(text));
    match (by_start.next(), by_start.count()) {
        (Some(entry), 0) => Ok(entry),
        (None, _) => Err(anyhow!("no message {text:?} in view; /messages lists them")),
        (Some(_), more) => Err(anyhow!(
            "{} messages have an id that begins with {text:?}; give more of it",
            more + 1
        )),
    }
}

/// Lists what the model sees.
pub(super) fn list(cx: &CommandContext) -> Result<Flow> {
    show(cx, &in_view::in_view(&cx.session))
}

fn show(cx: &CommandContext, entries: &[InView]) -> Result<Flow> {
    if entries.is_empty() {
        cx.presenter.line("no messages")?;
        return Ok(Flow::GoOn);
    }
    let with_ids = !cx.presenter.is_terminal() || cx.presenter.width() >= WIDE;
    let rows: Vec<Vec<String>> = entries
        .iter()
        .map(|entry| {
            let mut row = vec![
                format!("{:>4}", entry.number),
                what(entry),
                if entry.pinned { "pinned" } else { "" }.to_owned(),
                format!("{:>7}", grouped(entry.tokens.0)),
            ];
            if with_ids {
                row.push(entry.record.to_string());
            }
            row.push(entry.words.clone());
            row
        })
        .collect();
    cx.presenter.table(&rows)?;
    Ok(Flow::GoOn)
}

fn what(entry: &InView) -> String {
    let name = match entry.category {
        "user_messages" => "you",
        "answers" => "answer",
        "tool_calls" => "call",
        "tool_results" => "result",
        "memory_files" => "memory",
        other => other,
    };
    match entry.shown {
        Showing::Whole => name.to_owned(),
        Showing::Spilled => format!("{name}, spilled"),
        Showing::Cleared => format!("{name}, cleared"),
        Showing::StandsIn => "stand-in".to_owned(),
    }
}

/// Pins a message; without a name, lists what could be.
pub(super) async fn pin(cx: &mut CommandContext, name: &str) -> Result<Flow> {
    let entries = in_view::in_view(&cx.session);
    if name.is_empty() {
        return show(cx, &entries);
    }
    let done = match named(&entries, name) {
        Ok(entry) => {
            let pinned = compaction::pin(&mut cx.session, &entry.record).await;
            pinned.map(|()| entry).map_err(anyhow::Error::from)
        }
        Err(why) => Err(why),
    };
    tell(cx, done.map(|entry| format!("message {} stays through compactions", entry.number)))
}

/// Takes a pin out; without a name, lists the pins.
pub(super) async fn unpin(cx: &mut CommandContext, name: &str) -> Result<Flow> {
    let mut entries = in_view::in_view(&cx.session);
    if name.is_empty() {
        entries.retain(|entry| entry.pinned);
        return show(cx, &entries);
    }
    let done = match named(&entries, name) {
        Ok(entry) if !entry.pinned => Err(anyhow!("message {} is not pinned", entry.number)),
        Ok(entry) => {
            let taken = compaction::unpin(&mut cx.session, &entry.record).await;
            taken.map(|()| entry).map_err(anyhow::Error::from)
        }
        Err(why) => Err(why),
    };
    tell(cx, done.map(|entry| format!("message {} is no longer pinned", entry.number)))
}

/// Takes messages out of the model's view.
pub(super) async fn snip(cx: &mut CommandContext, names: &str) -> Result<Flow> {
    let entries = in_view::in_view(&cx.session);
    let words: Vec<&str> = names.split_whitespace().collect();
    let (from, to) = match words.as_slice() {
        [one] => (named(&entries, one), named(&entries, one)),
        [from, to] => (named(&entries, from), named(&entries, to)),
        _ => return tell(cx, Err(anyhow!("name the first message and the last one".to_owned()))),
    };
    let done = match (from, to) {
        (Ok(from), Ok(to)) => compaction::snip(&mut cx.session, &from.record, &to.record)
            .await
            .map_err(anyhow::Error::from),
        (Err(why), _) | (_, Err(why)) => Err(why),
    };
    let told = |record| format!("removed from the model's view; /unsnip {record} puts it back");
    tell(cx, done.map(told))
}

/// Shows again what a snip hid; without a name, lists the snips.
pub(super) async fn unsnip(cx: &mut CommandContext, name: &str) -> Result<Flow> {
    let mut entries = in_view::in_view(&cx.session);
    if name.is_empty() {
        entries.retain(|entry| entry.shown == Showing::StandsIn);
        return show(cx, &entries);
    }
    match named(&entries, name) {
        Ok(entry) if entry.shown == Showing::StandsIn => {
            compaction::undo_decision(&mut cx.session, &entry.record).await?;
            tell(cx, Ok("the model sees it again".to_owned()))
        }
        Ok(entry) => tell(cx, Err(anyhow!("message {} is not a snip", entry.number))),
        Err(why) => tell(cx, Err(why)),
    }
}

/// Shows what is out of view, to the person and to the model.
pub(super) async fn expand(cx: &mut CommandContext, name: &str) -> Result<Flow> {
    if name.is_empty() {
        let why = "name what to bring back: a call's id, a record's id, or FROM..TO";
        return tell(cx, Err(anyhow!(why.to_owned())));
    }
    let entries = in_view::in_view(&cx.session);
    let entry = named(&entries, name).ok();
    if let Some(InView { number, shown: Showing::StandsIn, .. }) = entry {
        let why = format!("message {number} stands for others; /unsnip {number} puts them back");
        return tell(cx, Err(anyhow!(why)));
    }
    let id = entry.map_or(name, |entry| entry.record.as_str());
    let limits = std::sync::Arc::clone(&cx.session.config().limits);
    let found = lookup::find(cx.agent.world(), &limits, cx.session.id(), id).await;
    let recalled = match found {
        Ok(recalled) => recalled,
        Err(error) => return tell(cx, Err(error.into())),
    };
    cx.presenter.line(&recalled.text)?;
    let most = usize::try_from(limits.offload.recall_chars).unwrap_or(usize::MAX);
    let kind = recalled.kind.as_str();
    let text = format!(
        "The person brought back the {kind} {id}, which was out of view:\n\n{}",
        capped(&recalled.text, most)
    );
    let known = || cx.session.context().result_origin(&ToolUseId::new(id.trim()));
    let whose = recalled.provenance.or_else(known).unwrap_or(Source::Command.into());
    let data = json!({"id": id, "kind": kind});
    cx.session.attach_from(whose, "expanded", &text, data).await?;
    tell(cx, Ok("the model sees it with your next message".to_owned()))
}

/// A text of at most so many characters, with a word about the rest.
fn capped(text: &str, most: usize) -> String {
    let start: String = text.chars().take(most).collect();
    let left = text.chars().count().saturating_sub(most);
    if left == 0 {
        return start;
    }
    format!("{start}\n\n[{left} more characters: ResultRead brings them back by this id]")
}

/// Says what was done, or why it was not.
pub(super) fn tell(cx: &CommandContext, done: Result<String>) -> Result<Flow> {
    match done {
        Ok(text) => cx.presenter.styled(TextStyle::Dim, &format!("{text}\n"))?,
        Err(why) => cx.presenter.note(TextStyle::Yellow, &why.to_string()),
    }
    Ok(Flow::GoOn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::Tokens;

    fn entries(ids: &[&str]) -> Vec<InView> {
        let entry = |(at, id): (usize, &&str)| InView {
            number: at + 1,
            record: (*id).into(),
            category: "answers",
            words: String::new(),
            tokens: Tokens(1),
            shown: Showing::Whole,
            pinned: false,
        };
        ids.iter().enumerate().map(entry).collect()
    }

    #[test]
    fn l4_16_a_message_is_named_by_number_id_or_the_start_of_it() {
        let list = entries(&["019a-1", "019a-2", "77b-3", "77b-33"]);
        let found = |text: &str| {
            named(&list, text).map(|entry| entry.number).map_err(|error| error.to_string())
        };
        assert_eq!(found("2"), Ok(2));
        assert_eq!(found("#2"), Ok(2));
        assert_eq!(found("019a-2"), Ok(2));
        assert_eq!(found("77b-3"), Ok(3), "an id goes before the start of another");
        assert_eq!(found("77b-33"), Ok(4));
        for text in ["0", "5", "", "019a", "x"] {
            assert!(found(text).is_err(), "{text}");
        }
        assert!(found("019a").unwrap_err().contains("2 messages"));
    }

    #[test]
    fn l1_8_what_is_expanded_is_capped_for_the_model() {
        assert_eq!(capped("héllo", 5), "héllo");
        assert!(capped("héllo", 2).starts_with("hé\n") && capped("héllo", 2).contains("3 more"));
    }
}
