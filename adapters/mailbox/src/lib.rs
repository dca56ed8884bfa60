//! Letters between processes (L7.5): the port `Post` on a real system.
//!
//! A member of a team gets letters in its mailbox, a directory that outlives
//! both sender and receiver; its form is docs/formats/mailbox.md. A session can
//! be reached by its socket while it runs, and keeps what comes in a mailbox of
//! its own. None of them knows what letters say.

mod carried;
mod mailbox;
mod own;
#[cfg(not(unix))]
#[path = "unsupported.rs"]
mod socket;
#[cfg(unix)]
mod socket;
mod team;

use carried::Carried;
use everfold_kernel::limits::AgentLimits;
use everfold_kernel::ports::{
    Address, AgentName, BoxFuture, Clock, Letter, LetterDraft, MailCarrier, Post, PostError,
};
use everfold_kernel::{LetterId, SessionId};
use everfold_memory_judge::secrets;
use mailbox::Mailbox;
use socket::Sockets;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use team::Team;

pub use carried::unsent;

/// The mailbox of a session, in its directory.
const INBOX: &str = "mail";

/// The post of one process.
pub struct DiskPost {
    clock: Arc<dyn Clock>,
    limits: AgentLimits,
    team: Option<Arc<Team>>,
    carried: Option<Arc<Carried>>,
    sockets: Sockets,
}

impl DiskPost {
    /// The post under a home, outside of any team.
    #[must_use]
    pub fn new(home: &Path, clock: Arc<dyn Clock>, limits: AgentLimits) -> Self {
        let sockets = Sockets::new(home.join("run"), &limits);
        Self { clock, limits, team: None, carried: None, sockets }
    }

    /// Joins a team under a name, which nobody else has until we end.
    ///
    /// # Errors
    /// If somebody runs under that name, or the team's directory cannot be used.
    pub fn join(
        mut self,
        home: &Path,
        team: &AgentName,
        name: &AgentName,
    ) -> Result<Self, PostError> {
        let wait = Duration::from_millis(self.limits.mail_wait_ms);
        self.team = Some(Arc::new(Team::join(home, team, name, wait)?));
        Ok(self)
    }

    /// Reaches members of the team on other machines, too (F2).
    ///
    /// # Errors
    /// If the team's directory cannot be used.
    pub fn carried_by(
        mut self,
        carrier: Arc<dyn MailCarrier>,
        poll: Duration,
    ) -> Result<Self, PostError> {
        let team = self.team.as_ref().ok_or(PostError::NoTeam)?;
        let wait = Duration::from_millis(self.limits.mail_wait_ms);
        let places = (team.dir(), team.home());
        let own = (team.name(), team.own());
        self.carried = Some(Arc::new(Carried::new(carrier, places, own, (wait, poll))?));
        Ok(self)
    }

    /// Puts a letter into a mailbox here, or on its way to another machine.
    fn dispatch(
        team: &Team,
        carried: Option<&Carried>,
        to: &AgentName,
        letter: Letter,
    ) -> Result<(), PostError> {
        match carried {
            Some(carried) if !team.members()?.contains(to) => carried.put(to, letter),
            _ => team.put(to, letter),
        }
    }

    fn letter(&self, draft: LetterDraft) -> Result<Letter, PostError> {
        let letter = Letter {
            id: LetterId::from(self.clock.fresh_uuid()),
            from: draft.from,
            seq: 0,
            sent: self.clock.now(),
            // What another process is told is kept in its files (S15).
            summary: draft.summary.as_deref().map(secrets::mask),
            body: draft.body.map_texts(secrets::mask),
            provenance: draft.provenance,
        };
        let (bytes, max) = (written(&letter).len() as u64, self.limits.message_bytes);
        if bytes > max { Err(PostError::TooLong { bytes, max }) } else { Ok(letter) }
    }

    async fn with_team<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Team) -> Result<T, PostError> + Send + 'static,
    ) -> Result<T, PostError> {
        let team = Arc::clone(self.team.as_ref().ok_or(PostError::NoTeam)?);
        let path = team.dir().to_path_buf();
        apart(path, move || work(&team)).await
    }

    /// The mailboxes that letters for us come to.
    fn own(&self) -> impl Iterator<Item = Arc<Mailbox>> {
        let team = self.team.as_deref().map(|team| Arc::new(team.own()));
        self.sockets.inbox().into_iter().chain(team)
    }

    fn has_mail(&self) -> bool {
        self.own().any(|mailbox| mailbox.has_mail())
    }
}

impl Post for DiskPost {
    fn name(&self) -> Option<&AgentName> {
        self.team.as_deref().map(Team::name)
    }

    fn open<'a>(
        &'a self,
        session: &'a SessionId,
        dir: &'a Path,
    ) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(async move {
            if self.team.is_some() {
                let (session, now) = (session.clone(), self.clock.now());
                self.with_team(move |team| team.enter(&session, now)).await?;
            }
            self.sockets.listen(session, &dir.join(INBOX))?;
            if let Some(carried) = &self.carried {
                carried.start();
                carried.first_look().await;
            }
            Ok(())
        })
    }

    fn send<'a>(
        &'a self,
        to: &'a Address,
        draft: LetterDraft,
    ) -> BoxFuture<'a, Result<Vec<String>, PostError>> {
        Box::pin(async move {
            let letter = self.letter(draft)?;
            match to {
                Address::Name(name) => {
                    let (name, carried) = (name.clone(), self.carried.clone());
                    self.with_team(move |team| {
                        Self::dispatch(team, carried.as_deref(), &name, letter)?;
                        Ok(vec![name.to_string()])
                    })
                    .await
                }
                Address::Everyone => {
                    let carried = self.carried.clone();
                    let others = match &carried {
                        Some(carried) => carried.others().await,
                        None => Vec::new(),
                    };
                    self.with_team(move |team| {
                        let mut reached = team.put_all(&letter)?;
                        for name in others {
                            if !reached.contains(&name.to_string()) {
                                Self::dispatch(team, carried.as_deref(), &name, letter.clone())?;
                                reached.push(name.to_string());
                            }
                        }
                        Ok(reached)
                    })
                    .await
                }
                Address::Socket(path) => self.sockets.send(path, &letter).await,
                Address::Session(id) => self.sockets.send(&self.sockets.path(id), &letter).await,
            }
        })
    }

    fn collect<'a>(&'a self, log: &'a Path) -> BoxFuture<'a, Result<Vec<Letter>, PostError>> {
        Box::pin(async move {
            let mut letters = Vec::new();
            for mailbox in self.own().filter(|mailbox| mailbox.has_mail()) {
                let to: PathBuf = log.to_path_buf();
                letters.extend(apart(to.clone(), move || mailbox.take(&to)).await?);
            }
            Ok(letters)
        })
    }

    fn settle<'a>(&'a self, letters: &'a [LetterId]) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(async move {
            for mailbox in self.own() {
                let letters = letters.to_vec();
                apart(PathBuf::new(), move || mailbox.settle(&letters)).await?;
            }
            Ok(())
        })
    }

    fn arrival(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let poll = Duration::from_millis(self.limits.mail_poll_ms.max(1));
            while !self.has_mail() {
                match &self.team {
                    None => self.sockets.arrival().await,
                    Some(_) => {
                        // Whichever comes first: a letter, or the next look.
                        let _ = tokio::time::timeout(poll, self.sockets.arrival()).await;
                    }
                }
            }
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.sockets.close().await;
            if let Some(carried) = &self.carried {
                carried.end().await;
            }
            if let Some(team) = &self.team {
                team.leave();
            }
        })
    }
}

/// Does what blocks on a thread of its own; the path is what it is about.
async fn apart<T: Send + 'static>(
    path: PathBuf,
    work: impl FnOnce() -> Result<T, PostError> + Send + 'static,
) -> Result<T, PostError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|failed| Err(PostError::Io { path, message: failed.to_string() }))
}

/// A letter as it is written.
fn written(letter: &Letter) -> Vec<u8> {
    serde_json::to_vec(letter).unwrap_or_default()
}
