//! `ResultRead`: what is out of view, read again by its id.
//!
//! Spilled and cleared results, messages that were compacted away, spans of
//! them. Lines are numbered as in Read, and one that is too long is broken
//! into several, so that every character of a result can be reached. What is
//! given stays under `offload.recall_chars`, note included: layer 1 never
//! spills it again (L1.8).

mod pages;

use everfold_kernel::ToolUseId;
use everfold_kernel::ports::BoxFuture;
use everfold_kernel::provenance::Source;
use everfold_kernel::record::RECALL_TOOL;
use everfold_kernel::record::neutralise;
use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

use crate::input::Input;
use crate::lookup::Recalled;
use crate::{Access, Refusal, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec};
use pages::{Page, Pages, Room};

/// Reads what was spilled, cleared or compacted.
pub(crate) struct ResultRead;

struct Arguments<'a> {
    id: &'a str,
    offset: u64,
    limit: Option<u64>,
    pattern: Option<Regex>,
}

impl Tool for ResultRead {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: RECALL_TOOL.into(),
            description: "Reads again what is no longer shown in this conversation: a tool \
                result that was saved or cleared, a message that was summarised. Give the id \
                that stands in its place: a tool call's id, a record's uuid, or two uuids as \
                first..last for an overview of the messages between them. Long content comes in \
                pages of numbered lines: the note at the end tells the next offset. With a \
                pattern only the lines that match are given. Very long lines are broken into \
                several."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "id": {
                        "type": "string",
                        "description": "A tool call's id, a record's uuid, or uuid..uuid"
                    },
                    "offset": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "The first line, counted from 1"
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Most lines to give"
                    },
                    "pattern": {
                        "type": "string",
                        "description": "Only lines that match this regular expression; case does not matter"
                    }
                },
                "required": ["id"],
                "additionalProperties": false
            }),
        }
    }

    fn access(&self, _input: &Value, _context: &ToolContext) -> Access {
        // The session's own log and files, found by name.
        Access::Nothing
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move { run(call, context).await.unwrap_or_else(ToolOutput::from) })
    }
}

fn parse(input: &Value) -> Result<Arguments<'_>, Refusal> {
    let input = Input::of(RECALL_TOOL, input)?;
    let pattern = input.optional_text("pattern")?.filter(|pattern| !pattern.is_empty());
    Ok(Arguments {
        id: input.filled_text("id")?,
        offset: input.number("offset")?.unwrap_or(1).max(1),
        limit: input.number("limit")?.filter(|limit| *limit > 0),
        pattern: pattern.map(regular_expression).transpose()?,
    })
}

fn regular_expression(pattern: &str) -> Result<Regex, Refusal> {
    RegexBuilder::new(pattern).case_insensitive(true).build().map_err(|error| {
        let what = match error {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            other => other.to_string().lines().last().unwrap_or_default().trim().to_owned(),
        };
        Refusal::new(format!(
            "{RECALL_TOOL} cannot use the pattern {pattern:?}: {what}; \
             put a backslash before a character that is meant as such"
        ))
    })
}

async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, Refusal> {
    let arguments = parse(&call.input)?;
    let Some(lookup) = &context.lookup else {
        return Err(Refusal::new(format!("{RECALL_TOOL} cannot be used here")));
    };
    let recalled = lookup.find(context, arguments.id).await;
    let recalled = recalled.map_err(|error| Refusal::new(error.to_string()))?;
    // Tags get longer when they are made harmless, so that comes before the cap.
    let text = neutralise(&recalled.text);
    let room = Room::new(&context.limits);
    let pages = Pages::new(&text, &room);
    if arguments.offset > pages.total().max(1) {
        return Err(Refusal::new(format!(
            "{} ends with line {}, so there is none from offset {} on",
            arguments.id,
            pages.total(),
            arguments.offset
        )));
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
