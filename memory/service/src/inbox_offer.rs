//! What waits in an inbox and would have helped (L5.46).
//!
//! It is ranked among all that is known, as if it were a memory already, and
//! passes the same gate. It is never shown to a model: a person is told of it.

use crate::Service;
use everfold_kernel::ports::{MemoryError, RecallQuery, RecallTier, WaitingMemory};
use everfold_memory_store::catalogue::{Card, Catalogue, rank_cards};
use everfold_memory_store::store::inbox::{Proposal, ProposalId};

/// A proposal, as if it were a memory.
struct Waiting {
    told: WaitingMemory,
    card: Card,
}

impl Service {
    /// The memory that waits for the person's word and helps most with a text;
    /// none where none would be shown. Each is named at most once a day.
    ///
    /// # Errors
    /// If a directory cannot be read.
    pub fn waiting_for(&self, query: &RecallQuery) -> Result<Option<WaitingMemory>, MemoryError> {
        let today = self.clock.today();
        let mut waiting: Vec<Waiting> = Vec::new();
        for tier in self.tiers.iter().filter(|tier| tier.is_there()) {
            let proposals =
                tier.store()?.not_offered(today).map_err(|error| tier.failed(&error))?;
            let known = proposals.iter().filter_map(|proposal| Waiting::of(tier.scope(), proposal));
            waiting.extend(known.filter(|one| {
                self.here.is_meant(one.card.branch.as_deref(), one.card.worktree.as_deref())
            }));
        }
        if waiting.is_empty() {
            return Ok(None);
        }
        let Some(best) = self.best_of(&waiting, query)? else { return Ok(None) };
        if let Some(tier) = self.tier(best.scope) {
            // Who cannot note it offers it again.
            let noted = tier.store()?.offered(ProposalId(best.id), today);
            if let Err(error) = noted {
                tracing::info!(%error, "it cannot be noted that a memory was offered");
            }
        }
        Ok(Some(best))
    }

    fn best_of(
        &self,
        waiting: &[Waiting],
        query: &RecallQuery,
    ) -> Result<Option<WaitingMemory>, MemoryError> {
        let mut catalogues = Vec::new();
        for tier in self.tiers.iter().filter(|tier| tier.is_there()) {
            catalogues.push(tier.fresh_cards(query.urgency)?.0);
        }
        let known = catalogues.iter().flat_map(|slot| slot.iter()).flat_map(Catalogue::cards);
        let all = waiting.iter().map(|one| &one.card).chain(known);
        let all: Vec<(&Card, u32)> = all.map(|card| (card, 0)).collect();
        let ranking = rank_cards(&query.text.as_str().into(), &all, &[], self.clock.now());
        let mut good = ranking.of_tier(RecallTier::Body).into_iter();
        Ok(good.find_map(|hit| waiting.get(hit.index)).map(|one| one.told.clone()))
    }
}

impl Waiting {
    /// None of what would forget a memory, or change several.
    fn of(scope: everfold_kernel::ports::MemoryScope, proposal: &Proposal) -> Option<Self> {
        let [change] = proposal.changes.as_slice() else { return None };
        let card = Card::of_text(change.path.as_str(), &change.text()?, proposal.at);
        let told = WaitingMemory {
            scope,
            id: proposal.id.0,
            name: card.name.clone().unwrap_or_default(),
            description: card.description.clone().unwrap_or_default(),
        };
        Some(Self { told, card })
    }
}
