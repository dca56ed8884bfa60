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
use everfold::Agent;
use everfold::kernel::Ledger;
use everfold_tui::{BoxFuture, Listing, Page, Side, Table};
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup;
    use everfold_tui::Row;
    use std::collections::BTreeMap;

    async fn beside(home: &std::path::Path) -> Beside {
        let variables = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let ground = Ground { variables, user_home: Some(home.to_owned()) };
        let agent = setup::for_looking(&ground, &Choices::default()).await.unwrap();
        Beside { agent: Arc::new(agent), ground }
    }

    async fn rows(side: &Beside, what: Listing) -> Vec<Row> {
        side.table(what).await.unwrap().rows
    }

    #[tokio::test]
    async fn l5_17_memories_are_listed_forgotten_and_brought_back() {
        let home = tempfile::tempdir().unwrap();
        let side = beside(home.path()).await;
        assert!(rows(&side, Listing::Memories).await.is_empty());
        for text in ["deploys need a word", "tabs, not spaces"] {
            everfold::engine::memory::extraction::statement::remember(&side.agent.start(), text)
                .await
                .unwrap();
        }
        let all = rows(&side, Listing::Memories).await;
        assert_eq!(all.len(), 2);
        let first = all.first().unwrap().id.clone();
        side.run(&format!("memory forget {first}"), Page::nowhere()).await.unwrap();
        assert_eq!(rows(&side, Listing::Memories).await.len(), 1);
        side.run("memory undo", Page::nowhere()).await.unwrap();
        assert_eq!(rows(&side, Listing::Memories).await.len(), 2);
        let changes = rows(&side, Listing::Changes).await;
        assert_eq!(changes.first().unwrap().cells.get(4).unwrap(), "undo");
        let newest = changes.first().unwrap().id.clone();
        side.run(&format!("memory diff {newest}"), Page::nowhere()).await.unwrap();
        let gone = side.run("memory forget 'no such' --scope project", Page::nowhere()).await;
        assert!(gone.unwrap_err().to_string().contains("there is no memory"));
        assert!(side.run("quit", Page::nowhere()).await.is_err(), "nothing else is run here");
    }

    #[tokio::test]
    async fn q9_every_list_can_be_made_beside_the_session() {
        let home = tempfile::tempdir().unwrap();
        let side = beside(home.path()).await;
        for what in [Listing::Settings, Listing::Findings, Listing::Models] {
            assert!(!rows(&side, what).await.is_empty(), "{what:?}");
        }
        for what in [
            Listing::Inbox,
            Listing::Sessions,
            Listing::AllSessions,
            Listing::Servers,
            Listing::Skills,
        ] {
            let table = side.table(what).await.unwrap();
            assert!(table.rows.is_empty() && !table.empty.is_empty(), "{what:?}");
        }
        let names: Vec<String> =
            side.spent().await.unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["today, every project, 0 sessions", "this project, 0 sessions"]);
        side.agent.shutdown().await;
    }
}
