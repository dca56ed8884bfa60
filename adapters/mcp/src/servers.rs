//! All servers of a session, and who owns them.

use crate::connection::{self, Ask, Ground, Live};
use crate::content;
use crate::elicitation::Announced;
use crate::entry::{ServerEntry, Transport};
use crate::process::Surroundings;
use everfold_kernel::limits::McpLimits;
use everfold_kernel::ports::{
    BoxFuture, Library, Respondent, ServerError, ServerResource, ServerResult, ServerState,
    ServerTool, ServerView, Servers,
};
use rmcp::service::ServiceError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long the end of all servers is waited for.
const END_WAIT: Duration = Duration::from_secs(4);

/// The servers that settings name. Nothing is started before it is asked for.
pub struct McpServers {
    inner: Arc<Inner>,
    tasks: TaskTracker,
}

struct Inner {
    slots: Vec<Slot>,
    around: Surroundings,
    roots: Vec<String>,
    limits: McpLimits,
    announced: Announced,
    closing: CancellationToken,
}

struct Slot {
    entry: ServerEntry,
    phase: watch::Sender<Phase>,
    /// Held by who connects, so that nobody else does.
    gate: Mutex<()>,
    /// How often in a row it was started.
    starts: AtomicU32,
    /// Its tools as they were last seen: one that died is started again when
    /// one of them is called.
    seen: std::sync::Mutex<Arc<[ServerTool]>>,
}

#[derive(Clone)]
enum Phase {
    Idle,
    Connecting,
    Up(Arc<Live>),
    Down(String),
}

impl McpServers {
    /// These servers, for work in these directories. Their processes do not
    /// see the variables in `scrub`.
    #[must_use]
    pub fn new(
        entries: Vec<ServerEntry>,
        roots: &[PathBuf],
        scrub: Vec<String>,
        env: BTreeMap<String, String>,
        limits: McpLimits,
    ) -> Self {
        let cwd = roots.first().cloned().unwrap_or_default();
        let slots = entries.into_iter().map(|entry| Slot {
            entry,
            phase: watch::Sender::new(Phase::Idle),
            gate: Mutex::new(()),
            starts: AtomicU32::new(0),
            seen: std::sync::Mutex::default(),
        });
        let inner = Inner {
            slots: slots.collect(),
            around: Surroundings { cwd, scrub, env },
            roots: roots.iter().map(|root| format!("file://{}", root.display())).collect(),
            limits,
            announced: Announced::No,
            closing: CancellationToken::new(),
        };
        Self { inner: Arc::new(inner), tasks: TaskTracker::new() }
    }

    /// Tells servers that somebody answers what they want to know.
    #[must_use]
    pub fn answering(mut self) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.announced = Announced::Yes;
        }
        self
    }
}

impl Inner {
    fn slot(&self, name: &str) -> Result<&Slot, ServerError> {
        let found = self.slots.iter().find(|slot| slot.entry.name == name);
        found.ok_or_else(|| ServerError::Unknown { server: name.to_owned() })
    }

    /// Connects to a server, unless it is there.
    async fn bring_up(&self, slot: &Slot) {
        let _alone = slot.gate.lock().await;
        if slot.live().is_some() || self.closing.is_cancelled() {
            return;
        }
        slot.phase.send_replace(Phase::Connecting);
        slot.starts.fetch_add(1, Ordering::Relaxed);
        let ground = Ground {
            around: &self.around,
            roots: &self.roots,
            limits: &self.limits,
            announced: self.announced,
        };
        let phase = tokio::select! {
            connected = connection::connect(&slot.entry, &ground) => match connected {
                Ok(live) => Phase::Up(Arc::new(live)),
                Err(why) => {
                    tracing::warn!(server = slot.entry.name, %why, "a server is not there");
                    Phase::Down(why.to_string())
                }
            },
            () = self.closing.cancelled() => Phase::Down("it was stopped".to_owned()),
        };
        slot.phase.send_replace(phase);
    }

    /// The connection to a server, made again where it died.
    async fn alive(&self, slot: &Slot) -> Result<Arc<Live>, ServerError> {
        let down = |reason: String| ServerError::Down { server: slot.entry.name.clone(), reason };
        if let Some(live) = slot.live() {
            return Ok(live);
        }
        // One that is reached by its address is somebody else's to start.
        let ours = matches!(slot.entry.transport, Transport::Stdio { .. });
        if ours && slot.starts.load(Ordering::Relaxed) > self.limits.restarts {
            let last = match &*slot.phase.borrow() {
                Phase::Down(why) => why.clone(),
                _ => "it ended".to_owned(),
            };
            return Err(down(format!("{last}; it was started {} times", self.limits.restarts + 1)));
        }
        self.bring_up(slot).await;
        let phase = slot.phase.borrow().clone();
        match phase {
            Phase::Up(live) => Ok(live),
            Phase::Down(why) => Err(down(why)),
            Phase::Idle | Phase::Connecting => Err(down("it was stopped".to_owned())),
        }
    }

    /// Asks a server for something, within its time and size.
    async fn ask(
        &self,
        server: &str,
        ask: Ask,
        who: Option<Arc<dyn Respondent>>,
    ) -> Result<Value, ServerError> {
        let slot = self.slot(server)?;
        let live = self.alive(slot).await?;
        let limit = Duration::from_millis(self.limits.call_ms);
        let limit = slot.entry.timeout.unwrap_or(limit);
        let server = server.to_owned();
        let calling = live.asking.begin(who);
        let asked = live.asking.within(limit, live.ask(ask)).await;
        drop(calling);
        let Some(asked) = asked else {
            return Err(ServerError::Late { server, seconds: limit.as_secs().max(1) });
        };
        match asked {
            Ok(answer) => {
                slot.starts.store(1, Ordering::Relaxed);
                if answer.to_string().len() > self.limits.result_bytes {
                    return Err(ServerError::TooLarge { server, bytes: self.limits.result_bytes });
                }
                Ok(answer)
            }
            Err(ServiceError::McpError(error)) => {
                Err(ServerError::Refused { server, message: error.message.to_string() })
            }
            Err(error) => {
                // Whatever is left of it goes before the next start.
                let reason = live.end().await.unwrap_or_else(|| error.to_string());
                slot.phase.send_replace(Phase::Down(format!("it ended ({reason})")));
                Err(ServerError::Died { server, reason })
            }
        }
    }
}

impl Slot {
    fn live(&self) -> Option<Arc<Live>> {
        match &*self.phase.borrow() {
            Phase::Up(live) if !live.is_closed() => Some(Arc::clone(live)),
            _ => None,
        }
    }

    fn view(&self) -> ServerView {
        let (name, origin) = (self.entry.name.clone(), self.entry.origin.clone());
        let phase = self.phase.borrow().clone();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (instructions, prompts, library) = match &phase {
            Phase::Up(live) => {
                *seen = live.tools();
                (live.instructions.clone(), Arc::clone(&live.prompts), live.library)
            }
            _ => (None, Arc::default(), Library::None),
        };
        let tools = Arc::clone(&seen);
        let state = match phase {
            Phase::Idle => ServerState::Idle,
            Phase::Connecting => ServerState::Connecting,
            Phase::Up(live) if live.is_closed() => ServerState::Down("it ended".to_owned()),
            Phase::Up(live) => ServerState::Up(live.revision.clone()),
            Phase::Down(why) => ServerState::Down(why),
        };
        ServerView { name, origin, state, instructions, tools, prompts, library }
    }
}

impl Servers for McpServers {
    fn connect(&self) {
        for index in 0..self.inner.slots.len() {
            let inner = Arc::clone(&self.inner);
            self.tasks.spawn(async move {
                let Some(slot) = inner.slots.get(index) else { return };
                let idle = matches!(*slot.phase.borrow(), Phase::Idle);
                if idle {
                    inner.bring_up(slot).await;
                }
            });
        }
    }

    fn settled(&self, most: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let all = async {
                for slot in &self.inner.slots {
                    let mut phase = slot.phase.subscribe();
                    let done = |phase: &Phase| matches!(phase, Phase::Up(_) | Phase::Down(_));
                    let _ = phase.wait_for(done).await;
                }
            };
            let _ = timeout(most, all).await;
        })
    }

    fn list(&self) -> Vec<ServerView> {
        for slot in &self.inner.slots {
            if let Some(live) = slot.live().filter(|live| live.is_stale()) {
                let (limits, always) = (self.inner.limits.clone(), slot.entry.always_load);
                self.tasks.spawn(async move {
                    if let Err(why) = live.list(always, &limits).await {
                        tracing::warn!(%why, "the tools of a server changed");
                    }
                });
            }
        }
        self.inner.slots.iter().map(Slot::view).collect()
    }

    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Map<String, Value>,
        who: Option<Arc<dyn Respondent>>,
    ) -> BoxFuture<'a, Result<ServerResult, ServerError>> {
        Box::pin(async move {
            let ask = Ask::Tool(tool.to_owned(), arguments);
            Ok(content::result(&self.inner.ask(server, ask, who).await?))
        })
    }

    fn resources<'a>(
        &'a self,
        server: &'a str,
    ) -> BoxFuture<'a, Result<Vec<ServerResource>, ServerError>> {
        Box::pin(async move {
            let answer = self.inner.ask(server, Ask::Resources, None).await?;
            Ok(content::resources(&answer, &self.inner.limits))
        })
    }

    fn read<'a>(
        &'a self,
        server: &'a str,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<ServerResult, ServerError>> {
        Box::pin(async move {
            Ok(content::read(&self.inner.ask(server, Ask::Read(uri.to_owned()), None).await?))
        })
    }

    fn prompt<'a>(
        &'a self,
        server: &'a str,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Vec<String>, ServerError>> {
        Box::pin(async move {
            let ask = Ask::Prompt(name.to_owned(), arguments);
            Ok(content::prompt_texts(&self.inner.ask(server, ask, None).await?))
        })
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.inner.closing.cancel();
            self.tasks.close();
            let _ = timeout(END_WAIT, self.tasks.wait()).await;
            let ending = self.inner.slots.iter().map(|slot| async {
                let ended = Phase::Down("it was stopped".to_owned());
                if let Phase::Up(live) = slot.phase.send_replace(ended) {
                    live.end().await;
                }
            });
            let _ = timeout(END_WAIT, futures_util::future::join_all(ending)).await;
        })
    }
}

impl Drop for McpServers {
    fn drop(&mut self) {
        self.inner.closing.cancel();
    }
}
