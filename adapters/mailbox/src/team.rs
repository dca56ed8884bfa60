//! A team: its members, and their mailboxes.

use crate::mailbox::{Mailbox, listed, told};
use crate::own;
use everfold_disk::Lock;
use everfold_disk::atomic::{self, FileReaders};
use everfold_kernel::ports::{AgentName, Letter, PostError};
use everfold_kernel::{SessionId, Timestamp};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The team as one member sees it.
#[derive(Debug)]
pub(crate) struct Team {
    home: PathBuf,
    dir: PathBuf,
    name: AgentName,
    wait: Duration,
    /// Held as long as we run: nobody else has our name.
    held: Mutex<Option<Lock>>,
}

impl Team {
    pub(crate) fn join(
        home: &Path,
        team: &AgentName,
        name: &AgentName,
        wait: Duration,
    ) -> Result<Self, PostError> {
        let dir = home.join("teams").join(team.as_str());
        let lock = dir.join("members").join(format!("{name}.lock"));
        own::directory(&dir.join("members"), home)?;
        let held = Lock::try_acquire(&lock).map_err(told)?;
        if held.is_none() {
            let (name, team) = (name.to_string(), team.to_string());
            return Err(PostError::NameTaken { name, team });
        }
        let home = home.to_owned();
        Ok(Self { home, dir, name: name.clone(), wait, held: Mutex::new(held) })
    }

    pub(crate) fn name(&self) -> &AgentName {
        &self.name
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes us known to the others.
    pub(crate) fn enter(&self, session: &SessionId, now: Timestamp) -> Result<(), PostError> {
        let about = json!({
            "name": self.name, "session": session, "pid": std::process::id(), "started": now,
        });
        let path = self.dir.join("members").join(format!("{}.json", self.name));
        atomic::write(&path, about.to_string().as_bytes(), FileReaders::Private).map_err(told)
    }

    /// Lets go of the name. The mailbox stays, and what comes waits in it.
    pub(crate) fn leave(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Everybody who was ever in the team, us aside.
    pub(crate) fn members(&self) -> Result<Vec<AgentName>, PostError> {
        let names = listed(&self.dir.join("members"))?;
        let names = names.iter().filter_map(|file| file.strip_suffix(".json"));
        let known = names.filter_map(|name| AgentName::parse(name).ok());
        Ok(known.filter(|name| *name != self.name).collect())
    }

    /// Puts a letter into a member's mailbox. It is there whole and for good,
    /// or not at all.
    pub(crate) fn put(&self, to: &AgentName, letter: Letter) -> Result<(), PostError> {
        let members = self.members()?;
        if !members.contains(to) {
            let known = members.iter().map(ToString::to_string).collect();
            return Err(PostError::Unknown { name: to.to_string(), known });
        }
        let mailbox = self.mailbox(to);
        for part in ["", "new", "next"] {
            own::directory(&mailbox.dir().join(part), &self.home)?;
        }
        mailbox.put(self.name.as_str(), letter)
    }

    /// Puts a letter into the mailbox of everybody who runs, and says who.
    pub(crate) fn put_all(&self, letter: &Letter) -> Result<Vec<String>, PostError> {
        let (mut reached, mut failed) = (Vec::new(), None);
        for name in self.members()? {
            if self.runs(&name) {
                match self.put(&name, letter.clone()) {
                    Ok(()) => reached.push(name.to_string()),
                    Err(error) => failed = Some(error),
                }
            }
        }
        match failed {
            Some(error) if reached.is_empty() => Err(error),
            _ => Ok(reached),
        }
    }

    fn runs(&self, name: &AgentName) -> bool {
        let lock = self.dir.join("members").join(format!("{name}.lock"));
        matches!(Lock::try_acquire(&lock), Ok(None))
    }

    pub(crate) fn own(&self) -> Mailbox {
        self.mailbox(&self.name)
    }

    fn mailbox(&self, of: &AgentName) -> Mailbox {
        Mailbox::new(self.dir.join("mail").join(of.as_str()), self.wait)
    }
}
