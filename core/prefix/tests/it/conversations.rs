//! Making logs: by hand, and by chance.

use everfold_kernel::record::Breakpoint;
use everfold_kernel::{
    AssistantEntry, Attachment, Block, Decision, Entry, Limits, MessageId, Params, Prelude, Record,
    SystemBlock, Timestamp, ToolUseId, Usage, UserEntry, UserOrigin,
};
use everfold_prefix::Fold;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A log that is being written.
#[derive(Clone, Default)]
pub(crate) struct Log {
    pub(crate) records: Vec<Record>,
    responses: u32,
}

impl Log {
    pub(crate) fn started() -> Self {
        let mut log = Self::default();
        log.prelude("claude-sonnet-5-5");
        log
    }

    pub(crate) fn entry(&mut self, entry: Entry) -> &mut Self {
        let number = self.records.len();
        let parent = self.records.last().map(|record| record.id.clone());
        let at = Timestamp::from_second(1_700_000_000 + i64::try_from(number).unwrap()).unwrap();
        self.records.push(Record { id: format!("r{number}").into(), parent, at, entry });
        self
    }

    pub(crate) fn prelude(&mut self, model: &str) -> &mut Self {
        let block = |text: &str| SystemBlock { text: text.into(), breakpoint: Breakpoint::Here };
        let prelude = Prelude {
            system: vec![block("fixed"), block("dynamic")],
            tools: vec![json!({"name": "Read", "description": "reads", "input_schema": {}})],
            params: Params::new(model, 1_000),
        };
        self.entry(Entry::Decision(Decision::Prelude(Box::new(prelude))))
    }

    pub(crate) fn user(&mut self, text: &str) -> &mut Self {
        self.user_entry(vec![Block::text(text)], UserOrigin::Human)
    }

    pub(crate) fn user_entry(&mut self, content: Vec<Block>, origin: UserOrigin) -> &mut Self {
        self.entry(Entry::User(UserEntry {
            content,
            origin,
            tool_use_result: None,
            provenance: Vec::new(),
        }))
    }

    pub(crate) fn attachment(&mut self, text: &str) -> &mut Self {
        self.entry(Entry::Attachment(Attachment {
            kind: "note".into(),
            rendered: everfold_kernel::record::reminder(text),
            data: Value::Null,
            provenance: None,
        }))
    }

    pub(crate) fn response_id(&self) -> MessageId {
        format!("msg_{}", self.responses).into()
    }

    pub(crate) fn answer(&mut self, blocks: Vec<Block>, usage: Usage) -> &mut Self {
        self.responses += 1;
        let message_id = self.response_id().to_string();
        self.answer_of(&message_id, "claude-sonnet-5-5", blocks, usage)
    }

    pub(crate) fn answer_of(
        &mut self,
        message_id: &str,
        model: &str,
        blocks: Vec<Block>,
        usage: Usage,
    ) -> &mut Self {
        for (index, block) in blocks.into_iter().enumerate() {
            self.entry(Entry::Assistant(AssistantEntry {
                message_id: message_id.into(),
                request_id: None,
                model: model.into(),
                index: u32::try_from(index).unwrap(),
                block,
                usage,
                stop_reason: None,
            }));
        }
        self
    }

    pub(crate) fn says(&mut self, text: &str) -> &mut Self {
        self.answer(vec![Block::text(text)], Usage::default())
    }

    pub(crate) fn calls(&mut self, ids: &[&str]) -> &mut Self {
        let blocks = ids
            .iter()
            .map(|id| Block::tool_use(&ToolUseId::new(id), "Read", json!({"file_path": id})))
            .collect();
        self.answer(blocks, Usage::default())
    }

    pub(crate) fn result(&mut self, id: &str, text: &str) -> &mut Self {
        let block = Block::tool_result(&ToolUseId::new(id), json!(text));
        self.user_entry(vec![block], UserOrigin::ToolResult)
    }

    pub(crate) fn fold(&self) -> Fold {
        let mut fold = Fold::new(Limits::default().into());
        self.records.iter().cloned().for_each(|record| fold.push(record));
        fold
    }

    /// The body of the next request, parsed.
    pub(crate) fn body(&self) -> Value {
        body_of(&mut self.fold())
    }
}

pub(crate) fn body_of(fold: &mut Fold) -> Value {
    serde_json::from_slice(&fold.request(None).unwrap().body.whole()).unwrap()
}

/// Takes every breakpoint out of a body.
pub(crate) fn without_marks(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => {
            map.shift_remove("cache_control");
            for item in map.values_mut() {
                *item = without_marks(item.take());
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = without_marks(item.take());
            }
        }
        _ => {}
    }
    value
}

/// One round of a conversation made by chance.
#[derive(Clone, Debug)]
pub(crate) enum Round {
    Prompt(String),
    Attached(String),
    Answer { thinking: bool, text: String },
    Calls { count: usize, answered: usize, thinking: bool },
}

pub(crate) fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let round = prop_oneof![
        3 => "[a-z é\"\\\\\n]{0,30}".prop_map(Round::Prompt),
        1 => "[a-z<>/-]{0,30}".prop_map(Round::Attached),
        3 => (any::<bool>(), "[a-z 漢]{0,30}").prop_map(|(thinking, text)| Round::Answer { thinking, text }),
        3 => (1_usize..25, 0_usize..25, any::<bool>())
            .prop_map(|(count, answered, thinking)| Round::Calls { count, answered, thinking }),
    ];
    prop::collection::vec(round, 0..30)
}

/// Writes rounds as the engine would: every request ends with a user message.
pub(crate) fn write(log: &mut Log, round: &Round, number: usize) {
    let thinking = || {
        Block::from_value(json!({"type": "thinking", "thinking": "hm", "signature": "sig"}))
            .unwrap()
    };
    match round {
        Round::Prompt(text) => {
            log.user(&format!("p{text}"));
        }
        Round::Attached(text) => {
            log.attachment(text);
        }
        Round::Answer { thinking: with, text } => {
            let mut blocks = if *with { vec![thinking()] } else { vec![] };
            blocks.push(Block::text(text.as_str()));
            log.answer(blocks, Usage::default()).user("go on");
        }
        Round::Calls { count, answered, thinking: with } => {
            let ids: Vec<String> = (0..*count).map(|i| format!("t{number}_{i}")).collect();
            let mut blocks = if *with { vec![thinking()] } else { vec![] };
            blocks.extend(
                ids.iter().map(|id| Block::tool_use(&ToolUseId::new(id), "Read", json!({}))),
            );
            log.answer(blocks, Usage::default());
            for id in ids.iter().take(*answered) {
                log.result(id, "found");
            }
            log.user("next");
        }
    }
}
