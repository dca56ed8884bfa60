//! What a memory rests on: whose words it follows from (L5.23, L5.26, L5.33).
//!
//! Words are compared, not claims of certainty. A sentence follows from what
//! the person typed if every specific in it (a number, a name, an address, a
//! command) was typed, and a share of its ordinary words. Every sentence has to
//! follow on its own, so that a stranger's order does not ride along with the
//! person's preference. What does not follow rests on whoever said it, and
//! waits. Limits: ordinary words of two languages meet only where the glossary
//! knows them, and a model that lies in nothing but typed words is believed.

mod claim;
mod facets;
mod general;
mod glossary;
mod specifics;
mod support;
mod tongue;

use crate::folding::{folded, sentences};
use crate::testimony::{Testimony, Utterance};
use claim::{Claim, Part, claims};
use everfold_kernel::RecordId;
use everfold_kernel::limits::ExtractLimits;
use everfold_kernel::provenance::{Carrier, Provenance, Source};
use everfold_memory_file::Memory;
use everfold_memory_file::frontmatter::{Basis, METADATA};
use facets::Facets;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use support::{Follows, Heard, Hearing};

/// The key under which a memory names the words that it rests on.
const EVIDENCE: &str = "evidence";
/// Most of the person's words that are kept with a memory.
const EVIDENCE_BYTES: usize = 300;

/// What a memory rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grounds {
    /// Stated: the person says it. Inferred: concluded from less.
    pub basis: Basis,
    /// Whether it may be used.
    pub standing: MemoryStanding,
    /// The least trusted source that it needs.
    pub provenance: Provenance,
    /// The messages that it rests on, those that say most first.
    pub messages: Vec<RecordId>,
    /// The person's own words that it rests on; empty where there are none.
    pub evidence: String,
}

/// Whether a memory may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryStanding {
    /// It rests on what the person typed.
    Active,
    /// It rests on less, and waits for the person.
    Waiting,
}

/// Why a memory rests on nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ungrounded {
    /// The words that it names are not in the conversation.
    #[error("the words given as evidence are in none of the messages under review")]
    NoSuchWords,
    /// Nothing in the conversation supports it.
    #[error("nothing that was said since the last review supports it")]
    NoEvidence,
}

/// What a memory rests on, of all that was said.
///
/// # Errors
///
/// If nothing was said that supports it, or not what it quotes.
pub fn grounds(
    memory: &Memory<'_>,
    testimony: &Testimony,
    limits: &ExtractLimits,
) -> Result<Grounds, Ungrounded> {
    let claims = claims(memory);
    let hearing = Hearing::of(testimony);
    let quote = quote(memory, testimony)?;
    let content: BTreeSet<String> =
        main(&claims).flat_map(|claim| claim.facets.content.clone()).collect();
    if content.is_empty() || !hearing.supports(&claims, &content, limits) {
        return Err(Ungrounded::NoEvidence);
    }
    let anchor = hearing.anchor(&claims);
    let mut lowest = Provenance::PERSON;
    let mut basis = Basis::Stated;
    let mut follows_somewhere = false;
    for claim in &claims {
        match hearing.follows(claim, anchor, limits) {
            Follows::Says => follows_somewhere |= claim.part != Part::Aside,
            Follows::Implies => {
                follows_somewhere |= claim.part != Part::Aside;
                if claim.part != Part::Aside {
                    basis = Basis::Inferred;
                }
            }
            Follows::SaysNothing => {}
            Follows::Not => lowest = lowest.max(hearing.behind(claim)),
        }
    }
    lowest = match quote {
        Quote::None => lowest,
        Quote::Of(by, words) if by.is_typed() => {
            if is_unrelated(&words, &claims) {
                lowest.max(Provenance::MODEL)
            } else {
                lowest
            }
        }
        Quote::Of(by, _) => lowest.max(by),
    };
    if lowest.is_typed() && !follows_somewhere {
        lowest = hearing.behind_all(&content);
    }
    // What the person had said before, and a memory of theirs says again, was
    // theirs then.
    if lowest == Provenance::through(Carrier::Memory, Source::Person) {
        lowest = Provenance::PERSON;
    }
    let standing = if lowest.is_typed() { MemoryStanding::Active } else { MemoryStanding::Waiting };
    if standing == MemoryStanding::Waiting {
        basis = Basis::Inferred;
    }
    let messages = messages(&content, &hearing, standing, limits.source_messages);
    Ok(Grounds {
        basis,
        standing,
        provenance: lowest,
        messages,
        evidence: own_words(&content, testimony),
    })
}

/// The sentences that say what the memory is about.
fn main(claims: &[Claim]) -> impl Iterator<Item = &Claim> {
    claims.iter().filter(|claim| claim.part != Part::Aside)
}

/// The words that a memory names, and whose they are.
enum Quote {
    None,
    Of(Provenance, String),
}

fn quote(memory: &Memory<'_>, testimony: &Testimony) -> Result<Quote, Ungrounded> {
    let all = &memory.front.all;
    let below = all.get(METADATA).and_then(|metadata| metadata.get(EVIDENCE));
    let named = below.or_else(|| all.get(EVIDENCE)).and_then(|words| words.as_str());
    let words = in_a_row(named.unwrap_or_default());
    if words.is_empty() {
        return Ok(Quote::None);
    }
    let has = |said: &&Utterance| in_a_row(&said.text).contains(&words);
    let found = testimony.said.iter().filter(has).map(|said| said.by);
    // Whoever said it first in trust: the person's own words stay theirs when
    // a page repeats them.
    found.min().map(|by| Quote::Of(by, words)).ok_or(Ungrounded::NoSuchWords)
}

/// Folded words, one space between them and around them all; none between
/// signs that are written without.
fn in_a_row(text: &str) -> String {
    let text = folded(text);
    let words: Vec<&str> =
        text.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [] => String::new(),
        _ if text.chars().any(crate::folding::is_spaceless) => words.concat(),
        _ => format!(" {} ", words.join(" ")),
    }
}

/// Whether quoted words of the person have nothing to do with the memory, as
/// far as the two can be compared.
fn is_unrelated(quoted: &str, claims: &[Claim]) -> bool {
    let quoted = Facets::of(quoted);
    let shares = |claim: &Claim| {
        !claim.facets.content.is_disjoint(&quoted.content)
            || tongue::differ(claim.facets.tongue, quoted.tongue)
    };
    !claims.iter().any(shares)
}

/// The messages that a memory shares most with.
fn messages(
    content: &BTreeSet<String>,
    hearing: &Hearing<'_>,
    standing: MemoryStanding,
    most: usize,
) -> Vec<RecordId> {
    let wanted =
        |heard: &&Heard<'_>| standing == MemoryStanding::Waiting || heard.said.by.is_typed();
    let shared = |heard: &Heard<'_>| heard.facets.content.intersection(content).count();
    let mut all: Vec<(usize, &Heard<'_>)> =
        hearing.all.iter().filter(wanted).map(|heard| (shared(heard), heard)).collect();
    all.retain(|(count, _)| *count > 0);
    all.sort_by_key(|(count, _)| Reverse(*count));
    let mut records: Vec<RecordId> = Vec::new();
    for (_, heard) in all {
        if records.len() < most && !records.contains(&heard.said.record) {
            records.push(heard.said.record.clone());
        }
    }
    records
}

/// The person's sentences that share most with a memory, in their order.
fn own_words(content: &BTreeSet<String>, testimony: &Testimony) -> String {
    let all: Vec<&str> = testimony.by_person().flat_map(|said| sentences(&said.text)).collect();
    let mut ranked: Vec<(usize, usize, &str)> = all
        .iter()
        .enumerate()
        .map(|(at, sentence)| {
            (Facets::of(sentence).content.intersection(content).count(), at, *sentence)
        })
        .filter(|(count, _, _)| *count > 0)
        .collect();
    ranked.sort_by_key(|(count, at, _)| (Reverse(*count), *at));
    let mut room = EVIDENCE_BYTES;
    let mut taken: Vec<(usize, &str)> = Vec::new();
    for (at, (_, place, sentence)) in ranked.iter().enumerate() {
        if sentence.len() < room {
            room -= sentence.len() + 1;
            taken.push((*place, *sentence));
        } else if at == 0 {
            let end = sentence.floor_char_boundary(EVIDENCE_BYTES);
            return sentence.get(..end).unwrap_or_default().trim_end().to_owned();
        }
    }
    taken.sort_unstable();
    taken.into_iter().map(|(_, sentence)| sentence).collect::<Vec<_>>().join(" ")
}
