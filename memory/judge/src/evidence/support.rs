//! What was said, and whether a sentence follows from it.

use super::claim::{Claim, Manner, Part};
use super::facets::{Facets, Specific};
use super::tongue::differ;
use crate::folding::sentences;
use crate::orders::tells_to_act;
use crate::testimony::{Testimony, Utterance};
use everfold_kernel::limits::ExtractLimits;
use everfold_kernel::provenance::Provenance;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// How many of a person's messages one sentence may be put together from.
const TOGETHER: usize = 2;
/// So many words of a sentence that only a stranger's sentence has are taken
/// for the stranger's; of pairs of signs, more, since one word makes several.
const STRANGE_WORDS: usize = 2;
const STRANGE_PAIRS: usize = 4;

/// One piece of what was said.
pub(super) struct Heard<'a> {
    pub(super) said: &'a Utterance,
    pub(super) facets: Facets,
    /// What each sentence of a stranger is about.
    sentences: Vec<BTreeSet<String>>,
}

/// All that was said.
pub(super) struct Hearing<'a> {
    pub(super) all: Vec<Heard<'a>>,
    /// All that the person typed, as one.
    typed: Facets,
}

/// Whether some sentence of a memory shares a word with what was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Typed,
    None,
}

/// How a sentence follows from what the person typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    /// It is what the person says.
    Says,
    /// It can be concluded from it.
    Implies,
    SaysNothing,
    /// It does not follow.
    Not,
}

impl<'a> Hearing<'a> {
    pub(super) fn of(testimony: &'a Testimony) -> Self {
        let heard = |said: &'a Utterance| {
            let parts = if is_strange(said.by) { sentences(&said.text) } else { Vec::new() };
            let sentences =
                parts.into_iter().map(|sentence| Facets::of(sentence).content).collect();
            Heard { said, facets: Facets::of(&said.text), sentences }
        };
        let typed: Vec<&str> = testimony.by_person().map(|said| said.text.as_str()).collect();
        Self {
            all: testimony.said.iter().map(heard).collect(),
            typed: Facets::of(&typed.join("\n\n")),
        }
    }

    fn typed(&self) -> impl Iterator<Item = &Heard<'a>> {
        self.all.iter().filter(|heard| heard.said.by.is_typed())
    }

    fn strangers(&self) -> impl Iterator<Item = &Heard<'a>> {
        self.all.iter().filter(|heard| is_strange(heard.said.by))
    }

    /// Whether anybody said enough of it.
    pub(super) fn supports(
        &self,
        claims: &[Claim],
        content: &BTreeSet<String>,
        limits: &ExtractLimits,
    ) -> bool {
        let said =
            |stem: &&String| self.all.iter().any(|heard| heard.facets.content.contains(*stem));
        let found = content.iter().filter(said).count();
        let foreign = || {
            self.all.iter().any(|heard| {
                claims.iter().any(|claim| differ(heard.facets.tongue, claim.facets.tongue))
            })
        };
        percent(found, content.len()) >= limits.evidence_percent || (found > 0 && foreign())
    }

    /// Whether the person typed a word of it, in any language.
    pub(super) fn anchor(&self, claims: &[Claim]) -> Anchor {
        let shares = |claim: &Claim| !claim.facets.content.is_disjoint(&self.typed.content);
        if claims.iter().any(shares) { Anchor::Typed } else { Anchor::None }
    }

    /// Whether a sentence follows from what the person typed.
    pub(super) fn follows(&self, claim: &Claim, anchor: Anchor, limits: &ExtractLimits) -> Follows {
        let typed = |specific: &Specific| self.typed.has(specific, &claim.facets);
        if !claim.specifics.iter().all(typed) {
            return Follows::Not;
        }
        let content = &claim.facets.content;
        if content.is_empty() {
            return Follows::SaysNothing;
        }
        let covered = self.covered(content);
        if self.comes_from_a_stranger(claim, covered) {
            return Follows::Not;
        }
        let share = percent(covered, content.len());
        let foreign = self.is_translated(claim);
        let order = claim.manner == Manner::Order;
        let least = match claim.part {
            Part::Body if order => limits.stated_percent,
            Part::Body => limits.evidence_percent,
            Part::Description | Part::Aside if order => limits.evidence_percent,
            Part::Description => 1,
            Part::Aside => 0,
        };
        let unread = |heard: &Heard<'_>| differ(heard.facets.tongue, claim.facets.tongue);
        if order && self.strangers().any(unread) && share < limits.stated_percent.midpoint(100) {
            return Follows::Not;
        }
        if order && !self.is_ordered(claim) {
            return Follows::Not;
        }
        if foreign {
            let enough =
                if order { share >= least } else { self.is_own(claim, covered, anchor, limits) };
            return if enough { Follows::Implies } else { Follows::Not };
        }
        if share < least || (claim.part == Part::Body && self.is_turned_round(claim)) {
            return Follows::Not;
        }
        if share >= limits.stated_percent { Follows::Says } else { Follows::Implies }
    }

    /// Whether a sentence in another language than the person's may be theirs.
    /// Ordinary words cannot be compared then: something typed has to be in
    /// it, or in the memory where nobody else can have said the sentence.
    fn is_own(
        &self,
        claim: &Claim,
        covered: usize,
        anchor: Anchor,
        limits: &ExtractLimits,
    ) -> bool {
        let content = &claim.facets.content;
        let unread = |heard: &Heard<'_>| differ(heard.facets.tongue, claim.facets.tongue);
        if covered > 0 {
            let comparable = !self.strangers().any(unread);
            return comparable || percent(covered, content.len()) >= limits.evidence_percent;
        }
        let others = self.all.iter().filter(|heard| !heard.said.by.is_typed());
        let said = |heard: &Heard<'_>| {
            content.intersection(&heard.facets.content).count() * 2 >= content.len()
        };
        let mut others =
            others.filter(|heard| said(heard) || (is_strange(heard.said.by) && unread(heard)));
        (anchor == Anchor::Typed || claim.part == Part::Aside) && others.next().is_none()
    }

    /// Whether an order is still one in the person's words: without those that
    /// they did not type.
    fn is_ordered(&self, claim: &Claim) -> bool {
        claim.facets.is_wide()
            || tells_to_act(&claim.facets.without_others(&self.typed.content)).is_some()
    }

    /// How many of these words the person typed, in few messages.
    fn covered(&self, content: &BTreeSet<String>) -> usize {
        let mut left: BTreeSet<&String> = content.iter().collect();
        for _ in 0..TOGETHER {
            let count = |heard: &&Heard<'_>| {
                left.iter().filter(|stem| heard.facets.content.contains(**stem)).count()
            };
            let Some(best) = self.typed().max_by_key(count) else { break };
            left.retain(|stem| !best.facets.content.contains(*stem));
        }
        content.len() - left.len()
    }

    /// Whether the words that the person did not type are those of a stranger.
    fn comes_from_a_stranger(&self, claim: &Claim, covered: usize) -> bool {
        let content = &claim.facets.content;
        let foreign: BTreeSet<&String> =
            content.iter().filter(|stem| !self.typed.content.contains(*stem)).collect();
        if foreign.is_empty() {
            return false;
        }
        let many = if claim.facets.is_wide() { STRANGE_PAIRS } else { STRANGE_WORDS };
        self.strangers().flat_map(|heard| &heard.sentences).any(|sentence| {
            let theirs = foreign.iter().filter(|stem| sentence.contains(**stem)).count();
            let shared = content.intersection(sentence).count();
            (theirs >= many && theirs * 2 >= foreign.len())
                || (theirs == foreign.len() && shared > covered)
        })
    }

    /// Whether the person typed in other languages than the sentence has.
    fn is_translated(&self, claim: &Claim) -> bool {
        let mut typed = self.typed().filter(|heard| heard.facets.tongue.is_some()).peekable();
        typed.peek().is_some()
            && typed.all(|heard| differ(heard.facets.tongue, claim.facets.tongue))
    }

    /// Whether it denies what the person says, or says what the person denies.
    fn is_turned_round(&self, claim: &Claim) -> bool {
        let (own, typed) = (&claim.facets, &self.typed);
        let shared: BTreeSet<&String> = own.content.intersection(&typed.content).collect();
        let only_denied =
            |stem: &&&String| typed.denied.contains(**stem) && !typed.asserted.contains(**stem);
        let only_asserted =
            |stem: &&&String| typed.asserted.contains(**stem) && !typed.denied.contains(**stem);
        if !own.denies {
            let denied = shared.iter().filter(only_denied).count();
            return denied * 2 > shared.len() && !own.limits;
        }
        if !typed.denies {
            return !typed.limits;
        }
        let turned_up = shared
            .iter()
            .filter(only_denied)
            .any(|stem| own.asserted.contains(*stem) && !own.denied.contains(*stem));
        let turned_down = shared
            .iter()
            .filter(only_asserted)
            .any(|stem| own.denied.contains(*stem) && !own.asserted.contains(*stem));
        turned_up && turned_down
    }

    /// Who is behind a sentence that does not follow from typed words.
    pub(super) fn behind(&self, claim: &Claim) -> Provenance {
        let foreign =
            claim.facets.content.difference(&self.typed.content).cloned().collect::<BTreeSet<_>>();
        self.behind_all(if foreign.is_empty() { &claim.facets.content } else { &foreign })
    }

    /// The least trusted of those who said these words. What a model says
    /// after strangers spoke may be theirs, and so may what nobody is found
    /// to have said, since they may have said it in another language.
    pub(super) fn behind_all(&self, content: &BTreeSet<String>) -> Provenance {
        let count = |heard: &Heard<'_>| heard.facets.content.intersection(content).count();
        let mut found: Vec<(usize, usize, Provenance)> = self
            .all
            .iter()
            .enumerate()
            .filter(|(_, heard)| !heard.said.by.is_typed())
            .map(|(at, heard)| (count(heard), at, heard.said.by))
            .filter(|(count, _, _)| *count > 0)
            .collect();
        found.sort_by_key(|(count, _, _)| Reverse(*count));
        let most = found.first().map_or(0, |(count, _, _)| *count);
        found.retain(|(count, _, _)| count * 2 >= most);
        let lowest = found.iter().map(|(_, _, by)| *by).max().unwrap_or(Provenance::MODEL);
        if lowest != Provenance::MODEL {
            return lowest;
        }
        let until = found.iter().map(|(_, at, _)| *at).max().unwrap_or(self.all.len());
        let before =
            self.all.iter().take(until).map(|heard| heard.said.by).filter(|by| is_strange(*by));
        before.max().map_or(lowest, |by| by.max(lowest))
    }
}

/// Whether words are neither typed here nor a model's own.
fn is_strange(by: Provenance) -> bool {
    !by.is_typed() && by != Provenance::MODEL
}

fn percent(part: usize, all: usize) -> u64 {
    u64::try_from(part * 100 / all.max(1)).unwrap_or(u64::MAX)
}
