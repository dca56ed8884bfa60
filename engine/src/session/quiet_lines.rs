//! One quiet line for whatever is spilled, cleared, collapsed, compacted or not
//! done for want of budget, with tokens and money (E10). A break of the cache is
//! told where it is seen.

use crate::background::budget::Denied;
use crate::event::Event;
use crate::session::{Session, weighed};
use everfold_compact::preview::CompactionReport;
use everfold_kernel::phrase::{counted, grouped};
use everfold_kernel::record::{ActSum, Cleared};
use everfold_kernel::{QuerySource, Tokens, Usd};
use everfold_window::{LayerAct, dollars};

/// Large results went to disk.
pub(crate) fn spilled(session: &Session, results: usize, before: Tokens) {
    let gone = before - session.state.fold.count();
    if results == 0 || gone == Tokens(0) {
        return;
    }
    let after = session.state.fold.count();
    let act = LayerAct::spilled(results, before, after, &weighed::cost_terms(session));
    session.emit(|| Event::Housekeeping(act.line));
}

/// Old results were cleared.
pub(crate) fn cleared(session: &Session, cleared: &Cleared) {
    let act = LayerAct::cleared(cleared, session.state.fold.count());
    session.emit(|| Event::Housekeeping(act.line));
}

/// Finished spans are shown by their summaries.
pub(crate) fn collapsed(session: &Session, spans: usize, before: Tokens) {
    if spans == 0 {
        return;
    }
    let gone = before - session.state.fold.count();
    let text = format!(
        "collapsed {}: {} tokens less, {} with each later request",
        counted(spans as u64, "finished span"),
        grouped(gone.0),
        dollars(weighed::cost_terms(session).read(gone))
    );
    session.emit(|| Event::Housekeeping(text));
}

/// The conversation was compacted, for this much.
pub(crate) fn compacted(session: &Session, report: &CompactionReport, cost: Usd) {
    let act = LayerAct::compacted(report, cost, &weighed::cost_terms(session));
    session.emit(|| Event::Compacted { report: Box::new(report.clone()), line: act.line });
}

/// The past was summed up between two turns, because a sum says so (E4).
pub(crate) fn summed_up(session: &Session, sum: &ActSum, report: &CompactionReport) {
    let text = format!(
        "{} ({}): {} → {} tokens for about {}; carrying them on costs about {}",
        sum.act,
        report.way,
        grouped(report.before),
        grouped(report.after),
        dollars(sum.cost()),
        dollars(sum.saving())
    );
    session.emit(|| Event::Compacted { report: Box::new(report.clone()), line: text });
}

/// Something was not done for want of budget. It is said once for each thing.
pub(crate) fn denied(session: &mut Session, what: &'static str, cost: Usd, denied: &Denied) {
    if session.runtime.told.insert(what) {
        let about =
            if cost.0 > 0.0 { format!(" (about {})", dollars(cost)) } else { String::new() };
        let text = format!("{what}{about}: {denied}");
        session.emit(|| Event::Housekeeping(text));
    }
}

/// What summaries have cost so far.
pub(crate) fn summaries_cost(session: &Session) -> Usd {
    let source = QuerySource::Compact.to_string();
    let lines = session.state.ledger.lines().filter(|(own, ..)| *own == source);
    Usd(lines.map(|(_, _, line)| line.cost.0).sum())
}
