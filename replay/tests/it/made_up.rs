//! Sessions by chance, in the manner of real ones: turns of some requests,
//! files that are read and read again, commands that are run and run again,
//! few large results among many small ones, pauses of the person.

use everfold_kernel::{
    AssistantEntry, Block, Entry, MessageId, Record, Timestamp, ToolUseId, Usage, UserEntry,
    UserOrigin,
};
use serde_json::json;

/// Chance that is the same every time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }
}

/// A session that is being made.
struct Making {
    chance: Chance,
    records: Vec<Record>,
    second: i64,
    files: u64,
    calls: u64,
}

impl Making {
    fn push(&mut self, entry: Entry) {
        let id = format!("r{}", self.records.len()).into();
        let at = Timestamp::from_second(1_780_000_000 + self.second).unwrap();
        self.records.push(Record { id, parent: None, at, entry });
    }

    fn user(&mut self, content: Vec<Block>, origin: UserOrigin) {
        self.push(Entry::User(UserEntry {
            content,
            origin,
            tool_use_result: None,
            provenance: Vec::new(),
        }));
    }

    fn answer(&mut self, block: Block) {
        self.second += 4 + i64::try_from(self.chance.below(20)).unwrap();
        let message_id = MessageId::from(format!("m{}", self.records.len()));
        self.push(Entry::Assistant(AssistantEntry {
            message_id,
            request_id: None,
            model: "claude-opus-4-5".into(),
            index: 0,
            block,
            usage: Usage::default(),
            stop_reason: None,
        }));
    }

    /// Few results are large.
    fn result_chars(&mut self) -> u64 {
        match self.chance.below(100) {
            0..45 => 40 + self.chance.below(800),
            45..80 => 800 + self.chance.below(5_000),
            80..95 => 6_000 + self.chance.below(14_000),
            _ => 20_000 + self.chance.below(40_000),
        }
    }

    fn round(&mut self) {
        self.calls += 1;
        let id = ToolUseId::from(format!("t{}", self.calls));
        let (tool, input) = match self.chance.below(100) {
            0..40 => {
                // What was read lately is read again more often than older things.
                let again = self.files > 0 && self.chance.percent(45);
                let back = 1 + self.chance.below(4) * self.chance.below(4);
                let file = if again { self.files.saturating_sub(back) } else { self.files };
                self.files += u64::from(!again);
                ("Read", json!({"file_path": format!("/p/src/part_{file}.rs")}))
            }
            40..70 => {
                let command = if self.chance.percent(50) {
                    "npm run check".to_owned()
                } else {
                    format!("git log -n {}", self.calls)
                };
                ("Bash", json!({"command": command}))
            }
            70..90 => {
                let text = "x = 1; ".repeat(20 + usize::try_from(self.chance.below(80)).unwrap());
                let file = format!("/p/src/part_{}.rs", self.chance.below(self.files + 1));
                ("Edit", json!({"file_path": file, "old_string": "x", "new_string": text}))
            }
            _ => ("Grep", json!({"pattern": format!("word_{}", self.calls)})),
        };
        self.answer(Block::tool_use(&id, tool, input));
        self.second += i64::try_from(self.chance.below(15)).unwrap();
        let chars = if tool == "Edit" { 120 } else { self.result_chars() };
        let line = "    let value = compute(&input, 42)?; // as before\n";
        let text: String = line.chars().cycle().take(usize::try_from(chars).unwrap()).collect();
        self.user(vec![Block::tool_result(&id, json!(text))], UserOrigin::ToolResult);
    }

    fn turn(&mut self, rounds: u64) {
        let words = 5 + self.chance.below(60);
        let text = "please mend this and say why ".repeat(usize::try_from(words / 6 + 1).unwrap());
        self.user(vec![Block::text(text)], UserOrigin::Human);
        for _ in 0..rounds {
            self.round();
        }
        let words = 20 + usize::try_from(self.chance.below(150)).unwrap();
        self.answer(Block::text("It is done as you said. ".repeat(words / 5)));
        let pause = match self.chance.below(100) {
            0..70 => 10 + self.chance.below(170),
            70..92 => 200 + self.chance.below(1_600),
            _ => 3_700 + self.chance.below(40_000),
        };
        self.second += i64::try_from(pause).unwrap();
    }
}

fn start(seed: u64) -> Making {
    let chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut making = Making { chance, records: Vec::new(), second: 0, files: 0, calls: 0 };
    for _ in 0..8 {
        making.chance.next();
    }
    making
}

/// A session of one to thirty turns.
pub(crate) fn session(seed: u64) -> Vec<Record> {
    let mut making = start(seed);
    let turns = 1 + making.chance.below(5) * making.chance.below(8);
    let pace = 2 + making.chance.below(18);
    for _ in 0..turns {
        let rounds = 1 + making.chance.below(2 * pace);
        making.turn(rounds);
    }
    making.records
}

/// A session of so many rounds.
pub(crate) fn long_session(rounds: u64) -> Vec<Record> {
    let mut making = start(5);
    while making.calls < rounds {
        let next = 1 + making.chance.below(20);
        making.turn(next);
    }
    making.records
}
