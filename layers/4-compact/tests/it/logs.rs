//! Writing logs by hand.

use everfold_compact::apply::{CompactionContext, Extras};
use everfold_compact::{AppliedCompaction, CompactionScope, Plan, Rejection, Trigger};
use everfold_kernel::record::Breakpoint;
use everfold_kernel::tokens::estimate_block;
use everfold_kernel::{
    AssistantEntry, Attachment, Block, Decision, Entry, Limits, Params, Prelude, Record, RecordId,
    SystemBlock, Timestamp, Tokens, ToolUseId, Usage, UserEntry, UserOrigin, Window,
};
use everfold_prefix::Fold;
use serde_json::{Value, json};

/// A log that is being written.
#[derive(Clone, Default)]
pub(crate) struct Log {
    pub(crate) records: Vec<Record>,
    responses: u32,
    calls: u32,
    pub(crate) limits: Limits,
    /// Real tokens for a hundred estimated ones; 0 is as estimated.
    pub(crate) percent: u64,
}

impl Log {
    pub(crate) fn started() -> Self {
        let mut log = Self::default();
        let system = SystemBlock { text: "You help.".into(), breakpoint: Breakpoint::None };
        let prelude = Prelude {
            system: vec![system],
            tools: vec![json!({"name": "Read", "description": "reads", "input_schema": {}})],
            params: Params::new("claude-sonnet-5-5", 1_000),
        };
        log.entry(Entry::Decision(Decision::Prelude(Box::new(prelude))));
        log
    }

    pub(crate) fn entry(&mut self, entry: Entry) -> RecordId {
        let number = self.records.len();
        let parent = self.records.last().map(|record| record.id.clone());
        let at = Timestamp::from_second(1_700_000_000 + i64::try_from(number).unwrap()).unwrap();
        let id = RecordId::new(format!("r{number}"));
        self.records.push(Record { id: id.clone(), parent, at, entry });
        id
    }

    pub(crate) fn decide(&mut self, decision: Decision) -> RecordId {
        self.entry(Entry::Decision(decision))
    }

    pub(crate) fn user(&mut self, text: &str) -> RecordId {
        self.user_blocks(vec![Block::text(text)], UserOrigin::Human)
    }

    pub(crate) fn user_blocks(&mut self, content: Vec<Block>, origin: UserOrigin) -> RecordId {
        self.entry(Entry::User(UserEntry {
            content,
            origin,
            tool_use_result: None,
            provenance: Vec::new(),
        }))
    }

    pub(crate) fn attach(&mut self, kind: &str, text: &str) -> RecordId {
        let rendered = everfold_kernel::record::reminder(text);
        self.entry(Entry::Attachment(Attachment {
            kind: kind.into(),
            rendered,
            data: Value::Null,
            provenance: None,
        }))
    }

    pub(crate) fn answer(&mut self, blocks: Vec<Block>, usage: Usage) -> Vec<RecordId> {
        let usage = if usage == Usage::default() { self.usage(&blocks) } else { usage };
        self.responses += 1;
        let message_id = format!("msg_{}", self.responses);
        let entries = blocks.into_iter().enumerate().map(|(index, block)| AssistantEntry {
            message_id: message_id.as_str().into(),
            request_id: None,
            model: "claude-sonnet-5-5".into(),
            index: u32::try_from(index).unwrap(),
            block,
            usage,
            stop_reason: None,
        });
        entries.collect::<Vec<_>>().into_iter().map(|e| self.entry(Entry::Assistant(e))).collect()
    }

    /// What a server would report for a response.
    fn usage(&self, blocks: &[Block]) -> Usage {
        let fold = self.fold();
        let percent = if self.percent == 0 { 100 } else { self.percent };
        let prompt: Tokens = fold.messages().iter().map(everfold_prefix::Message::tokens).sum();
        let output: Tokens = blocks.iter().map(|block| estimate_block(block, &self.limits)).sum();
        let real = |tokens: u64| tokens * percent / 100;
        Usage { input: real(prompt.0 + 50), output: real(output.0), ..Usage::default() }
    }

    pub(crate) fn says(&mut self, text: &str) -> RecordId {
        self.answer(vec![Block::text(text)], Usage::default())[0].clone()
    }

    /// A name for the next call.
    pub(crate) fn call_id(&mut self) -> ToolUseId {
        self.calls += 1;
        ToolUseId::new(format!("t{}", self.calls))
    }

    /// One call with its result; gives the records of both.
    pub(crate) fn tool(&mut self, name: &str, input: Value, result: &str) -> (RecordId, RecordId) {
        let id = self.call_id();
        let call = self.answer(vec![Block::tool_use(&id, name, input)], Usage::default());
        let result = Block::tool_result(&id, json!(result));
        (call[0].clone(), self.user_blocks(vec![result], UserOrigin::ToolResult))
    }

    /// One call that failed.
    pub(crate) fn fails(&mut self, name: &str, input: Value, why: &str) -> (RecordId, RecordId) {
        let id = self.call_id();
        let call = self.answer(vec![Block::tool_use(&id, name, input)], Usage::default());
        let result = Block::tool_error(&id, why);
        (call[0].clone(), self.user_blocks(vec![result], UserOrigin::ToolResult))
    }

    pub(crate) fn fold(&self) -> Fold {
        let voided = self.records.iter().filter_map(|record| match &record.entry {
            Entry::Decision(Decision::Voided { decision }) => Some(decision.clone()),
            _ => None,
        });
        let mut fold = Fold::new(self.limits.clone().into()).without(voided.collect());
        self.records.iter().cloned().for_each(|record| fold.push(record));
        fold
    }

    pub(crate) fn append(&mut self, applied: &AppliedCompaction) {
        applied.entries.iter().cloned().for_each(|entry| {
            self.entry(entry);
        });
    }

    pub(crate) fn plan(&self) -> Plan {
        Plan::new(&self.fold(), CompactionScope::All, Trigger::Auto).unwrap()
    }

    /// Compacts without a model, and writes it down.
    pub(crate) fn compact(&mut self, window: &Window) -> Result<AppliedCompaction, Rejection> {
        let (fold, plan) = (self.fold(), self.plan());
        let setting = CompactionContext { fold: &fold, window, limits: &self.limits };
        let applied = everfold_compact::apply::settle_local(setting, &plan, &Extras::default())?;
        self.append(&applied);
        Ok(applied)
    }
}

/// A window whose threshold is here.
pub(crate) fn window(threshold: u64) -> Window {
    Window {
        size: Tokens(threshold + 33_000),
        output: Tokens(0),
        effective: Tokens(threshold + 13_000),
        auto_compact: Tokens(threshold),
        warning: Tokens(threshold.saturating_sub(20_000)),
        refuse: Tokens(threshold + 10_000),
    }
}

/// Every text in view, in order.
pub(crate) fn texts(fold: &Fold) -> Vec<String> {
    let pieces = fold.messages().iter().flat_map(everfold_prefix::Message::pieces);
    pieces.map(|piece| piece.block.plain_text()).collect()
}

/// The body of the next request.
pub(crate) fn body(fold: &mut Fold) -> Value {
    serde_json::from_slice(&fold.request(None).unwrap().body.whole()).unwrap()
}

pub(crate) fn thinking() -> Block {
    Block::from_value(json!({"type": "thinking", "thinking": "hm", "signature": "sig"})).unwrap()
}
