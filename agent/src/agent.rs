//! An agent: settings, ports and tools, ready to hold conversations.

use crate::builder::Builder;
use crate::builder::switches::in_force;
use crate::error::Error;
use crate::model_server::Served;
use crate::provider;
use crate::repo::Repo;
use crate::servers::NamedServers;
use crate::styles::{self, OutputStyle};
use crate::team::{ProjectTeam, TeamGround};
use everfold_disk::{DiskTranscripts, PrivateTranscripts};
use everfold_engine::Resumed;
use everfold_engine::{Config, Session, Toolbox, World};
use everfold_kernel::SessionId;
use everfold_kernel::ports::{PastSearch, SwitchReading, TranscriptError, Transcripts};
use everfold_memory_judge::secrets;
use everfold_plugdir::Found;
use everfold_search::TranscriptSearch;
use everfold_settings::provider::ProviderChoice;
use everfold_settings::{Home, LiveFlags, PollerHandle, Resolved, Trust};
use everfold_transcript::{Listed, Side};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What an agent is made of.
pub(crate) struct Parts {
    pub(crate) world: World,
    pub(crate) config: Config,
    pub(crate) toolbox: Toolbox,
    pub(crate) home: Home,
    pub(crate) repo: Option<Repo>,
    pub(crate) trust: Trust,
    pub(crate) servers: NamedServers,
    pub(crate) plugins: Found,
    pub(crate) resolved: Resolved,
    pub(crate) choice: ProviderChoice,
    pub(crate) served: Served,
    pub(crate) live: LiveFlags,
    /// Looks at flags as long as the agent is there.
    pub(crate) _poller: Option<PollerHandle>,
}

/// An agent for one working directory.
pub struct Agent {
    parts: Parts,
}

impl Agent {
    /// Starts to put an agent together for work in a directory.
    pub fn builder(cwd: impl Into<PathBuf>) -> Builder {
        Builder::new(cwd.into())
    }

    pub(crate) fn new(parts: Parts) -> Self {
        Self { parts }
    }

    /// A new conversation. Nothing is written before its first turn.
    #[must_use]
    pub fn start(&self) -> Session {
        let id = SessionId::from(self.parts.world.clock.fresh_uuid());
        self.start_as(id)
    }

    /// A new conversation with an id of your own.
    #[must_use]
    pub fn start_as(&self, id: SessionId) -> Session {
        Session::new(id, self.parts.world.clone(), self.config(), self.parts.toolbox.clone())
    }

    /// A new conversation with an id of your own that no process has used or
    /// is using (S13).
    ///
    /// # Errors
    /// If there is a session of this id, or another process just begins it.
    pub fn start_alone(&self, id: SessionId) -> Result<Session, Error> {
        let mut session = self.start_as(id);
        everfold_engine::claim(&mut session)?;
        if self.parts.world.transcripts.path(session.id()).exists() {
            return Err(everfold_engine::Error::Exists(session.id().clone()).into());
        }
        Ok(session)
    }

    /// A conversation that nothing is left of when it is dropped (L5.31): no
    /// memory is read or written, no past is searched, its log is held in memory
    /// and its files in a directory that goes with it.
    ///
    /// # Errors
    /// If there is no place for its files.
    pub fn start_private(&self, id: Option<SessionId>) -> Result<Session, Error> {
        let fresh = || SessionId::from(self.parts.world.clock.fresh_uuid());
        let transcripts = Arc::new(PrivateTranscripts::new()?);
        let world = World {
            transcripts,
            memories: None,
            dreams: Vec::new(),
            past: None,
            spending: None,
            ..self.parts.world.clone()
        };
        let id = id.unwrap_or_else(fresh);
        Ok(Session::new(id, world, self.config(), self.parts.toolbox.clone()))
    }

    /// Goes on with a conversation.
    ///
    /// # Errors
    /// If there is none of this id, it cannot be read, or another process has
    /// it open (S13).
    pub async fn resume(&self, id: SessionId) -> Result<(Session, Resumed), Error> {
        let (world, toolbox) = (self.parts.world.clone(), self.parts.toolbox.clone());
        Ok(everfold_engine::resume(id, world, self.config(), toolbox).await?)
    }

    /// Starts a new conversation with all that another one holds.
    ///
    /// # Errors
    /// If there is none of this id, or it cannot be read or written.
    pub async fn fork(&self, from: &SessionId) -> Result<(Session, Resumed), Error> {
        let id = SessionId::from(self.parts.world.clock.fresh_uuid());
        self.fork_as(from, id).await
    }

    /// The same under an id of your own.
    ///
    /// # Errors
    /// If there is none of this id, or it cannot be read or written.
    pub async fn fork_as(
        &self,
        from: &SessionId,
        id: SessionId,
    ) -> Result<(Session, Resumed), Error> {
        let (world, toolbox) = (self.parts.world.clone(), self.parts.toolbox.clone());
        Ok(everfold_engine::fork(from, id, world, self.config(), toolbox).await?)
    }

    /// The conversations of this project, newest first.
    ///
    /// # Errors
    /// If their directory cannot be read.
    pub async fn sessions(&self) -> Result<Vec<Listed>, Error> {
        let glimpses = self.parts.world.transcripts.glimpse().await?;
        let listed = glimpses.iter().map(everfold_transcript::list);
        let own = listed.filter(|entry| entry.side == Side::Main);
        // A list is not where a key was said (S15).
        let shown = own.map(|entry| Listed {
            title: entry.title.as_deref().map(secrets::mask),
            first_prompt: entry.first_prompt.as_deref().map(secrets::mask),
            ..entry
        });
        Ok(shown.collect())
    }

    /// The transcripts of every project of this home, this one included.
    ///
    /// # Errors
    /// If their directory is there and cannot be read.
    pub fn all_transcripts(&self) -> Result<Vec<Arc<dyn Transcripts>>, Error> {
        self.transcripts_under(&self.parts.home.projects())
    }

    /// The transcripts of every folder of a folder.
    pub(crate) fn transcripts_under(
        &self,
        root: &Path,
    ) -> Result<Vec<Arc<dyn Transcripts>>, Error> {
        let longest = self.parts.config.limits.transcript_line_bytes;
        let stores = folders(root)?.into_iter().map(|path| {
            Arc::new(DiskTranscripts::new(path).with_max_line(longest)) as Arc<dyn Transcripts>
        });
        Ok(stores.collect())
    }

    /// What was said in every project of this home, for a search by a person.
    ///
    /// # Errors
    /// If their directory is there and cannot be read.
    pub fn all_past(&self) -> Result<impl PastSearch + use<>, Error> {
        let longest = self.parts.config.limits.transcript_line_bytes;
        Ok(TranscriptSearch::new(folders(&self.parts.home.projects())?, longest))
    }

    /// The team that the project is bound to (F1).
    #[must_use]
    pub fn team(&self) -> Option<ProjectTeam> {
        let Parts { home, trust, resolved, world, .. } = &self.parts;
        let ground = TeamGround::of(home.root(), trust.cwd(), resolved, &world.clock);
        ProjectTeam::usable(&ground)
    }

    /// What sessions are started with, kill switches and limits as they are now.
    #[must_use]
    pub fn config(&self) -> Config {
        let (flags, limits) = in_force(&self.parts.live.resolved());
        let switches = SwitchReading { flags, limits, problem: None };
        Config {
            flags: switches.flags.clone(),
            limits: Arc::new(switches.limits.clone()),
            switches: Some(Arc::new(switches)),
            ..self.parts.config.clone()
        }
    }

    /// The styles of answers that there are.
    #[must_use]
    pub fn output_styles(&self) -> Vec<OutputStyle> {
        let config = &self.parts.config;
        let plugins = &self.parts.plugins.plugins;
        let home = self.parts.home.root();
        styles::styles(home, &self.parts.trust, plugins, &config.limits.skills)
    }

    /// The ports.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.parts.world
    }

    /// The tools.
    #[must_use]
    pub fn toolbox(&self) -> &Toolbox {
        &self.parts.toolbox
    }

    /// The home directory.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.parts.home
    }

    /// The repository around the working directory.
    #[must_use]
    pub fn repo(&self) -> Option<&Repo> {
        self.parts.repo.as_ref()
    }

    /// What the repository brings that could act, and whether it may (S7).
    #[must_use]
    pub fn trust(&self) -> &Trust {
        &self.parts.trust
    }

    /// What settings say of servers that bring tools.
    #[must_use]
    pub fn named_servers(&self) -> &NamedServers {
        &self.parts.servers
    }

    /// The plugins that are on, and what is wrong with others.
    #[must_use]
    pub fn plugins(&self) -> &Found {
        &self.parts.plugins
    }

    /// Settings with their origins.
    #[must_use]
    pub fn settings(&self) -> &Resolved {
        &self.parts.resolved
    }

    /// Asks a server of one's own what it has, and writes nothing down (S14).
    /// None where another provider answers.
    ///
    /// # Errors
    /// If its address or key cannot be used.
    pub async fn ask_server(&self) -> Result<Option<Served>, Error> {
        let parts = &self.parts;
        let named = parts.resolved.settings.model.as_deref();
        let limits = &parts.config.limits;
        provider::served(&parts.choice, limits, parts.home.root(), named).await
    }

    /// What a server of one's own has, as far as it is known (Q15).
    #[must_use]
    pub fn served(&self) -> &Served {
        &self.parts.served
    }

    /// The provider, and why this one.
    #[must_use]
    pub fn provider(&self) -> &ProviderChoice {
        &self.parts.choice
    }

    /// Ends what still runs: background commands, servers, hooks, the post. The
    /// look at flags ends with the agent.
    pub async fn shutdown(&self) {
        self.parts.world.shell.shutdown().await;
        if let Some(servers) = &self.parts.world.servers {
            servers.shutdown().await;
        }
        if let Some(hooks) = &self.parts.world.hooks {
            hooks.shutdown().await;
        }
        if let Some(post) = &self.parts.world.post {
            post.close().await;
        }
    }
}

/// The folders of a folder; one that is not there has none.
fn folders(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let broken = |error: &std::io::Error| {
        let (path, message) = (root.to_owned(), error.to_string());
        Error::Transcript(TranscriptError::Read { path, message })
    };
    let entries = match std::fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(broken(&error)),
    };
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| broken(&error))?;
    paths.retain(|path| path.is_dir());
    paths.sort();
    Ok(paths)
}
