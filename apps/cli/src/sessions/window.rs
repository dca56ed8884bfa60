//! What was done to the window of a session: where it was compacted and by
//! which way, what was spilled and cleared, which cache breaks were seen
//! (L4.16, L1.8, PC6).

use crate::cost::breaks;
use crate::presenter::{counted, grouped};
use everfold_kernel::record::BreakSeen;
use everfold_kernel::{Boundary, Decision, Entry, Record};
use jiff::Timestamp;
use serde_json::{Value, json};

/// What happened, from the records of a transcript.
#[derive(Debug, Default)]
pub(super) struct WindowStory {
    compactions: Vec<Compacted>,
    failures: u64,
    spills: Spills,
    clearings: Clearings,
    snips: u64,
    breaks: Vec<BreakSeen>,
}

/// One boundary. Another program may have written it, with less to say.
#[derive(Debug)]
struct Compacted {
    record: String,
    at: Timestamp,
    trigger: String,
    before: u64,
    after: Option<u64>,
    way: Option<String>,
    retention: Option<f64>,
    restored: Vec<String>,
    kept: usize,
}

#[derive(Debug, Default)]
struct Spills {
    count: u64,
    chars: u64,
    cut_in_place: u64,
}

#[derive(Debug, Default)]
struct Clearings {
    count: u64,
    results: usize,
    tokens: u64,
    saves: f64,
    costs: f64,
}

/// Whether a record was written in this session or copied by a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Here,
    Elsewhere,
}

impl WindowStory {
    /// Takes the next record. What was paid for elsewhere is not counted here.
    pub(super) fn note(&mut self, record: &Record, written: Written) {
        match &record.entry {
            Entry::Boundary(boundary) => self.compactions.push(Compacted::of(record, boundary)),
            Entry::Decision(Decision::CompactionFailed { .. }) => self.failures += 1,
            Entry::Decision(Decision::Spilled(spilled)) => {
                self.spills.count += 1;
                self.spills.chars += spilled.chars;
                self.spills.cut_in_place += u64::from(spilled.file.is_none());
            }
            Entry::Decision(Decision::Cleared(cleared)) => {
                self.clearings.count += 1;
                self.clearings.results += cleared.results.len();
                self.clearings.tokens += cleared.sum.cleared_tokens;
                self.clearings.saves += cleared.sum.saves.0;
                self.clearings.costs += cleared.sum.costs.0;
            }
            Entry::Decision(Decision::Snipped { .. }) => self.snips += 1,
            Entry::Decision(Decision::BreakSeen(seen)) if written == Written::Here => {
                self.breaks.push(seen.clone());
            }
            _ => {}
        }
    }

    /// Adds it to what programs are told of a session.
    pub(super) fn add_to(&self, map: &mut serde_json::Map<String, Value>) {
        let compactions: Vec<Value> = self.compactions.iter().map(Compacted::to_json).collect();
        let Spills { count, chars, cut_in_place } = self.spills;
        map.insert("compactions".into(), json!(compactions));
        map.insert("failed_compactions".into(), json!(self.failures));
        let spills = json!({"count": count, "chars": chars, "cut_in_place": cut_in_place});
        map.insert("spills".into(), spills);
        let Clearings { count, results, tokens, saves, costs } = self.clearings;
        let clearings = json!({
            "count": count, "results": results, "tokens": tokens,
            "saves_usd": saves, "costs_usd": costs,
        });
        map.insert("clearings".into(), clearings);
        map.insert("snips".into(), json!(self.snips));
        let breaks: Vec<Value> = self.breaks.iter().map(breaks::json).collect();
        map.insert("cache_breaks".into(), json!(breaks));
    }

    /// Rows for people; nothing that did not happen.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        for compacted in &self.compactions {
            rows.push(("compacted", compacted.words()));
            rows.extend(compacted.restored.iter().map(|path| ("  brought back", path.clone())));
        }
        if self.failures > 0 {
            rows.push(("not compacted", format!("{} failed", counted(self.failures, "try"))));
        }
        if self.spills.count > 0 {
            let Spills { count, chars, cut_in_place } = self.spills;
            let cut =
                if cut_in_place > 0 { format!(", {cut_in_place} cut") } else { String::new() };
            let words =
                format!("{} of {}{cut}", counted(count, "result"), counted(chars, "character"));
            rows.push(("spilled", words));
        }
        if self.clearings.count > 0 {
            let Clearings { count, results, tokens, saves, costs } = self.clearings;
            let words = format!(
                "{} in {}, {}; {saves:.4} USD saved for {costs:.4}",
                counted(results as u64, "result"),
                counted(count, "clearing"),
                counted(tokens, "token")
            );
            rows.push(("cleared", words));
        }
        if self.snips > 0 {
            rows.push(("snipped", counted(self.snips, "time")));
        }
        for seen in &self.breaks {
            let (tokens, cost) = (grouped(seen.tokens), breaks::price(seen.cost));
            let words = format!("{}: {}, {tokens} tokens, {cost} USD", seen.source, seen.part);
            rows.push(("cache break", words));
        }
        rows
    }
}

impl Compacted {
    fn of(record: &Record, boundary: &Boundary) -> Self {
        let of = |key: &str| boundary.metadata.get(key);
        let restored = of("restored").and_then(Value::as_array).into_iter().flatten();
        Self {
            record: record.id.to_string(),
            at: record.at,
            trigger: boundary.trigger.clone(),
            before: boundary.pre_tokens,
            after: of("postTokens").and_then(Value::as_u64),
            way: of("way").and_then(Value::as_str).map(str::to_owned),
            retention: of("retention").and_then(Value::as_f64),
            restored: restored.filter_map(Value::as_str).map(str::to_owned).collect(),
            kept: boundary.preserved.len(),
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "record": self.record,
            "at": self.at,
            "trigger": self.trigger,
            "way": self.way,
            "pre_tokens": self.before,
            "post_tokens": self.after,
            "retention": self.retention,
            "kept": self.kept,
            "restored": self.restored,
        })
    }

    fn words(&self) -> String {
        let told = [
            self.way.as_ref().map(|way| format!("by {way}")),
            Some(format!("{} tokens before", grouped(self.before))),
            self.after.map(|after| format!("{} after", grouped(after))),
            self.retention
                .map(|share| format!("{:.0}% of the facts in the summary", share * 100.0)),
            (self.kept > 0).then(|| format!("{} kept", counted(self.kept as u64, "record"))),
        ];
        let told: Vec<String> = told.into_iter().flatten().collect();
        let at = self.at.strftime("%Y-%m-%d %H:%M:%SZ");
        format!("{at} {}, {}", self.trigger, told.join(", "))
    }
}
