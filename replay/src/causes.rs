//! The causes of many bills together, in order of money, each with what would
//! change it (PC9).

use crate::bill::{Bill, BillCause, BilledBreak, CauseCost, OtherLifetime};
use std::collections::BTreeMap;

/// The causes of many bills.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Causes {
    pub by: BTreeMap<BillCause, CauseCost>,
    /// US dollars for results, by tool.
    pub by_tool: BTreeMap<String, f64>,
    /// Where the cache was lost inside its lifetime, with the name of the
    /// session, the dearest first.
    pub breaks: Vec<(String, BilledBreak)>,
    /// What another lifetime of the cache would have changed.
    pub lifetime: OtherLifetime,
}

impl Causes {
    /// Those of sessions, by their names.
    pub fn of<'a>(bills: impl Iterator<Item = (String, &'a Bill)>) -> Self {
        let mut own = Self::default();
        for (name, bill) in bills {
            own.add(&name, bill);
        }
        own.breaks.sort_by(|(_, one), (_, other)| other.usd.total_cmp(&one.usd));
        own
    }

    fn add(&mut self, name: &str, bill: &Bill) {
        for ((cause, tool), spent) in &bill.causes {
            self.by.entry(*cause).or_default().add(spent);
            if !tool.is_empty() {
                *self.by_tool.entry(tool.clone()).or_default() += spent.usd;
            }
        }
        self.breaks.extend(bill.breaks.iter().map(|own| (name.to_owned(), own.clone())));
        self.lifetime.hour_saves_usd += bill.lifetime.hour_saves_usd;
        self.lifetime.five_minutes_save_usd += bill.lifetime.five_minutes_save_usd;
    }

    /// All of them together: the bill.
    #[must_use]
    pub fn usd(&self) -> f64 {
        self.by.values().map(|own| own.usd).sum()
    }

    /// The dearest first.
    #[must_use]
    pub fn sorted(&self) -> Vec<(BillCause, CauseCost)> {
        let mut all: Vec<_> = self.by.iter().map(|(cause, own)| (*cause, *own)).collect();
        all.sort_by(|(_, one), (_, other)| other.usd.total_cmp(&one.usd));
        all
    }

    /// Those by which most could be saved, the first three.
    #[must_use]
    pub fn worst(&self) -> Vec<(BillCause, CauseCost)> {
        let mut all = self.sorted();
        all.retain(|(_, own)| own.avoidable_usd > 0.0);
        all.sort_by(|(_, one), (_, other)| other.avoidable_usd.total_cmp(&one.avoidable_usd));
        all.truncate(3);
        all
    }

    /// Tools by what their results cost, the dearest first.
    #[must_use]
    pub fn tools(&self) -> Vec<(&str, f64)> {
        let mut tools: Vec<(&str, f64)> =
            self.by_tool.iter().map(|(tool, usd)| (tool.as_str(), *usd)).collect();
        tools.sort_by(|one, other| other.1.total_cmp(&one.1));
        tools
    }
}

impl BillCause {
    /// A cause for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Expiry => "expired cache",
            Self::CacheBreak => "cache breaks",
            Self::Compaction => "compactions",
            Self::SystemPrompt => "system prompt and tools",
            Self::LargeResults => "large results",
            Self::SmallResults => "other results",
            Self::RepeatedReads => "repeated reads",
            Self::LongAnswers => "long answers",
            Self::ShortAnswers => "other answers",
            Self::Dialogue => "the dialogue itself",
            Self::Injections => "reminders and instructions",
            Self::SubAgents => "sub-agents",
            Self::BackgroundWork => "background",
        }
    }

    /// What would change it.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::Expiry => "compact before a long pause, or a cache lifetime of an hour",
            Self::CacheBreak => "choose model, tools and thinking before the first message",
            Self::Compaction => "clear results earlier; start a new session for a new task",
            Self::SystemPrompt => "fewer tools and servers, shorter instruction files",
            Self::LargeResults => "ask for ranges, head or grep; let large results go to disk",
            Self::RepeatedReads => "what was read is still in view, or was cleared too early",
            Self::LongAnswers => "ask for less text, or a lower effort",
            Self::ShortAnswers => "a smaller model for simple work",
            Self::Dialogue | Self::SmallResults => "compact, or start a new session for a new task",
            Self::Injections => "shorter instruction files, fewer reminders",
            Self::SubAgents => "fewer sub-agents, or a smaller model for them",
            Self::BackgroundWork => "everfold.budget.background_share",
        }
    }
}
