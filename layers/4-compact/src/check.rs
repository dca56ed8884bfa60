//! Facts that must survive are looked up in a summary (L4.12).
//!
//! - A changed file is there if its path is, or the end of it from two parts on.
//! - A message of the person is there if all of it is, or each of its
//!   sentences; white space and case do not count. A message over the cap
//!   counts by its excerpt.
//! - A to-do that is not done, by its text.
//! - The last error, by its first line.
//!
//! What is missing is appended as "Carried over". The retention figure is what
//! was found before that, of all.

use crate::facts::SpanFacts;
use crate::user_messages::{self, UserMessage};
use crate::{RECALL_TOOL, clip};
use everfold_kernel::Limits;

/// A summary that was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The summary, with what was missing.
    pub text: String,
    /// The share of the facts that it had by itself, 0 to 1.
    pub retention: f64,
    /// How many facts were looked up.
    pub facts: usize,
    pub missing: Vec<Fact>,
}

/// Something that must not be lost.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A message of the person.
    Said(UserMessage),
    /// A file that was changed.
    File(String),
    /// A to-do that is not done.
    Todo(String),
    /// The last error, with the record that has all of it.
    Error {
        /// Its first line.
        text: String,
        of: String,
        /// The record of the result.
        record: Option<everfold_kernel::RecordId>,
    },
}

/// The heading of what was missing.
pub const CARRIED_OVER: &str = "## Carried over";

/// How a line about a changed file starts.
pub(crate) const CHANGED_FILE: &str = "- Changed file: ";

/// Checks a summary and adds what it lacks.
#[must_use]
pub fn check(past: &SpanFacts, summary: &str, limits: &Limits) -> Checked {
    let facts = facts(past, limits);
    let normal = clip::normal(summary);
    let all = facts.len();
    let missing: Vec<Fact> =
        facts.into_iter().filter(|fact| !fact.is_in(summary, &normal)).collect();
    let text = match carried_over(&missing) {
        Some(section) => format!("{}\n\n{section}", summary.trim_end()),
        None => summary.to_owned(),
    };
    Checked { text, retention: share(all - missing.len(), all), facts: all, missing }
}

/// The facts of a part of a conversation.
#[must_use]
pub fn facts(past: &SpanFacts, limits: &Limits) -> Vec<Fact> {
    let said = user_messages::choose(&past.said, limits.compact.user_message_tokens, limits);
    let files = past.files.iter().filter(|file| file.is_changed());
    let error = past.last_error().map(|(call, why)| Fact::Error {
        text: why.to_owned(),
        of: clip::line(&format!("{} {}", call.tool, call.target), limits.compact.line_chars),
        record: call.result.clone(),
    });
    said.into_iter()
        .map(Fact::Said)
        .chain(files.map(|file| Fact::File(file.path.clone())))
        .chain(past.todos.iter().map(|todo| Fact::Todo(todo.text.clone())))
        .chain(error)
        .collect()
}

impl Fact {
    fn is_in(&self, summary: &str, normal: &str) -> bool {
        match self {
            Self::Said(said) => is_said(said, normal),
            Self::File(path) => tails(path).any(|tail| has_path(summary, tail)),
            Self::Todo(text) => normal.contains(&clip::normal(text)),
            Self::Error { text, .. } => normal.contains(clip::normal(text).trim_end_matches('…')),
        }
    }

    fn line(&self) -> Option<String> {
        match self {
            Self::Said(_) => None,
            Self::File(path) => Some(format!("{CHANGED_FILE}{path}")),
            Self::Todo(text) => Some(format!("- To do: {text}")),
            Self::Error { text, of, record } => {
                let back = record.as_ref().map(|id| format!(" ({RECALL_TOOL} {id})"));
                Some(format!("- Last error, of {of}: {text}{}", back.unwrap_or_default()))
            }
        }
    }
}

fn is_said(said: &UserMessage, summary: &str) -> bool {
    let (text, _) = said.said();
    let has = |text: &str| {
        let text = clip::normal(text);
        summary.contains(text.trim_end_matches(['.', '!', '?']))
    };
    has(text) || sentences(text).all(has)
}

/// The sentences of a text: lines, cut after `.`, `!` or `?` and a space.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let ends = |line: &&str| !line.trim().is_empty();
    text.lines()
        .flat_map(|line| {
            line.split_inclusive(['.', '!', '?']).scan(0, move |from, part| {
                let start = *from;
                *from += part.len();
                let next = line.get(*from..).unwrap_or("");
                Some((line, start, *from, next))
            })
        })
        .scan(None::<usize>, |open, (line, start, end, next)| {
            let first = open.unwrap_or(start);
            let is_end = next.is_empty() || next.starts_with(char::is_whitespace);
            *open = if is_end { None } else { Some(first) };
            Some(if is_end { line.get(first..end).unwrap_or("") } else { "" })
        })
        .filter(ends)
}

/// A path and its ends of at least two parts.
fn tails(path: &str) -> impl Iterator<Item = &str> {
    let cuts = path.match_indices(['/', '\\']).map(|(at, _)| at + 1);
    let ends = cuts.filter_map(|at| path.get(at..)).filter(|tail| tail.contains(['/', '\\']));
    std::iter::once(path).chain(ends)
}

/// Whether a text names this path, and not one that merely starts or ends so.
fn has_path(text: &str, path: &str) -> bool {
    if path.is_empty() {
        return true;
    }
    text.match_indices(path).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let mut after = text.get(at + path.len()..).unwrap_or("").chars();
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let goes_on = match after.next() {
            Some('.') => after.next().is_some_and(part),
            Some(next) => part(next),
            None => false,
        };
        !before.is_some_and(part) && !goes_on
    })
}

fn carried_over(missing: &[Fact]) -> Option<String> {
    if missing.is_empty() {
        return None;
    }
    let lines: Vec<String> =
        missing.iter().filter_map(Fact::line).map(|line| user_messages::unmark(&line)).collect();
    let said: Vec<String> = missing
        .iter()
        .filter_map(|fact| match fact {
            Fact::Said(said) => Some(said.render()),
            _ => None,
        })
        .collect();
    let intro = "What the summary above left out and must not be lost:";
    let mut parts = vec![CARRIED_OVER.to_owned(), intro.to_owned()];
    parts.extend((!lines.is_empty()).then(|| lines.join("\n")));
    parts.extend((!said.is_empty()).then(|| format!("The person said:\n{}", said.join("\n"))));
    Some(parts.join("\n\n"))
}

#[expect(clippy::cast_precision_loss, reason = "facts are few")]
fn share(found: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { found as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l4_12_paths_are_found_as_such() {
        assert!(has_path("see src/a.rs.", "src/a.rs"));
        assert!(!has_path("see src/a.rs.bak", "src/a.rs"));
        assert!(!has_path("see my_src/a.rs", "src/a.rs"));
        let all: Vec<&str> = tails("/home/me/src/a.rs").collect();
        assert_eq!(all, ["/home/me/src/a.rs", "home/me/src/a.rs", "me/src/a.rs", "src/a.rs"]);
        assert_eq!(tails("a.rs").collect::<Vec<_>>(), ["a.rs"]);
    }

    #[test]
    fn l4_12_sentences_end_where_a_reader_would_say() {
        let all: Vec<&str> = sentences("Use v1.2. Do not touch a.rs!\nNo tests?").collect();
        assert_eq!(all, ["Use v1.2.", " Do not touch a.rs!", "No tests?"]);
    }
}
