//! What a layer did to the conversation, told in tokens and money (E10).

use everfold_compact::preview::CompactionReport;
use everfold_economy::CostTerms;
use everfold_kernel::phrase::{counted, grouped};
use everfold_kernel::record::Cleared;
use everfold_kernel::{Tokens, Usd};
use std::fmt;

/// What kind of thing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActKind {
    /// Large results went to disk (layer 1).
    Spilled,
    /// Stale results were cleared (layer 2).
    Cleared,
    /// The running notes were brought up to date (layer 3).
    Noted,
    /// A summary took the place of what came before (layer 4).
    Compacted,
    /// Memories were brought in.
    Recalled,
}

/// One thing that was done to a conversation before a request.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerAct {
    pub kind: ActKind,
    /// Tokens in view before.
    pub before: Tokens,
    /// Tokens in view after.
    pub after: Tokens,
    /// What doing it costs: a summary, or what has to be written to the cache again.
    pub costs: Usd,
    /// What it saves over the requests that are to come, as far as that was estimated.
    pub saves: Usd,
    /// What was done and why, in a line for people.
    pub line: String,
}

impl fmt::Display for LayerAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

impl LayerAct {
    /// So many large results went to disk.
    #[must_use]
    pub fn spilled(results: usize, before: Tokens, after: Tokens, terms: &CostTerms) -> Self {
        let gone = before - after;
        let line = format!(
            "moved {} to disk: {} tokens less, {} not written to the cache and {} not read with \
             each later request",
            counted(results as u64, "large result"),
            grouped(gone.0),
            dollars(terms.write(gone)),
            dollars(terms.read(gone))
        );
        let (costs, saves) = (Usd(0.0), terms.write(gone));
        Self { kind: ActKind::Spilled, before, after, costs, saves, line }
    }

    /// Old results were cleared, of this many tokens in view.
    #[must_use]
    pub fn cleared(cleared: &Cleared, before: Tokens) -> Self {
        let sum = &cleared.sum;
        let line = format!(
            "cleared {}: {} tokens less, about {} saved over {:.0} requests for {}",
            counted(cleared.results.len() as u64, "old result"),
            grouped(sum.cleared_tokens),
            dollars(sum.saves),
            sum.rounds,
            dollars(sum.costs)
        );
        let after = before - Tokens(sum.cleared_tokens);
        let (costs, saves) = (sum.costs, sum.saves);
        Self { kind: ActKind::Cleared, before, after, costs, saves, line }
    }

    /// The notes were brought up to date, for this much; nothing left the view.
    #[must_use]
    pub fn noted(tokens: u64, cost: Usd, count: Tokens) -> Self {
        let line = format!(
            "updated the notes: {tokens} tokens, for {}; a summary is ready",
            dollars(cost)
        );
        let (before, after, saves) = (count, count, Usd(0.0));
        Self { kind: ActKind::Noted, before, after, costs: cost, saves, line }
    }

    /// The conversation was compacted, for this much.
    #[must_use]
    pub fn compacted(report: &CompactionReport, cost: Usd, terms: &CostTerms) -> Self {
        let (before, after) = (Tokens(report.before), Tokens(report.after));
        let saves = terms.read(before - after);
        let line = format!(
            "compacted ({}): {} → {} tokens for {}, {} less with each request",
            report.way,
            grouped(before.0),
            grouped(after.0),
            dollars(cost),
            dollars(saves)
        );
        Self { kind: ActKind::Compacted, before, after, costs: cost, saves, line }
    }

    /// Memories were brought in, by the names of their files.
    #[must_use]
    pub fn recalled(files: &[String], before: Tokens, after: Tokens, terms: &CostTerms) -> Self {
        let line = format!(
            "recalled {}: {} ({} tokens)",
            counted(files.len() as u64, "memory"),
            files.join(", "),
            (after - before).0
        );
        let costs = terms.write(after - before);
        Self { kind: ActKind::Recalled, before, after, costs, saves: Usd(0.0), line }
    }
}

/// An amount as people read it, with more digits where it is small.
#[must_use]
pub fn dollars(usd: Usd) -> String {
    if usd.0 >= 0.1 { format!("${:.2}", usd.0) } else { format!("${:.4}", usd.0) }
}
