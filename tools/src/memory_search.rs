//! `MemorySearch`: words in memories, then in earlier conversations (R10).
//!
//! What comes back are excerpts with the place of each: transcripts are never
//! read whole. Everything in them is something that was once said, not a
//! request.

use everfold_kernel::ports::{Bodies, MemoryError, PastFound, PastQuery, SearchError};
use everfold_kernel::provenance::{Carrier, Provenance, Source};
use everfold_kernel::record::neutralise;
use everfold_kernel::{Class, Classify};
use everfold_transcript::find::SearchTerms;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write as _;

use crate::built_in::BuiltIn;
use crate::failure::Failure;
use crate::input::{self, Filled, InputError};
use crate::{ToolCall, ToolContext, ToolOutput};

/// The name of the tool.
pub const NAME: &str = "MemorySearch";

/// Searches memories and earlier conversations.
pub(crate) struct MemorySearch;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Input<'a> {
    /// The words
    #[serde(borrow)]
    query: Filled<'a>,
    /// Only in one of the two
    r#where: Option<Where>,
    /// Most places to give
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Where {
    Memories,
    Sessions,
}

/// Why nothing was looked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MemorySearchError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error("the query has no words")]
    NoWords,
    #[error(transparent)]
    Memories(#[from] MemoryError),
    #[error(transparent)]
    Past(#[from] SearchError),
}

impl Classify for MemorySearchError {
    fn class(&self) -> Class {
        match self {
            Self::Memories(error) => error.class(),
            Self::Past(error) => error.class(),
            _ => Class::Refuse,
        }
    }
}

impl Failure for MemorySearchError {}

impl BuiltIn for MemorySearch {
    const NAME: &'static str = NAME;
    const ABOUT: &'static str = "\
         Looks for words in memory files, then in earlier conversations of this project. Give \
         few and telling words: all of them have to be there; words in double quotes are one \
         phrase. Each place comes with an excerpt, newest first. What was said before may not \
         hold any more: check it.";
    // The project's own memories and transcripts: no path is asked about.
    type Input = Input<'static>;
    type Error = MemorySearchError;

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, MemorySearchError> {
        let Input { query, r#where: place, limit } = input::read(NAME, &call.input)?;
        let limits = &context.limits.past;
        let wanted = limit.and_then(|limit| usize::try_from(limit).ok());
        let most = wanted.unwrap_or(limits.places).clamp(1, limits.most_places);
        let terms = SearchTerms::parse(&query).ok_or(MemorySearchError::NoWords)?;
        let mut text = String::new();
        let mut left = most;
        let mut lowest = Provenance::through(Carrier::Memory, Source::Person);
        if place != Some(Where::Sessions) {
            let (count, own) = memories(context, &terms, left, &mut text).await?;
            left -= count;
            lowest = lowest.max(own);
        }
        if place != Some(Where::Memories) && left > 0 {
            sessions(context, query.get(), left, &mut text).await?;
            // What was said there does not come with its provenance.
            lowest = lowest.max(Source::Command.into());
        }
        if text.is_empty() {
            text.push_str("Nothing has all of these words; try fewer or others.");
        }
        Ok(ToolOutput::text(lowest, neutralise(text.trim_end())))
    }
}

/// Memories that have all words; says how many, and the least trusted words
/// that they rest on.
async fn memories(
    context: &ToolContext,
    terms: &SearchTerms,
    most: usize,
    into: &mut String,
) -> Result<(usize, Provenance), MemorySearchError> {
    let mut lowest = Provenance::through(Carrier::Memory, Source::Person);
    let Some(memories) = &context.world.memories else { return Ok((0, lowest)) };
    let files = context.limits.recall.scan_files;
    let found = memories.scan(files, Bodies::Read).await?;
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
) -> Result<(), MemorySearchError> {
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
    let found = past.search(query).await?;
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
