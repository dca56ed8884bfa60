//! `everfold report`: the first minute (PC14). What the sessions of every agent
//! on this machine cost, why, what would change it, and what our policy would
//! have cost. Nothing is written.

use crate::args::{Choices, ReportArgs};
use crate::causes::{self, share};
use crate::cost::agents::{self, Remember};
use crate::presenter::{Presenter, TextStyle, counted};
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold::bills::{self, Group, GroupBy, SessionBill};
use everfold::session_files::SessionFile;
use everfold::{Agent, replay_file};
use everfold_replay::{Causes, Options, Policy, Totals};
use jiff::Timestamp;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Sessions that are replayed under our policy: the dearest.
const REPLAYED: usize = 20;
const SECONDS_A_DAY: i64 = 86_400;

pub(crate) async fn run(env: &ProcessEnv, args: &ReportArgs, presenter: &Presenter) -> Result<()> {
    let agent = setup::for_looking(env, &Choices::default()).await?;
    let since = Timestamp::now().as_second() - i64::from(args.days) * SECONDS_A_DAY;
    let mut files = agents::places(&agent, env).files();
    files.retain(|file| file.modified / 1_000 >= since);
    let mut sessions = agents::read(&agent, &files, Remember::No, presenter).sessions;
    sessions.retain(|own| own.bill.requests.iter().any(|request| request.at.as_second() >= since));
    let groups = bills::groups(&sessions, GroupBy::Agent);
    let causes = bills::causes(&sessions);
    let (ours, went, count) = compared(&agent, &files, &sessions);
    if args.json {
        let by_agent: BTreeMap<&String, f64> =
            groups.iter().map(|(name, own)| (name, own.usd)).collect();
        let value = json!({
            "days": args.days, "sessions": sessions.len(), "usd": total(&groups).usd,
            "agents": by_agent, "why": causes::to_json(&causes),
            "replayed": {"sessions": count, "recorded_usd": went.usd, "everfold_usd": ours.usd,
                "everfold_background_usd": ours.background_usd, "everfold_rereads": ours.rereads},
        });
        return Ok(Presenter::json(&value)?);
    }
    let all = total(&groups);
    let heading = format!(
        "the last {}: {} of {}, {:.2} USD\n",
        counted(u64::from(args.days), "day"),
        counted(sessions.len() as u64, "session"),
        counted(groups.len() as u64, "agent"),
        all.usd
    );
    presenter.styled(TextStyle::Bold, &heading)?;
    for (name, own) in &groups {
        presenter.line(&format!(
            "{name:<12} {:>9.2} USD  {}",
            own.usd,
            counted(own.requests, "request")
        ))?;
    }
    savings(&causes, presenter)?;
    if count > 0 {
        presenter.styled(
            TextStyle::Bold,
            "\nwith the policy that Everfold replays, all that it spends included\n",
        )?;
        presenter.line(&format!(
            "the dearest {}: {:.2} USD instead of {:.2} ({:.0} %), of it {:.2} in the background",
            counted(count as u64, "session"),
            ours.usd,
            went.usd,
            share(ours.usd, went.usd),
            ours.background_usd
        ))?;
    }
    presenter.line(
        "\n`everfold cost --agents --why` has the whole bill, `everfold replay` each session",
    )?;
    Ok(())
}

/// The dearest causes that something can be done about.
fn savings(causes: &Causes, presenter: &Presenter) -> Result<()> {
    let worst = causes.worst();
    if !worst.is_empty() {
        presenter.styled(TextStyle::Bold, "\nwhat could have been saved\n")?;
    }
    for (cause, own) in worst {
        let percent = share(own.avoidable_usd, causes.usd());
        presenter.line(&format!(
            "{:>9.2} USD ({percent:.0} %)  {}: {}",
            own.avoidable_usd,
            cause.title(),
            cause.advice()
        ))?;
    }
    Ok(())
}

fn total(groups: &BTreeMap<String, Group>) -> Group {
    let mut all = Group::default();
    for own in groups.values() {
        all.merge(own);
    }
    all
}

/// What the dearest sessions cost as they went, and would have cost with us.
fn compared(
    agent: &Agent,
    files: &[SessionFile],
    sessions: &[SessionBill],
) -> (Totals, Totals, usize) {
    let config = agent.config();
    let options = Options {
        policies: vec![Policy::Recorded, Policy::Everfold],
        table: config.models.table.clone(),
        limits: Arc::clone(&config.limits),
        ..Options::default()
    };
    let mut dearest: Vec<&SessionBill> = sessions.iter().collect();
    dearest.sort_by(|one, other| other.bill.usd().total_cmp(&one.bill.usd()));
    let (mut ours, mut went, mut count) = (Totals::default(), Totals::default(), 0);
    for own in dearest.into_iter().filter(|own| own.bill.usd() > 0.0).take(REPLAYED) {
        if !files.iter().any(|file| file.path == own.path) {
            continue;
        }
        let Ok(found) = replay_file(&own.path, &options) else { continue };
        for lane in &found.outcome.lanes {
            if lane.policy == Policy::Everfold {
                ours.add(&lane.totals);
            } else {
                went.add(&lane.totals);
            }
        }
        count += 1;
    }
    (ours, went, count)
}
