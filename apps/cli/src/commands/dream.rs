//! `/dream`: memories are tidied while the person watches.

use super::{CommandContext, Flow};
use crate::presenter::TextStyle;
use anyhow::Result;
use everfold_agent::engine::session::effects;

pub(super) async fn run(cx: &mut CommandContext, text: &str) -> Result<Flow> {
    let Some(wish) = crate::dream::wish(text) else {
        cx.presenter.note(TextStyle::Yellow, "usage: /dream [team] [--dry-run] [--force]");
        return Ok(Flow::GoOn);
    };
    let CommandContext { session, stop, presenter, .. } = cx;
    let watch = crate::dream::Watch::lines(presenter.clone());
    let end = crate::dream::watched(session, wish, stop, watch).await?;
    effects::book_side_queries(session).await?;
    crate::dream::show(&end, wish, presenter)?;
    Ok(Flow::GoOn)
}
