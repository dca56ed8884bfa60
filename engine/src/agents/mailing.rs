//! What joins the conversation from agents: letters, and ends of those that
//! ran in the background. Always appended at a boundary, each once.

use super::{Agents, Me, locked};
use crate::session::{Error, Session};
use everfold_kernel::Entry;
use everfold_kernel::ports::Letter;
use everfold_mail::apply;

impl Agents {
    /// Whether something waits for the main thread.
    fn has_news(&self) -> bool {
        let state = self.state();
        !state.main.is_empty() || !state.ended.is_empty()
    }

    /// Done when something waits for the main thread.
    async fn news(&self) {
        while !self.has_news() {
            self.0.news.notified().await;
        }
    }
}

impl Session {
    /// Brings in what waits.
    pub(crate) async fn join_mail(&mut self) -> Result<(), Error> {
        let mut letters = match &self.crew.me {
            Me::Agent { inbox, .. } => locked(inbox).take(),
            Me::Main => {
                self.join_ended().await?;
                self.crew.agents.state().main.take()
            }
        };
        let fetched = self.fetch_mail().await;
        let ids: Vec<_> = fetched.iter().map(|letter| letter.id.clone()).collect();
        letters.extend(fetched);
        for letter in apply::in_order(letters) {
            self.append(Entry::Attachment(apply::letter(&letter))).await?;
        }
        if let Some(post) = self.world.post.clone().filter(|_| !ids.is_empty())
            && let Err(error) = post.settle(&ids).await
        {
            // They are in the log, and are known there when they come again.
            tracing::warn!(%error, "letters could not be taken out of the mailbox");
        }
        Ok(())
    }

    /// Brings in how background agents ended, so that the log has it whatever
    /// comes next.
    pub(crate) async fn join_ended(&mut self) -> Result<(), Error> {
        let ended = std::mem::take(&mut self.crew.agents.state().ended);
        for attachment in ended {
            self.append(Entry::Attachment(attachment)).await?;
        }
        Ok(())
    }

    /// What came from other processes; only the main thread has a mailbox.
    async fn fetch_mail(&mut self) -> Vec<Letter> {
        let Some(post) = self.world.post.clone().filter(|_| self.is_main()) else {
            return Vec::new();
        };
        match post.collect(&self.world.transcripts.path(&self.id)).await {
            Ok(letters) => letters,
            Err(error) => {
                self.say_once("mail", || format!("the mailbox cannot be read: {error}"));
                Vec::new()
            }
        }
    }

    /// Whether something waits in this process.
    pub(crate) fn has_news(&self) -> bool {
        match &self.crew.me {
            Me::Main => self.crew.agents.has_news(),
            Me::Agent { inbox, .. } => !locked(inbox).is_empty(),
        }
    }

    /// Done when a letter has come, or a background agent has ended. Nothing
    /// is taken: [`Session::go_on`] does.
    pub async fn news(&self) {
        let mail = async {
            match &self.world.post {
                Some(post) => post.arrival().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.crew.agents.news() => {}
            () = mail => {}
        }
    }

    /// The agents of this session.
    #[must_use]
    pub fn agents(&self) -> &Agents {
        &self.crew.agents
    }

    /// Lets letters come in from other processes. Without them the session
    /// goes on: it is said once.
    pub async fn open_mail(&mut self) {
        let Some(post) = self.world.post.clone() else { return };
        if let Err(error) = post.open(&self.id, &self.world.transcripts.session_dir(&self.id)).await
        {
            tracing::warn!(%error, "no letters can come in");
        }
    }
}
