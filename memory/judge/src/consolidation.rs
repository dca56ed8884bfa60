//! What may be made of memories that are there (L5.32, L5.35, L6.7).
//!
//! A dream puts memories together; it hears nobody. So what it writes has to
//! pass what every memory passes, rests on the memories that it was made from,
//! and is no more certain and no more trusted than the least of them. What a
//! model, a log or a stranger told it to do is not among that.

use crate::evidence::{self, MemoryStanding};
use crate::folding::{folded, sentences};
use crate::gate::{GateRefusal, clean};
use crate::similar::ShingleSet;
use crate::{dates, merge, orders};
use everfold_kernel::RecordId;
use everfold_kernel::limits::ExtractLimits;
use everfold_kernel::provenance::Provenance;
use everfold_kernel::testimony::{Testimony, Utterance};
use everfold_memory_file::frontmatter::{Basis, Key, METADATA, Value, remove, set};
use everfold_memory_file::{Memory, MemoryDraft, MemoryType};
use jiff::civil::Date;

/// From here on a sentence is in a text, its layout aside.
const TAKEN_OVER: f64 = 0.80;
/// Shorter sentences are in many memories.
const LEAST_WORDS: usize = 4;

/// A file that is made from memories.
#[derive(Clone, Copy, Debug)]
pub struct Making<'a> {
    pub text: &'a str,
    /// As it is; none for a new file.
    pub before: Option<&'a str>,
    /// The other memories that are changed or go by the same hand.
    pub others: &'a [&'a str],
    /// Those whose words must not be lost by it.
    pub whole: &'a [&'a str],
    /// The day that its words are seen from, where that is known.
    pub day: Option<Date>,
    /// What bounds a memory.
    pub limits: &'a ExtractLimits,
}

/// The file as it may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub text: String,
    /// What was left out, and is put back.
    pub back: Vec<String>,
}

/// Judges a file that is made from memories; whether it may order what it orders
/// is for [`ordered`] to say.
///
/// # Errors
/// If nobody may write it.
pub fn made(making: &Making<'_>) -> Result<Made, GateRefusal> {
    clean(making.text)?;
    let (text, back) = completed(making);
    // What is put back was there, and is judged all the same.
    clean(&text)?;
    let text = match making.day {
        Some(day) => dates::absolute_file(&text, day),
        None => text,
    };
    Ok(Made { text: inherited(&text, making), back })
}

/// Whether every order in a file is one of the memories' that rest on the
/// person's words.
///
/// # Errors
/// If one is not.
pub fn ordered(making: &Making<'_>) -> Result<(), GateRefusal> {
    let known: Vec<String> = sources(making).map(folded).collect();
    let body = folded(Memory::parse(making.text).body);
    let is_new = |sentence: &&str| !known.iter().any(|text| text.contains(*sentence));
    let mut testimony = Testimony::default();
    for text in sources(making) {
        let memory = Memory::parse(text);
        let by = memory.front.provenance.unwrap_or(Provenance::PERSON);
        let description = memory.front.description.unwrap_or_default();
        let text = [description.as_str(), memory.body].join("\n");
        testimony.said.push(Utterance { record: RecordId::from(""), by, text });
    }
    for sentence in sentences(&body).into_iter().filter(is_new) {
        let Some(order) = orders::tells_to_act(sentence) else { continue };
        let kind = MemoryType::Project;
        let claim =
            MemoryDraft { name: "order", description: sentence, kind, body: sentence }.render();
        let grounds = evidence::grounds(&Memory::parse(&claim), &testimony, making.limits);
        if grounds.is_ok_and(|grounds| grounds.standing == MemoryStanding::Active) {
            continue;
        }
        return Err(GateRefusal::Order(order));
    }
    Ok(())
}

fn sources<'a>(making: &Making<'a>) -> impl Iterator<Item = &'a str> {
    making.before.into_iter().chain(making.others.iter().copied())
}

/// The text with what it leaves out of those that must not lose anything.
fn completed(making: &Making<'_>) -> (String, Vec<String>) {
    let memory = Memory::parse(making.text);
    let head = making.text.strip_suffix(memory.body).unwrap_or_default();
    let mut body = memory.body.to_owned();
    let mut back = Vec::new();
    for whole in making.whole {
        let (fuller, lost) = merge::rewritten(Memory::parse(whole).body, &body);
        body = fuller;
        back.extend(lost);
    }
    (format!("{head}{body}"), back)
}

/// The text with the least certainty and trust of what it is made from.
fn inherited(text: &str, making: &Making<'_>) -> String {
    let own = Memory::parse(text).front;
    let fronts: Vec<_> = making
        .before
        .into_iter()
        .chain(taken_over(text, making))
        .map(|source| Memory::parse(source).front)
        .collect();
    let claimed = own.provenance.into_iter();
    let lowest = claimed.chain(fronts.iter().filter_map(|front| front.provenance)).max();
    let bound = fronts.iter().filter_map(|front| front.basis).min();
    let basis = match (bound, making.before) {
        (Some(bound), _) => Some(own.basis.map_or(bound, |basis| basis.min(bound))),
        // Nobody said it; it was distilled.
        (None, None) if fronts.is_empty() => Some(Basis::Inferred),
        (None, _) => None,
    };
    let mut text = text.to_owned();
    if own.basis != basis {
        text = put(&text, "basis", basis.map(Basis::as_str));
    }
    if own.provenance != lowest {
        text = put(&text, "provenance", lowest.map(|by| by.to_string()).as_deref());
    }
    text
}

/// The memories that say something in a text that its file did not say.
fn taken_over<'a>(text: &str, making: &Making<'a>) -> impl Iterator<Item = &'a str> {
    let print = ShingleSet::of(text);
    let before = making.before.map(ShingleSet::of);
    let is_taken = move |sentence: &str| {
        let said = ShingleSet::of(sentence);
        sentence.split_whitespace().count() >= LEAST_WORDS
            && said.share_in([&print]) >= TAKEN_OVER
            && before.as_ref().is_none_or(|before| said.share_in([before]) < TAKEN_OVER)
    };
    let others = making.others.iter().copied();
    others.filter(move |other| sentences(Memory::parse(other).body).into_iter().any(&is_taken))
}

fn put(text: &str, key: &str, value: Option<&str>) -> String {
    let key = Key::Under(METADATA, key);
    let changed = match value {
        Some(value) => set(text, key, &Value::Text(value.to_owned())),
        None => remove(text, key),
    };
    changed.unwrap_or_else(|_| text.to_owned())
}
