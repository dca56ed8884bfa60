//! Writing logs by hand, and by chance.

use everfold_kernel::{
    AssistantEntry, Block, Decision, Entry, Limits, Params, Prelude, Record, RecordId, Timestamp,
    ToolUseId, Usage, UserEntry, UserOrigin,
};
use everfold_prefix::Fold;
use proptest::prelude::*;
use serde_json::json;

/// A log that is being written. What the server would count is what is estimated.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) fold: Option<Fold>,
    pub(crate) limits: Limits,
    records: usize,
    calls: usize,
}

impl Log {
    pub(crate) fn started() -> Self {
        let mut log = Self::default();
        let prelude = Prelude {
            system: Vec::new(),
            tools: Vec::new(),
            params: Params::new("claude-sonnet-5-5", 1_000),
        };
        log.entry(Entry::Decision(Decision::Prelude(Box::new(prelude))));
        log
    }

    pub(crate) fn fold(&self) -> &Fold {
        self.fold.as_ref().unwrap()
    }

    pub(crate) fn entry(&mut self, entry: Entry) -> RecordId {
        let limits = self.limits.clone();
        let fold = self.fold.get_or_insert_with(|| Fold::new(limits.into()));
        self.records += 1;
        let id = RecordId::new(format!("r{}", self.records));
        fold.push(Record { id: id.clone(), parent: None, at: Timestamp::UNIX_EPOCH, entry });
        id
    }

    pub(crate) fn user(&mut self, words: usize) -> RecordId {
        self.user_block(Block::text(text(words)), UserOrigin::Human)
    }

    fn user_block(&mut self, block: Block, origin: UserOrigin) -> RecordId {
        let content = vec![block];
        self.entry(Entry::User(UserEntry {
            content,
            origin,
            tool_use_result: None,
            provenance: Vec::new(),
        }))
    }

    fn answer(&mut self, blocks: Vec<Block>) -> RecordId {
        let message = format!("m{}", self.records);
        let mut last = RecordId::new("");
        for (block, index) in blocks.into_iter().zip(0..) {
            last = self.entry(Entry::Assistant(AssistantEntry {
                message_id: message.as_str().into(),
                request_id: None,
                model: "claude-sonnet-5-5".into(),
                index,
                block,
                usage: Usage::default(),
                stop_reason: None,
            }));
        }
        last
    }

    pub(crate) fn says(&mut self, words: usize) -> RecordId {
        self.answer(vec![Block::text(text(words))])
    }

    /// An answer that thinks and calls, and its results; gives the last record.
    pub(crate) fn calls(&mut self, results: &[usize]) -> RecordId {
        let mut blocks = vec![
            Block::from_value(json!({"type": "thinking", "thinking": "hm", "signature": "s"}))
                .unwrap(),
        ];
        let ids: Vec<ToolUseId> = results
            .iter()
            .map(|_| {
                self.calls += 1;
                ToolUseId::new(format!("t{}", self.calls))
            })
            .collect();
        blocks.extend(ids.iter().map(|id| Block::tool_use(id, "Read", json!({}))));
        self.answer(blocks);
        let mut last = RecordId::new("");
        for (id, words) in ids.iter().zip(results) {
            let block = Block::tool_result(id, json!(text(*words)));
            last = self.user_block(block, UserOrigin::ToolResult);
        }
        last
    }
}

/// So many words of eight bytes, or two tokens.
fn text(words: usize) -> String {
    "a word. ".repeat(words)
}

/// One step of a conversation.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Prompt(usize),
    Answer(usize),
    Calls(Vec<usize>),
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let words = || prop_oneof![4 => 0_usize..50, 2 => 50_usize..2_000, 1 => 2_000_usize..9_000];
    let step = prop_oneof![
        2 => words().prop_map(Step::Prompt),
        2 => words().prop_map(Step::Answer),
        3 => prop::collection::vec(words(), 1..4).prop_map(Step::Calls),
    ];
    prop::collection::vec(step, 1..40)
}

/// Writes the steps; gives the last record of each.
pub(crate) fn write(log: &mut Log, steps: &[Step]) -> Vec<RecordId> {
    let one = |log: &mut Log, step: &Step| match step {
        Step::Prompt(words) => log.user(*words),
        Step::Answer(words) => log.says(*words),
        Step::Calls(results) => log.calls(results),
    };
    steps.iter().map(|step| one(log, step)).collect()
}
