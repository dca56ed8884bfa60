//! `/context`: a picture of the window (T4, L4.16), line by line.

use super::{CommandContext, Flow};
use crate::presenter::TextStyle;
use crate::setup;
use anyhow::Result;
use everfold_agent::engine::window::context_view;
use everfold_tui::picture;

/// The brackets around the bar.
const FRAME: usize = 2;

/// Shows the window of the session.
pub(super) fn run(cx: &CommandContext) -> Result<Flow> {
    let (view, presenter) = (context_view::context_view(&cx.session), &cx.presenter);
    let model = setup::model_name(&cx.agent, &cx.session);
    presenter.line(&picture::summary(&view, &model))?;
    let cells = presenter.width().saturating_sub(FRAME);
    presenter.text("[")?;
    for (category, count) in picture::runs(&view, cells) {
        let (letter, look) = category.map_or((' ', TextStyle::Normal), picture::sign);
        presenter.styled(look, &letter.to_string().repeat(count))?;
    }
    presenter.line("]")?;
    for threshold in &view.thresholds {
        let mark = picture::mark(threshold, view.window.size.0, cells);
        presenter.styled(TextStyle::Dim, &format!("{mark}\n"))?;
    }
    let rows: Vec<Vec<String>> =
        view.categories.iter().map(|category| picture::cells(category, &view)).collect();
    presenter.table(&rows)?;
    Ok(Flow::GoOn)
}
