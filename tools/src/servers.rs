//! Tools of servers as tools of ours: what they are called, how they are shown,
//! what a call of one does (Q14).

use crate::{Access, Tool, ToolCall, ToolContext, ToolOutcome, ToolOutput, ToolSpec};
use everfold_kernel::ports::{BoxFuture, Load, ServerResult, ServerTool, ServerView, Servers};
use everfold_kernel::provenance::Source;
use everfold_kernel::record::neutralise;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// The tool by which the tools of servers are called.
pub const CALL: &str = "mcp__call";

/// The definition of a server's tool, made harmless (S4).
#[must_use]
pub fn schema(full_name: &str, tool: &ServerTool) -> Value {
    json!({
        "name": full_name,
        "description": neutralise(&tool.description),
        "input_schema": tool.input_schema,
    })
}

/// The name of a server's tool for models, rules and hooks.
#[must_use]
pub fn full_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// The definitions of tools that are wanted from the start, as far as their
/// servers are up.
#[must_use]
pub fn loaded_tools(servers: &dyn Servers) -> Vec<Value> {
    let views = servers.list();
    let wanted = views.iter().flat_map(|view| {
        let tools = view.tools.iter().filter(|tool| tool.load == Load::Always);
        tools.map(|tool| schema(&full_name(&view.name, &tool.name), tool))
    });
    wanted.collect()
}

/// The tool of this full name, and its server.
#[must_use]
pub fn find(views: &[ServerView], name: &str) -> Option<(ServerView, ServerTool)> {
    views.iter().find_map(|view| {
        let own = name.strip_prefix(&full_name(&view.name, ""))?;
        let tool = view.tools.iter().find(|tool| tool.name == own)?;
        Some((view.clone(), tool.clone()))
    })
}

/// The tool of this full name, ready to be called.
#[must_use]
pub fn tool_of(servers: &Arc<dyn Servers>, name: &str) -> Option<Arc<dyn Tool>> {
    let (view, tool) = find(&servers.list(), name)?;
    let servers = Arc::clone(servers);
    Some(Arc::new(Remote { name: name.to_owned(), server: view.name, tool, servers }))
}

/// A tool of a server.
struct Remote {
    name: String,
    server: String,
    tool: ServerTool,
    servers: Arc<dyn Servers>,
}

impl Tool for Remote {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.clone().into(),
            description: neutralise(&self.tool.description).into(),
            input_schema: self.tool.input_schema.clone(),
        }
    }

    fn name(&self) -> Cow<'static, str> {
        self.name.clone().into()
    }

    fn access(&self, _: &Value, _: &ToolContext) -> Access {
        Access::Server { reads: self.tool.reads, asks: self.tool.asks }
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let arguments = match &call.input {
                Value::Object(arguments) => arguments.clone(),
                Value::Null => Map::new(),
                _ => return ToolOutput::error("the arguments have to be a JSON object"),
            };
            let person = context.world.respondent.clone();
            let who = context.hooks.as_ref().and_then(|hooks| hooks.respondent(person));
            match self.servers.call(&self.server, &self.tool.name, arguments, who).await {
                Ok(result) => output(result),
                Err(error) => ToolOutput::error(error.to_string()).by(Source::Mcp),
            }
        })
    }
}

/// What a server answered, as the output of a tool.
#[must_use]
pub fn output(result: ServerResult) -> ToolOutput {
    let ServerResult { content, is_error, structured } = result;
    let shown = match content.as_slice() {
        [] => Value::String("The tool completed with no output.".to_owned()),
        [only] if only.get("type").and_then(Value::as_str) == Some("text") => {
            only.get("text").cloned().unwrap_or_default()
        }
        _ => Value::Array(content),
    };
    let outcome = if is_error { ToolOutcome::Failed } else { ToolOutcome::Done };
    ToolOutput { content: shown, outcome, structured, provenance: Source::Mcp.into() }
}
