//! The gate (L5.23): every memory that a background agent would write goes
//! through it. A memory earns its place, or is refused with a reason that the
//! agent can read.
//!
//! It is one pure function over what is proposed, what is known, and what was
//! said. In order, the cheap checks first: form, size, secrets, words that
//! would act on a reader, what can be found out elsewhere (L5.5), evidence
//! (L5.23), strangers (L5.26), near-copies and rank.

mod derivable;
mod evidence;

pub use derivable::Derivable;

use crate::plan::Review;
use everfold_kernel::limits::ExtractLimits;
use everfold_kernel::{Class, Classify, RecordId};
use everfold_memfile::frontmatter::{Basis, Trust};
use everfold_memfile::similar::{COPY, Fingerprint};
use everfold_memfile::{Memory, secrets};
use evidence::Weighed;
use regex::Regex;
use std::sync::LazyLock;

/// A file that somebody would write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proposal<'a> {
    /// Its name, as [`Known::file`] has it.
    pub file: &'a str,
    /// What it is to hold.
    pub text: &'a str,
}

/// A memory that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its name, unique among all.
    pub file: String,
    /// Its description.
    pub description: String,
    /// What it says.
    pub body: String,
    /// How sure it is; none where it does not say.
    pub basis: Option<Basis>,
}

/// What the gate says.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It may be written.
    Accept(Grounds),
    /// It is a near-copy of this memory, and becomes an update of it.
    Update {
        /// That memory's name.
        of: String,
        /// What it rests on.
        grounds: Grounds,
    },
    /// It may not.
    Refuse(Refusal),
}

/// What a memory rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grounds {
    /// How sure it is.
    pub basis: Basis,
    /// Whether strangers had a part in it.
    pub trust: Trust,
    /// The messages that it rests on.
    pub messages: Vec<RecordId>,
}

/// Why a memory is not written, in words for the agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is not in the form of a memory.
    #[error("a memory has {0}; add that to its frontmatter")]
    Form(&'static str),
    /// It says nothing.
    #[error("it has no body")]
    Empty,
    /// It is too long.
    #[error("it has {bytes} bytes, and a memory has at most {max}; keep to what matters")]
    TooLong {
        /// Its size.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// It holds a secret.
    #[error("it holds {0}; take it out and say where it is kept instead")]
    Secret(String),
    /// It speaks to its reader as if it had a say.
    #[error("it tells its reader to set instructions aside; a memory is a note, not an order")]
    Orders,
    /// It can be found out elsewhere.
    #[error("{0}; keep only what was surprising about it, and why")]
    Derivable(Derivable),
    /// The words that it names are not in the conversation.
    #[error("the words given as evidence are in none of the messages under review")]
    NoSuchWords,
    /// Nothing in the conversation supports it.
    #[error("nothing that was said since the last review supports it")]
    NoEvidence,
    /// It rests on strangers alone.
    #[error("it rests on a web page or a tool server alone, and the person did not ask to keep it")]
    Strangers,
    /// It would change what the person said by what a model concluded.
    #[error("{of} says what the person stated; a conclusion does not change it")]
    Outranked {
        /// The memory that is there.
        of: String,
    },
}

impl Classify for Refusal {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

/// Decides about a proposal.
#[must_use]
pub fn gate(
    proposal: Proposal<'_>,
    known: &[Known],
    review: &Review,
    limits: &ExtractLimits,
) -> Verdict {
    match judged(proposal, known, review, limits) {
        Ok(verdict) => verdict,
        Err(refusal) => Verdict::Refuse(refusal),
    }
}

fn judged(
    proposal: Proposal<'_>,
    known: &[Known],
    review: &Review,
    limits: &ExtractLimits,
) -> Result<Verdict, Refusal> {
    let memory = Memory::parse(proposal.text);
    formed(&memory)?;
    screened(proposal.text, limits)?;
    if let Some(what) = derivable::derivable(&memory, &review.instructions, limits) {
        return Err(Refusal::Derivable(what));
    }
    let weighed = Weighed::of(&memory, review, limits);
    let grounds = grounded(&memory, weighed, limits)?;
    let target = match known.iter().find(|known| known.file == proposal.file) {
        Some(same) => Some(same),
        None => copied(proposal.text, known),
    };
    if let Some(target) = target
        && target.basis == Some(Basis::Stated)
        && grounds.basis == Basis::Inferred
    {
        return Err(Refusal::Outranked { of: target.file.clone() });
    }
    Ok(match target {
        Some(target) if target.file != proposal.file => {
            Verdict::Update { of: target.file.clone(), grounds }
        }
        _ => Verdict::Accept(grounds),
    })
}

fn formed(memory: &Memory<'_>) -> Result<(), Refusal> {
    let has = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
    if !has(&memory.front.name) {
        return Err(Refusal::Form("a name"));
    }
    if !has(&memory.front.description) {
        return Err(Refusal::Form("a description, one specific sentence"));
    }
    if memory.front.kind.is_none() {
        return Err(Refusal::Form("a type: user, feedback, project or reference"));
    }
    if memory.body.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    Ok(())
}

fn screened(text: &str, limits: &ExtractLimits) -> Result<(), Refusal> {
    if text.len() > limits.file_bytes {
        return Err(Refusal::TooLong { bytes: text.len(), max: limits.file_bytes });
    }
    if let Some(finding) = secrets::find(text).first() {
        return Err(Refusal::Secret(finding.to_string()));
    }
    let orders = ORDERS.as_ref().is_some_and(|pattern| pattern.is_match(text));
    if orders { Err(Refusal::Orders) } else { Ok(()) }
}

/// Words by which a text would set itself above the instructions of its
/// reader, or close the envelope that it is shown in.
static ORDERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        \b(ignore|disregard|forget|override|bypass|set\ aside)\b [^.\n]{0,40}
            \b(instructions?|rules|guidelines|system\ prompt|permissions?|safety)\b
        | \bsystem\ prompt\b [^.\n]{0,30} \b(is|reads|says)\b
        | \byou\ (are\ now|must\ now|have\ to\ obey)\b
        | \bdo\ not\ (tell|ask|inform)\ the\ (user|person)\b
        | \bwithout\ (asking|telling|permission\ of)\ the\ (user|person)\b
        | </?\s*(system-reminder|persisted-output|system)\b",
    )
    .ok()
});

/// What the memory rests on, if that is enough.
fn grounded(
    memory: &Memory<'_>,
    weighed: Weighed,
    limits: &ExtractLimits,
) -> Result<Grounds, Refusal> {
    if weighed.quote == evidence::Quote::Missing {
        return Err(Refusal::NoSuchWords);
    }
    if weighed.support < limits.evidence_percent {
        return Err(Refusal::NoEvidence);
    }
    let stated = weighed.person >= limits.stated_percent;
    let trust = if weighed.strangers >= limits.stranger_percent {
        let asked = weighed.asked_to_keep && weighed.person >= limits.evidence_percent;
        if !stated && !asked {
            return Err(Refusal::Strangers);
        }
        Trust::Tainted
    } else {
        Trust::Own
    };
    let by_person = stated || weighed.quote == evidence::Quote::Persons;
    let basis = match memory.front.basis {
        Some(Basis::Stated) if by_person => Basis::Stated,
        Some(Basis::Confirmed) if by_person || weighed.affirmed => Basis::Confirmed,
        None if stated => Basis::Stated,
        _ => Basis::Inferred,
    };
    Ok(Grounds { basis, trust, messages: weighed.messages })
}

/// The memory of which a text is a near-copy, the most alike.
fn copied<'a>(text: &str, known: &'a [Known]) -> Option<&'a Known> {
    let own = Fingerprint::of(text);
    known
        .iter()
        .map(|known| {
            let print = Fingerprint::of_parts(&known.description, &known.body);
            (own.likeness(&print), known)
        })
        .filter(|(likeness, _)| *likeness >= COPY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}
