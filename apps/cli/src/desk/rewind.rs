//! `/rewind`: points to go back to, and going back (Q12).

use super::messages::tell;
use super::{Desk, Flow, compact};
use crate::present::{Look, cut};
use anyhow::Result;
use mnemon::engine::compacting::Scope;
use mnemon::engine::rewinding::{
    ChangedFile, Point, PointKind, RewindReport, RewindWhat, Standing,
};

const USAGE: &str =
    "write /rewind N [files | conversation | both | summarize-from | summarize-up-to]";

/// What is done with a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Look,
    Rewind(RewindWhat),
    SummarizeFrom,
    SummarizeUpTo,
}

impl Act {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "" => Self::Look,
            "files" => Self::Rewind(RewindWhat::Files),
            "conversation" => Self::Rewind(RewindWhat::Conversation),
            "both" => Self::Rewind(RewindWhat::Both),
            "summarize-from" => Self::SummarizeFrom,
            "summarize-up-to" => Self::SummarizeUpTo,
            _ => return None,
        })
    }
}

pub(super) async fn run(desk: &mut Desk, text: &str) -> Result<Flow> {
    let mut words = text.split_whitespace();
    let Some(number) = words.next() else { return list(desk).await };
    let act = Act::parse(words.next().unwrap_or_default()).filter(|_| words.next().is_none());
    let (Ok(number), Some(act)) = (number.parse::<usize>(), act) else {
        return tell(desk, Err(USAGE.to_owned()));
    };
    let points = desk.session.rewind_points().await?;
    let Some(point) = points.into_iter().find(|point| point.number == number) else {
        return tell(desk, Err(format!("there is no point {number}; /rewind lists them")));
    };
    match act {
        Act::Look => look(desk, &point),
        Act::Rewind(what) => match desk.session.rewind(&point.id, what).await? {
            Ok(report) => show(desk, &report, what),
            Err(why) => tell(desk, Err(why)),
        },
        Act::SummarizeFrom => compact::compact(desk, Scope::From(point.id), None).await,
        Act::SummarizeUpTo => compact::compact(desk, Scope::UpTo(point.id), None).await,
    }
}

async fn list(desk: &Desk) -> Result<Flow> {
    let points = desk.session.rewind_points().await?;
    if points.is_empty() {
        return tell(desk, Ok("nothing was said yet".to_owned()));
    }
    let rows: Vec<Vec<String>> = points
        .iter()
        .map(|point| vec![point.number.to_string(), title(point), files(&point.files)])
        .collect();
    desk.presenter.table(&rows)?;
    desk.presenter.styled(Look::Dim, &format!("{USAGE}\n"))?;
    Ok(Flow::GoOn)
}

fn title(point: &Point) -> String {
    match point.kind {
        PointKind::Message => cut(&point.text.split_whitespace().collect::<Vec<_>>().join(" "), 60),
        PointKind::WentBack => "(went back; going here undoes it)".to_owned(),
    }
}

fn files(files: &[ChangedFile]) -> String {
    let added: usize = files.iter().map(|file| file.added).sum();
    let removed: usize = files.iter().map(|file| file.removed).sum();
    match files.len() {
        0 => String::new(),
        1 => format!("1 file since, +{added} -{removed}"),
        many => format!("{many} files since, +{added} -{removed}"),
    }
}

fn look(desk: &Desk, point: &Point) -> Result<Flow> {
    desk.presenter.line(&format!("{}  {}", point.number, title(point)))?;
    for file in &point.files {
        let standing = match &file.standing {
            Standing::AsWritten => String::new(),
            Standing::ByHand => ", changed by hand since (a copy is kept)".to_owned(),
            Standing::Stuck(why) => format!(", cannot be put back: {why}"),
        };
        let changed = format!("+{} -{}", file.added, file.removed);
        desk.presenter.line(&format!("  {} {changed}{standing}", file.path.display()))?;
    }
    desk.presenter.styled(Look::Dim, &format!("{USAGE}\n"))?;
    Ok(Flow::GoOn)
}

fn show(desk: &Desk, report: &RewindReport, what: RewindWhat) -> Result<Flow> {
    let presenter = &desk.presenter;
    for (did, paths) in [("restored", &report.restored), ("removed", &report.removed)] {
        for path in paths {
            let mine = report.by_hand.contains(path);
            let kept = if mine { " (changed by hand; what it was is kept)" } else { "" };
            presenter.line(&format!("{did} {}{kept}", path.display()))?;
        }
    }
    for (path, why) in &report.failed {
        presenter.note(Look::Yellow, &format!("{} stays as it is: {why}", path.display()));
    }
    if what.files() && report.restored.is_empty() && report.removed.is_empty() {
        presenter.line("no file had to be changed")?;
    }
    if what.conversation() {
        presenter.line("the conversation goes on from there; what came after it is kept")?;
        if let Some(text) = &report.text {
            presenter.styled(Look::Dim, &format!("you had said: {text}\n"))?;
        }
    }
    presenter.styled(Look::Dim, "/rewind lists this step too: going back to it undoes it\n")?;
    Ok(Flow::GoOn)
}
