//! `everfold report`: the first minute (PC14). What the sessions of every agent
//! on this machine cost, why, what would change it, what our policy would have
//! cost, and what would have been remembered. Nothing is written.

use crate::args::{Choices, ReportArgs};
use crate::causes::{self, share};
use crate::cost::agents::{self, Remember};
use crate::presenter::{Presenter, TextStyle, counted};
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::bills::{self, Group, GroupBy, SessionBill};
use everfold_agent::session_files::{SessionFile, SessionOwner};
use everfold_agent::unsaved::unsaved;
use everfold_agent::{Agent, replay_file};
use everfold_page::report::{AgentBill, ComparedSessions, FirstReport, Saving};
use everfold_replay::{BillCause, CauseCost, Causes, Options, Policy, Totals};
use jiff::Timestamp;
use std::sync::Arc;

/// Sessions that are replayed under our policy: the dearest.
const REPLAYED: usize = 20;
const SECONDS_A_DAY: i64 = 86_400;

/// What would have been remembered: so many are shown.
const REMEMBERED: usize = 10;

pub(crate) async fn run(env: &ProcessEnv, args: &ReportArgs, presenter: &Presenter) -> Result<()> {
    let agent = setup::for_looking(env, &Choices::default()).await?;
    let since = Timestamp::now().as_second() - i64::from(args.days) * SECONDS_A_DAY;
    let mut files = agents::places(&agent, env).files();
    files.retain(|file| file.modified / 1_000 >= since);
    let mut sessions = agents::read(&agent, &files, Remember::No, presenter).sessions;
    sessions.retain(|own| own.bill.requests.iter().any(|request| request.at.as_second() >= since));
    let causes = bills::causes(&sessions);
    let limits = &agent.config().limits;
    // In sessions of our own it was.
    let is_other = |file: &&SessionFile| file.owner != SessionOwner::Everfold;
    let others: Vec<SessionFile> = files.iter().filter(is_other).cloned().collect();
    let mut remembered = unsaved(&others, limits, usize::MAX);
    remembered.retain(|own| own.at.as_second() >= since);
    remembered.truncate(REMEMBERED);
    let report = FirstReport {
        days: args.days,
        sessions: sessions.len(),
        remembered,
        replayed: compared(&agent, &files, &sessions),
        ..billed(&sessions, &causes)
    };
    if args.html {
        return Ok(presenter.text(&report.html())?);
    }
    if args.json {
        let mut value = serde_json::to_value(&report)?;
        if let Some(object) = value.as_object_mut() {
            object.insert("why".to_owned(), causes::to_json(&causes));
        }
        return Ok(Presenter::json(&value)?);
    }
    show(&report, causes.usd(), presenter)
}

/// What was paid, for whom and for what.
fn billed(sessions: &[SessionBill], causes: &Causes) -> FirstReport {
    let groups = bills::groups(sessions, GroupBy::Agent);
    let bill = |(agent, own): (&String, &Group)| AgentBill {
        agent: agent.clone(),
        usd: own.usd,
        requests: own.requests,
    };
    let mut agents: Vec<AgentBill> = groups.iter().map(bill).collect();
    agents.sort_by(|one, other| other.usd.total_cmp(&one.usd));
    let saving = |(cause, own): (BillCause, CauseCost)| Saving {
        cause: cause.title(),
        advice: cause.advice(),
        usd: own.avoidable_usd,
    };
    FirstReport {
        usd: groups.values().map(|own| own.usd).sum(),
        agents,
        savings: causes.worst().into_iter().map(saving).collect(),
        ..FirstReport::default()
    }
}

fn show(report: &FirstReport, bill: f64, presenter: &Presenter) -> Result<()> {
    let heading = format!(
        "the last {}: {} of {}, {:.2} USD\n",
        counted(u64::from(report.days), "day"),
        counted(report.sessions as u64, "session"),
        counted(report.agents.len() as u64, "agent"),
        report.usd
    );
    presenter.styled(TextStyle::Bold, &heading)?;
    for own in &report.agents {
        let requests = counted(own.requests, "request");
        presenter.line(&format!("{:<12} {:>9.2} USD  {requests}", own.agent, own.usd))?;
    }
    if !report.savings.is_empty() {
        presenter.styled(TextStyle::Bold, "\nwhat could have been saved\n")?;
    }
    for own in &report.savings {
        let percent = share(own.usd, bill);
        let (usd, cause, advice) = (own.usd, own.cause, own.advice);
        presenter.line(&format!("{usd:>9.2} USD ({percent:.0} %)  {cause}: {advice}"))?;
    }
    let own = &report.replayed;
    if own.sessions > 0 {
        presenter.styled(
            TextStyle::Bold,
            "\nwith Everfold's policy, including all that it spends itself\n",
        )?;
        presenter.line(&format!(
            "the most expensive {}: {:.2} USD instead of {:.2} ({:.0} %), {:.2} of it in the \
             background",
            counted(own.sessions as u64, "session"),
            own.everfold_usd,
            own.recorded_usd,
            share(own.everfold_usd, own.recorded_usd),
            own.everfold_background_usd
        ))?;
    }
    show_remembered(report, presenter)?;
    presenter.line(
        "\n`everfold cost --agents --why` has the whole bill, `everfold replay` each session",
    )?;
    Ok(())
}

fn show_remembered(report: &FirstReport, presenter: &Presenter) -> Result<()> {
    if !report.remembered.is_empty() {
        let title = "\nwhat would have been remembered, with the words it is based on\n";
        presenter.styled(TextStyle::Bold, title)?;
    }
    for own in &report.remembered {
        let often = match own.times {
            1 => String::new(),
            times => format!(", said {}", counted(times as u64, "time")),
        };
        let asked = if own.is_sure { "" } else { ", would wait in the inbox" };
        let day = own.at.strftime("%Y-%m-%d");
        presenter.line(&format!("{} ({})", own.text, own.kind))?;
        presenter.styled(TextStyle::Dim, &format!("    “{}”, {day}{often}{asked}\n", own.words))?;
    }
    Ok(())
}

/// What the dearest sessions cost as they went, and would have cost with us.
fn compared(agent: &Agent, files: &[SessionFile], sessions: &[SessionBill]) -> ComparedSessions {
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
    ComparedSessions {
        sessions: count,
        recorded_usd: went.usd,
        everfold_usd: ours.usd,
        everfold_background_usd: ours.background_usd,
        everfold_rereads: ours.rereads,
    }
}
