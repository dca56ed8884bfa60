//! Which team a project is bound to, and where a team's files are (F1).
//!
//! All of it is under the person's home, and nothing that a repository brings
//! can name a team or move one (S9). A project has one file that names its
//! team, so it cannot have two.

use crate::error::Error;
use everfold_disk::atomic::{self, FileReaders};
use everfold_disk::read_regular;
use everfold_kernel::ports::AgentName;
use everfold_memory_store::location::project_slug;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Largest file of ours that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
const BINDING: &str = "team.json";

/// What carries a team's memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TeamTransport {
    Git,
    Fleet,
}

/// A team as this machine knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamBinding {
    pub name: String,
    pub transport: TeamTransport,
    /// Where the others meet.
    pub address: String,
}

/// The files of one team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamPlace {
    dir: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Bound {
    team: String,
}

impl TeamPlace {
    /// Where a team of this name is, whether it is there or not.
    ///
    /// # Errors
    /// [`Error::BadName`] where it cannot be the name of one.
    pub fn of(home: &Path, name: &str) -> Result<Self, Error> {
        let plain = AgentName::parse(name);
        let name = plain.map_err(|_| Error::BadName { name: name.to_owned() })?;
        Ok(Self { dir: home.join("teams").join(name.as_str()) })
    }

    /// The team that a project is bound to.
    ///
    /// # Errors
    /// If the binding is there and cannot be read.
    pub fn bound(home: &Path, project: &Path) -> Result<Option<Self>, Error> {
        let Some(bound) = read::<Bound>(&binding_file(home, project))? else { return Ok(None) };
        Self::of(home, &bound.team).map(Some)
    }

    /// Whether a project may be bound to it, and it be made as it is meant.
    ///
    /// # Errors
    /// [`Error::Bound`] if the project is in another team, [`Error::Exists`] if
    /// there is another of this name.
    pub fn may_bind(
        &self,
        home: &Path,
        project: &Path,
        binding: &TeamBinding,
    ) -> Result<(), Error> {
        if let Some(other) = Self::bound(home, project)?.filter(|other| other != self) {
            return Err(Error::Bound { name: other.name() });
        }
        match self.binding()?.filter(|there| there != binding) {
            Some(there) => Err(Error::Exists { name: there.name, address: there.address }),
            None => Ok(()),
        }
    }

    /// Binds a project to this team.
    ///
    /// # Errors
    /// [`Error::Bound`] if it is bound to another, or if that cannot be written.
    pub fn bind(&self, home: &Path, project: &Path) -> Result<(), Error> {
        let name = self.name();
        match Self::bound(home, project)? {
            Some(other) if other != *self => Err(Error::Bound { name: other.name() }),
            _ => write(&binding_file(home, project), &Bound { team: name }),
        }
    }

    /// Takes a project out of its team. What it has of the team stays.
    ///
    /// # Errors
    /// [`Error::Unbound`] if it is in none, or if that cannot be written.
    pub fn unbind(home: &Path, project: &Path) -> Result<Self, Error> {
        let place = Self::bound(home, project)?.ok_or(Error::Unbound)?;
        let path = binding_file(home, project);
        std::fs::remove_file(&path).map_err(|error| damaged(&path, &error.to_string()))?;
        Ok(place)
    }

    /// What is known of it.
    ///
    /// # Errors
    /// If it is there and cannot be read.
    pub fn binding(&self) -> Result<Option<TeamBinding>, Error> {
        read(&self.dir.join(BINDING))
    }

    /// Makes it known.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is another of this name, or if it cannot be
    /// written.
    pub fn make(&self, binding: &TeamBinding) -> Result<(), Error> {
        match self.binding()? {
            Some(there) if there != *binding => {
                Err(Error::Exists { name: there.name, address: there.address })
            }
            Some(_) => Ok(()),
            None => write(&self.dir.join(BINDING), binding),
        }
    }

    /// Its name on this machine.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.dir.file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_default()
    }

    /// Where its files are.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where its memories are: a store like any other.
    #[must_use]
    pub fn memories(&self) -> PathBuf {
        self.dir.join("memory")
    }

    /// Where the copy of its repository is.
    #[must_use]
    pub fn repository(&self) -> PathBuf {
        self.dir.join("git")
    }
}

fn binding_file(home: &Path, project: &Path) -> PathBuf {
    home.join("projects").join(project_slug(project)).join(BINDING)
}

fn damaged(path: &Path, message: &str) -> Error {
    Error::Damaged { path: path.to_owned(), message: message.to_owned() }
}

/// Reads a file of ours; none where there is none.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Error> {
    let bytes = match read_regular(path, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(everfold_disk::Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let read = serde_json::from_slice(&bytes);
    read.map(Some).map_err(|error| damaged(path, &error.to_string()))
}

/// Writes a file of ours whole, or not at all.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let bytes = serde_json::to_vec(value).map_err(|error| damaged(path, &error.to_string()))?;
    Ok(atomic::write(path, &bytes, FileReaders::Private)?)
}
