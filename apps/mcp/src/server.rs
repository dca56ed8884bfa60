//! What answers a client: tools, resources, and which project it is about.

use crate::arguments::Arguments;
use crate::catalogue::{INSTRUCTIONS, tools};
use crate::operations::Project;
use crate::refusal::CallRefusal;
use crate::resources::{self, SCHEME};
use everfold_agent::hosts::HostService;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    Implementation, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceContents, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::RwLock;

/// Resources of one page.
const PAGE: usize = 100;
/// For how long a client may keep what never changes while the server runs: the
/// tools, and how addresses are made. Memories change at any time.
const STATIC_TTL_MS: u64 = 60 * 60 * 1_000;
/// How long a client may take to say where it works.
const ROOTS_WAIT: Duration = Duration::from_secs(2);

/// Opens the memories of a directory; none where they are switched off.
pub type ProjectOpener =
    Arc<dyn Fn(&Path) -> Result<Option<HostService>, everfold_agent::Error> + Send + Sync>;

/// The server for one client.
#[derive(Clone)]
pub struct Server {
    open: ProjectOpener,
    /// Where the server was started.
    cwd: PathBuf,
    /// Where the client works, once that is known.
    root: Arc<RwLock<Option<PathBuf>>>,
}

impl Server {
    /// A server that works where it was started, unless its client works
    /// elsewhere.
    #[must_use]
    pub fn new(open: ProjectOpener, cwd: PathBuf) -> Self {
        Self { open, cwd, root: Arc::default() }
    }

    /// The directory that a call is about: the client's first root, else where
    /// the server was started.
    async fn root(&self, context: &RequestContext<RoleServer>) -> PathBuf {
        if let Some(root) = self.root.read().await.clone() {
            return root;
        }
        let root = self.asked(context).await.unwrap_or_else(|| self.cwd.clone());
        *self.root.write().await = Some(root.clone());
        root
    }

    /// What the client says of its roots. The newer revision has no such
    /// question, and clients start the server where they work.
    #[expect(deprecated, reason = "roots are how the older revision says where a client works")]
    async fn asked(&self, context: &RequestContext<RoleServer>) -> Option<PathBuf> {
        if !context.protocol_version().is_some_and(|version| version.has_initialize()) {
            return None;
        }
        let client = context.peer.peer_info()?;
        client.capabilities.roots.as_ref()?;
        let listed =
            tokio::time::timeout(ROOTS_WAIT, context.peer.list_roots()).await.ok()?.ok()?;
        listed.roots.iter().find_map(|root| {
            let path = url::Url::parse(&root.uri).ok()?.to_file_path().ok()?;
            path.is_dir().then_some(path)
        })
    }

    /// Does something for a project, on a thread for what blocks.
    async fn in_project<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Project) -> Result<T, CallRefusal> + Send + 'static,
    ) -> Result<T, CallRefusal> {
        let root = self.root(context).await;
        let open = Arc::clone(&self.open);
        let runtime = tokio::runtime::Handle::current();
        let done = tokio::task::spawn_blocking(move || {
            let host = open(&root)?;
            let host = host.ok_or(CallRefusal::MemoryOff)?;
            work(&Project { host, now: jiff::Timestamp::now(), runtime })
        });
        done.await?
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let about =
            Implementation::new("everfold", env!("CARGO_PKG_VERSION")).with_title("Everfold");
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = ListToolsResult::with_all_items(tools());
        Ok(tools.with_ttl_ms(STATIC_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.get_tool(&request.name).is_none() {
            let message = format!("unknown tool {}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let arguments = Arguments(request.arguments.unwrap_or_default());
        let name = request.name;
        let done = self.in_project(&context, move |project| project.call(&name, &arguments)).await;
        let result = match done {
            Ok(value) => CallToolResult::structured(value),
            Err(refusal) => CallToolResult::error(vec![ContentBlock::text(refusal.to_string())]),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let offset = match cursor.map(|cursor| cursor.parse::<usize>()) {
            None => 0,
            Some(Ok(offset)) => offset,
            Some(Err(_)) => {
                return Err(ErrorData::invalid_params("unknown cursor", None));
            }
        };
        let page =
            self.in_project(&context, move |project| resources::page(project, offset, PAGE)).await;
        let (resources, more) =
            page.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let mut list = ListResourcesResult::with_all_items(resources);
        list.next_cursor = more.then(|| (offset + PAGE).to_string());
        Ok(list.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let list = ListResourceTemplatesResult::with_all_items(vec![resources::template()]);
        Ok(list.with_ttl_ms(STATIC_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let unknown = |message: String| ErrorData::resource_not_found(message, None);
        let Some(id) = uri.strip_prefix(SCHEME).map(str::to_owned) else {
            return Err(unknown(format!("{uri} is not the address of a memory")));
        };
        let read = self.in_project(&context, move |project| project.text(&id)).await;
        let (text, _) = read.map_err(|error| unknown(error.to_string()))?;
        let contents = ResourceContents::text(text, uri).with_mime_type("text/markdown");
        let result = ReadResourceResult::new(vec![contents]);
        Ok(result.with_ttl_ms(0).with_cache_scope(CacheScope::Private).into())
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        *self.root.write().await = None;
    }
}
