//! What panels look at while a turn has the session: the same lists and
//! commands as everywhere, over the agent and the disk.

use super::readable;
use crate::args::Choices;
use crate::commands::{memory as line, tables};
use crate::cost;
use crate::doctor;
use crate::memory;
use crate::presenter::Presenter;
use crate::setup::ProcessEnv;
use anyhow::{Result, anyhow};
use everfold_agent::Agent;
use everfold_kernel::Ledger;
use everfold_tui::{BoxFuture, Listing, PanelData, Table, TextPage};
use std::sync::Arc;

/// The agent, and the environment that it was started in.
#[derive(Clone)]
pub(super) struct LivePanels {
    pub(super) agent: Arc<Agent>,
    pub(super) env: ProcessEnv,
}

impl PanelData for LivePanels {
    fn table(&self, what: Listing) -> BoxFuture<'static, Result<Table>> {
        let Self { agent, env } = self.clone();
        Box::pin(async move {
            match what {
                Listing::Memories => apart(move || memory::memories(&env)).await,
                Listing::Changes => apart(move || memory::changes(&env)).await,
                Listing::Inbox => apart(move || memory::proposals(&env)).await,
                Listing::Sessions => tables::sessions(&agent).await,
                Listing::AllSessions => tables::all_sessions(&agent).await,
                Listing::Settings => Ok(tables::settings(&agent)),
                Listing::Findings => Box::pin(doctor::table(&env, &Choices::default())).await,
                Listing::Models => Ok(tables::models(&agent)),
                Listing::Servers => Ok(tables::servers(&agent)),
                Listing::Skills => Ok(tables::skills(&agent)),
                Listing::Rules => Ok(tables::rules(&agent)),
            }
        })
    }

    fn run(&self, text: &str, page: TextPage) -> BoxFuture<'static, Result<()>> {
        let env = self.env.clone();
        let text = text.to_owned();
        Box::pin(apart(move || {
            let words = text.strip_prefix("memory ").ok_or_else(|| anyhow!("not here: {text}"))?;
            let mut words = line::words(words);
            if words == ["undo"] {
                // The last change, wherever it was.
                let tier = memory::last_changed(&env)?;
                words.extend(["--scope".to_owned(), tier.as_str().to_owned()]);
            }
            let command = line::parse(words).map_err(|error| anyhow!("{error}"))?;
            memory::run(&env, &command, &Presenter::on(page)).map(drop).map_err(readable)
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
    use everfold_agent::engine::memory::extraction::statement;
    use everfold_tui::TableRow;
    use std::collections::BTreeMap;

    async fn live_panels(home: &std::path::Path) -> LivePanels {
        let variables = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let env = ProcessEnv { variables, user_home: Some(home.to_owned()) };
        let agent = setup::for_looking(&env, &Choices::default()).await.unwrap();
        LivePanels { agent: Arc::new(agent), env }
    }

    async fn rows(side: &LivePanels, what: Listing) -> Vec<TableRow> {
        side.table(what).await.unwrap().rows
    }

    #[tokio::test]
    async fn l5_17_memories_are_listed_forgotten_and_brought_back() {
        let home = tempfile::tempdir().unwrap();
        let side = live_panels(home.path()).await;
        assert!(rows(&side, Listing::Memories).await.is_empty());
        for text in ["deploys need a word", "tabs, not spaces"] {
            statement::remember(&side.agent.start(), text).await.unwrap();
        }
        let all = rows(&side, Listing::Memories).await;
        assert_eq!(all.len(), 2);
        let first = all.first().unwrap().id.clone();
        side.run(&format!("memory forget {first}"), TextPage::nowhere()).await.unwrap();
        assert_eq!(rows(&side, Listing::Memories).await.len(), 1);
        side.run("memory undo", TextPage::nowhere()).await.unwrap();
        assert_eq!(rows(&side, Listing::Memories).await.len(), 2);
        let changes = rows(&side, Listing::Changes).await;
        assert_eq!(changes.first().unwrap().cells.get(4).unwrap(), "undo");
        let newest = changes.first().unwrap().id.clone();
        side.run(&format!("memory diff {newest}"), TextPage::nowhere()).await.unwrap();
        let gone = side.run("memory forget 'no such' --scope project", TextPage::nowhere()).await;
        assert!(gone.unwrap_err().to_string().contains("no memory"));
        assert!(side.run("quit", TextPage::nowhere()).await.is_err(), "nothing else is run here");
    }

    #[tokio::test]
    async fn q9_every_list_can_be_made_beside_the_session() {
        let home = tempfile::tempdir().unwrap();
        let side = live_panels(home.path()).await;
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
