//! The sums by which something was done or left (E1), as `everfold cost --why`
//! and `/cost` show them.

use crate::presenter::counted;
use crate::presenter::{Presenter, grouped};
use everfold_kernel::record::{ActSum, ClearTrigger, Cleared, SumVerdict};
use everfold_kernel::{Decision, Entry, SessionId};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::io;

/// Sums that a person is shown one by one; the newest.
const SHOWN: usize = 40;
/// Sums that `/cost` shows.
pub(super) const SHOWN_IN_SESSION: usize = 5;

/// A sum, where and when.
#[derive(Clone, Debug)]
pub(super) struct Why {
    session: SessionId,
    at: Timestamp,
    what: Priced,
}

#[derive(Clone, Debug)]
enum Priced {
    Act(ActSum),
    Clearing(Box<Cleared>),
}

impl Why {
    /// The sum that an entry of the log has, if it has one.
    pub(super) fn of(entry: &Entry, session: &SessionId, at: Timestamp) -> Option<Self> {
        let what = match entry {
            Entry::Decision(Decision::Weighed(sum)) => Priced::Act(sum.clone()),
            Entry::Decision(Decision::Cleared(cleared)) => {
                Priced::Clearing(Box::new(cleared.clone()))
            }
            _ => return None,
        };
        Some(Self { session: session.clone(), at, what })
    }

    pub(super) fn to_json(&self) -> Value {
        let mut value = match &self.what {
            Priced::Act(sum) => json!(sum),
            Priced::Clearing(cleared) => json!({
                "source": "main", "act": "clear old tool results", "verdict": "done",
                "results": cleared.results.len(), "sum": cleared.sum,
            }),
        };
        if let Some(map) = value.as_object_mut() {
            map.insert("session_id".into(), json!(self.session));
            map.insert("at".into(), json!(self.at));
        }
        value
    }

    fn row(&self) -> Vec<String> {
        let usd = |usd: f64| format!("{usd:.4}");
        let (act, costs, saves, verdict, terms) = match &self.what {
            Priced::Act(sum) => (
                format!("{} ({})", sum.act, sum.source),
                sum.cost().0,
                sum.saving().0,
                verdict(sum.verdict),
                terms(sum),
            ),
            Priced::Clearing(cleared) => (
                "clear old tool results (main)".to_owned(),
                cleared.sum.costs.0,
                cleared.sum.saves.0,
                verdict(SumVerdict::Done),
                clearing(cleared),
            ),
        };
        let at = self.at.strftime("%Y-%m-%d %H:%M:%SZ").to_string();
        vec![at, act, usd(costs), usd(saves), verdict, terms]
    }
}

fn verdict(verdict: SumVerdict) -> String {
    match verdict {
        SumVerdict::Done => "done".to_owned(),
        SumVerdict::Left => "left".to_owned(),
    }
}

fn terms(sum: &ActSum) -> String {
    let side = |terms: &[everfold_kernel::record::SumTerm]| {
        let each = terms.iter().map(|term| {
            format!("{} {:.4} ({} tokens)", term.what, term.usd.0, grouped(term.tokens))
        });
        each.collect::<Vec<_>>().join(" + ")
    };
    match (sum.costs.is_empty(), sum.saves.is_empty()) {
        (false, false) => format!("{} against {}", side(&sum.costs), side(&sum.saves)),
        (false, true) => side(&sum.costs),
        (true, _) => side(&sum.saves),
    }
}

fn clearing(cleared: &Cleared) -> String {
    let why = match cleared.trigger {
        ClearTrigger::Time => "after a long pause",
        ClearTrigger::Economy => "it pays",
    };
    let sum = &cleared.sum;
    format!(
        "{why}: {}, {} tokens less in {:.1} requests, {} written again",
        counted(cleared.results.len() as u64, "result"),
        grouped(sum.cleared_tokens),
        sum.rounds,
        grouped(sum.rewritten_tokens)
    )
}

/// Lists sums, the newest first. Nothing, where there are none.
pub(super) fn show(sums: &[Why], most: usize, presenter: &Presenter) -> io::Result<()> {
    if sums.is_empty() {
        return Ok(());
    }
    presenter.line(&format!("\ndecided by cost and savings: {}", sums.len()))?;
    let head = ["when", "what", "costs", "saves", "was", "because"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(sums.iter().rev().take(most).map(Why::row));
    presenter.table(&rows)
}

/// The same, as many as a command shows that was asked for them.
pub(super) fn show_all(sums: &[Why], presenter: &Presenter) -> io::Result<()> {
    if sums.is_empty() {
        return presenter.line("\nnothing has been decided by cost yet");
    }
    show(sums, SHOWN, presenter)
}
