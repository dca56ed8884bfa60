//! A summary without a model (L4.11): the same words every time, good enough
//! to go on working from, and as short as it has to be.

use crate::facts::{CallOutcome, FileUse, OpenTodo, PastCall, SpanFacts};
use crate::user_messages::{self, UserMessage};
use crate::{RECALL_TOOL, clip, frame};
use everfold_kernel::Limits;

/// Shares of a summary's tokens: one part in so many.
const SAID_SHARE: u64 = 2;
const EARLIER_SHARE: u64 = 4;
const ANSWER_SHARE: u64 = 8;

const SAID: &str = "What the person said";
const TODOS: &str = "Open to-dos";
const LAST_STEP: &str = "The last step";
const FILES: &str = "Files, the last used one last";
const IN_PROGRESS: &str = "in_progress";
/// What follows the path of a file that was changed.
pub(crate) const CHANGED: &str = ": changed";

/// Writes a summary of at most so many tokens.
#[must_use]
pub fn write(past: &SpanFacts, tokens: u64, limits: &Limits) -> String {
    let own = &limits.compact;
    let said_tokens = own.user_message_tokens.min(tokens / SAID_SHARE);
    let said: Vec<String> = user_messages::choose(&past.said, said_tokens, limits)
        .iter()
        .map(UserMessage::render)
        .collect();
    let answer = past.last_answer.as_deref().map(|text| {
        clip::tokens_by_line(text, own.last_answer_tokens.min(tokens / ANSWER_SHARE), limits)
    });
    let earlier = past.earlier.as_deref().map(|text| {
        let body = older(frame::body(text));
        let most = own.earlier_summary_tokens.min(tokens / EARLIER_SHARE);
        clip::tokens_by_line(&body, most, limits).to_owned()
    });
    let todos = past.todos.iter().map(|todo| match todo.status.as_str() {
        IN_PROGRESS => format!("- {} ({IN_PROGRESS})", todo.text),
        _ => format!("- {}", todo.text),
    });
    let errors = past.open_errors().map(|call| step(call, limits));
    let sections = [
        (SAID, said.join("\n")),
        (TODOS, todos.collect::<Vec<_>>().join("\n")),
        ("Where it stood: the model's last words", answer.unwrap_or_default().to_owned()),
        (LAST_STEP, past.calls.last().map_or_else(String::new, |call| step(call, limits))),
        ("Errors that are still open", newest(errors.collect(), limits)),
        (FILES, newest(files(past), limits)),
        ("Commands and other calls, the newest last", newest(steps(past, limits), limits)),
        ("From the summary before this one, as it was then", earlier.unwrap_or_default()),
    ];
    let text: Vec<String> = sections
        .into_iter()
        .filter(|(_, body)| !body.trim().is_empty())
        .map(|(title, body)| {
            // Only what the person said may look like it: a tool's output could
            // otherwise pass for their words at the next compaction.
            let body = if title == SAID { body } else { user_messages::unmark(&body) };
            format!("## {title}\n{}", body.trim())
        })
        .collect();
    let text = text.join("\n\n");
    clip::tokens_by_line(&text, tokens, limits).to_owned()
}

/// One line for each of the files.
fn files(past: &SpanFacts) -> Vec<String> {
    let times = |count: usize, word: &str| match count {
        0 => None,
        1 => Some(format!("{word} once")),
        n => Some(format!("{word} {n} times")),
    };
    past.files
        .iter()
        .map(|file| {
            let uses: Vec<String> = [times(file.changes, "changed"), times(file.reads, "read")]
                .into_iter()
                .flatten()
                .collect();
            match file.last {
                FileUse::ChangedEarlier => format!("- {}{CHANGED} earlier", file.path),
                last => format!("- {}: {}, last {}", file.path, uses.join(", "), last.as_str()),
            }
        })
        .collect()
}

/// One line for each call that is not about one file.
fn steps(past: &SpanFacts, limits: &Limits) -> Vec<String> {
    let others = past
        .calls
        .iter()
        .filter(|call| FileUse::of(&call.tool).is_none() && call.tool != "TodoWrite");
    others.map(|call| step(call, limits)).collect()
}

fn step(call: &PastCall, limits: &Limits) -> String {
    let target = clip::line(&call.target, limits.compact.line_chars);
    let outcome = match &call.outcome {
        CallOutcome::Worked(_) if call.tool == "Read" => "read".to_owned(),
        CallOutcome::Worked(text) if text.is_empty() => "worked".to_owned(),
        CallOutcome::Worked(text) => text.clone(),
        CallOutcome::Failed(why) => format!("FAILED: {why}"),
        CallOutcome::Unanswered => "no result came".to_owned(),
    };
    let back = call.result.as_ref().map(|id| format!(" ({RECALL_TOOL} {id})"));
    format!("- {} `{target}` → {outcome}{}", call.tool, back.unwrap_or_default())
}

fn newest(mut lines: Vec<String>, limits: &Limits) -> String {
    let over = lines.len().saturating_sub(limits.compact.list_items);
    lines.drain(..over);
    let note = (over > 0).then(|| format!("- ({over} older ones are in the transcript)"));
    note.into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

/// An earlier summary without what has a section of its own or is no longer
/// true, its headings a level deeper.
fn older(text: &str) -> String {
    const GONE: [&str; 4] = [SAID, TODOS, LAST_STEP, FILES];
    let sections = sections(text).into_iter().filter(|(title, _)| !GONE.contains(title));
    let text = sections.map(|(title, body)| match title {
        "" => body.to_owned(),
        title => format!("### {title}\n{body}"),
    });
    without_said(&text.collect::<Vec<_>>().join("\n"))
}

/// A text by its headings of the second level; what stands before the first
/// one has no title.
fn sections(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let (mut title, mut from, mut at) = ("", 0, 0);
    for line in text.split_inclusive('\n') {
        if let Some(next) = line.strip_prefix("## ") {
            found.push((title, text.get(from..at).unwrap_or("").trim()));
            title = next.trim_end();
            from = at + line.len();
        }
        at += line.len();
    }
    found.push((title, text.get(from..).unwrap_or("").trim()));
    found
}

/// The changed files that a local summary lists.
pub(crate) fn changed_in(text: &str) -> Vec<&str> {
    let files = sections(frame::body(text)).into_iter().filter(|(title, _)| *title == FILES);
    let path = |line: &'_ str| -> Option<usize> { line.strip_prefix("- ")?.rfind(CHANGED) };
    files
        .flat_map(|(_, body)| body.lines())
        .filter_map(|line| line.get("- ".len()..)?.get(..path(line)?))
        .collect()
}

/// The to-dos that an earlier local summary lists.
pub(crate) fn todos_in(text: &str) -> Vec<OpenTodo> {
    let sections = sections(frame::body(text));
    let lines = sections.iter().filter(|(title, _)| *title == TODOS);
    let todo = |line: &str| {
        let line = line.strip_prefix("- ")?;
        let (text, status) = line
            .rsplit_once(" (")
            .and_then(|(text, status)| Some((text, status.strip_suffix(')')?)))
            .filter(|(_, status)| *status == IN_PROGRESS)
            .unwrap_or((line, "pending"));
        Some(OpenTodo { text: text.to_owned(), status: status.to_owned() })
    };
    lines.flat_map(|(_, body)| body.lines()).filter_map(todo).collect()
}

/// The text without what the person said: that has a section of its own.
fn without_said(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once("<said") {
        let Some((_, after)) = tail.split_once("</said>") else { break };
        out.push_str(before.trim_end());
        out.push('\n');
        rest = after.trim_start();
    }
    out.push_str(rest);
    out
}
