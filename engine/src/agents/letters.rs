//! What joins the conversation from agents: letters, and ends of those that
//! ran in the background. Always appended at a boundary, each once.

use super::{Agents, Me, locked};
use crate::session::{Error, Session, status};
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

/// Brings in what waits.
pub(crate) async fn join_mail(session: &mut Session) -> Result<(), Error> {
    let mut letters = match &session.crew.me {
        Me::Agent { inbox, .. } => locked(inbox).take(),
        Me::Main => {
            join_ended(session).await?;
            session.crew.agents.state().main.take()
        }
    };
    let fetched = fetch_mail(session).await;
    let ids: Vec<_> = fetched.iter().map(|letter| letter.id.clone()).collect();
    letters.extend(fetched);
    for letter in apply::in_order(letters) {
        session.append(Entry::Attachment(apply::letter(&letter))).await?;
    }
    if let Some(post) = session.world.post.clone().filter(|_| !ids.is_empty())
        && let Err(error) = post.settle(&ids).await
    {
        // They are in the log, and are known there when they come again.
        tracing::warn!(%error, "letters could not be taken out of the mailbox");
    }
    Ok(())
}

/// Brings in how background agents ended, so that the log has it whatever
/// comes next.
pub(crate) async fn join_ended(session: &mut Session) -> Result<(), Error> {
    let ended = std::mem::take(&mut session.crew.agents.state().ended);
    for attachment in ended {
        session.append(Entry::Attachment(attachment)).await?;
    }
    Ok(())
}

/// What came from other processes; only the main thread has a mailbox.
async fn fetch_mail(session: &mut Session) -> Vec<Letter> {
    let Some(post) = session.world.post.clone().filter(|_| session.is_main()) else {
        return Vec::new();
    };
    match post.collect(&session.world.transcripts.path(&session.log.id)).await {
        Ok(letters) => letters,
        Err(error) => {
            status::say_once(session, "mail", || format!("the mailbox cannot be read: {error}"));
            Vec::new()
        }
    }
}

/// Whether something waits in this process.
pub(crate) fn has_news(session: &Session) -> bool {
    match &session.crew.me {
        Me::Main => session.crew.agents.has_news(),
        Me::Agent { inbox, .. } => !locked(inbox).is_empty(),
    }
}

/// Done when a letter has come, or a background agent has ended. Nothing
/// is taken: [`crate::go_on`] does.
pub async fn news(session: &Session) {
    let mail = async {
        match &session.world.post {
            Some(post) => post.arrival().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = session.crew.agents.news() => {}
        () = mail => {}
    }
}

/// The agents of this session.
#[must_use]
pub fn agents(session: &Session) -> &Agents {
    &session.crew.agents
}

/// Lets letters come in from other processes. Without them the session
/// goes on: it is said once.
pub async fn open_mail(session: &mut Session) {
    let Some(post) = session.world.post.clone() else { return };
    if let Err(error) =
        post.open(&session.log.id, &session.world.transcripts.session_dir(&session.log.id)).await
    {
        tracing::warn!(%error, "no letters can come in");
    }
}
