//! `MemorySearch`: words in memories, then in earlier conversations (R10).
//!
//! What comes back are excerpts with the place of each: transcripts are never
//! read whole. Everything in them is something that was once said, not a
//! request.

use everfold_kernel::ports::{Bodies, BoxFuture, PastFound, PastQuery};
use everfold_kernel::provenance::{Carrier, Provenance, Source};
use everfold_kernel::record::neutralise;
use everfold_transcript::find::SearchTerms;
use serde_json::{Value, json};
use std::fmt::Write as _;

use crate::input::Input;
use crate::{Access, Refusal, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec};

/// The name of the tool.
pub const NAME: &str = "MemorySearch";

/// Searches memories and earlier conversations.
pub(crate) struct MemorySearch;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Memories,
    Sessions,
    Both,
}

impl Tool for MemorySearch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.into(),
            description: "Looks for words in memory files, then in earlier conversations of this \
                project. Give few and telling words: all of them have to be there; words in \
                double quotes are one phrase. Each place comes with an excerpt, newest first. \
                What was said before may not hold any more: check it."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "The words"
                    },
                    "where": {
                        "type": "string",
                        "enum": ["memories", "sessions"],
                        "description": "Only in one of the two"
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Most places to give"
                    }
                },
                "required": ["query"],
                "additionalProperties": false
            }),
        }
    }

    fn access(&self, _input: &Value, _context: &ToolContext) -> Access {
        // The project's own memories and transcripts.
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

async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, Refusal> {
    let input = Input::of(NAME, &call.input)?;
    let query = input.filled_text("query")?;
    let place = match input.optional_text("where")? {
        None => Where::Both,
        Some("memories") => Where::Memories,
        Some("sessions") => Where::Sessions,
        given @ Some(_) => {
            let given = given.map(Value::from);
            return Err(input.needs("where", "memories or sessions", given.as_ref()));
        }
    };
    let limits = &context.limits.past;
    let wanted = input.number("limit")?.and_then(|limit| usize::try_from(limit).ok());
    let most = wanted.unwrap_or(limits.places).clamp(1, limits.most_places);
    let terms = SearchTerms::parse(query).ok_or_else(|| Refusal::new("the query has no words"))?;
    let mut text = String::new();
    let mut left = most;
    let mut lowest = Provenance::through(Carrier::Memory, Source::Person);
    if place != Where::Sessions {
        let (count, own) = memories(context, &terms, left, &mut text).await?;
        left -= count;
        lowest = lowest.max(own);
    }
    if place != Where::Memories && left > 0 {
        sessions(context, query, left, &mut text).await?;
        // What was said there does not come with its provenance.
        lowest = lowest.max(Source::Command.into());
    }
    if text.is_empty() {
        text.push_str("Nothing has all of these words; try fewer or others.");
    }
    Ok(ToolOutput::text(lowest, neutralise(text.trim_end())))
}

/// Memories that have all words; says how many, and the least trusted words
/// that they rest on.
async fn memories(
    context: &ToolContext,
    terms: &SearchTerms,
    most: usize,
    into: &mut String,
) -> Result<(usize, Provenance), Refusal> {
    let mut lowest = Provenance::through(Carrier::Memory, Source::Person);
    let Some(memories) = &context.world.memories else { return Ok((0, lowest)) };
    let files = context.limits.recall.scan_files;
    let found = memories.scan(files, Bodies::Read).await;
    let found = found.map_err(|error| Refusal::new(error.to_string()))?;
    let mut count = 0;
    for memory in found {
        if count == most {
            break;
        }
        let excerpt = terms.in_memory(&memory, context.limits.past.excerpt_chars);
        let Some(excerpt) = excerpt else { continue };
        if count == 0 {
            into.push_str("Memories:\n");
        }
        count += 1;
        lowest = lowest.max(context.origin(&memory.path).await);
        let _ = writeln!(into, "- {}: {excerpt}", memory.path.display());
    }
    Ok((count, lowest))
}

async fn sessions(
    context: &ToolContext,
    query: &str,
    most: usize,
    into: &mut String,
) -> Result<(), Refusal> {
    let Some(past) = &context.world.past else {
        into.push_str("Earlier conversations are not searched here.\n");
        return Ok(());
    };
    let query = PastQuery {
        words: query.to_owned(),
        most,
        excerpt_chars: context.limits.past.excerpt_chars,
        except: Some(context.session.clone()),
    };
    let found = past.search(query).await.map_err(|error| Refusal::new(error.to_string()))?;
    list(&found, into);
    Ok(())
}

fn list(found: &PastFound, into: &mut String) {
    if !found.hits.is_empty() {
        into.push_str("Earlier conversations:\n");
    }
    for hit in &found.hits {
        let day = hit.at.strftime("%Y-%m-%d");
        let _ = writeln!(into, "- {day} {} in {}: {}", hit.who, hit.session, hit.excerpt);
    }
    if found.more > 0 {
        let _ = writeln!(into, "About {} more; add a word to narrow it down.", found.more);
    }
}
