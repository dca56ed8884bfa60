//! What is looked at: since the cursor, by whom.

use everfold_extract::{ReviewContext, ReviewSpan, Worth, review, worth};
use everfold_kernel::provenance::{Carrier, Provenance, Source};
use everfold_kernel::{
    AssistantEntry, Attachment, Block, BlockProvenance, Boundary, Entry, Limits, Record, RecordId,
    Timestamp, ToolUseId, Usage, UserEntry, UserOrigin,
};
use everfold_prefix::Fold;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

struct Log {
    fold: Fold,
    count: usize,
}

impl Log {
    fn new() -> Self {
        Self { fold: Fold::new(Arc::new(Limits::default())), count: 0 }
    }

    fn push(&mut self, entry: Entry) -> RecordId {
        self.count += 1;
        let id = RecordId::from(format!("r{}", self.count));
        let at = Timestamp::from_second(1_750_000_000).unwrap();
        self.fold.push(Record { id: id.clone(), parent: None, at, entry });
        id
    }

    fn user(&mut self, origin: UserOrigin, block: Block) -> RecordId {
        let content = vec![block];
        self.push(Entry::User(UserEntry {
            content,
            origin,
            tool_use_result: None,
            provenance: Vec::new(),
        }))
    }

    fn says(&mut self, text: &str) -> RecordId {
        self.user(UserOrigin::Human, Block::text(text))
    }

    fn model(&mut self, block: Block) -> RecordId {
        let message_id = format!("m{}", self.count).into();
        self.push(Entry::Assistant(AssistantEntry {
            message_id,
            request_id: None,
            model: "m".into(),
            index: 0,
            block,
            usage: Usage::default(),
            stop_reason: None,
        }))
    }

    fn calls(&mut self, tool: &str, input: Value, result: &str) {
        let id = ToolUseId::new(format!("t{}", self.count));
        self.model(Block::tool_use(&id, tool, input));
        self.user(UserOrigin::ToolResult, Block::tool_result(&id, json!(result)));
    }

    fn tells(&mut self, result: &str, by: Provenance) {
        let id = ToolUseId::new(format!("t{}", self.count));
        self.model(Block::tool_use(&id, "Some", json!({})));
        let content = vec![Block::tool_result(&id, json!(result))];
        let (origin, provenance) = (UserOrigin::ToolResult, vec![BlockProvenance::whole(by)]);
        self.push(Entry::User(UserEntry { content, origin, tool_use_result: None, provenance }));
    }

    fn review(&self, cursor: Option<&RecordId>) -> ReviewSpan {
        let ground = ReviewContext {
            memory_dirs: &[PathBuf::from("/m")],
            instruction_kinds: &["instructions"],
        };
        review(self.fold.messages(), cursor, ground)
    }
}

fn texts(review: &ReviewSpan) -> Vec<&str> {
    review.testimony.said.iter().map(|said| said.text.as_str()).collect()
}

#[test]
fn l5_9_only_what_came_since_the_cursor_is_looked_at() {
    let mut log = Log::new();
    log.says("first");
    let cursor = log.model(Block::text("answer one"));
    log.says("second");
    let last = log.model(Block::text("answer two"));
    let found = log.review(Some(&cursor));
    assert_eq!(texts(&found), ["second", "answer two"]);
    assert_eq!(found.last, Some(last.clone()));
    let nothing = log.review(Some(&last));
    assert!(nothing.testimony.said.is_empty());
    assert_eq!(worth(&nothing), Worth::Nothing);
}

#[test]
fn l5_10_with_the_cursor_gone_all_messages_count() {
    let mut log = Log::new();
    log.says("first");
    let cursor = log.model(Block::text("answer one"));
    log.push(Entry::Boundary(Boundary {
        trigger: "auto".into(),
        pre_tokens: 1,
        last_before: None,
        preserved: Vec::new(),
        keeps: everfold_kernel::record::Keeps::Suffix,
        metadata: serde_json::Map::new(),
    }));
    log.user(UserOrigin::CompactSummary, Block::text("what came before"));
    log.says("second");
    assert_eq!(texts(&log.review(Some(&cursor))), ["second"], "a summary is nobody's word");
    assert_eq!(texts(&log.review(None)), ["second"]);
}

#[test]
fn l5_11_a_memory_that_the_main_agent_saved_ends_the_matter() {
    let mut log = Log::new();
    let cursor = log.says("remember that I like tea");
    log.calls("Write", json!({"file_path": "/m/tea.md", "content": "x"}), "Created");
    assert_eq!(worth(&log.review(None)), Worth::SavedAlready);
    let last = log.says("and what else?");
    assert_eq!(worth(&log.review(Some(&cursor))), Worth::SavedAlready);
    assert_eq!(worth(&log.review(Some(&last))), Worth::Nothing);
    let mut log = Log::new();
    log.says("remember that I like tea");
    log.calls("Read", json!({"file_path": "/m/tea.md"}), "tea");
    log.calls("Write", json!({"file_path": "/p/tea.md", "content": "x"}), "Created");
    let id = ToolUseId::new("failed");
    log.model(Block::tool_use(&id, "Write", json!({"file_path": "/m/key.md", "content": "k"})));
    log.user(UserOrigin::ToolResult, Block::tool_error(&id, "it holds a secret"));
    assert_eq!(worth(&log.review(None)), Worth::Asking, "nothing was saved");
}

#[test]
fn l5_33_what_every_piece_says_of_its_words_counts_not_its_tool() {
    let mut log = Log::new();
    let attach = |log: &mut Log, kind: &str, text: &str, provenance| {
        let (kind, rendered, data) = (kind.into(), text.into(), Value::Null);
        log.push(Entry::Attachment(Attachment { kind, rendered, data, provenance }));
    };
    attach(&mut log, "instructions", "House rules", Some(Source::Repository.into()));
    let memory = Provenance::through(Carrier::Memory, Source::Person);
    attach(&mut log, "relevant_memories", "an old memory", Some(memory));
    attach(&mut log, "date", "It is Monday", None);
    log.says("look around");
    log.tells("a page", Source::Web.into());
    log.tells("a report", Provenance::through(Carrier::Agent, Source::Web));
    log.calls("Read", json!({"file_path": "/p/a"}), "from an older transcript");
    log.model(Block::text("done"));
    let found = log.review(None);
    let heard: Vec<(String, &str)> =
        found.testimony.said.iter().map(|said| (said.by.to_string(), said.text.as_str())).collect();
    let wanted = [
        ("memory:person", "an old memory"),
        ("person", "look around"),
        ("web", "a page"),
        ("agent:web", "a report"),
        ("command", "from an older transcript"),
        ("model", "done"),
    ];
    assert_eq!(heard, wanted.map(|(by, text)| (by.to_owned(), text)));
    assert_eq!(found.testimony.instructions.trim(), "House rules");
}
