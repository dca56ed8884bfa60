//! `everfold web`: the page (W1).

use crate::args::{Choices, WebArgs};
use crate::cost::agents;
use crate::presenter::{Presenter, TextStyle};
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_page::{PageAccess, PageSources, listen};

/// Serves until it is stopped.
pub(crate) async fn run(env: &ProcessEnv, args: &WebArgs, presenter: &Presenter) -> Result<()> {
    let agent = setup::for_looking(env, &Choices::default()).await?;
    let memories = setup::builder(env, &Choices::default())?.memory_dirs()?;
    let places = agents::places(&agent, env);
    let access = if args.read_only { PageAccess::ReadOnly } else { PageAccess::Full };
    let page = Box::pin(listen(PageSources { agent, memories, places }, access, args.port)).await?;
    presenter.line(&page.url())?;
    presenter.note(
        TextStyle::Dim,
        "open this address in a browser on this machine; Ctrl-C stops the page",
    );
    tokio::select! {
        ended = page.run() => Ok(ended?),
        stopped = tokio::signal::ctrl_c() => Ok(stopped?),
    }
}
