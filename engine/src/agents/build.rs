//! Making the session of an agent: with a prefix of its own, or as a fork.

use super::checkout::Checkout;
use super::life::{Brief, Life};
use super::outfit::{config_of, model_of, servers_of};
use super::{Agents, Crew, Me, Member, Order, Parent, SharedInbox};
use crate::agents::outfit;
use crate::permit::Permit;
use crate::session::Session;
use crate::session::fork::Start;
use crate::session::prelude::WEB_SEARCH;
use crate::session::prompt::Prompt;
use crate::session::queue::Queue;
use crate::tools::{StartError, Started, server_tools};
use everfold_hooks::Registry;
use everfold_kernel::ports::{
    Approver, BoxFuture, Memories, PermissionAnswer, PermissionAsk, Servers, World,
};
use everfold_kernel::provenance::Source;
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{Block, QuerySource, SessionId, ToolUseId};
use everfold_mail::definition::FORK;
use everfold_mail::{Definition, Isolation, Running, memory, plan};
use everfold_memory_file::index::{self, Caps};
use everfold_prefix::system::AgentSurroundings;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Characters of a fresh id that name an agent. The last ones: the first of a
/// time-ordered id are the same within a moment.
const ID_CHARS: usize = 10;

/// An agent that is ready to go.
struct Ready {
    session: Session,
    /// What its log starts with, where it is a fork.
    prompt: Prompt,
    placeholders: Vec<Block>,
    /// Servers that end with it.
    servers: Option<Arc<dyn Servers>>,
}

/// How an agent is to run.
pub(super) struct Plan<'a> {
    pub(super) id: String,
    order: &'a Order,
    kind: Option<Definition>,
    running: Running,
    pub(super) isolation: Isolation,
}

impl Agents {
    /// Starts an agent, and waits for it where the call asks for that.
    pub(crate) async fn start(
        &self,
        order: Order,
        call: &ToolUseId,
    ) -> Result<Started, StartError> {
        let parent = self.parent().ok_or(StartError::NotHere)?;
        let kind = self.kind_of(&order)?;
        self.start_kind(&parent, kind, order, call).await
    }

    /// The same for a kind that the caller has at hand; none is a fork.
    pub(crate) async fn start_kind(
        &self,
        parent: &Parent,
        kind: Option<Definition>,
        order: Order,
        call: &ToolUseId,
    ) -> Result<Started, StartError> {
        let plan = self.plan(&order, kind)?;
        let tree = match plan.isolation {
            Isolation::None => None,
            Isolation::Worktree => Some(self.check_out(parent, &name_of(&plan.id)).await?),
        };
        let inbox = SharedInbox::default();
        let me = Me::Agent {
            id: plan.id.clone(),
            label: order.name.as_ref().map_or_else(|| plan.id.clone(), ToString::to_string),
            inbox: Arc::clone(&inbox),
        };
        let crew = Crew { agents: self.clone(), me };
        let ready = match &plan.kind {
            None => self.fork_of(parent, &plan, crew)?,
            Some(kind) => self.sub_agent(parent, &plan, kind, tree.as_ref(), crew).await,
        };
        self.keep_meta(&plan, call, tree.as_ref()).await;
        let log = ready.session.world.transcripts.path(&ready.session.log.id);
        self.enter(&plan, &inbox, ready.session.queue());
        let (reply, ended) = oneshot::channel();
        let reply = (plan.running == Running::Foreground).then_some(reply);
        let life = Life::new(self.clone(), brief(&plan), tree, inbox, reply);
        self.launch(&plan, ready, life);
        if plan.running == Running::Background {
            return Ok(Started::Background { id: plan.id, log });
        }
        // Who no longer waits wants it no longer.
        let stop = StopUnlessDone { agents: self, id: &plan.id };
        let finished = ended.await.map_err(|_| StartError::Vanished);
        std::mem::forget(stop);
        finished.map(Started::Ended)
    }

    /// The kind that an order names; none is a fork.
    fn kind_of(&self, order: &Order) -> Result<Option<Definition>, StartError> {
        let roster = self.roster();
        let wanted = order.kind.as_deref().unwrap_or_default();
        if wanted == FORK {
            return Ok(None);
        }
        let unknown = || StartError::UnknownKind {
            wanted: wanted.to_owned(),
            known: roster.names().chain([FORK]).collect::<Vec<_>>().join(", "),
        };
        roster.get(wanted).cloned().ok_or_else(unknown).map(Some)
    }

    fn plan<'a>(&self, order: &'a Order, kind: Option<Definition>) -> Result<Plan<'a>, StartError> {
        let config = self.config();
        let limits = &config.limits.agents;
        {
            let state = self.state();
            if state.members.len() >= limits.background {
                return Err(StartError::TooMany { running: state.members.len() });
            }
            if let Some(name) = &order.name
                && (state.find(name.as_str()).is_some() || name.as_str() == super::MAIN)
            {
                return Err(StartError::NameTaken(name.clone()));
            }
        }
        let isolation =
            order.isolation.or(kind.as_ref().map(|kind| kind.isolation)).unwrap_or_default();
        if kind.is_none() && isolation == Isolation::Worktree {
            return Err(StartError::ForkInWorktree);
        }
        let running = order.running.or(kind.as_ref().map(|kind| kind.running)).unwrap_or_default();
        let fresh = self.seat().world.clock.fresh_uuid().replace('-', "");
        let skip = fresh.len().saturating_sub(ID_CHARS);
        let id = fresh.chars().skip(skip).collect();
        Ok(Plan { id, order, kind, running, isolation })
    }

    /// A copy of the conversation, byte for byte, up to its directive (L7.1, L7.2).
    fn fork_of(&self, parent: &Parent, plan: &Plan<'_>, crew: Crew) -> Result<Ready, StartError> {
        let fold = parent.fold.clone().ok_or(StartError::NothingToFork)?;
        let seat = self.seat();
        let world = self.world(plan, seat.world.memories.clone());
        let config = config_of(&self.config(), None);
        let placeholders = plan::placeholders(&fold.open_calls());
        let mut session = Session::new(session_id(&plan.id), world, config, parent.toolbox.clone());
        outfit::become_agent(&mut session, &seat.session, plan, crew, Start::Parent);
        outfit::take_over(&mut session, fold, parent);
        outfit::confine(&mut session, plan.running, None);
        session.runtime.parents_books = Some(seat.books.clone());
        let directive = Block::text(plan::directive(&plan.order.prompt));
        let prompt = Prompt::of(plan.order.provenance, vec![directive]);
        Ok(Ready { session, prompt, placeholders, servers: None })
    }

    /// An agent with a prefix of its own.
    async fn sub_agent(
        &self,
        parent: &Parent,
        plan: &Plan<'_>,
        kind: &Definition,
        tree: Option<&Checkout>,
        crew: Crew,
    ) -> Ready {
        let seat = self.seat();
        let mut config = config_of(&self.config(), kind.max_turns);
        config.models.model = model_of(&config, &parent.model, kind.model.as_deref());
        config.models.effort = kind.effort.clone().or(config.models.effort);
        config.models.cache = config.models.cache.map(|_| CacheTtl::FiveMinutes);
        config.permissions.mode = kind.mode_under(parent.permit.mode());
        config.models.offers.web_search &= kind.has_tool(WEB_SEARCH);
        if !kind.hooks.is_empty() {
            let own = Registry::read(&kind.hooks, &|_| format!("the agent {}", kind.name));
            config.setups.hooks = Arc::new(config.setups.hooks.and(&own.of_agent()));
        }
        let kept = self.memory_of(kind).await;
        config.surroundings.agent = Some(AgentSurroundings {
            prompt: kind.prompt.clone(),
            memory: kept.as_ref().map(|(_, section)| section.clone()),
        });
        config.surroundings.appended = None;
        config.surroundings.output_style = None;
        if let Some(tree) = tree {
            let path = seat.world.files.resolve(tree.path()).await;
            config.surroundings.cwd = path.display().to_string();
            config.launch.git_branch = tree.branch().map(str::to_owned);
            config.surroundings.git = match tree.branch() {
                Some(branch) => format!("yes, on branch {branch}"),
                None => "unknown".to_owned(),
            };
            config.workplace.roots = vec![path];
        }
        let rooms: Vec<PathBuf> = kept.into_iter().map(|(dir, _)| dir).collect();
        let permit =
            tree.is_none().then(|| Permit::under(&parent.permit, config.permissions.mode, &rooms));
        config.workplace.writable.extend(rooms);
        let (servers, own) = servers_of(kind, &seat.world, &config.workplace.roots);
        let toolbox = match own {
            Some(_) => parent.toolbox.and(server_tools()),
            None => parent.toolbox.clone(),
        };
        let toolbox = toolbox.filtered(|tool| kind.has_tool(tool));
        let world = World { servers, ..self.world(plan, None) };
        let skills = Arc::clone(&config.setups.skills);
        let mut session = Session::new(session_id(&plan.id), world, config, toolbox);
        outfit::become_agent(&mut session, &seat.session, plan, crew, Start::Fresh);
        if let Some(permit) = permit {
            session.permit = permit;
        }
        let git_dir = match tree.and_then(Checkout::git_dir) {
            Some(dir) => Some(seat.world.files.resolve(dir).await),
            None => None,
        };
        outfit::confine(&mut session, plan.running, git_dir.as_deref());
        session.runtime.parents_books = Some(seat.books.clone());
        let named = kind.skills.iter().filter_map(|name| skills.get(name));
        let known = named.map(|skill| format!("The skill {}:\n\n{}", skill.name, skill.filled("")));
        let first = kind.initial_prompt.iter().map(|first| first.trim().to_owned());
        let task = plan.order.prompt.trim().to_owned();
        let given = known.chain(first).map(|text| (Source::Repository.into(), text));
        let prompt = Prompt::joined(given.chain([(plan.order.provenance, task)]));
        Ready { session, prompt, placeholders: Vec::new(), servers: own }
    }

    /// The directory of a kind's memory, and what its prompt says of it (L5.20).
    async fn memory_of(&self, kind: &Definition) -> Option<(PathBuf, String)> {
        let seat = self.seat();
        let scope = kind.memory?;
        let config = self.config();
        let dir = config.agents.memory.of(scope, &kind.name)?;
        let files = &seat.world.files;
        let above = files.resolve(dir.parent()?).await;
        let dir = files.resolve(&dir).await;
        let index = files.resolve(&dir.join("MEMORY.md")).await;
        // It may lie in a repository, which could bring links (S9).
        if !dir.starts_with(above) || !index.starts_with(&dir) {
            tracing::warn!(dir = %dir.display(), "an agent's memory leads elsewhere; it has none");
            return None;
        }
        let limits = &config.limits.agents;
        let most = u64::try_from(limits.memory_bytes).unwrap_or(u64::MAX).saturating_mul(4);
        let read = files.read_lines(&index, 1, u64::MAX, most).await;
        let caps = Caps { lines: limits.memory_lines, bytes: limits.memory_bytes };
        let index =
            read.ok().map(|read| index::load(&String::from_utf8_lossy(&read.bytes), caps).text);
        let section = memory::section(scope, &dir, index.as_deref());
        Some((dir, section))
    }

    fn world(&self, plan: &Plan<'_>, memories: Option<Arc<dyn Memories>>) -> World {
        let seat = self.seat();
        let transcripts = &seat.world.transcripts;
        let own = transcripts.subagents(&seat.session).unwrap_or_else(|| Arc::clone(transcripts));
        let (approver, respondent): (Arc<dyn Approver>, _) = match plan.running {
            Running::Foreground => {
                (Arc::clone(&seat.world.approver), seat.world.respondent.clone())
            }
            Running::Background => (Arc::new(NobodyToAsk), None),
        };
        World { transcripts: own, approver, respondent, memories, ..seat.world.clone() }
    }

    /// What other programs read of an agent (CONTRACTS 3.1).
    async fn keep_meta(&self, plan: &Plan<'_>, call: &ToolUseId, tree: Option<&Checkout>) {
        let seat = self.seat();
        let meta = json!({
            "agentType": kind_name(plan),
            "description": plan.order.description,
            "name": plan.order.name,
            "toolUseId": call,
            "spawnDepth": 1,
            "worktreePath": tree.map(Checkout::path),
        });
        let place = format!("subagents/{}.meta.json", name_of(&plan.id));
        let bytes = meta.to_string().into_bytes();
        let kept = seat.world.transcripts.keep(&seat.session, Path::new(&place), &bytes).await;
        if let Err(error) = kept {
            tracing::warn!(%error, "what an agent is was not written down");
        }
    }

    fn enter(&self, plan: &Plan<'_>, inbox: &SharedInbox, queue: Queue) {
        let member = Member {
            name: plan.order.name.clone(),
            kind: kind_name(plan).to_owned(),
            description: plan.order.description.clone(),
            inbox: Arc::clone(inbox),
            queue,
        };
        self.state().members.insert(plan.id.clone(), member);
    }

    fn launch(&self, plan: &Plan<'_>, ready: Ready, life: Life) {
        let seat = self.seat();
        let title = format!("{}: {}", kind_name(plan), plan.order.description);
        let deadline = std::time::Duration::from_secs(self.config().limits.agents.deadline_s);
        let Ready { session, prompt, placeholders, servers } = ready;
        let life = life.with_servers(servers);
        seat.background.start_as(plan.id.clone(), &title, source(plan), deadline, |task| {
            life.run(session, placeholders, prompt, task)
        });
    }
}

/// Ends an agent for which nobody waits any more.
struct StopUnlessDone<'a> {
    agents: &'a Agents,
    id: &'a str,
}

impl Drop for StopUnlessDone<'_> {
    fn drop(&mut self) {
        let _ = self.agents.seat().background.stop(self.id);
    }
}

/// Says no where nobody can be asked: an agent in the background.
struct NobodyToAsk;

impl Approver for NobodyToAsk {
    fn ask(&self, _: PermissionAsk) -> BoxFuture<'_, PermissionAnswer> {
        let reason =
            "this agent runs in the background, where nobody can be asked; do without it, \
            or say in the end that it is needed"
                .to_owned();
        Box::pin(async move { PermissionAnswer::Deny { reason } })
    }
}

fn brief(plan: &Plan<'_>) -> Brief {
    Brief {
        id: plan.id.clone(),
        kind: kind_name(plan).to_owned(),
        description: plan.order.description.clone(),
    }
}

fn kind_name<'a>(plan: &'a Plan<'_>) -> &'a str {
    plan.kind.as_ref().map_or(FORK, |kind| &kind.name)
}

pub(super) fn source(plan: &Plan<'_>) -> QuerySource {
    QuerySource::Agent(kind_name(plan).to_owned())
}

fn name_of(id: &str) -> String {
    format!("agent-{id}")
}

fn session_id(id: &str) -> SessionId {
    SessionId::from(name_of(id))
}
