//! What speaks for a memory: whose words it is made of.
//!
//! The words that carry a memory are looked up in what was said since the
//! cursor. Paraphrase loses some of them, so shares are asked for, not all.
//! What an assistant says after strangers spoke may be their words, and counts
//! as nobody's own.

use crate::plan::{Review, Said, Who};
use everfold_kernel::RecordId;
use everfold_kernel::limits::ExtractLimits;
use everfold_memfile::Memory;
use everfold_recall::stems;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Stems of words that every memory has, which prove nothing.
const GENERIC: &[&str] = &[
    "alway", "appli", "ask", "avoid", "inferred", "keep", "know", "like", "memori", "name", "need",
    "never", "note", "person", "prefer", "project", "refer", "remember", "say", "state", "thing",
    "use", "user", "want", "work",
];
/// The key under which a memory names the words that it rests on.
const EVIDENCE: &str = "evidence";

/// What was found for a memory; shares are percentages of its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Weighed {
    /// What anybody said since the cursor.
    pub(super) support: u64,
    /// What the person said.
    pub(super) person: u64,
    /// What only strangers said, of all that is shown.
    pub(super) strangers: u64,
    /// Where the words are that it names.
    pub(super) quote: Quote,
    /// Whether the person asked to keep something.
    pub(super) asked_to_keep: bool,
    /// Whether the person said yes to something.
    pub(super) affirmed: bool,
    /// The messages that it shares words with, those that share most first.
    pub(super) messages: Vec<RecordId>,
}

/// Where the words are that a memory names as its evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quote {
    /// It names none.
    None,
    /// In what the person said.
    Persons,
    /// In what somebody else said.
    Others,
    /// Nowhere.
    Missing,
}

impl Weighed {
    pub(super) fn of(memory: &Memory<'_>, review: &Review, limits: &ExtractLimits) -> Self {
        let claim = claim(memory);
        let sets: Vec<(&Said, BTreeSet<String>)> =
            review.said.iter().map(|said| (said, stems(&said.text))).collect();
        let union = |wanted: &[Who]| -> BTreeSet<&String> {
            let of = sets.iter().filter(|(said, _)| wanted.contains(&said.who));
            of.flat_map(|(_, stems)| stems).collect()
        };
        let share = |found: &dyn Fn(&String) -> bool| {
            let count = claim.iter().filter(|stem| found(stem)).count();
            (count * 100 / claim.len().max(1)) as u64
        };
        let all = union(&[Who::Person, Who::Assistant, Who::Tool, Who::Stranger]);
        let person = union(&[Who::Person]);
        let own = union(&[Who::Person, Who::Tool]);
        let foreign: BTreeSet<String> = review.strangers.iter().flat_map(|s| stems(s)).collect();
        let says = |pattern: &Option<Regex>| {
            let found = |said: &Said| pattern.as_ref().is_some_and(|p| p.is_match(&said.text));
            review.by(Who::Person).any(found)
        };
        Self {
            support: share(&|stem| all.contains(stem)),
            person: share(&|stem| person.contains(stem)),
            strangers: share(&|stem| foreign.contains(stem) && !own.contains(stem)),
            quote: quote(memory, review),
            asked_to_keep: says(&KEEP),
            affirmed: says(&YES),
            messages: messages(&claim, &sets, limits.source_messages),
        }
    }
}

/// The stems that carry a memory.
fn claim(memory: &Memory<'_>) -> BTreeSet<String> {
    let front = &memory.front;
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    let whole = [text(&front.name), text(&front.description), memory.body.to_owned()].join("\n");
    let mut claim = stems(&whole);
    claim.retain(|stem| !GENERIC.contains(&stem.as_str()));
    claim
}

fn messages(
    claim: &BTreeSet<String>,
    sets: &[(&Said, BTreeSet<String>)],
    most: usize,
) -> Vec<RecordId> {
    let mut shared: Vec<(usize, usize, &RecordId)> = sets
        .iter()
        .enumerate()
        .map(|(at, (said, stems))| (stems.intersection(claim).count(), at, &said.record))
        .filter(|(count, _, _)| *count > 0)
        .collect();
    shared.sort_by_key(|(count, at, _)| (std::cmp::Reverse(*count), *at));
    let mut records: Vec<RecordId> = Vec::new();
    for (_, _, record) in shared {
        if records.len() < most && !records.contains(record) {
            records.push(record.clone());
        }
    }
    records
}

fn quote(memory: &Memory<'_>, review: &Review) -> Quote {
    let metadata = memory.front.all.get(everfold_memfile::frontmatter::METADATA);
    let named = metadata.and_then(|metadata| metadata.get(EVIDENCE)).and_then(|v| v.as_str());
    let words = plain(named.unwrap_or_default());
    if words.is_empty() {
        return Quote::None;
    }
    let has = |said: &&Said| plain(&said.text).contains(&words);
    let found: Vec<&Said> = review.said.iter().filter(has).collect();
    match found.iter().find(|said| said.who == Who::Person) {
        Some(_) => Quote::Persons,
        None if found.is_empty() => Quote::Missing,
        None => Quote::Others,
    }
}

/// Words in lower case, one space between them and around them all.
fn plain(text: &str) -> String {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    if words.is_empty() { String::new() } else { format!(" {} ", words.join(" ")) }
}

/// Words by which a person asks to keep something.
static KEEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(remember|memori[sz]e|keep (it|this|that|in)\b.{0,12}\bmind|(make a )?note (of|that|this|down)|don'?t forget|save (this|that|it|to memory)|for (next time|the future))\b",
    )
    .ok()
});

/// Words by which a person says yes.
static YES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(yes|yep|yeah|right|exactly|correct|agreed|perfect|great|good|nice|ok|okay|sounds good|works for me|keep (doing|it up))\b",
    )
    .ok()
});
