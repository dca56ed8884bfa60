//! `everfold replay`: what sessions cost, and what they would have cost under
//! other policies (PC7): a table, a picture, and why.

mod json;
mod picture;
mod scale;
mod svg;

use crate::args::Choices;
use crate::args::replay::ReplayArgs;
use crate::failure::Usage;
use crate::presenter::{Presenter, TextStyle, grouped};
use crate::session_picker;
use crate::setup::{self, ProcessEnv};
use anyhow::{Context, Result};
use everfold::foreign::ImportTally;
use everfold::{Agent, Replayed, replay_file};
use everfold_replay::{LaneReport, Options, Outcome, Policy, Totals, Truth};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// With more sessions than this, they are not drawn on the terminal.
const MOST_PICTURES: usize = 3;

/// One session that was replayed.
pub(crate) struct Session {
    pub(crate) file: PathBuf,
    pub(crate) found: Replayed,
}

/// Replays transcripts.
pub(crate) async fn run(env: &ProcessEnv, args: &ReplayArgs, presenter: &Presenter) -> Result<()> {
    let agent = setup::for_looking(env, &Choices::default()).await?;
    let options = options(&agent, args)?;
    let mut sessions = Vec::new();
    for file in files(&agent, &args.files).await? {
        let found = replay_file(&file, &options)?;
        sessions.push(Session { file, found });
    }
    if let Some(path) = &args.svg {
        let drawn = svg::draw(&sessions);
        std::fs::write(path, drawn)
            .with_context(|| format!("{} was not written", path.display()))?;
    }
    if args.json {
        let wanted = json::Wanted { why: args.why, rounds: args.rounds };
        return Ok(Presenter::json(&json::value(&sessions, wanted))?);
    }
    let pictures = sessions.len() <= MOST_PICTURES;
    for session in &sessions {
        show(session, args.why, pictures, presenter)?;
    }
    if sessions.len() > 1 {
        show_total(&sessions, presenter)?;
    }
    Ok(())
}

fn options(agent: &Agent, args: &ReplayArgs) -> Result<Options> {
    let config = agent.config();
    if let Some(model) = &args.model
        && config.models.table.spec(&model.as_str().into()).prices.is_none()
    {
        let known: Vec<&str> = config.models.table.iter().map(|(name, _)| name).collect();
        let message = format!("the model {model:?} has no price");
        let hint = format!("there are {}; everfold.prices adds others", known.join(", "));
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
        window_tokens: args.window,
    })
}

/// The files that were named, those in directories that were, and those of
/// sessions of this directory that were.
async fn files(agent: &Agent, named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            let session = path.to_str().filter(|text| !path.exists() && is_bare(text));
            files.push(match session {
                Some(text) => {
                    agent.world().transcripts.path(&session_picker::find(agent, text).await?)
                }
                None => path.clone(),
            });
            continue;
        }
        let entries = std::fs::read_dir(path);
        let entries = entries.with_context(|| format!("{} was not read", path.display()))?;
        let mut found: Vec<PathBuf> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
            .collect();
        found.sort();
        files.append(&mut found);
    }
    if files.is_empty() {
        let message = "no transcript was found in what was named";
        return Err(Usage::new(message, "name .jsonl files, or directories that have them").into());
    }
    Ok(files)
}

/// Whether this can be the id of a session, and no file.
fn is_bare(text: &str) -> bool {
    !text.is_empty() && !text.contains(['/', '\\', '.'])
}

fn show(session: &Session, why: bool, picture: bool, presenter: &Presenter) -> Result<()> {
    let Session { file, found } = session;
    let Outcome { lanes, reported, truth, beside_usd, threads } = &found.outcome;
    presenter.styled(TextStyle::Bold, &format!("{}\n", title(file)))?;
    let format = found.about.format.map_or("no transcript that is known", |own| own.as_str());
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
        presenter.line(&format!("beside the conversation {beside_usd:.4} USD were booked"))?;
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
    presenter.styled(TextStyle::Bold, &format!("dearest under {}\n", lane.policy))?;
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
