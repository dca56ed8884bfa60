//! `LoCoMo`: long talks of two people, and questions about them. A turn is a
//! file without any field that a memory does not have. The same talks also
//! make two sets of long texts.

use super::{Directory, MemoryText, PromptCase, field, list};
use everfold_memory_recall::Counter;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How many turns go into one block, in turn.
const BLOCKS: [usize; 5] = [1, 4, 16, 2, 8];
/// Of another talk, every so manyth turn and question is asked.
const TURNS: usize = 24;
const QUESTIONS: usize = 20;
/// Turns that a long message repeats.
const LONG: usize = 24;

struct Turn {
    id: String,
    date: String,
    text: String,
}

/// A turn is a memory.
pub(crate) fn turns(data: &Value) -> Vec<Directory> {
    each(data, |turns, _| turns.iter().map(text).map(|text| (text, 1)).collect())
}

/// Some turns in a row are a memory; some are alone.
pub(crate) fn blocks(data: &Value) -> Vec<Directory> {
    each(data, |turns, _| {
        let mut rest = turns;
        let mut memories = Vec::new();
        for size in BLOCKS.iter().cycle() {
            let (block, behind) = rest.split_at((*size).min(rest.len()));
            if block.is_empty() {
                break;
            }
            let lines: Vec<String> = block.iter().map(text).collect();
            memories.push((lines.join("\n"), block.len()));
            rest = behind;
        }
        memories
    })
}

/// Turns that answer a question are alone, among long messages that repeat all
/// that was said: what is asked for is the short one.
pub(crate) fn among_long_messages(data: &Value) -> Vec<Directory> {
    each(data, |turns, asked| {
        let mut memories = Vec::new();
        let mut long: Vec<&str> = Vec::new();
        for turn in turns {
            long.push(&turn.text);
            let is_alone = asked.contains(turn.id.as_str());
            memories.push((if is_alone { text(turn) } else { String::new() }, 1));
            if long.len() == LONG {
                memories.push((std::mem::take(&mut long).join("\n"), 0));
            }
        }
        memories.push((long.join("\n"), 0));
        memories
    })
}

fn text(turn: &Turn) -> String {
    format!("({}) {}", turn.date, turn.text)
}

/// Makes a directory of each talk. `cut` makes texts of turns, and says how many
/// turns each answers for; an empty one is no memory.
fn each(
    data: &Value,
    cut: impl Fn(&[Turn], &BTreeSet<&str>) -> Vec<(String, usize)>,
) -> Vec<Directory> {
    let talks = || data.as_array().into_iter().flatten();
    let mut directories: Vec<Directory> = talks().map(|talk| directory(talk, &cut)).collect();
    // What was said and asked in another talk calls for nothing here.
    let others: Vec<Vec<PromptCase>> = talks().map(strange).collect();
    for (directory, prompts) in directories.iter_mut().zip(others.into_iter().cycle().skip(1)) {
        directory.prompts.extend(prompts);
    }
    directories
}

/// Some turns and questions of a talk, for another one.
fn strange(talk: &Value) -> Vec<PromptCase> {
    let turns = talk.get("conversation").and_then(Value::as_object).into_iter().flatten();
    let said = turns.filter_map(|(_, turns)| turns.as_array()).flatten();
    let turns = said.step_by(TURNS).map(|turn| PromptCase::silent("turn", field(turn, "text")));
    let asked = list(talk, "qa").step_by(QUESTIONS);
    let asked = asked.map(|qa| PromptCase::silent("question of others", field(qa, "question")));
    turns.chain(asked).filter(|prompt| !prompt.text.is_empty()).collect()
}

fn directory(
    talk: &Value,
    cut: impl Fn(&[Turn], &BTreeSet<&str>) -> Vec<(String, usize)>,
) -> Directory {
    let turns = read(talk);
    let asked: BTreeSet<&str> = list(talk, "qa").flat_map(evidence).collect();
    let mut counter = Counter::default();
    let (mut memories, mut places) = (Vec::new(), BTreeMap::new());
    let mut rest = turns.as_slice();
    for (text, answers) in cut(&turns, &asked) {
        let (own, behind) = rest.split_at(answers.min(rest.len()));
        rest = behind;
        if !text.is_empty() {
            places.extend(own.iter().map(|turn| (turn.id.as_str(), memories.len())));
            memories.push(MemoryText::new(&mut counter, "", "", &text));
        }
    }
    let prompts = list(talk, "qa").filter_map(|qa| {
        let wanted: BTreeSet<usize> =
            evidence(qa).filter_map(|id| places.get(id)).copied().collect();
        (!wanted.is_empty()).then(|| PromptCase {
            text: field(qa, "question").to_owned(),
            kind: "question".to_owned(),
            wanted: wanted.into_iter().collect(),
        })
    });
    let prompts = prompts.collect();
    Directory { memories: Rc::new(memories), prompts }
}

/// A few entries hold several ids in one text.
fn evidence(qa: &Value) -> impl Iterator<Item = &str> {
    let named = list(qa, "evidence").filter_map(Value::as_str);
    named.flat_map(|ids| ids.split([';', ',', ' ']))
}

fn read(talk: &Value) -> Vec<Turn> {
    let mut turns = Vec::new();
    for session in 1.. {
        let key = format!("/conversation/session_{session}");
        let Some(said) = talk.pointer(&key).and_then(Value::as_array) else { break };
        let date = talk.pointer(&format!("{key}_date_time")).and_then(Value::as_str);
        for turn in said {
            let caption = match field(turn, "blip_caption") {
                "" => String::new(),
                caption => format!(" and shared {caption}"),
            };
            turns.push(Turn {
                id: field(turn, "dia_id").to_owned(),
                date: date.unwrap_or_default().to_owned(),
                text: format!(
                    "{} said, \"{}\"{caption}",
                    field(turn, "speaker"),
                    field(turn, "text")
                ),
            });
        }
    }
    turns
}
