//! Making logs of tool calls, with a clock that the test moves.

use everfold_kernel::record::{Breakpoint, CacheTtl};
use everfold_kernel::{
    AssistantEntry, Block, Decision, Entry, Flags, Limits, ModelSpec, ModelTable, Params, Prelude,
    Record, SystemBlock, Timestamp, ToolUseId, Usage, UserEntry, UserOrigin,
};
use everfold_prefix::Fold;
use everfold_prune::{CacheEdits, Prefix, RequestThread, Situation, plan};
use serde_json::{Value, json};

/// Seconds between two records.
const STEP: i64 = 1;

/// A log that is being written, and the world around it.
#[derive(Clone)]
pub(crate) struct Log {
    pub(crate) records: Vec<Record>,
    pub(crate) clock: i64,
    pub(crate) model: ModelSpec,
    pub(crate) limits: Limits,
    pub(crate) flags: Flags,
    pub(crate) thread: RequestThread,
    pub(crate) prefix: Prefix,
    pub(crate) cache_edits: CacheEdits,
    pub(crate) last_fork: Option<Timestamp>,
}

impl Log {
    pub(crate) fn started(ttl: Option<CacheTtl>) -> Self {
        let mut log = Self {
            records: Vec::new(),
            clock: 1_700_000_000,
            model: ModelTable::builtin().spec(&"claude-sonnet-4-6".into()).clone(),
            limits: Limits::default(),
            flags: Flags::default(),
            thread: RequestThread::Main,
            prefix: Prefix::Kept,
            cache_edits: CacheEdits::NotOffered,
            last_fork: None,
        };
        let mut params = Params::new("claude-sonnet-4-6", 1_000);
        params.cache = ttl;
        let text = "You help. ".repeat(1_000);
        let system = vec![SystemBlock { text, breakpoint: Breakpoint::Here }];
        let prelude = Prelude { system, tools: vec![], params };
        log.push(Entry::Decision(Decision::Prelude(Box::new(prelude))));
        log.prompt("go");
        log
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.clock += STEP;
        let (id, at) = (format!("r{}", self.records.len()).into(), self.now());
        self.records.push(Record { id, parent: None, at, entry });
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_second(self.clock).unwrap()
    }

    pub(crate) fn wait(&mut self, seconds: i64) -> &mut Self {
        self.clock += seconds;
        self
    }

    pub(crate) fn prompt(&mut self, text: &str) -> &mut Self {
        self.user(vec![Block::text(text)], UserOrigin::Human)
    }

    fn user(&mut self, content: Vec<Block>, origin: UserOrigin) -> &mut Self {
        self.push(Entry::User(UserEntry {
            content,
            origin,
            tool_use_result: None,
            provenance: Vec::new(),
        }));
        self
    }

    pub(crate) fn answer(&mut self, block: Block) -> &mut Self {
        let message_id = format!("m{}", self.records.len()).into();
        self.push(Entry::Assistant(AssistantEntry {
            message_id,
            request_id: None,
            model: "claude-sonnet-4-6".into(),
            index: 0,
            block,
            usage: Usage::default(),
            stop_reason: None,
        }));
        self
    }

    pub(crate) fn says(&mut self, text: &str) -> &mut Self {
        self.answer(Block::text(text))
    }

    /// One call with its result.
    pub(crate) fn call(&mut self, id: &str, tool: &str, text: &str) -> &mut Self {
        self.call_with(id, tool, json!({}), text)
    }

    /// The same with arguments.
    pub(crate) fn call_with(
        &mut self,
        id: &str,
        tool: &str,
        input: Value,
        text: &str,
    ) -> &mut Self {
        let id = ToolUseId::new(id);
        self.answer(Block::tool_use(&id, tool, input));
        self.user(vec![Block::tool_result(&id, json!(text))], UserOrigin::ToolResult)
    }

    /// So many calls of Read with results of so many characters, `t0` first.
    pub(crate) fn reads(&mut self, count: usize, chars: usize) -> &mut Self {
        let from = self.records.len();
        for index in from..from + count {
            self.call(&format!("t{}", index - from), "Read", &"x".repeat(chars));
        }
        self
    }

    pub(crate) fn fold(&self) -> Fold {
        let mut fold = Fold::new(self.limits.clone().into());
        self.records.iter().cloned().for_each(|record| fold.push(record));
        fold
    }

    pub(crate) fn situation(&self) -> Situation<'_> {
        Situation {
            thread: self.thread,
            now: self.now(),
            last_fork: self.last_fork,
            prefix: self.prefix,
            model: &self.model,
            cache_edits: self.cache_edits,
            clearable: &[],
            flags: &self.flags,
            limits: &self.limits,
        }
    }

    pub(crate) fn plan(&self) -> Option<Decision> {
        plan(&self.fold(), &self.situation())
    }

    /// Runs the layer once and keeps what it decided.
    pub(crate) fn run(&mut self) -> Option<Decision> {
        let decision = self.plan();
        if let Some(decision) = &decision {
            self.push(Entry::Decision(decision.clone()));
        }
        decision
    }

    /// What the model sees of each result, oldest first.
    pub(crate) fn shown(&self) -> Vec<String> {
        self.fold().results().iter().map(|result| result.piece.block.plain_text()).collect()
    }
}

/// The results that a decision touches.
pub(crate) fn touched(decision: &Decision) -> Vec<String> {
    match decision {
        Decision::Cleared(cleared) => {
            cleared.results.iter().map(|result| result.tool_use_id.to_string()).collect()
        }
        Decision::CacheEdited { tool_use_ids } => {
            tool_use_ids.iter().map(ToString::to_string).collect()
        }
        other => panic!("another decision: {other:?}"),
    }
}
