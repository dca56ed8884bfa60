//! Making logs of tool calls, and spilling into memory.

use everfold_kernel::limits::OffloadLimits;
use everfold_kernel::{
    AssistantEntry, Block, Class, Decision, Effect, EffectOutcome, Entry, Limits, Params, Prelude,
    Record, ToolUseId, Usage, UserEntry, UserOrigin,
};
use everfold_offload::{apply, plan};
use everfold_prefix::Fold;
use serde_json::{Value, json};

/// A log that is being written.
#[derive(Clone)]
pub(crate) struct Log {
    pub(crate) records: Vec<Record>,
    pub(crate) limits: OffloadLimits,
}

/// Whether the disk of a test takes files.
#[derive(Clone, Copy)]
pub(crate) enum Disk {
    Works,
    Full,
}

impl Log {
    pub(crate) fn started() -> Self {
        let params = Params::new("claude-sonnet-5-5", 1_000);
        let prelude = Prelude { system: vec![], tools: vec![], params };
        let mut log = Self { records: Vec::new(), limits: OffloadLimits::default() };
        log.push(Entry::Decision(Decision::Prelude(Box::new(prelude))));
        log.user(vec![Block::text("go")], UserOrigin::Human);
        log
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        let id = format!("r{}", self.records.len()).into();
        self.records.push(Record {
            id,
            parent: None,
            at: everfold_kernel::Timestamp::UNIX_EPOCH,
            entry,
        });
    }

    fn user(&mut self, content: Vec<Block>, origin: UserOrigin) {
        self.push(Entry::User(UserEntry {
            content,
            origin,
            tool_use_result: None,
            provenance: Vec::new(),
        }));
    }

    /// One response with calls, given as (id, tool, content of the result).
    pub(crate) fn round(&mut self, calls: &[(&str, &str, Value)]) -> &mut Self {
        let message_id = format!("m{}", self.records.len());
        for (index, (id, tool, _)) in calls.iter().enumerate() {
            self.push(Entry::Assistant(AssistantEntry {
                message_id: message_id.as_str().into(),
                request_id: None,
                model: "claude-sonnet-5-5".into(),
                index: u32::try_from(index).unwrap(),
                block: Block::tool_use(&ToolUseId::new(id), tool, json!({})),
                usage: Usage::default(),
                stop_reason: None,
            }));
        }
        for (id, _, content) in calls {
            let result = Block::tool_result(&ToolUseId::new(id), content.clone());
            self.user(vec![result], UserOrigin::ToolResult);
        }
        self
    }

    pub(crate) fn fold(&self) -> Fold {
        let mut fold = Fold::new(Limits::default().into());
        self.records.iter().cloned().for_each(|record| fold.push(record));
        fold
    }

    /// Runs the layer once. Tells the files that were asked for and the failures.
    pub(crate) fn run(&mut self, disk: Disk) -> (Vec<(String, String)>, Vec<String>) {
        let (mut files, mut failures) = (Vec::new(), Vec::new());
        for spill in plan(&self.fold(), &self.limits) {
            let Effect::Spill { file, content } = spill.effect else { panic!("another effect") };
            let outcome = match disk {
                Disk::Works => {
                    EffectOutcome::Spilled { path: format!("/s/tool-results/{file}").into() }
                }
                Disk::Full => EffectOutcome::Failed {
                    class: Class::Degrade,
                    reason: "failed to write: no space".into(),
                },
            };
            files.push((file, content));
            let applied = apply(spill.pending, outcome);
            failures.extend(applied.failure);
            if let Some(decision) = applied.decision {
                self.push(Entry::Decision(decision));
            }
        }
        (files, failures)
    }

    /// What the model sees of each result, oldest first.
    pub(crate) fn shown(&self) -> Vec<String> {
        self.fold().results().iter().map(|result| result.piece.block.plain_text()).collect()
    }
}

pub(crate) fn names(files: &[(String, String)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

/// A text of so many characters, in lines.
pub(crate) fn lines(chars: usize) -> String {
    "0123456789abcde\n".chars().cycle().take(chars).collect()
}
