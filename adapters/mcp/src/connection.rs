//! One connection: made, kept, ended.

use crate::client::Client;
use crate::connect_error::ConnectError;
use crate::content;
use crate::elicitation::{Announced, Asking};
use crate::entry::{ServerEntry, Transport};
use crate::process::{self, Process, Surroundings};
use everfold_kernel::limits::McpLimits;
use everfold_kernel::ports::{Library, ServerPrompt, ServerTool};
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequestParams, GetPromptRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ServerCapabilities,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A server that answers.
pub(crate) struct Live {
    service: RunningService<RoleClient, Client>,
    process: Mutex<Option<Process>>,
    /// Its process has ended.
    gone: CancellationToken,
    tools: Mutex<Arc<[ServerTool]>>,
    /// How many changes of the tools the list has in it.
    seen: AtomicU64,
    changes: Arc<AtomicU64>,
    pub(crate) instructions: Option<String>,
    pub(crate) revision: String,
    pub(crate) prompts: Arc<[ServerPrompt]>,
    pub(crate) library: Library,
    /// What it wants to know of people.
    pub(crate) asking: Arc<Asking>,
}

/// What a server can be asked for.
pub(crate) enum Ask {
    Tool(String, Map<String, Value>),
    Resources,
    Read(String),
    Prompt(String, Map<String, Value>),
}

type Service = RunningService<RoleClient, Client>;

/// What a connection is made with.
pub(crate) struct Ground<'a> {
    pub(crate) around: &'a Surroundings,
    pub(crate) roots: &'a [String],
    pub(crate) limits: &'a McpLimits,
    pub(crate) announced: Announced,
}

/// Connects to a server and lists its tools, within its time.
pub(crate) async fn connect(
    entry: &ServerEntry,
    ground: &Ground<'_>,
) -> Result<Live, ConnectError> {
    let most = Duration::from_millis(ground.limits.start_ms);
    match tokio::time::timeout(most, open(entry, ground)).await {
        Ok(opened) => opened,
        Err(_) => Err(ConnectError::Late(most.as_secs())),
    }
}

async fn open(entry: &ServerEntry, ground: &Ground<'_>) -> Result<Live, ConnectError> {
    let changes = Arc::new(AtomicU64::new(0));
    let asking = Arc::new(Asking::new(&entry.name, ground.announced, ground.limits.text_chars));
    let client = Client {
        roots: ground.roots.to_vec(),
        changes: Arc::clone(&changes),
        asking: Arc::clone(&asking),
    };
    let (service, process) = serve(entry, ground, client).await?;
    let info = service.peer().peer_info();
    let has_tools = info.as_ref().is_none_or(|info| info.capabilities.tools.is_some());
    let instructions = info.as_ref().and_then(|info| info.instructions.clone());
    let offers = |of: fn(&ServerCapabilities) -> bool| {
        info.as_ref().is_some_and(|info| of(&info.capabilities))
    };
    let library = if offers(|own| own.resources.is_some()) { Library::Open } else { Library::None };
    let prompts = if offers(|own| own.prompts.is_some()) {
        service.peer().list_all_prompts().await.unwrap_or_default()
    } else {
        Vec::new()
    };
    let gone = process.as_ref().map_or_else(CancellationToken::new, Process::gone);
    let live = Live {
        gone,
        process: Mutex::new(process),
        tools: Mutex::new(Arc::new([])),
        seen: AtomicU64::new(0),
        changes,
        instructions: instructions
            .filter(|text| !text.trim().is_empty())
            .map(|text| content::cut(&text, ground.limits.text_chars)),
        revision: info.map_or_else(String::new, |info| info.protocol_version.to_string()),
        prompts: prompts
            .iter()
            .filter(|prompt| is_name(&prompt.name))
            .take(ground.limits.prompts)
            .map(|prompt| content::prompt(prompt, ground.limits))
            .collect(),
        library,
        asking,
        service,
    };
    if has_tools {
        live.list(entry.always_load, ground.limits).await?;
    }
    Ok(live)
}

/// Speaks to a server for the first time.
async fn serve(
    entry: &ServerEntry,
    ground: &Ground<'_>,
    client: Client,
) -> Result<(Service, Option<Process>), ConnectError> {
    match &entry.transport {
        Transport::Stdio { .. } => {
            // Servers on pipes know the older handshake; a newer one may not.
            match over_pipes(entry, ground, client.clone(), ClientLifecycleMode::Initialize).await {
                Ok(opened) => Ok(opened),
                Err(first) => over_pipes(entry, ground, client, either()).await.map_err(|_| first),
            }
        }
        Transport::Http { url, headers, helper } => {
            let mut headers = headers.clone();
            if let Some(command) = helper {
                headers.extend(process::headers(command, ground.around, ground.limits).await?);
            }
            Ok((over_http(url, &headers, client).await?, None))
        }
    }
}

/// Either revision, the newer one first.
fn either() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

async fn over_pipes(
    entry: &ServerEntry,
    ground: &Ground<'_>,
    client: Client,
    lifecycle: ClientLifecycleMode,
) -> Result<(Service, Option<Process>), ConnectError> {
    let (process, stdout, stdin) = process::start(&entry.transport, ground.around)?;
    let gone = process.gone();
    let refused = tokio::select! {
        served = client.serve_with_lifecycle((stdout, stdin), lifecycle) => match served {
            Ok(service) => return Ok((service, Some(process))),
            Err(error) => Some(Box::new(error)),
        },
        () = gone.cancelled() => None,
    };
    let said = process.complaint().await;
    Err(match refused {
        Some(error) => ConnectError::Refused { error, said },
        None => ConnectError::Ended(said),
    })
}

async fn over_http(
    url: &str,
    headers: &std::collections::BTreeMap<String, String>,
    client: Client,
) -> Result<Service, ConnectError> {
    // Another part of the program may have chosen already: theirs stays.
    rustls::crypto::ring::default_provider().install_default().ok();
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    for (name, value) in headers {
        let broken = || ConnectError::Header(name.clone());
        let key = HeaderName::try_from(name).map_err(|_| broken())?;
        let value = HeaderValue::try_from(value).map_err(|_| broken())?;
        config.custom_headers.insert(key, value);
    }
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let transport = StreamableHttpClientTransport::with_client(http, config);
    let served = client.serve_with_lifecycle(transport, either()).await;
    served.map_err(|error| ConnectError::Refused { error: Box::new(error), said: None })
}

impl Live {
    /// Whether it has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.gone.is_cancelled()
    }

    /// Its tools, as they were last listed.
    pub(crate) fn tools(&self) -> Arc<[ServerTool]> {
        Arc::clone(&self.tools.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the server said that its tools are others now. Said once.
    pub(crate) fn is_stale(&self) -> bool {
        let now = self.changes.load(Ordering::Relaxed);
        self.seen.swap(now, Ordering::Relaxed) != now
    }

    /// Lists its tools anew.
    pub(crate) async fn list(
        &self,
        always_load: bool,
        limits: &McpLimits,
    ) -> Result<(), ConnectError> {
        let listed = self.service.peer().list_all_tools().await;
        let listed = listed.map_err(|error| ConnectError::Tools(Box::new(error)))?;
        let tools: Vec<ServerTool> = listed
            .iter()
            .filter(|tool| is_name(&tool.name))
            .take(limits.tools)
            .map(|tool| content::tool(tool, always_load, limits))
            .collect();
        *self.tools.lock().unwrap_or_else(PoisonError::into_inner) = tools.into();
        Ok(())
    }

    /// Asks for something; the answer is as it came.
    pub(crate) async fn ask(&self, ask: Ask) -> Result<Value, ServiceError> {
        tokio::select! {
            answered = self.answer(ask) => answered,
            () = self.gone.cancelled() => Err(ServiceError::TransportClosed),
        }
    }

    async fn answer(&self, ask: Ask) -> Result<Value, ServiceError> {
        let value = match ask {
            Ask::Tool(name, arguments) => {
                let mut params = CallToolRequestParams::new(name);
                params.arguments = Some(arguments);
                serde_json::to_value(self.service.call_tool(params).await?)
            }
            Ask::Resources => serde_json::to_value(self.service.peer().list_all_resources().await?),
            Ask::Read(uri) => {
                let params = ReadResourceRequestParams::new(uri);
                serde_json::to_value(self.service.read_resource(params).await?)
            }
            Ask::Prompt(name, arguments) => {
                let mut params = GetPromptRequestParams::new(name);
                params.arguments = Some(arguments);
                serde_json::to_value(self.service.get_prompt(params).await?)
            }
        };
        Ok(value.unwrap_or_default())
    }

    /// Ends it: the pipes are closed, and the process goes or is killed. Gives
    /// its last words.
    pub(crate) async fn end(&self) -> Option<String> {
        self.service.cancellation_token().cancel();
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let gone = process.gone().is_cancelled();
        let words = if gone { process.complaint().await } else { None };
        process.end().await;
        words
    }
}

/// Names that fit into a tool's name for a model.
fn is_name(name: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=128).contains(&name.len()) && name.chars().all(known)
}
