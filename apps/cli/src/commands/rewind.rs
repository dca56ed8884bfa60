//! `/rewind`: going back to an earlier point (Q12).

use super::messages::tell;
use super::{CommandContext, Flow, compact};
use crate::presenter::{TextStyle, counted, cut};
use anyhow::{Result, anyhow};
use everfold_agent::engine::turn::rewind;
use everfold_agent::engine::turn::rewind::{Point, PointKind, RewindReport, RewindWhat};
use everfold_agent::engine::window::compaction::CompactionScope;
use everfold_kernel::RecordId;
use jiff::tz::TimeZone;

const USAGE: &str =
    "/rewind NUMBER [both | conversation | files | summarize-from | summarize-up-to]";

/// Lists the points, goes back to one, or sums up what is before or after it.
pub(super) async fn run(cx: &mut CommandContext, text: &str) -> Result<Flow> {
    let points = rewind::rewind_points(&cx.session).await?;
    let mut words = text.split_whitespace();
    let Some(name) = words.next() else { return list(cx, &points) };
    let what = match words.next() {
        Some(how @ ("summarize-from" | "summarize-up-to")) => {
            let Some(point) = named(&points, name) else { return unknown(cx, name) };
            let from = how == "summarize-from";
            let scope =
                if from { CompactionScope::From(point) } else { CompactionScope::UpTo(point) };
            return compact::compact(cx, scope, None).await;
        }
        None | Some("both") => RewindWhat::Both,
        Some("conversation") => RewindWhat::Conversation,
        Some("files") => RewindWhat::Files,
        Some(_) => {
            return tell(cx, Err(anyhow!("usage: {USAGE}")));
        }
    };
    let Some(point) = named(&points, name) else { return unknown(cx, name) };
    match rewind::rewind(&mut cx.session, &point, what).await {
        Ok(report) => {
            told(cx, &report)?;
            Ok(if what.conversation() { Flow::WentBack(report.text) } else { Flow::GoOn })
        }
        Err(why) => tell(cx, Err(why.into())),
    }
}

fn unknown(cx: &CommandContext, name: &str) -> Result<Flow> {
    tell(cx, Err(anyhow!("no message {name:?} to go back to; /rewind lists them")))
}

fn named(points: &[Point], name: &str) -> Option<RecordId> {
    let number = name.parse::<usize>().ok();
    let is = |point: &&Point| number == Some(point.number) || point.id.as_str() == name;
    points.iter().find(is).map(|point| point.id.clone())
}

fn list(cx: &CommandContext, points: &[Point]) -> Result<Flow> {
    if points.is_empty() {
        return tell(cx, Ok("nothing to go back to yet".to_owned()));
    }
    let rows: Vec<Vec<String>> = points
        .iter()
        .map(|point| {
            let words = match point.kind {
                PointKind::Message => cut(&point.text, 200),
                PointKind::WentBack => "(you went back here)".to_owned(),
            };
            let at = point.at.to_zoned(TimeZone::system()).strftime("%m-%d %H:%M").to_string();
            let (added, removed) = point.files.iter().fold((0, 0), |(added, removed), file| {
                (added + file.added, removed + file.removed)
            });
            let files = counted(point.files.len() as u64, "file");
            let files = format!("{files} since, +{added} -{removed}");
            vec![format!("{:>4}", point.number), at, files, words]
        })
        .collect();
    cx.presenter.table(&rows)?;
    cx.presenter.note(TextStyle::Dim, &format!("{USAGE} goes back to before a message"));
    Ok(Flow::GoOn)
}

fn told(cx: &CommandContext, report: &RewindReport) -> Result<()> {
    let presenter = &cx.presenter;
    for (word, files) in [("restored", &report.restored), ("removed", &report.removed)] {
        for path in files {
            presenter.line(&format!("{word} {}", path.display()))?;
        }
    }
    for path in &report.by_hand {
        let text = format!("{} had been edited by hand; /rewind undoes this step", path.display());
        presenter.note(TextStyle::Yellow, &text);
    }
    for (path, why) in &report.failed {
        presenter.note(TextStyle::Red, &format!("{} stays as it is: {why}", path.display()));
    }
    presenter.styled(TextStyle::Dim, "went back; /rewind lists this step too\n")?;
    Ok(())
}
