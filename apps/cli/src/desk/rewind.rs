//! `/rewind`: going back to an earlier point (Q12).

use super::messages::tell;
use super::{Desk, Flow};
use crate::present::{Look, cut};
use anyhow::Result;
use jiff::tz::TimeZone;
use mnemon::engine::rewinding::{Point, PointKind, RewindReport, RewindWhat};
use mnemon::kernel::RecordId;

/// Lists the points, or goes back to one.
pub(super) async fn run(desk: &mut Desk, text: &str) -> Result<Flow> {
    let points = desk.session.rewind_points().await?;
    let mut words = text.split_whitespace();
    let Some(name) = words.next() else { return list(desk, &points) };
    let what = match words.next() {
        None | Some("both") => RewindWhat::Both,
        Some("conversation") => RewindWhat::Conversation,
        Some("files") => RewindWhat::Files,
        Some(_) => {
            let why = "write /rewind NUMBER [both | conversation | files]";
            return tell(desk, Err(why.to_owned()));
        }
    };
    let Some(point) = named(&points, name) else {
        return tell(desk, Err(format!("no point is {name:?}; /rewind lists them")));
    };
    match desk.session.rewind(&point, what).await? {
        Ok(report) => {
            told(desk, &report)?;
            Ok(if what.conversation() { Flow::WentBack(report.text) } else { Flow::GoOn })
        }
        Err(why) => tell(desk, Err(why)),
    }
}

fn named(points: &[Point], name: &str) -> Option<RecordId> {
    let number = name.parse::<usize>().ok();
    let is = |point: &&Point| number == Some(point.number) || point.id.as_str() == name;
    points.iter().find(is).map(|point| point.id.clone())
}

fn list(desk: &Desk, points: &[Point]) -> Result<Flow> {
    if points.is_empty() {
        return tell(desk, Ok("there is nothing to go back to yet".to_owned()));
    }
    let rows: Vec<Vec<String>> = points
        .iter()
        .map(|point| {
            let words = match point.kind {
                PointKind::Message => cut(&point.text, 200),
                PointKind::WentBack => "(you went back here)".to_owned(),
            };
            let at = point.at.to_zoned(TimeZone::system()).strftime("%m-%d %H:%M").to_string();
            let files = format!("{} files since", point.files.len());
            vec![format!("{:>4}", point.number), at, files, words]
        })
        .collect();
    desk.presenter.table(&rows)?;
    let hint = "/rewind NUMBER [both | conversation | files] goes back to before a message";
    desk.presenter.note(Look::Dim, hint);
    Ok(Flow::GoOn)
}

fn told(desk: &Desk, report: &RewindReport) -> Result<()> {
    let presenter = &desk.presenter;
    for (word, files) in [("put back", &report.restored), ("removed", &report.removed)] {
        for path in files {
            presenter.line(&format!("{word} {}", path.display()))?;
        }
    }
    for path in &report.by_hand {
        let text = format!("{} had been changed by hand; /rewind undoes this step", path.display());
        presenter.note(Look::Yellow, &text);
    }
    for (path, why) in &report.failed {
        presenter.note(Look::Red, &format!("{} stays as it is: {why}", path.display()));
    }
    presenter.styled(Look::Dim, "went back; /rewind lists this step too\n")?;
    Ok(())
}
