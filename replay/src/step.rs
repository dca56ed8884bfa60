//! What happened in a session, made ready for policies: weighed, hashed and
//! looked through once, however many of them take it.

use crate::anchor::Anchor;
use crate::went::Ratio;
use everfold_economy::regret::ResultWish;
use everfold_foreign::Thread;
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{
    BlockView, Entry, ModelId, Record, RecordId, Timestamp, Tokens, ToolUseId, Usage,
};
use everfold_prefix::measure::Weight;
use std::sync::Arc;

/// One step of a session: the same for all policies, on whatever thread.
#[derive(Debug)]
pub struct Step {
    pub(crate) thread: Thread,
    pub(crate) what: Stepped,
}

/// What a conversation did, a request with its answer being one step.
#[derive(Debug)]
pub(crate) enum Stepped {
    Said(Box<Said>),
    Asked(Box<Asked>),
    Rewound(Vec<RecordId>),
    /// All that was said before weighs so much less: the session's program
    /// dropped something without a word.
    Shrunk(Ratio),
}

#[derive(Debug)]
pub(crate) struct Said {
    /// The record, whole where a policy looks at texts.
    pub(crate) record: Record,
    /// The same without its texts, where some policies look at them and others do not.
    pub(crate) hollow: Option<Record>,
    /// One for each block.
    pub(crate) weights: Vec<Weight>,
}

impl Said {
    /// The record for a policy that looks at texts, or for one that does not.
    pub(crate) fn record(&self, whole: bool) -> &Record {
        self.hollow.as_ref().filter(|_| !whole).unwrap_or(&self.record)
    }

    pub(crate) fn entry(&self) -> &Entry {
        &self.record.entry
    }
}

/// A request as the transcript has it. Its answer is said after it.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) at: Timestamp,
    pub(crate) model: ModelId,
    pub(crate) ttl: CacheTtl,
    pub(crate) prelude: Tokens,
    /// What of the parameters is part of the cache key.
    pub(crate) salt: Arc<str>,
    /// What the text of the answer makes, or what was reported if that is more.
    pub(crate) output: u64,
    pub(crate) wishes: Vec<(ToolUseId, ResultWish)>,
    /// What has to be in view for its calls to be made.
    pub(crate) needs: Vec<ResultWish>,
    pub(crate) calls: Vec<Call>,
    /// When its answer was begun.
    pub(crate) said: Timestamp,
    /// Known by its message and request; 0 where it has neither.
    pub(crate) key: u64,
    /// What the transcript says that it used.
    pub(crate) usage: Usage,
    /// The same as far as it holds under any policy.
    pub(crate) anchor: Option<Anchor>,
}

/// A call, for people.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) id: ToolUseId,
    pub(crate) label: Arc<str>,
}

/// Characters by which a call is told.
const LABEL_CHARS: usize = 60;

impl Call {
    /// The calls of a response.
    pub(crate) fn all(response: &[Record]) -> Vec<Self> {
        let calls = response.iter().flat_map(crate::weigh::blocks).filter_map(|block| {
            let BlockView::ToolUse { id, name, input } = block.view() else { return None };
            let target = match everfold_kernel::call::file_of(input) {
                Some(path) => ending(path),
                None => ["command", "pattern", "url", "description"]
                    .iter()
                    .find_map(|key| input.get(*key)?.as_str())
                    .map_or_else(String::new, beginning),
            };
            let label = format!("{name} {}", target.replace('\n', " "));
            Some(Self { id: ToolUseId::new(id), label: label.trim_end().into() })
        });
        calls.collect()
    }
}

/// The start of a text that is too long.
fn beginning(text: &str) -> String {
    let mut short: String = text.chars().take(LABEL_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The end of a path that is too long: its start is the same in most of them.
fn ending(path: &str) -> String {
    let cut = path.char_indices().rev().nth(LABEL_CHARS.saturating_sub(1));
    match cut.and_then(|(at, _)| path.get(at..)) {
        Some(end) if end.len() < path.len() => format!("…{end}"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pc7_a_call_is_told_by_what_tells_it_apart() {
        let long = format!("/home/ada/{}/src/main.rs", "deep/".repeat(30));
        assert!(ending(&long).starts_with('…') && ending(&long).ends_with("/src/main.rs"));
        assert_eq!(ending(&long).chars().count(), LABEL_CHARS + 1);
        assert_eq!((ending("/a.rs"), beginning("ls")), ("/a.rs".to_owned(), "ls".to_owned()));
        assert!(beginning(&"é".repeat(200)).ends_with("é…"));
    }
}
