//! A long session by script: so many turns, so many tools in each, and eight
//! things that the person says along the way and that are worth keeping (E2,
//! E6). The small model finds what it is shown, and nothing else.

use crate::received::Received;
use crate::scenario::{Reply, ServerRules};
use crate::server::FakeModel;
use serde_json::{Value, json};
use std::io;

/// What the person says, and a word by which it is known again.
const FACTS: [(&str, &str, &str); 8] = [
    ("user", "two sentences", "I am a data engineer and I prefer answers in two sentences."),
    ("project", "Thursdays", "We deploy the shop on Thursdays, never on Fridays."),
    ("project", "Ada Brandt", "Ada Brandt owns the billing service, so ask her about invoices."),
    ("reference", "INGEST", "Bugs of the importer are tracked in Linear under INGEST."),
    ("feedback", "nextest", "Always run our tests with nextest, because it shows the slow ones."),
    ("project", "Nordwind", "The contract with Nordwind ends on 2027-03-31."),
    ("feedback", "mock", "Never mock the database, because a mock hid a broken migration."),
    ("reference", "api-latency", "On-call watches the dashboard api-latency in Grafana."),
];

/// A session by script.
#[derive(Clone, Copy, Debug)]
pub struct LongSession {
    pub turns: usize,
    /// How many tools are called in each, one after another.
    pub tools: usize,
    /// Bytes of each file that is read.
    pub file_bytes: usize,
}

impl LongSession {
    /// Writes the files that the model reads.
    ///
    /// # Errors
    /// One cannot be written.
    pub fn write_files(&self, home: &crate::TempHome) -> io::Result<()> {
        for number in 0..self.tools {
            let line = format!("line of file {number}, one of several that are compared\n");
            let text = line.repeat(self.file_bytes.div_ceil(line.len()).max(1));
            home.write(format!("f{number}.txt"), &text)?;
        }
        Ok(())
    }

    /// What the person says in a turn, from 0.
    #[must_use]
    pub fn prompt(&self, turn: usize) -> String {
        let task = format!("Read the files of step {turn} and compare them.");
        match FACTS.iter().enumerate().find(|(number, _)| self.turn_of(*number) == turn) {
            Some((_, (_, _, fact))) => format!("{fact} {task}"),
            None => task,
        }
    }

    fn turn_of(&self, fact: usize) -> usize {
        (fact + 1) * self.turns / (FACTS.len() + 1)
    }

    /// Words by which each of the things worth keeping is known again.
    pub fn marks() -> impl Iterator<Item = &'static str> {
        FACTS.iter().map(|(_, mark, _)| *mark)
    }

    /// What plays the models.
    #[must_use]
    pub fn model(self) -> FakeModel {
        let rules = ServerRules { window: 1_000_000, ..ServerRules::default() };
        FakeModel::with_handler(rules, move |request| self.answer(request))
    }

    fn answer(&self, request: &Received) -> Reply {
        match request.source() {
            "extract" => Reply::text(found_in(&request.body.to_string())),
            "recall" => Reply::text(r#"{"selected_memories": []}"#),
            "compact" => Reply::text("<summary>Files were compared, step by step.</summary>"),
            "session_memory" => Reply::text("nothing to add"),
            _ => {
                let done = results_since_prompt(request);
                if done < self.tools {
                    Reply::tool("Read", json!({"file_path": format!("f{done}.txt")}))
                } else {
                    Reply::text("They are alike but for their numbers.")
                }
            }
        }
    }
}

/// The things worth keeping that a request shows, as the small model lists them.
fn found_in(body: &str) -> String {
    let shown = FACTS.iter().filter(|(_, _, fact)| body.contains(fact));
    let memories: Vec<Value> = shown
        .map(|(kind, mark, fact)| {
            json!({"name": mark, "description": fact, "type": kind, "global": false,
                   "evidence": fact, "body": fact})
        })
        .collect();
    json!({ "memories": memories }).to_string()
}

/// How many tools have answered since the person last spoke.
fn results_since_prompt(request: &Received) -> usize {
    let is_result = |block: &&Value| block.get("type").is_some_and(|kind| kind == "tool_result");
    let results = |message: &Value| {
        let blocks = message.get("content").and_then(Value::as_array);
        blocks.map_or(0, |blocks| blocks.iter().filter(is_result).count())
    };
    let of_person =
        request.messages().iter().rev().filter(|own| own.get("role") == Some(&json!("user")));
    of_person.map(results).take_while(|count| *count > 0).sum()
}
