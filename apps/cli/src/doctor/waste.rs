//! Sessions of this directory that cost more than they had to: the newest are
//! replayed as they went (PC7), and their dearest moments looked at.

use super::{Finding, Severity};
use everfold_agent::Agent;
use everfold_foreign::Reader;
use everfold_replay::{Cause, LaneReport, Moment, Options, Policy, Replay};
use std::sync::Arc;

const AREA: &str = "sessions";

/// Looks through the newest sessions.
pub(super) async fn look(agent: &Agent) -> Vec<Finding> {
    let config = agent.config();
    let limits = &config.limits.replay;
    let transcripts = &agent.world().transcripts;
    // What stands in the way of looking was found elsewhere.
    let Ok(mut sessions) = transcripts.glimpse().await else { return Vec::new() };
    sessions.sort_by_key(|session| std::cmp::Reverse(session.modified));
    sessions.retain(|session| session.bytes <= limits.doctor_bytes);
    sessions.truncate(limits.doctor_sessions);
    let mut findings = Vec::new();
    for glimpse in sessions {
        let mut replay = Replay::new(Options {
            policies: vec![Policy::Recorded],
            table: config.models.table.clone(),
            limits: Arc::clone(&config.limits),
            ..Options::default()
        });
        let mut reader = Reader::new();
        let mut sink = |line: &[u8]| reader.push(line, &mut |told| replay.take(told));
        if transcripts.load(&glimpse.session, &mut sink).await.is_err() {
            continue;
        }
        reader.finish(&mut |told| replay.take(told));
        let outcome = replay.finish();
        let Some(lane) = outcome.lanes.first() else { continue };
        let Some((avoidable, worst)) = avoidable(lane) else { continue };
        let least = lane.totals.usd * f64::from(limits.waste_percent) / 100.0;
        if avoidable < least.max(f64::from(limits.waste_cents) / 100.0) {
            continue;
        }
        let message = format!(
            "session {} cost {:.2} USD, of which {avoidable:.2} could have been saved; main \
             cause: {}",
            glimpse.session, lane.totals.usd, worst.what
        );
        let fix = format!("everfold replay {} --why", glimpse.session);
        findings.push(Finding::new(Severity::Info, AREA, message).fix(fix));
    }
    findings
}

/// What the dearest moments cost that need not have been, and the dearest.
/// What a model wrote and summaries are work, not waste.
fn avoidable(lane: &LaneReport) -> Option<(f64, &Moment)> {
    let wasted = |moment: &&Moment| !matches!(moment.cause, Cause::Answer | Cause::Compaction);
    let moments = lane.moments.iter().filter(wasted);
    let worst = moments.clone().next()?;
    Some((moments.map(|moment| moment.usd).sum(), worst))
}
