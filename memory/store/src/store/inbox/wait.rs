//! An inbox that people open (L5.46): it stays short, what waited too long
//! goes, and what says the same waits once.

use super::{Proposal, ProposalId, ProposalVerdict, Proposed};
use crate::error::Error;
use crate::store::{By, Store, outside_changes};
use everfold_memory_file::Memory;
use everfold_memory_judge::similar::{COPY, ShingleSet};
use everfold_memory_recall::stems;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;

/// Percentage of the words of one text that another has, from which on they
/// say the same, where nothing stands against it.
const SAME_PERCENT: usize = 75;
/// Percentage of words that a longer text shares with one that it says more than.
const MORE_PERCENT: usize = 50;

/// Words that turn a sentence round; what is left of `don't` is a `t`.
const DENIALS: &[&str] = &[
    "cannot", "jamais", "kein", "keine", "keinen", "never", "ni", "nicht", "nie", "niemals", "no",
    "non", "not", "nunca", "pas", "sin", "stop", "t", "without", "ohne", "不", "没", "别", "勿",
];

impl Store {
    /// The proposal that waits and says the same as a text, if there is one:
    /// who says it again means yes to it.
    ///
    /// # Errors
    /// If the inbox cannot be read.
    pub fn waiting_like(&self, text: &str) -> Result<Option<ProposalId>, Error> {
        let said = Said::of(text, &Memory::parse(text).front.description.unwrap_or_default());
        let mut best: Option<(usize, ProposalId)> = None;
        for proposal in self.inbox()? {
            let Some(waiting) = only_text(&proposal.changes) else { continue };
            let memory = Memory::parse(&waiting);
            let about = memory.front.description.unwrap_or_default();
            let forms =
                [Said::of(&waiting, &about), Said::of(memory.body, ""), Said::of(&about, "")];
            let share = forms.iter().filter_map(|form| said.share_of(form)).max();
            if share > best.map(|(share, _)| share) {
                best = share.map(|share| (share, proposal.id));
            }
        }
        Ok(best.map(|(_, id)| id))
    }

    /// Lets go what waited too long, and says what still waits. Called with the
    /// lock held.
    pub(in crate::store) fn still_waiting(&self, at: Timestamp) -> Result<Vec<Proposal>, Error> {
        let longest = SignedDuration::from_hours(24 * self.options.inbox_days);
        let mut waiting = self.inbox()?;
        let late = |proposal: &Proposal| at.duration_since(proposal.at) > longest;
        for proposal in waiting.iter().filter(|proposal| late(proposal)) {
            self.expire(proposal, at)?;
        }
        waiting.retain(|proposal| !late(proposal));
        Ok(waiting)
    }

    /// Makes room for one more proposal: the oldest go.
    pub(super) fn make_room(&self, waiting: &[Proposal], at: Timestamp) -> Result<(), Error> {
        let mut oldest: Vec<&Proposal> = waiting.iter().collect();
        oldest.sort_by_key(|proposal| (proposal.at, proposal.id));
        let most = self.options.inbox_entries.max(1);
        let over = (waiting.len() + 1).saturating_sub(most);
        oldest.into_iter().take(over).try_for_each(|proposal| self.expire(proposal, at))
    }

    fn expire(&self, proposal: &Proposal, at: Timestamp) -> Result<(), Error> {
        let by = By { author: crate::journal::Author::Program, ..outside_changes::foreign(at) };
        self.close(proposal, ProposalVerdict::Expired, None, &by)
    }
}

/// A proposal that waits and that a new one is a near-copy of, with what it
/// says then: the newer text where that says more.
pub(super) fn joined(waiting: &[Proposal], new: &Proposal) -> Option<Proposal> {
    let text = only_text(&new.changes)?;
    let newer = said_by(&text);
    let (old, says_more) = waiting.iter().find_map(|old| {
        let is_same_file = match (old.changes.as_slice(), new.changes.as_slice()) {
            ([one], [other]) => {
                one.before == other.before && (one.path == other.path || one.before.is_none())
            }
            _ => false,
        };
        let older = said_by(&only_text(&old.changes)?);
        (is_same_file && newer.is_near(&older))
            .then(|| (old, newer.stems.iter().any(|stem| !older.stems.contains(stem))))
    })?;
    let mut both = Proposal { at: new.at.max(old.at), ..old.clone() };
    // What a person wrote there stays.
    if says_more && old.edited.is_none() {
        for change in &mut both.changes {
            change.set_text(&text);
        }
        both.evidence = new.evidence.clone().or(both.evidence);
        both.messages.clone_from(&new.messages);
        both.session.clone_from(&new.session);
    }
    // Of two sources the less trusted one counts.
    both.provenance = both.provenance.max(new.provenance);
    Some(both)
}

/// The text of a proposal that writes one file and does nothing else.
fn only_text(changes: &[Proposed]) -> Option<String> {
    match changes {
        [only] => only.text(),
        _ => None,
    }
}

fn said_by(text: &str) -> Said {
    Said::of(text, &Memory::parse(text).front.description.unwrap_or_default())
}

/// What a text says, ready to be compared.
struct Said {
    print: ShingleSet,
    stems: BTreeSet<String>,
    denies: bool,
}

impl Said {
    /// What the body of a text says, and this about it.
    fn of(text: &str, about: &str) -> Self {
        let body = Memory::parse(text).body;
        let both = format!("{about}\n{body}");
        let lower = both.to_lowercase();
        let mut words = lower.split(|sign: char| !sign.is_alphanumeric());
        let wide = |word: &str| DENIALS.iter().any(|no| !no.is_ascii() && word.contains(no));
        Self {
            print: ShingleSet::of_parts(about, body),
            stems: stems(&both),
            denies: words.any(|word| DENIALS.contains(&word) || wide(word)),
        }
    }

    /// Whether two texts say nearly the same, or one of them all that the other
    /// says.
    fn is_near(&self, other: &Self) -> bool {
        if self.denies != other.denies {
            return false;
        }
        if self.print.likeness(&other.print) >= COPY {
            return true;
        }
        let (less, more) =
            if self.stems.len() <= other.stems.len() { (self, other) } else { (other, self) };
        less.stems.len() >= 2
            && less.stems.is_subset(&more.stems)
            && less.stems.len() * 100 >= more.stems.len() * MORE_PERCENT
    }

    /// How much of another text it says, as a percentage, if it says nothing
    /// else and enough of it.
    fn share_of(&self, other: &Self) -> Option<usize> {
        let share = self.stems.len() * 100 / other.stems.len().max(1);
        let is_same = self.denies == other.denies
            && !self.stems.is_empty()
            && self.stems.is_subset(&other.stems)
            && share >= SAME_PERCENT;
        is_same.then_some(share)
    }
}
