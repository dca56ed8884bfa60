//! `everfold replay`: what sessions cost, and what they would have cost under
//! other policies (PC7): a table, a picture, and why.

mod chosen;
mod json;
mod picture;

use crate::args::Choices;
use crate::args::replay::ReplayArgs;
use crate::failure::{Refusal, Usage};
use crate::presenter::{Presenter, TextStyle, grouped};
use crate::setup::{self, ProcessEnv};
use anyhow::{Context, Result};
use everfold_agent::{Agent, Replayed, replay_file};
use everfold_foreign::ImportTally;
use everfold_replay::svg::{self, DrawnSession};
use everfold_replay::{Bill, Causes, LaneReport, Options, Outcome, Policy, Totals, Truth};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// With more sessions than this, they are not drawn on the terminal.
const MOST_PICTURES: usize = 3;

/// Sessions that are named where there are many.
const DEAREST: usize = 10;

/// One session that was replayed.
pub(crate) struct Session {
    pub(crate) file: PathBuf,
    pub(crate) found: Replayed,
}

impl Session {
    /// What it cost, by what is known best.
    fn usd(&self) -> f64 {
        let outcome = &self.found.outcome;
        let reported = outcome.reported.as_ref().map(|own| own.usd);
        reported.or_else(|| Some(outcome.lanes.first()?.totals.usd)).unwrap_or(0.0)
    }
}

pub(crate) async fn run(env: &ProcessEnv, args: &ReplayArgs, presenter: &Presenter) -> Result<()> {
    let agent = setup::for_looking(env, &Choices::default()).await?;
    let options = options(&agent, args)?;
    let files = chosen::files(&agent, env, &args.files).await?;
    let mut sessions = Vec::new();
    let all = files.len();
    for (number, file) in files.into_iter().enumerate() {
        if all > MOST_PICTURES && presenter.is_terminal() && number % 10 == 0 {
            presenter.note(TextStyle::Dim, &format!("{number} of {all}"));
        }
        let found = replay_file(&file, &options)?;
        // In a directory there may be anything; what was named has to be one.
        if found.about.format.is_some() || all == 1 {
            sessions.push(Session { file, found });
        }
    }
    refuse_what_is_none(&sessions)?;
    sessions.sort_by(|one, other| other.usd().total_cmp(&one.usd()));
    if let Some(path) = &args.svg {
        let names: Vec<String> = sessions.iter().map(|own| title(&own.file)).collect();
        let drawn: Vec<DrawnSession<'_>> = sessions
            .iter()
            .zip(&names)
            .map(|(own, name)| DrawnSession { name, lanes: &own.found.outcome.lanes })
            .collect();
        let drawn = svg::draw(&drawn);
        std::fs::write(path, drawn)
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    if args.json {
        let wanted = json::Wanted { why: args.why, rounds: args.rounds };
        return Ok(Presenter::json(&json::value(&sessions, wanted))?);
    }
    if sessions.len() > 1 {
        show_total(&sessions, presenter)?;
    }
    if args.why {
        crate::causes::show(&causes(&sessions), presenter)?;
        presenter.line("")?;
    }
    let pictures = sessions.len() <= MOST_PICTURES;
    if !pictures && !args.each {
        return show_dearest(&sessions, presenter);
    }
    for session in &sessions {
        show(session, args.why, pictures, presenter)?;
    }
    Ok(())
}

/// A file that is no transcript is said to be none (PC13).
fn refuse_what_is_none(sessions: &[Session]) -> Result<()> {
    let known = |own: &Session| own.found.about.format.is_some();
    if sessions.iter().any(known) {
        return Ok(());
    }
    let name = sessions.first().map_or_else(String::new, |own| own.file.display().to_string());
    let hint = "transcripts of Everfold, Claude Code, Codex, Gemini CLI and pi are known";
    Err(Refusal::new(format!("{name} is not a transcript that Everfold can read"), hint).into())
}

/// The causes of the bills of all sessions.
pub(super) fn causes(sessions: &[Session]) -> Causes {
    let bill = |own: &Session| {
        let lane = own.found.outcome.lanes.iter().find_map(|lane| lane.bill.clone());
        lane.map(|bill| (title(&own.file), bill))
    };
    let bills: Vec<(String, Bill)> = sessions.iter().filter_map(bill).collect();
    Causes::of(bills.iter().map(|(name, bill)| (name.clone(), bill)))
}

/// The ten dearest sessions, a line each.
fn show_dearest(sessions: &[Session], presenter: &Presenter) -> Result<()> {
    presenter.styled(TextStyle::Bold, "\nmost expensive\n")?;
    let policies = sessions.first().map_or(&[][..], |own| &own.found.outcome.lanes);
    let mut head = vec!["session".to_owned(), "reported".to_owned()];
    head.extend(policies.iter().map(|lane| lane.policy.to_string()));
    let mut rows = vec![head];
    for own in sessions.iter().take(DEAREST) {
        let outcome = &own.found.outcome;
        let reported = outcome.reported.as_ref().map_or_else(|| "-".to_owned(), price);
        let mut row = vec![title(&own.file), reported];
        row.extend(outcome.lanes.iter().map(|lane| price(&lane.totals)));
        rows.push(row);
    }
    presenter.table(&rows)?;
    match sessions.len().saturating_sub(DEAREST) {
        0 => Ok(()),
        more => Ok(presenter.line(&format!("and {more} more; --each shows every one"))?),
    }
}

fn options(agent: &Agent, args: &ReplayArgs) -> Result<Options> {
    let config = agent.config();
    if let Some(model) = &args.model
        && config.models.table.spec(&model.as_str().into()).prices.is_none()
    {
        let known: Vec<&str> = config.models.table.iter().map(|(name, _)| name).collect();
        let message = format!("the model {model:?} has no price");
        let hint = format!("known: {}; everfold.prices adds others", known.join(", "));
        return Err(Usage::new(message, hint).into());
    }
    Ok(Options {
        policies: args.policies(),
        model: args.model.as_deref().map(Into::into),
        ttl: args.ttl.map(Into::into),
        table: config.models.table.clone(),
        limits: Arc::clone(&config.limits),
        flags: config.flags.clone(),
        window: config.models.window,
        economy: config.background.compact.economy,
        window_tokens: args.window,
        small_model: config.models.small.clone(),
    })
}

fn show(session: &Session, why: bool, picture: bool, presenter: &Presenter) -> Result<()> {
    let Session { file, found } = session;
    let Outcome { lanes, reported, truth, beside_usd, threads } = &found.outcome;
    presenter.styled(TextStyle::Bold, &format!("{}\n", title(file)))?;
    let format =
        found.about.format.map_or("not a transcript that Everfold can read", |own| own.as_str());
    let version = found.about.version.as_deref().unwrap_or("");
    let asides = match threads.saturating_sub(1) {
        0 => String::new(),
        1 => ", 1 sidechain".to_owned(),
        more => format!(", {more} sidechains"),
    };
    presenter.styled(TextStyle::Dim, &format!("{format} {version}{asides}\n"))?;
    if let Some(skipped) = skipped(&found.about.tally) {
        presenter.styled(TextStyle::Yellow, &format!("{skipped}\n"))?;
    }
    presenter.table(&table(lanes, reported.as_ref()))?;
    if let Some(truth) = truth {
        presenter.line(&compared(truth))?;
    }
    if *beside_usd > 0.0 {
        presenter.line(&format!("work beside the conversation cost {beside_usd:.4} USD"))?;
    }
    if picture {
        for lane in pictured(lanes) {
            picture::draw(lane, presenter)?;
        }
    }
    if let (true, Some(lane)) = (why, lanes.first()) {
        explain(lane, presenter)?;
    }
    Ok(presenter.line("")?)
}

/// What is drawn on the terminal: the first policy, and ours.
fn pictured(lanes: &[LaneReport]) -> impl Iterator<Item = &LaneReport> {
    let first = lanes.first().map(|lane| lane.policy);
    lanes.iter().filter(move |lane| Some(lane.policy) == first || lane.policy == Policy::Everfold)
}

fn show_total(sessions: &[Session], presenter: &Presenter) -> Result<()> {
    let (lanes, reported, truth) = totals(sessions);
    presenter.styled(TextStyle::Bold, &format!("all {} sessions\n", sessions.len()))?;
    let mut rows = vec![head()];
    rows.extend(reported.map(|own| row("reported", &own)));
    rows.extend(lanes.iter().map(|(policy, own)| row(&policy.to_string(), own)));
    presenter.table(&rows)?;
    if truth.requests > 0 {
        presenter.line(&compared(&truth))?;
    }
    Ok(())
}

/// Sums over sessions: by policy, as reported, and how far the prediction is off.
pub(crate) fn totals(sessions: &[Session]) -> (Vec<(Policy, Totals)>, Option<Totals>, Truth) {
    let mut lanes: Vec<(Policy, Totals)> = Vec::new();
    let mut reported: Option<Totals> = None;
    let mut truth = Truth::default();
    for Session { found, .. } in sessions {
        for lane in &found.outcome.lanes {
            match lanes.iter_mut().find(|(policy, _)| *policy == lane.policy) {
                Some((_, own)) => own.add(&lane.totals),
                None => lanes.push((lane.policy, lane.totals)),
            }
        }
        if let Some(own) = &found.outcome.reported {
            reported.get_or_insert_default().add(own);
        }
        if let Some(own) = &found.outcome.truth {
            truth.add(own);
        }
    }
    (lanes, reported, truth)
}

fn title(file: &Path) -> String {
    file.file_name()
        .map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into())
}

/// What was not taken in, by reason.
fn skipped(tally: &ImportTally) -> Option<String> {
    let parts: Vec<String> = tally
        .skipped
        .iter()
        .map(|(reason, skip)| {
            format!("{} × {reason} (first on line {})", skip.count, skip.first_line)
        })
        .collect();
    (!parts.is_empty()).then(|| format!("skipped: {}", parts.join(", ")))
}

fn compared(truth: &Truth) -> String {
    format!(
        "recorded against reported, {} requests: prompts {:+.1} %, cache reads {:+.1} %, \
         cache writes {:+.1} %, cost of prompts {:+.1} %",
        grouped(truth.requests),
        truth.prompt.error_percent(),
        truth.cache_read.error_percent(),
        truth.cache_write.error_percent(),
        truth.usd.error_percent()
    )
}

fn head() -> Vec<String> {
    let names = [
        "policy",
        "requests",
        "prompt",
        "cached",
        "written",
        "output",
        "USD",
        "largest",
        "over",
        "breaks",
        "expired",
        "summaries",
        "cleared",
        "regret",
        "reread",
    ];
    names.map(str::to_owned).to_vec()
}

fn table(lanes: &[LaneReport], reported: Option<&Totals>) -> Vec<Vec<String>> {
    let mut rows = vec![head()];
    rows.extend(reported.map(|own| row("reported", own)));
    rows.extend(lanes.iter().map(|lane| row(&lane.policy.to_string(), &lane.totals)));
    rows
}

fn row(name: &str, own: &Totals) -> Vec<String> {
    let is_reported = name == "reported";
    let unknown = |text: String| if is_reported { "-".to_owned() } else { text };
    let breaks = match own.breaks.unexplained {
        0 => own.breaks.declared.to_string(),
        more if is_reported => format!("? + {more}"),
        more => format!("{} + {more}?", own.breaks.declared),
    };
    vec![
        name.to_owned(),
        grouped(own.requests),
        grouped(own.usage.prompt().0),
        format!("{:.1}%", own.usage.hit_rate() * 100.0),
        grouped(own.usage.cache_write()),
        grouped(own.usage.output),
        price(own),
        grouped(own.largest),
        unknown(grouped(own.over_window)),
        if is_reported && own.breaks.unexplained == 0 { "-".to_owned() } else { breaks },
        unknown(own.breaks.expired.to_string()),
        unknown(own.compactions.to_string()),
        unknown(own.clearings.to_string()),
        unknown(own.regrets.to_string()),
        unknown(own.rereads.to_string()),
    ]
}

fn price(own: &Totals) -> String {
    match own.unpriced {
        0 => format!("{:.4}", own.usd),
        all if all >= own.requests => "no price".to_owned(),
        some => format!("{:.4} + {some} without", own.usd),
    }
}

fn explain(lane: &LaneReport, presenter: &Presenter) -> Result<()> {
    presenter.styled(TextStyle::Bold, &format!("most expensive under {}\n", lane.policy))?;
    if lane.moments.is_empty() {
        return Ok(presenter.line("nothing had a price")?);
    }
    let mut advice = "";
    for moment in &lane.moments {
        let at = moment.at.strftime("%Y-%m-%d %H:%M:%SZ");
        let (usd, round) = (moment.usd, moment.round + 1);
        presenter.line(&format!("{usd:>9.4} USD  request {round:>4}  {at}  {}", moment.what))?;
        // What was just said is not said again.
        if std::mem::replace(&mut advice, &moment.avoid) != moment.avoid {
            let helped = format!("               would have helped: {}\n", moment.avoid);
            presenter.styled(TextStyle::Dim, &helped)?;
        }
    }
    Ok(())
}
