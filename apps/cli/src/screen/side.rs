//! What panels look at while a turn has the session: the same lists and
//! commands as everywhere, over the agent and the disk.

use super::readable;
use crate::args::Choices;
use crate::cost;
use crate::desk::{memory as line, tables};
use crate::doctor;
use crate::memory;
use crate::present::Presenter;
use crate::setup::Ground;
use anyhow::{Result, anyhow};
use mnemon::Agent;
use mnemon::kernel::Ledger;
use mnemon_tui::{BoxFuture, Listing, Page, Side, Table};
use std::sync::Arc;

/// The agent and the ground that it stands on.
#[derive(Clone)]
pub(super) struct Beside {
    pub(super) agent: Arc<Agent>,
    pub(super) ground: Ground,
}

impl Side for Beside {
    fn table(&self, what: Listing) -> BoxFuture<'static, Result<Table>> {
        let Self { agent, ground } = self.clone();
        Box::pin(async move {
            match what {
                Listing::Memories => apart(move || memory::memories(&ground)).await,
                Listing::Changes => apart(move || memory::changes(&ground)).await,
                Listing::Inbox => apart(move || memory::proposals(&ground)).await,
                Listing::Sessions => tables::sessions(&agent).await,
                Listing::AllSessions => tables::all_sessions(&agent).await,
                Listing::Settings => Ok(tables::settings(&agent)),
                Listing::Findings => doctor::table(&ground, &Choices::default()).await,
                Listing::Models => Ok(tables::models(&agent)),
                Listing::Servers => Ok(tables::servers(&agent)),
                Listing::Skills => Ok(tables::skills(&agent)),
                Listing::Rules => Ok(tables::rules(&agent)),
            }
        })
    }

    fn run(&self, text: &str, page: Page) -> BoxFuture<'static, Result<()>> {
        let ground = self.ground.clone();
        let text = text.to_owned();
        Box::pin(apart(move || {
            let words = text.strip_prefix("memory ").ok_or_else(|| anyhow!("not here: {text}"))?;
            let mut words = line::words(words);
            if words == ["undo"] {
                // The last change, wherever it was.
                let tier = memory::last_changed(&ground)?;
                words.extend(["--scope".to_owned(), tier.as_str().to_owned()]);
            }
            let command = line::parse(words).map_err(|error| anyhow!("{error}"))?;
            memory::run(&ground, &command, &Presenter::on(page)).map(drop).map_err(readable)
        }))
    }

    fn spent(&self) -> BoxFuture<'static, Result<Vec<(String, Ledger)>>> {
        let agent = Arc::clone(&self.agent);
        Box::pin(async move { cost::spent(&agent).await })
    }
}

/// Work that blocks, away from the threads that others wait on.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await?
}
