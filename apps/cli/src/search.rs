//! `everfold search`: words in memories, then in what was said before (R10).

use crate::args::{Choices, Place, SearchArgs};
use crate::failure::Usage;
use crate::presenter::{Presenter, TextStyle, cut};
use crate::session_picker;
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::Agent;
use everfold_kernel::ports::{Bodies, MemoryHead, PastFound, PastHit, PastQuery, PastSearch};
use everfold_transcript::find::SearchTerms;
use jiff::Timestamp;
use serde_json::{Value, json};

/// Characters of an excerpt.
const EXCERPT_CHARS: usize = 200;
/// Characters of a session's id in a list; enough to name it.
const ID_CHARS: usize = 8;

/// A memory that has the words.
struct Memory {
    head: MemoryHead,
    excerpt: String,
}

pub(crate) async fn run(env: &ProcessEnv, args: &SearchArgs, presenter: &Presenter) -> Result<()> {
    let query = query(&args.words);
    let Some(terms) = SearchTerms::parse(&query) else {
        return Err(Usage::new("the query has no words", "say what to look for").into());
    };
    let agent = setup::for_looking(env, &Choices::default()).await?;
    let memories = match args.place {
        Some(Place::Sessions) => Vec::new(),
        _ => memories(&agent, &terms, args.limit).await,
    };
    let found = match args.place {
        Some(Place::Memories) => PastFound::default(),
        _ => past(&agent, args, query).await?,
    };
    if args.json {
        return Ok(Presenter::json(&as_json(&memories, &found))?);
    }
    show(&memories, &found, presenter)
}

/// The words as one query: what a shell gave as one word with blanks in it was
/// quoted there, and stays a phrase unless it is all there is.
fn query(words: &[String]) -> String {
    match words {
        [all] => all.clone(),
        words => {
            let is_phrase = |word: &str| word.contains(char::is_whitespace) && !word.contains('"');
            let quoted = words
                .iter()
                .map(|word| if is_phrase(word) { format!("\"{word}\"") } else { word.clone() });
            quoted.collect::<Vec<_>>().join(" ")
        }
    }
}

/// Memories that cannot be read are no reason to find nothing else.
async fn memories(agent: &Agent, terms: &SearchTerms, most: usize) -> Vec<Memory> {
    let Some(memories) = &agent.world().memories else { return Vec::new() };
    let files = agent.config().limits.recall.scan_files;
    let heads = memories.scan(files, Bodies::Read).await.unwrap_or_default();
    let found = heads.into_iter().filter_map(|head| {
        let excerpt = terms.in_memory(&head, EXCERPT_CHARS)?;
        Some(Memory { head, excerpt })
    });
    found.take(most).collect()
}

async fn past(agent: &Agent, args: &SearchArgs, words: String) -> Result<PastFound> {
    let query = PastQuery { words, most: args.limit, excerpt_chars: EXCERPT_CHARS, except: None };
    if args.all {
        return Ok(agent.all_past()?.search(query).await?);
    }
    match &agent.world().past {
        Some(past) => Ok(past.search(query).await?),
        None => Ok(PastFound::default()),
    }
}

fn show(memories: &[Memory], found: &PastFound, presenter: &Presenter) -> Result<()> {
    if memories.is_empty() && found.hits.is_empty() {
        presenter.line("no matches for all of these words; try fewer, or --all")?;
    }
    let now = Timestamp::now();
    for memory in memories {
        presenter.styled(TextStyle::Bold, &format!("{}", memory.head.path.display()))?;
        presenter.styled(
            TextStyle::Dim,
            &format!("  {}\n", session_picker::age(memory.head.modified, now)),
        )?;
        presenter.line(&format!("   {}", memory.excerpt))?;
    }
    for hit in &found.hits {
        let id: String = hit.session.as_str().chars().take(ID_CHARS).collect();
        presenter.styled(TextStyle::Bold, &format!("session {id}"))?;
        let about = format!("  {}, {}, {}", hit.who, session_picker::age(hit.at, now), hit.record);
        presenter.styled(TextStyle::Dim, &format!("{about}\n"))?;
        presenter.line(&format!("   {}", cut(&hit.excerpt, EXCERPT_CHARS)))?;
    }
    if found.more > 0 {
        let text = format!("about {} more; add a word, or raise --limit\n", found.more);
        presenter.styled(TextStyle::Dim, &text)?;
    }
    if let Some(hit) = found.hits.first() {
        let text = format!("all of it: everfold show-result {}\n", hit.record);
        presenter.styled(TextStyle::Dim, &text)?;
    }
    for path in &found.unreadable {
        presenter.note(TextStyle::Yellow, &format!("note: {} could not be read", path.display()));
    }
    Ok(())
}

fn as_json(memories: &[Memory], found: &PastFound) -> Value {
    let memory = |memory: &Memory| {
        json!({
            "path": memory.head.path,
            "name": memory.head.name,
            "type": memory.head.kind,
            "modified": memory.head.modified,
            "excerpt": memory.excerpt,
        })
    };
    let hit = |hit: &PastHit| {
        json!({
            "session_id": hit.session,
            "record_id": hit.record,
            "at": hit.at,
            "who": hit.who,
            "excerpt": hit.excerpt,
            "path": hit.path,
        })
    };
    json!({
        "memories": memories.iter().map(memory).collect::<Vec<_>>(),
        "sessions": found.hits.iter().map(hit).collect::<Vec<_>>(),
        "more": found.more,
        "searched_sessions": found.sessions,
        "unreadable": found.unreadable,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r10_what_the_shell_quoted_stays_together() {
        let query = |words: &[&str]| {
            query(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(query(&["staging key"]), "staging key");
        assert_eq!(query(&["staging key", "rotated"]), "\"staging key\" rotated");
    }
}
