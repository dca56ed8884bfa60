//! Layers 1, 2 and 4 together over conversations made by chance: whatever
//! comes, requests are valid, the prefix breaks only where that is declared,
//! compaction converges, and nothing is out of reach.

use everfold_compact::apply::{CompactionContext, Extras, settle_local};
use everfold_compact::{CompactionScope, ConversationKind, Due, Plan, Trigger};
use everfold_kernel::record::FailedSummary;
use everfold_kernel::window::Overrides;
use everfold_kernel::{
    AssistantEntry, Block, Decision, EffectOutcome, Entry, Flags, Limits, ModelSpec, ModelTable,
    Params, Prelude, Record, Timestamp, ToolUseId, Usage, UserEntry, UserOrigin, Window,
};
use everfold_prefix::{BreakCause, Fold, Showing};
use everfold_prune::{CacheEdits, Prefix, RequestThread, Situation};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// One round of a conversation.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that may happen")]
struct Round {
    prompt: usize,
    picture: bool,
    thinking: bool,
    calls: Vec<(usize, bool)>,
    answer: usize,
    pause_minutes: i64,
    pin: bool,
    resume: bool,
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let call = (prop_oneof![Just(40_usize), Just(4_000), Just(90_000)], prop::bool::weighted(0.2));
    let round = (
        prop_oneof![Just(10_usize), Just(900), Just(30_000)],
        prop::bool::weighted(0.1),
        any::<bool>(),
        prop::collection::vec(call, 0..6),
        0_usize..3_000,
        prop_oneof![4 => Just(0_i64), 1 => Just(7), 1 => Just(90)],
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(prompt, picture, thinking, calls, answer, pause_minutes, pin, resume)| Round {
            prompt,
            picture,
            thinking,
            calls,
            answer,
            pause_minutes,
            pin,
            resume,
        });
    prop::collection::vec(round, 1..25)
}

/// A log with its fold, and what the layers do before each request.
struct World {
    limits: Arc<Limits>,
    spec: ModelSpec,
    window: Window,
    records: Vec<Record>,
    fold: Fold,
    now: Timestamp,
    last: Option<Value>,
    ids: u32,
}

impl World {
    fn new() -> Self {
        let limits: Arc<Limits> = Limits::default().into();
        let model = "claude-haiku-4-5".into();
        let spec = ModelTable::builtin().spec(&model).clone();
        let overrides = Overrides { auto_compact_window: Some(90_000), ..Overrides::default() };
        let window = Window::resolve(&model, &spec, &[], &overrides, &limits);
        let mut world = Self {
            fold: Fold::new(Arc::clone(&limits)),
            limits,
            spec,
            window,
            records: Vec::new(),
            now: Timestamp::from_second(1_800_000_000).unwrap(),
            last: None,
            ids: 0,
        };
        let tools = vec![json!({"name": "Read", "input_schema": {}})];
        let params = Params::new("claude-haiku-4-5", 8_000);
        let prelude = Prelude { system: Vec::new(), tools, params };
        world.append(Entry::Decision(Decision::Prelude(Box::new(prelude))));
        world
    }

    fn append(&mut self, entry: Entry) {
        self.ids += 1;
        let parent = self.records.last().map(|record| record.id.clone());
        let record = Record { id: format!("r{}", self.ids).into(), parent, at: self.now, entry };
        self.records.push(record.clone());
        self.fold.push(record);
    }

    fn user(&mut self, content: Vec<Block>, origin: UserOrigin) {
        self.append(Entry::User(UserEntry {
            content,
            origin,
            tool_use_result: None,
            provenance: Vec::new(),
        }));
    }

    fn answer(&mut self, blocks: Vec<Block>) {
        self.ids += 1;
        let message_id = format!("m{}", self.ids);
        let output = 50;
        let usage = Usage { input: self.fold.count().0, output, ..Usage::default() };
        for (block, index) in blocks.into_iter().zip(0..) {
            self.append(Entry::Assistant(AssistantEntry {
                message_id: message_id.as_str().into(),
                request_id: None,
                model: "claude-haiku-4-5".into(),
                index,
                block,
                usage,
                stop_reason: None,
            }));
        }
    }

    /// The ladder, with a disk that always has room and no model to sum up.
    fn climb(&mut self) {
        for spill in everfold_offload::plan(&self.fold, &self.limits.offload) {
            let outcome = EffectOutcome::Spilled { path: "/spilled".into() };
            if let Some(decision) = everfold_offload::apply(spill.pending, outcome).decision {
                self.append(Entry::Decision(decision));
            }
        }
        let flags = Flags::default();
        let broken = self.fold.last_break() > self.fold.last_response();
        let situation = Situation {
            thread: RequestThread::Main,
            now: self.now,
            last_fork: None,
            prefix: if broken { Prefix::Broken } else { Prefix::Kept },
            model: &self.spec,
            cache_edits: CacheEdits::NotOffered,
            clearable: &[],
            flags: &flags,
            limits: &self.limits,
        };
        if let Some(decision) = everfold_prune::plan(&self.fold, &situation) {
            self.append(Entry::Decision(decision));
        }
        let mut compactions = 0;
        let due = |world: &Self| {
            let origin = ConversationKind::MainThread;
            everfold_compact::policy::due(&world.fold, &world.window, &flags, &world.limits, origin)
        };
        while due(self) != Due::No {
            compactions += 1;
            assert!(compactions <= 2, "compaction does not come to an end");
            let Ok(plan) = Plan::new(&self.fold, CompactionScope::All, Trigger::Auto) else {
                break;
            };
            let setting =
                CompactionContext { fold: &self.fold, window: &self.window, limits: &self.limits };
            match settle_local(setting, &plan, &Extras::default()) {
                Ok(applied) => applied.entries.into_iter().for_each(|entry| self.append(entry)),
                Err(rejection) => {
                    self.append(Entry::Decision(rejection.decision(FailedSummary::Local)));
                }
            }
        }
    }

    /// The next request: valid, and a continuation unless a break was declared.
    fn request(&mut self) {
        let body: Value =
            serde_json::from_slice(&self.fold.request(None).unwrap().body.whole()).unwrap();
        let body = without_marks(body);
        assert_eq!(is_valid(&body), Ok(()));
        let declared: Option<BreakCause> = self.fold.take_break();
        if let (Some(last), None) = (&self.last, declared) {
            assert!(is_continued(last, &body), "{last:#}\n{body:#}");
        }
        self.last = Some(body);
    }

    /// Folds the log anew, as a resumed session does.
    fn resume(&mut self) {
        let mut fold = Fold::new(Arc::clone(&self.limits));
        self.records.iter().cloned().for_each(|record| fold.push(record));
        fold.take_break();
        let (old, new) = (self.fold.request(None).unwrap(), fold.request(None).unwrap());
        assert_eq!(old.body, new.body, "a resumed session sends other bytes");
        assert_eq!(self.fold.count(), fold.count());
        self.fold = fold;
    }

    /// Every marker names something that is in the log.
    fn nothing_is_out_of_reach(&self) {
        let results: BTreeSet<&str> = self
            .records
            .iter()
            .filter_map(|record| match &record.entry {
                Entry::User(user) => Some(&user.content),
                _ => None,
            })
            .flatten()
            .filter_map(|block| block.as_map().get("tool_use_id")?.as_str())
            .collect();
        for message in self.fold.messages() {
            for piece in message.pieces() {
                let id = piece.block.as_map().get("tool_use_id").and_then(Value::as_str);
                if matches!(piece.shown, Showing::Spilled | Showing::Cleared) {
                    assert!(results.contains(id.unwrap_or("")));
                }
            }
        }
        let known: BTreeSet<&str> = self.records.iter().map(|record| record.id.as_str()).collect();
        for message in self.fold.messages() {
            assert!(message.pieces().iter().all(|piece| known.contains(piece.record.as_str())));
        }
    }

    fn play(&mut self, round: &Round, number: usize) {
        self.now += jiff_minutes(round.pause_minutes);
        let mut prompt = vec![Block::text(format!("{number} {}", "p".repeat(round.prompt)))];
        if round.picture {
            prompt.push(Block::image("image/png", "AAAA"));
        }
        self.user(prompt, UserOrigin::Human);
        if round.pin {
            let record = self.records.last().unwrap().id.clone();
            if let Ok(decision) = everfold_compact::pins::pin(&self.fold, &record, &self.limits) {
                self.append(Entry::Decision(decision));
            }
        }
        self.climb();
        self.request();
        if !round.calls.is_empty() {
            self.tools(round, number);
        }
        self.answer(vec![Block::text(format!("a{}", "nswer ".repeat(round.answer)))]);
        if round.resume {
            self.user(vec![Block::text("still there?")], UserOrigin::Human);
            self.climb();
            self.request();
            self.resume();
            self.answer(vec![Block::text("yes")]);
        }
    }

    fn tools(&mut self, round: &Round, number: usize) {
        let names = ["Read", "Bash", "Grep", "mcp__x__y", "Edit", "WebFetch"];
        let id = |index: usize| ToolUseId::new(format!("t{number}_{index}"));
        let mut blocks = Vec::new();
        if round.thinking {
            let value = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
            blocks.extend(Block::from_value(value));
        }
        let call = |index: usize| {
            Block::tool_use(&id(index), names[index % 6], json!({"file_path": "/a"}))
        };
        blocks.extend((0..round.calls.len()).map(call));
        self.answer(blocks);
        for (index, (size, failed)) in round.calls.iter().enumerate() {
            let text = "word ".repeat(size / 5);
            let block = match failed {
                true => Block::tool_error(&id(index), &text),
                false => Block::tool_result(&id(index), json!(text)),
            };
            self.user(vec![block], UserOrigin::ToolResult);
        }
        self.climb();
        self.request();
    }
}

fn jiff_minutes(minutes: i64) -> std::time::Duration {
    std::time::Duration::from_secs(u64::try_from(minutes * 60).unwrap())
}

fn without_marks(mut value: Value) -> Value {
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

fn is_continued(earlier: &Value, later: &Value) -> bool {
    let messages = |body: &Value| body["messages"].as_array().cloned().unwrap();
    let (old, new) = (messages(earlier), messages(later));
    let Some((last, before)) = old.split_last() else { return true };
    if new.len() < old.len() || new[..before.len()] != *before {
        return false;
    }
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap();
    blocks(&new[before.len()]).starts_with(&blocks(last))
}

/// What the API asks of messages: pairs, results first, no empty content, the
/// person first and last, thinking where its calls are.
fn is_valid(body: &Value) -> Result<(), String> {
    let messages = body["messages"].as_array().ok_or("no messages")?;
    let ends = [messages.first(), messages.last()];
    if ends.iter().any(|end| end.is_none_or(|message| message["role"] != "user")) {
        return Err("the person is not first and last".into());
    }
    for (index, message) in messages.iter().enumerate() {
        let content = message["content"].as_array().ok_or("no content")?;
        if content.is_empty() {
            return Err(format!("message {index} is empty"));
        }
        let of = |kind: &str, key: &str| -> Vec<String> {
            content.iter().filter(|b| b["type"] == kind).map(|b| b[key].to_string()).collect()
        };
        let calls = of("tool_use", "id");
        let next = messages.get(index + 1).and_then(|next| next["content"].as_array());
        let results: Vec<String> = next
            .into_iter()
            .flatten()
            .take_while(|block| block["type"] == "tool_result")
            .map(|block| block["tool_use_id"].to_string())
            .collect();
        if message["role"] == "assistant" && calls != results {
            return Err(format!("message {index}: calls {calls:?}, results {results:?}"));
        }
        let orphans = message["role"] == "user" && !of("tool_result", "tool_use_id").is_empty();
        if orphans && (index == 0 || messages[index - 1]["role"] != "assistant") {
            return Err(format!("message {index} has results without calls"));
        }
    }
    Ok(())
}

#[test]
fn l4_15_such_conversations_reach_every_layer() {
    let mut world = World::new();
    for number in 0..40 {
        let calls = vec![(4_000, false), (90_000, false), (4_000, true), (4_000, false)];
        let pause_minutes = if number % 10 == 9 { 90 } else { 0 };
        let round = Round {
            prompt: 6_000,
            picture: false,
            thinking: true,
            calls,
            answer: 100,
            pause_minutes,
            pin: number == 3,
            resume: number % 7 == 0,
        };
        world.play(&round, number);
    }
    let count = |wanted: fn(&Entry) -> bool| {
        world.records.iter().filter(|record| wanted(&record.entry)).count()
    };
    assert!(count(|entry| matches!(entry, Entry::Decision(Decision::Spilled(_)))) > 10);
    assert!(count(|entry| matches!(entry, Entry::Decision(Decision::Cleared(_)))) > 0);
    assert!(count(|entry| matches!(entry, Entry::Boundary(_))) > 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn l4_15_any_conversation_stays_valid_stable_and_within_reach(rounds in rounds()) {
        let mut world = World::new();
        for (number, round) in rounds.iter().enumerate() {
            world.play(round, number);
        }
        world.nothing_is_out_of_reach();
    }
}
