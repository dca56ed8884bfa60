//! What would become of a proposal, without anything being done about it.

use crate::Service;
use crate::keep::There;
use everfold_kernel::ports::{MemoryError, MemoryPlacement, MemoryProposal};
use everfold_memory_judge::{Case, Known, ProposalEffect, Target, judge};

/// What would become of a proposal for a new memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Foreseen {
    /// It says something that is not known.
    News,
    /// A memory says it already; its id.
    Known(String),
    /// A memory would become another by it; its id.
    Change(String),
    Refused(String),
}

impl Service {
    /// Looks ahead.
    ///
    /// # Errors
    /// If the memories cannot be read.
    pub fn foresee(&self, proposal: &MemoryProposal) -> Result<Foreseen, MemoryError> {
        let only = match &proposal.place {
            MemoryPlacement::In { scope } => Some(*scope),
            _ => None,
        };
        let there = self.there(&proposal.text, None, only)?;
        let known: Vec<Known> = there.iter().map(There::known).collect();
        let case = Case {
            text: &proposal.text,
            target: Target::New,
            known: &known,
            testimony: &proposal.testimony,
            today: self.clock.today(),
            limits: &self.terms.extract,
        };
        Ok(foreseen(&case))
    }
}

/// What the judge would say of a case.
#[must_use]
pub fn foreseen(case: &Case<'_>) -> Foreseen {
    match judge(case) {
        Err(refusal) => Foreseen::Refused(refusal.to_string()),
        Ok(ruling) => match ruling.change {
            ProposalEffect::Nothing { of } => Foreseen::Known(of),
            ProposalEffect::Extends { of, .. } | ProposalEffect::Supersedes { of, .. } => {
                Foreseen::Change(of)
            }
            ProposalEffect::Adds => Foreseen::News,
        },
    }
}
