//! From a resume point the same conversation as from the whole file (E11).

use crate::ids;
use everfold_kernel::SessionId;
use everfold_transcript::{Conversation, RESUME_POINT, Rebuild, ResumePoint};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A transcript as bytes, and how it is read.
#[derive(Default)]
struct File(Vec<u8>);

impl File {
    fn add(&mut self, line: &Value) {
        self.add_text(&line.to_string());
    }

    fn add_text(&mut self, line: &str) {
        self.0.extend_from_slice(line.as_bytes());
        self.0.push(b'\n');
    }

    fn lines(&self) -> Vec<(u64, &[u8])> {
        let mut start = 0;
        let mut lines = Vec::new();
        for line in self.0.split_inclusive(|byte| *byte == b'\n') {
            lines.push((start, line.strip_suffix(b"\n").unwrap_or(line)));
            start += line.len() as u64;
        }
        lines
    }

    fn whole(&self) -> Conversation {
        let read = |mut rebuild: Rebuild| {
            self.lines().into_iter().for_each(|(start, line)| rebuild.push_at(start, line));
            rebuild.finish()
        };
        let first = read(Rebuild::new());
        if first.went_back { read(Rebuild::keeping_all()) } else { first }
    }

    /// What the newest point gives, and how many lines that took.
    fn short(&self) -> Option<(Conversation, usize)> {
        let lines = self.lines();
        let newest = lines.iter().rev().find(|(_, line)| line.starts_with(RESUME_POINT.as_bytes()));
        let point = ResumePoint::decode(newest?.1)?;
        let part = point.part();
        let mut rebuild = Rebuild::from_point(point);
        let mut read = 0;
        for span in &part.lines {
            let start = usize::try_from(span.start).unwrap();
            let end = start + usize::try_from(span.bytes).unwrap();
            if let Some(line) = self.0.get(start..end) {
                rebuild.push_at(span.start, line);
                read += 1;
            }
        }
        for (start, line) in lines.iter().filter(|(start, _)| *start >= part.from) {
            rebuild.push_at(*start, line);
            read += 1;
        }
        rebuild.is_enough().then(|| (rebuild.finish(), read))
    }

    fn mark(&mut self) {
        let known = self.short().map_or_else(|| self.whole(), |(conversation, _)| conversation);
        if let Some(point) = known.resume_point {
            self.add_text(&point.encode(&SessionId::new("s")));
        }
    }
}

fn user(id: &str, parent: Option<&str>, text: &str) -> Value {
    json!({"type": "user", "uuid": id, "parentUuid": parent, "message": {"content": text}})
}

fn system(id: &str, parent: Option<&str>, kind: &str, own: &Value) -> Value {
    json!({"type": "system", "subtype": format!("everfold_{kind}"), "uuid": id,
        "parentUuid": parent, "everfold": own})
}

fn boundary(id: &str, last: Option<&str>, kept: &[String], anchor: &str) -> Value {
    json!({"type": "system", "subtype": "compact_boundary", "uuid": id, "parentUuid": null,
        "logicalParentUuid": last, "compactMetadata": {"trigger": "auto", "preTokens": 1,
        "preservedMessages": {"anchorUuid": anchor, "uuids": kept}}})
}

/// What a session does next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Say,
    Call { answered: bool },
    Spill,
    Pin,
    Note,
    Prelude,
    Book,
    Title,
    Side,
    GoBack(prop::sample::Index),
    Compact { keep: usize, summed: bool, marked: bool },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Say),
        4 => any::<bool>().prop_map(|answered| Step::Call { answered }),
        1 => Just(Step::Spill),
        1 => Just(Step::Pin),
        1 => Just(Step::Note),
        1 => Just(Step::Prelude),
        2 => Just(Step::Book),
        1 => Just(Step::Title),
        1 => Just(Step::Side),
        1 => any::<prop::sample::Index>().prop_map(Step::GoBack),
        2 => (0..6_usize, prop::bool::weighted(0.9), prop::bool::weighted(0.8))
            .prop_map(|(keep, summed, marked)| Step::Compact { keep, summed, marked }),
    ]
}

/// Writes a session as the engine does.
#[derive(Default)]
struct Writer {
    file: File,
    last: Option<String>,
    count: usize,
    messages: Vec<String>,
    calls: Vec<String>,
}

impl Writer {
    fn id(&mut self) -> String {
        self.count += 1;
        format!("r{}", self.count)
    }

    fn put(&mut self, line: impl FnOnce(&str, Option<&str>) -> Value) -> String {
        let id = self.id();
        let line = line(&id, self.last.as_deref());
        self.file.add(&line);
        self.last = Some(id.clone());
        id
    }

    fn decide(&mut self, kind: &str, own: &Value) {
        self.put(|id, parent| system(id, parent, kind, own));
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Say => {
                let id = self.put(|id, parent| user(id, parent, "words"));
                self.messages.push(id);
            }
            Step::Call { answered } => self.call(answered),
            Step::Spill => {
                let call = self.calls.last().cloned().unwrap_or_default();
                let own = json!({"tool_use_id": call, "replacement": "short", "chars": 9});
                self.decide("spilled", &own);
            }
            Step::Pin => {
                let own = json!({"record": self.messages.first()});
                self.decide("pinned", &own);
            }
            Step::Note => {
                let own = json!({"through": self.messages.last(), "tokens": 3});
                self.decide("noted", &own);
            }
            Step::Prelude => {
                let own = json!({"system": [], "tools": [],
                    "params": {"model": "m", "max_tokens": self.count}});
                self.decide("prelude", &own);
            }
            Step::Book => {
                let own = json!({"source": "main", "model": "m", "cost": 0.25,
                    "usage": {"input": 1, "cache_read": 0, "cache_write_5m": 0,
                    "cache_write_1h": 0, "output": 2, "web_searches": 0}});
                self.decide("booked", &own);
            }
            Step::Title => {
                self.file.add(&json!({"type": "custom-title", "customTitle": "t"}));
            }
            Step::Side => {
                let id = self.id();
                let mut line = user(&id, None, "aside");
                line["isSidechain"] = true.into();
                self.file.add(&line);
            }
            Step::GoBack(to) => self.go_back(to),
            Step::Compact { keep, summed, marked } => self.compact(keep, summed, marked),
        }
    }

    fn call(&mut self, answered: bool) {
        let call = format!("t{}", self.count);
        let block = json!({"type": "tool_use", "id": call, "name": "n", "input": {}});
        let id = self.put(|id, parent| {
            json!({"type": "assistant", "uuid": id, "parentUuid": parent, "apiBlockIndex": 0,
                "message": {"id": format!("m{id}"), "model": "m", "content": [block]}})
        });
        self.messages.push(id);
        if answered {
            let block = json!({"type": "tool_result", "tool_use_id": call, "content": "r"});
            let id = self.put(|id, parent| {
                json!({"type": "user", "uuid": id, "parentUuid": parent,
                    "message": {"content": [block]}})
            });
            self.messages.push(id);
        }
        self.calls.push(call);
    }

    fn go_back(&mut self, to: prop::sample::Index) {
        if self.messages.is_empty() {
            return;
        }
        let left = self.last.clone().unwrap_or_default();
        let point = self.messages[to.index(self.messages.len())].clone();
        self.last = Some(point.clone());
        let own = json!({"point": point, "what": "conversation", "left": left});
        self.decide("rewound", &own);
    }

    fn compact(&mut self, keep: usize, summed: bool, marked: bool) {
        let own = self.file.whole();
        let shown: Vec<String> = ids(&own).into_iter().map(str::to_owned).collect();
        let mut kept: Vec<String> =
            self.messages.iter().filter(|id| shown.contains(id)).cloned().collect();
        kept.drain(..kept.len().saturating_sub(keep));
        let id = self.id();
        let summary = self.id();
        self.file.add(&boundary(&id, self.last.as_deref(), &kept, &summary));
        self.last = Some(id.clone());
        if summed {
            let mut line = user(&summary, Some(&id), "summary");
            line["isCompactSummary"] = true.into();
            self.file.add(&line);
            self.last = Some(summary);
        }
        if marked {
            self.file.mark();
        }
    }
}

fn same(short: &Conversation, whole: &Conversation) -> Result<(), TestCaseError> {
    prop_assert_eq!(ids(short), ids(whole));
    prop_assert_eq!(&short.records, &whole.records);
    prop_assert_eq!(&short.unanswered, &whole.unanswered);
    prop_assert_eq!(&short.ledger, &whole.ledger);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn e11_a_point_gives_what_the_whole_file_gives(
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let mut writer = Writer::default();
        for (number, step) in steps.into_iter().enumerate() {
            writer.take(step);
            if number % 5 == 0
                && let Some((short, _)) = writer.file.short()
            {
                same(&short, &writer.file.whole())?;
            }
        }
    }

    #[test]
    fn e11_a_file_that_was_changed_is_read_whole(
        steps in prop::collection::vec(step(), 20..40),
        at in any::<prop::sample::Index>(),
        bytes in prop::collection::vec(any::<u8>(), 0..4),
        cut in 0..4_usize,
    ) {
        let mut writer = Writer::default();
        for step in steps {
            writer.take(step);
        }
        let file = &mut writer.file.0;
        if file.is_empty() {
            return Ok(());
        }
        let at = at.index(file.len());
        let end = (at + cut).min(file.len());
        file.splice(at..end, bytes);
        // Whatever it is now, nothing panics, and nothing is shown twice.
        if let Some((short, _)) = writer.file.short() {
            let mut seen = ids(&short);
            let count = seen.len();
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len(), count);
        }
    }
}

fn compacted() -> Writer {
    let mut writer = Writer::default();
    writer.take(Step::Prelude);
    for _ in 0..100 {
        writer.take(Step::Say);
        writer.take(Step::Call { answered: true });
        writer.take(Step::Book);
    }
    writer.take(Step::Pin);
    writer.take(Step::Compact { keep: 4, summed: true, marked: true });
    writer
}

#[test]
fn e11_what_is_read_is_what_is_in_view() {
    let mut writer = compacted();
    let (short, read) = writer.file.short().unwrap();
    // The prelude, the pin, four messages; the boundary, its summary, the point.
    assert_eq!(read, 9);
    assert_eq!(short.records.len(), 8);
    assert_eq!(short.ledger.total().requests, 100);
    // What the next compaction carries on is found by this one's point.
    writer.take(Step::Say);
    writer.take(Step::Compact { keep: 2, summed: true, marked: true });
    let (short, read) = writer.file.short().unwrap();
    assert_eq!(read, 7);
    same(&short, &writer.file.whole()).unwrap();
}

#[test]
fn e11_a_point_whose_lines_moved_is_void() {
    let mut writer = compacted();
    let text = String::from_utf8(writer.file.0).unwrap();
    writer.file.0 = text.replacen("words", "other words", 1).into_bytes();
    assert!(writer.file.short().is_none());
    assert_eq!(writer.file.whole().records.len(), 8);
}

#[test]
fn e11_a_branch_from_before_the_boundary_is_read_whole() {
    let mut writer = compacted();
    writer.file.add(&user("branch", Some("r2"), "another way"));
    assert!(writer.file.short().is_none());
    let whole = writer.file.whole();
    assert_eq!((ids(&whole), whole.missing), (vec!["branch"], 2));
}
