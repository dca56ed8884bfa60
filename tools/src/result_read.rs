//! `ResultRead`: what is out of view, read again by its id.
//!
//! Spilled and cleared results, messages that were compacted away, spans of
//! them. Lines are numbered as in Read, and one that is too long is broken
//! into several, so that every character of a result can be reached. What is
//! given stays under `offload.recall_chars`, note included: layer 1 never
//! spills it again (L1.8).

mod pages;

use everfold_kernel::provenance::Source;
use everfold_kernel::record::RECALL_TOOL;
use everfold_kernel::record::neutralise;
use everfold_kernel::{Class, Classify, ToolUseId};
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::built_in::BuiltIn;
use crate::failure::Failure;
use crate::input::{self, Filled, InputError};
use crate::lookup::{RecallError, Recalled};
use crate::{ToolCall, ToolContext, ToolOutput};
use pages::{Page, Pages, Room};

/// Reads what was spilled, cleared or compacted.
pub(crate) struct ResultRead;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Input<'a> {
    /// A tool call's id, a record's uuid, or uuid..uuid
    #[serde(borrow)]
    id: Filled<'a>,
    /// The first line, counted from 1
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// Most lines to give
    #[schemars(range(min = 1))]
    limit: Option<u64>,
    /// Only lines that match this regular expression; case does not matter
    pattern: Option<&'a str>,
}

/// Why nothing was read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResultReadError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(transparent)]
    Recall(#[from] RecallError),
    #[error("{RECALL_TOOL} cannot be used here")]
    NotHere,
    #[error(
        "{RECALL_TOOL} cannot use the pattern {pattern:?}: {what}; put a backslash before a \
         character that is meant as such"
    )]
    Pattern { pattern: String, what: String },
    #[error("{id} ends with line {total}, so there is none from offset {offset} on")]
    PastEnd { id: String, total: u64, offset: u64 },
}

impl Classify for ResultReadError {
    fn class(&self) -> Class {
        match self {
            Self::Recall(error) => error.class(),
            _ => Class::Refuse,
        }
    }
}

impl Failure for ResultReadError {}

struct Arguments<'a> {
    id: &'a str,
    offset: u64,
    limit: Option<u64>,
    pattern: Option<Regex>,
}

impl BuiltIn for ResultRead {
    const NAME: &'static str = RECALL_TOOL;
    const ABOUT: &'static str = "\
         Reads again what is no longer shown in this conversation: a tool result that was saved \
         or cleared, a message that was summarised. Give the id that stands in its place: a \
         tool call's id, a record's uuid, or first..last for an overview of the messages \
         between them. Long content comes in pages.";
    // The session's own log and files, found by name: no path is asked about.
    type Input = Input<'static>;
    type Error = ResultReadError;

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, ResultReadError> {
        let arguments = parse(&call.input)?;
        let Some(lookup) = &context.lookup else {
            return Err(ResultReadError::NotHere);
        };
        let recalled = lookup.find(context, arguments.id).await?;
        // Tags get longer when they are made harmless, so that comes before the cap.
        let text = neutralise(&recalled.text);
        let room = Room::new(&context.limits);
        let pages = Pages::new(&text, &room);
        if arguments.offset > pages.total().max(1) {
            let (id, offset) = (arguments.id.to_owned(), arguments.offset);
            return Err(ResultReadError::PastEnd { id, total: pages.total(), offset });
        }
        let page = match &arguments.pattern {
            Some(pattern) => pages.search(pattern, arguments.offset, arguments.limit, &room),
            None => pages.page(arguments.offset, arguments.limit, &room),
        };
        let structured = structured(arguments.id, &recalled, &page, pages.total());
        let note = note(&page, arguments.pattern.is_some(), pages.total());
        let text = if page.text.is_empty() { note } else { page.text + "\n\n" + &note };
        let known = || context.result_origin(&ToolUseId::new(arguments.id.trim()));
        let origin = recalled.provenance.or_else(known).unwrap_or(Source::Command.into());
        Ok(ToolOutput::text(origin, text).with_structured(structured))
    }
}

fn parse(input: &Value) -> Result<Arguments<'_>, ResultReadError> {
    let Input { id, offset, limit, pattern } = input::read(RECALL_TOOL, input)?;
    Ok(Arguments {
        id: id.get(),
        offset: offset.unwrap_or(1).max(1),
        limit: limit.filter(|limit| *limit > 0),
        pattern: pattern.map(regular_expression).transpose()?,
    })
}

fn regular_expression(pattern: &str) -> Result<Regex, ResultReadError> {
    RegexBuilder::new(pattern).case_insensitive(true).build().map_err(|error| {
        let what = match error {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            other => other.to_string().lines().last().unwrap_or_default().trim().to_owned(),
        };
        ResultReadError::Pattern { pattern: pattern.to_owned(), what }
    })
}

fn note(page: &Page, searched: bool, total: u64) -> String {
    let Page { first, last, count, next, .. } = page;
    match (searched, next) {
        (_, _) if total == 0 => "[It is empty.]".to_owned(),
        (true, _) if *count == 0 => format!("[None of the {total} lines matches from there on.]"),
        (true, Some(next)) => {
            format!("[Lines that match, up to line {last}. Search on with offset {next}.]")
        }
        (true, None) => format!("[Lines that match, up to line {last} of {total}: the end.]"),
        (false, Some(next)) => {
            format!("[Lines {first} to {last} of {total}. Read on with offset {next}.]")
        }
        (false, None) => format!("[Lines {first} to {last} of {total}: the end.]"),
    }
}

fn structured(id: &str, recalled: &Recalled, page: &Page, total: u64) -> Value {
    json!({
        "id": id.trim(),
        "kind": recalled.kind.as_str(),
        "tool": recalled.tool,
        "numLines": page.count,
        "totalLines": total,
        "nextOffset": page.next,
    })
}
