//! For any log, building anew equals having lived through it, field by field.

use super::*;
use everfold_kernel::record::{Boundary, Breakpoint, Extracted, Keeps, reminder};
use everfold_kernel::usage::Booking;
use everfold_kernel::{
    AssistantEntry, Block, ModelTable, Params, Prelude, QuerySource, SystemBlock, Timestamp, Usage,
    UserEntry, UserOrigin,
};
use everfold_prefix::message::Message;
use everfold_transcript::{Envelope, Rebuild, encode};
use proptest::prelude::*;
use serde_json::json;

/// What happens in a conversation.
#[derive(Clone, Debug)]
enum Step {
    Exchange(String),
    Booked(u64),
    Prelude(bool),
    Style(String),
    Language(String),
    Switch(bool),
    Lent,
    Other(u32),
    Reviewed,
    PutOff,
    Undone,
    Compacted,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => "[a-z ]{1,20}".prop_map(Step::Exchange),
        2 => (1..5_000_u64).prop_map(Step::Booked),
        1 => any::<bool>().prop_map(Step::Prelude),
        1 => "[a-z]{1,6}".prop_map(Step::Style),
        1 => "[a-z]{1,6}".prop_map(Step::Language),
        1 => any::<bool>().prop_map(Step::Switch),
        1 => Just(Step::Lent),
        2 => any::<u32>().prop_map(Step::Other),
        1 => Just(Step::Reviewed),
        1 => Just(Step::PutOff),
        1 => Just(Step::Undone),
        1 => Just(Step::Compacted),
    ]
}

/// A session that is lived through: what it knows, and the lines on disk.
struct Lived {
    limits: Arc<Limits>,
    state: Projections,
    records: Vec<Record>,
    lines: Vec<String>,
    responses: u32,
}

impl Lived {
    fn new() -> Self {
        let limits = Arc::default();
        let state = Projections::new(&limits);
        let mut own = Self { limits, state, records: vec![], lines: vec![], responses: 0 };
        own.prelude("claude-sonnet-5-5");
        own
    }

    fn append(&mut self, entry: Entry) -> RecordId {
        let number = self.records.len();
        let id: RecordId = format!("00000000-0000-4000-8000-{number:012}").into();
        let parent = match &entry {
            Entry::Boundary(_) => None,
            _ => self.records.last().map(|record| record.id.clone()),
        };
        let at = Timestamp::from_second(1_700_000_000 + i64::try_from(number).unwrap()).unwrap();
        let record = Record { id: id.clone(), parent, at, entry };
        self.lines.push(encode(&record, &Envelope::new("s".into(), "/proj", "0")));
        self.records.push(record.clone());
        self.state.apply(record);
        id
    }

    fn prelude(&mut self, model: &str) {
        let system = vec![SystemBlock { text: "fixed".into(), breakpoint: Breakpoint::Here }];
        let params = Params::new(model, 1_000);
        let prelude = Prelude { system, tools: Vec::new(), params };
        self.append(Entry::Decision(Decision::Prelude(Box::new(prelude))));
    }

    fn attach(&mut self, kind: &str, data: Value) {
        let (kind, rendered) = (kind.to_owned(), reminder(&data.to_string()));
        self.append(Entry::Attachment(Attachment { kind, rendered, data, provenance: None }));
    }

    fn user(&mut self, text: &str, origin: UserOrigin) {
        let content = vec![Block::text(text)];
        let (tool_use_result, provenance) = (None, Vec::new());
        self.append(Entry::User(UserEntry { content, origin, tool_use_result, provenance }));
    }

    fn exchange(&mut self, text: &str) {
        self.user(text, UserOrigin::Human);
        self.responses += 1;
        self.append(Entry::Assistant(AssistantEntry {
            message_id: format!("m{}", self.responses).into(),
            request_id: None,
            model: "claude-sonnet-5-5".into(),
            index: 0,
            block: Block::text(text.to_uppercase()),
            usage: Usage::default(),
            stop_reason: Some("end_turn".into()),
        }));
    }

    /// A compaction as the engine makes it: what was chosen is told again.
    fn compact(&mut self) {
        let (choices, switch) = (self.state.choices.clone(), self.state.memory_switch);
        let anchor = format!("00000000-0000-4000-8000-{:012}", self.records.len() + 1);
        let mut metadata = serde_json::Map::new();
        metadata.insert(everfold_transcript::line::ANCHOR.into(), anchor.into());
        metadata.insert(CARRIED.into(), json!(self.state.carried));
        self.append(Entry::Boundary(Boundary {
            trigger: "auto".into(),
            pre_tokens: 1,
            last_before: self.records.last().map(|record| record.id.clone()),
            preserved: Vec::new(),
            keeps: Keeps::Suffix,
            metadata,
        }));
        self.user("what was said before", UserOrigin::CompactSummary);
        for choice in choices {
            self.append(Entry::Attachment(choice));
        }
        if switch == MemorySwitch::Off {
            self.attach(SWITCH, json!({"on": false}));
        }
    }

    /// Takes back the newest attachment's decision, as `/undo` does: what follows
    /// from the log is made anew.
    fn undo(&mut self) {
        let newest = self.records.iter().rev().find_map(|record| match &record.entry {
            Entry::Decision(Decision::Extracted(_)) => Some(record.id.clone()),
            _ => None,
        });
        if let Some(decision) = newest {
            self.append(Entry::Decision(Decision::Voided { decision }));
            self.state = self.anew();
        }
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Exchange(text) => self.exchange(text),
            Step::Booked(tokens) => {
                let usage = Usage { input: *tokens, ..Usage::default() };
                let table = ModelTable::builtin();
                let model = "claude-sonnet-5-5".into();
                let booking = Booking::new(QuerySource::Main, model, usage, &table);
                self.append(Entry::Decision(Decision::Booked(booking)));
            }
            Step::Prelude(other) => {
                self.prelude(if *other { "claude-opus-4-5" } else { "claude-sonnet-5-5" });
            }
            Step::Style(name) => self.attach(OUTPUT_STYLE, json!({"style": name})),
            Step::Language(name) => self.attach(LANGUAGE, json!({"language": name})),
            Step::Switch(on) => self.attach(SWITCH, json!({"on": on})),
            Step::Lent => self.attach("skill", json!({LENT: "claude-sonnet-5-5"})),
            Step::Other(number) => self.attach("note", json!({"number": number})),
            Step::Reviewed => self.review(None),
            Step::PutOff => self.review(Some("the budget is used up".into())),
            Step::Undone => self.undo(),
            // A model that is lent goes back before the person speaks again.
            Step::Compacted if self.state.lent.is_none() => self.compact(),
            Step::Compacted => {}
        }
    }

    fn review(&mut self, put_off: Option<String>) {
        let Some(last) = self.records.last() else { return };
        let (through, saved, refused) = (last.id.clone(), Vec::new(), Vec::new());
        let review = Extracted { through, saved, refused, put_off };
        self.append(Entry::Decision(Decision::Extracted(review)));
    }

    /// What a resume would make of the lines.
    fn anew(&self) -> Projections {
        let mut rebuild = Rebuild::new();
        for line in &self.lines {
            rebuild.push(line.as_bytes());
        }
        let conversation = rebuild.finish();
        assert!(conversation.skipped.is_empty(), "every line is read");
        Projections::of(conversation.records, conversation.ledger, &self.limits)
    }
}

/// The data of attachments that a model sees: the rest is of no use any more.
fn shown(state: &Projections) -> Vec<(RecordId, Value)> {
    let pieces = state.fold.messages().iter().flat_map(Message::pieces);
    let data = pieces.filter_map(|piece| {
        let data = state.attached.get(&piece.record)?;
        Some((piece.record.clone(), data.clone()))
    });
    data.collect()
}

proptest! {
    #[test]
    fn q1_building_anew_equals_having_lived_through_it(
        steps in prop::collection::vec(step(), 0..40)
    ) {
        let mut lived = Lived::new();
        for step in &steps {
            lived.take(step);
        }
        let anew = lived.anew();
        // Destructured, so that a new projection has to be compared too.
        let Projections {
            fold,
            ledger,
            attached: _,
            choices,
            lent,
            memory_switch,
            reviewed,
            carried,
            // What went out of view before a boundary is not read again.
            seen: _,
        } = &lived.state;
        let bytes = |fold: &Fold| fold.clone().request(None).map(|request| request.body.whole());
        prop_assert_eq!(bytes(fold), bytes(&anew.fold));
        prop_assert_eq!(ledger, &anew.ledger);
        prop_assert_eq!(shown(&lived.state), shown(&anew));
        prop_assert_eq!(choices, &anew.choices);
        prop_assert_eq!(lent, &anew.lent);
        prop_assert_eq!(memory_switch, &anew.memory_switch);
        prop_assert_eq!(reviewed, &anew.reviewed);
        prop_assert_eq!(carried, &anew.carried);
    }
}
