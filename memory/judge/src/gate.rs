//! The gate (L5.23): every memory, whoever proposes it, goes through here.
//!
//! One pure function over what is proposed, what is known and what was said. In
//! order, the cheap checks first: form, size, secrets, what sets itself above its
//! reader; what it rests on; orders that do not rest on the person's words; what
//! can be found out elsewhere (L5.5); dates; and what it does to the memories
//! that are there.

mod derivable;

pub use derivable::Derivable;

use crate::evidence::{self, Grounds, MemoryStanding, Ungrounded};
use crate::merge::{self, Relation, Statement};
use crate::{dates, orders, secrets};
use everfold_kernel::limits::ExtractLimits;
use everfold_kernel::provenance::Provenance;
use everfold_kernel::testimony::{Testimony, Utterance};
use everfold_kernel::{Class, Classify, RecordId};
use everfold_memory_file::frontmatter::Basis;
use everfold_memory_file::{Memory, MemoryDraft, MemoryType};
use everfold_memory_recall::stems;
use jiff::civil::Date;
use std::borrow::Cow;

/// A memory that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its name, unique among all.
    pub file: String,
    /// What it calls itself.
    pub name: String,
    pub description: String,
    pub body: String,
    /// How sure it is; none where it does not say.
    pub basis: Option<Basis>,
}

/// What is to be judged.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The file as it is proposed.
    pub text: &'a str,
    /// The memory whose file it is to be.
    pub target: Target<'a>,
    /// The memories that it could be about.
    pub known: &'a [Known],
    /// What it can rest on.
    pub testimony: &'a Testimony,
    /// The day, as the person has it.
    pub today: Date,
    /// What bounds a memory.
    pub limits: &'a ExtractLimits,
}

/// Which file a proposal names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// None, or one that is not there yet.
    New,
    /// The file of this known memory; nothing that it says may be lost.
    Update(&'a str),
    /// The same, by the person's own hand: the text is what it is to be.
    Exactly(&'a str),
}

/// What becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// What a new memory is called, dates in full.
    pub name: String,
    /// The description of the memory as it becomes, dates in full.
    pub description: String,
    /// What it says then.
    pub body: String,
    pub change: ProposalEffect,
    /// What it rests on.
    pub grounds: Grounds,
}

/// What a proposal does to the memories that are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposalEffect {
    /// It is a memory of its own.
    Adds,
    /// A known memory says all of it.
    Nothing { of: String },
    /// A known memory says more by it.
    Extends {
        of: String,
        /// What it says now that it did not.
        changed: Vec<String>,
    },
    /// A part of what a known memory says no longer holds.
    Supersedes {
        of: String,
        /// What it says now.
        changed: Vec<String>,
        /// What no longer holds.
        ended: Vec<String>,
    },
}

/// Why a memory is not kept, in words that name nothing of it (L5.40).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateRefusal {
    /// It is not in the form of a memory.
    #[error("a memory has {0}; add that to its frontmatter")]
    Form(&'static str),
    #[error("it has no body")]
    Empty,
    #[error("it has {bytes} bytes, and a memory may have at most {max}; keep to what matters")]
    TooLong { bytes: usize, max: usize },
    /// It holds a secret.
    #[error("it holds {0}; take it out and say where it is kept instead")]
    Secret(&'static str),
    /// It speaks to its reader as if it had a say.
    #[error("it tells its reader to set instructions aside; a memory is a note, not an order")]
    SetsItselfAbove,
    /// It tells somebody to do something, and not by the person's words.
    #[error("{0}, which is not based on what the person typed")]
    Order(orders::OrderKind),
    /// It can be found out elsewhere.
    #[error("{0}; keep only what was surprising about it, and why")]
    Derivable(Derivable),
    /// Nothing that was said supports it.
    #[error("{0}")]
    Ungrounded(#[from] Ungrounded),
}

impl Classify for GateRefusal {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

/// Decides about a proposal.
///
/// # Errors
/// If it is not kept.
pub fn judge(case: &Case<'_>) -> Result<Ruling, GateRefusal> {
    // What is to stand exactly so may be of any form; it is judged by its words.
    let completed = match case.target {
        Target::Exactly(_) => Some(completed(case.text)),
        _ => None,
    };
    let memory = Memory::parse(completed.as_deref().unwrap_or(case.text));
    if completed.is_none() {
        formed(&memory)?;
    }
    screened(case.text, case.limits)?;
    if let Some(kind) = repeats_secret(case) {
        return Err(GateRefusal::Secret(kind));
    }
    let testimony = with_known(case);
    let grounds = match evidence::grounds(&memory, &testimony, case.limits) {
        // It says nothing that could rest on anything: whoever wrote it did.
        Err(Ungrounded::NoEvidence) if completed.is_some() => written(case.testimony),
        grounds => grounds?,
    };
    if grounds.standing == MemoryStanding::Waiting
        && let Some(order) = orders::tells_to_act(case.text)
    {
        return Err(GateRefusal::Order(order));
    }
    if let Some(what) = repeats(&memory, &grounds, case) {
        return Err(GateRefusal::Derivable(what));
    }
    let dated = Dated::of(&memory, case.today);
    let (change, description, body) = related(&dated, case);
    let grounds = outranked(grounds, &change, case);
    Ok(Ruling { name: dated.name, description, body, change, grounds })
}

fn formed(memory: &Memory<'_>) -> Result<(), GateRefusal> {
    let has = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
    if !has(&memory.front.name) {
        return Err(GateRefusal::Form("a name"));
    }
    if !has(&memory.front.description) {
        return Err(GateRefusal::Form("a description, one specific sentence"));
    }
    if memory.front.kind.is_none() {
        return Err(GateRefusal::Form("a type: user, feedback, project or reference"));
    }
    if memory.body.trim().is_empty() {
        return Err(GateRefusal::Empty);
    }
    Ok(())
}

/// A text as a memory, with what it lacks of one.
fn completed(text: &str) -> String {
    let memory = Memory::parse(text);
    let has = |words: &Option<String>| words.as_ref().is_some_and(|words| !words.trim().is_empty());
    if has(&memory.front.name) && has(&memory.front.description) && memory.front.kind.is_some() {
        return text.to_owned();
    }
    let first = memory.body.lines().map(str::trim).find(|line| !line.is_empty());
    let first = first.unwrap_or_default().trim_start_matches(['#', '-', '*', ' ']);
    let name = memory.front.name.clone().unwrap_or_else(|| first.to_owned());
    let description = memory.front.description.clone().unwrap_or_else(|| first.to_owned());
    let kind = memory.front.kind.unwrap_or(MemoryType::Project);
    MemoryDraft { name: &name, description: &description, kind, body: memory.body }.render()
}

/// A secret that was said and is proposed without what made it one. Parts of one
/// message are read together.
fn repeats_secret(case: &Case<'_>) -> Option<&'static str> {
    let mut messages: Vec<(&RecordId, String)> = Vec::new();
    for said in &case.testimony.said {
        match messages.last_mut() {
            Some((record, text)) if *record == &said.record => text.push_str(&said.text),
            _ => messages.push((&said.record, said.text.clone())),
        }
    }
    messages.iter().find_map(|(_, said)| secrets::repeated(case.text, said))
}

/// The memory that a proposal rewrites, as it is in force.
fn rewritten<'a>(case: &Case<'a>) -> Option<&'a Known> {
    let (Target::Update(file) | Target::Exactly(file)) = case.target else { return None };
    case.known.iter().find(|known| known.file == file)
}

/// What was said, and what the memory that is rewritten says already: that is in
/// force, and need not be said again.
fn with_known<'a>(case: &Case<'a>) -> Cow<'a, Testimony> {
    let Some(old) = rewritten(case) else { return Cow::Borrowed(case.testimony) };
    let by = Provenance::PERSON;
    let text = [old.name.as_str(), &old.description, &old.body].join("\n");
    let mut testimony = case.testimony.clone();
    testimony.said.push(Utterance { record: RecordId::from(""), by, text });
    Cow::Owned(testimony)
}

/// What rests on nothing but its being written.
fn written(testimony: &Testimony) -> Grounds {
    let lowest = testimony.said.iter().map(|said| said.by).max().unwrap_or(Provenance::MODEL);
    let (basis, standing) = if lowest.is_typed() {
        (Basis::Stated, MemoryStanding::Active)
    } else {
        (Basis::Inferred, MemoryStanding::Waiting)
    };
    let (messages, evidence) = (Vec::new(), String::new());
    Grounds { basis, standing, provenance: lowest, messages, evidence }
}

/// What no memory may hold, whoever says it.
///
/// # Errors
/// If it is too long, holds a secret, or sets itself above its reader.
pub fn screened(text: &str, limits: &ExtractLimits) -> Result<(), GateRefusal> {
    if text.len() > limits.file_bytes {
        return Err(GateRefusal::TooLong { bytes: text.len(), max: limits.file_bytes });
    }
    clean(text)
}

/// What may stand in no file of a memory directory.
///
/// # Errors
/// If it holds a secret, or sets itself above its reader.
pub fn clean(text: &str) -> Result<(), GateRefusal> {
    if let Some(finding) = secrets::find(text).first() {
        return Err(GateRefusal::Secret(finding.kind));
    }
    if orders::sets_itself_above(text) { Err(GateRefusal::SetsItselfAbove) } else { Ok(()) }
}

/// What a memory repeats. The person's own word is only held against code and
/// instruction files: whoever asks for it in so many words has a reason.
fn repeats(memory: &Memory<'_>, grounds: &Grounds, case: &Case<'_>) -> Option<Derivable> {
    let found = derivable::derivable(memory, &case.testimony.instructions, case.limits)?;
    let is_stated = grounds.basis == Basis::Stated && grounds.standing == MemoryStanding::Active;
    let always = matches!(found, Derivable::Code | Derivable::Instructions);
    (!is_stated || always).then_some(found)
}

/// A proposal with its dates in full (L5.34).
struct Dated {
    name: String,
    description: String,
    body: String,
}

impl Dated {
    fn of(memory: &Memory<'_>, today: Date) -> Self {
        let front = &memory.front;
        let absolute =
            |text: &Option<String>| dates::absolute(text.as_deref().unwrap_or_default(), today);
        Self {
            name: absolute(&front.name),
            description: absolute(&front.description),
            body: dates::absolute(memory.body.trim(), today),
        }
    }
}

/// What a proposal does to what is there, and the description and the body
/// that come of it.
fn related(new: &Dated, case: &Case<'_>) -> (ProposalEffect, String, String) {
    let own = |change| (change, new.description.clone(), new.body.clone());
    let known = |file: &str| case.known.iter().find(|known| known.file == file);
    match case.target {
        Target::Exactly(file) => {
            return own(ProposalEffect::Extends { of: file.into(), changed: vec![] });
        }
        Target::Update(file) => {
            let Some(old) = known(file) else { return own(ProposalEffect::Adds) };
            let (body, back) = merge::rewritten(&old.body, &new.body);
            let same = body.trim() == old.body.trim() && new.description == old.description;
            let change = match (same, back.is_empty()) {
                (true, _) => ProposalEffect::Nothing { of: file.into() },
                (false, _) => ProposalEffect::Extends { of: file.into(), changed: vec![] },
            };
            return (change, new.description.clone(), body);
        }
        Target::New => {}
    }
    let file = |at: usize| case.known.get(at).map(|known| known.file.clone()).unwrap_or_default();
    match relation(new, case.known) {
        Relation::New => own(ProposalEffect::Adds),
        Relation::Same { of } => own(ProposalEffect::Nothing { of: file(of) }),
        Relation::Extends { of, body, description, changed } => {
            (ProposalEffect::Extends { of: file(of), changed }, description, body)
        }
        Relation::Supersedes { of, body, description, changed, ended } => {
            (ProposalEffect::Supersedes { of: file(of), changed, ended }, description, body)
        }
    }
}

/// How a proposal relates to what is known. What only its description says is
/// said too, and must not be lost because another memory has the same body.
fn relation(new: &Dated, known: &[Known]) -> Relation {
    let of = |body: &str| {
        let (name, description) = (new.name.as_str(), new.description.as_str());
        merge::relate(&Statement { name, description, body }, known)
    };
    let plain = of(&new.body);
    let Relation::Same { of: at } = plain else { return plain };
    let there = known.get(at).map(|known| format!("{} {}", known.description, known.body));
    let (says, there) = (stems(&new.description), stems(&there.unwrap_or_default()));
    if says.difference(&there).count() * 2 <= says.len() {
        return plain;
    }
    let description = new.description.trim().trim_end_matches('.');
    match of(&format!("{description}. {}", new.body)) {
        Relation::Same { .. } => Relation::New,
        other => other,
    }
}

/// What a person stated is not changed by what was inferred: that waits (L5.35).
fn outranked(mut grounds: Grounds, change: &ProposalEffect, case: &Case<'_>) -> Grounds {
    let (ProposalEffect::Extends { of, .. } | ProposalEffect::Supersedes { of, .. }) = change
    else {
        return grounds;
    };
    let old = case.known.iter().find(|known| known.file == *of);
    if old.is_some_and(|old| old.basis == Some(Basis::Stated)) && grounds.basis < Basis::Stated {
        grounds.standing = MemoryStanding::Waiting;
    }
    // What was only inferred is not made the person's word by being rewritten.
    if rewritten(case).is_some_and(|old| old.basis == Some(Basis::Inferred)) {
        grounds.basis = Basis::Inferred;
    }
    grounds
}
