//! Ports that do as a test expects: an approver, a page, a model of rules.

use everfold_kernel::ports::{
    Approver, Asks, BoxFuture, Library, Load, Model, ModelCall, ModelError, ModelEvent, ModelKind,
    ModelStream, Page, PermissionAnswer, PermissionAsk, Reads, Respondent, ServerError,
    ServerResult, ServerState, ServerTool, ServerView, Servers, Web, WebError,
};
use everfold_kernel::record::Dialect;
use everfold_kernel::{Block, Usage};
use futures_util::stream;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Allows whatever no rule denies.
pub(crate) struct AllowAll;

impl Approver for AllowAll {
    fn ask(&self, _: PermissionAsk) -> BoxFuture<'_, PermissionAnswer> {
        Box::pin(async { PermissionAnswer::Allow })
    }
}

/// Refuses whatever has to be asked.
pub(crate) struct RefuseAll;

impl Approver for RefuseAll {
    fn ask(&self, ask: PermissionAsk) -> BoxFuture<'_, PermissionAnswer> {
        let reason = format!("nobody is there to be asked about {}", ask.tool);
        Box::pin(async move { PermissionAnswer::Deny { reason } })
    }
}

/// The only page that there is.
pub(crate) const PAGE: &str = "https://page.example/hello";

/// A web with one page.
pub(super) struct OnePage;

impl Web for OnePage {
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Page, WebError>> {
        let message = "there is no such page".to_owned();
        let text = "hello".to_owned();
        Box::pin(async move {
            match url {
                PAGE => Ok(Page { url: url.to_owned(), status: 200, bytes: 5, text }),
                _ => Err(WebError::Failed { url: url.to_owned(), message }),
            }
        })
    }
}

/// What answers where there is no language model.
pub(super) struct Rules;

impl Model for Rules {
    fn call(&self, _: ModelCall) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let events = [
            ModelEvent::Started {
                message_id: "msg_rules".into(),
                request_id: None,
                model: "rules".into(),
                usage: Usage::default(),
            },
            ModelEvent::Block { index: 0, block: Block::text("There is no model here.") },
            ModelEvent::Finished { stop_reason: "end_turn".into(), usage: Usage::default() },
        ];
        Box::pin(async move { Ok(Box::pin(stream::iter(events.map(Ok))) as ModelStream) })
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn kind(&self) -> ModelKind {
        ModelKind::Rules
    }
}

/// A server whose only tool gives back what it is given.
pub(super) struct EchoServer;

impl Servers for EchoServer {
    fn connect(&self) {}

    fn settled(&self, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn list(&self) -> Vec<ServerView> {
        let tool = ServerTool {
            name: "echo".into(),
            description: "Says it again.".into(),
            input_schema: json!({"type": "object"}),
            reads: Reads::Only,
            load: Load::WhenAsked,
            asks: Asks::ByRule,
        };
        vec![ServerView {
            name: "s".into(),
            origin: "test".into(),
            state: ServerState::Up("1".into()),
            instructions: None,
            tools: vec![tool].into(),
            prompts: Vec::new().into(),
            library: Library::None,
        }]
    }

    fn call<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        arguments: Map<String, Value>,
        _: Option<Arc<dyn Respondent>>,
    ) -> BoxFuture<'a, Result<ServerResult, ServerError>> {
        let content = vec![json!({"type": "text", "text": arguments.get("text")})];
        Box::pin(async move { Ok(ServerResult { content, is_error: false, structured: None }) })
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}
