//! Searching the web by a tool of the provider's (Q14).
//!
//! The provider runs the search while it answers, so nobody can be asked about
//! one call: the tool is in the list or it is not. It is there where the
//! provider offers it and no rule denies `WebSearch` or wants to be asked
//! about it. What it finds comes as blocks of the answer, which go back as
//! they came; for memories it counts as said by strangers (L5.26).

use crate::event::Event;
use crate::session::Session;
use crate::tools::Access;
use everfold_kernel::record::Dialect;
use everfold_kernel::{Block, Prelude, ToolUseId};
use serde_json::{Value, json};
use tokio::time::Instant;

/// What rules and definitions of agents call it.
pub(crate) const WEB_SEARCH: &str = "WebSearch";

/// What the provider calls it.
const SERVER_NAME: &str = "web_search";

/// The form of the tool that every current model takes.
const SERVER_TYPE: &str = "web_search_20250305";

impl Session {
    /// The tool as a request declares it; none where it is not to be had.
    pub(crate) fn web_search(&self) -> Option<Value> {
        let offered = self.config.offers.web_search
            && self.world.model.dialect() == Dialect::Anthropic
            && !self.permit.holds_back(WEB_SEARCH, &Access::Nothing);
        let most = self.config.limits.web_search_uses;
        offered.then(|| json!({"type": SERVER_TYPE, "name": SERVER_NAME, "max_uses": most}))
    }

    /// Shows a search that the provider makes while it answers, like a tool's.
    pub(crate) fn show_search(&self, block: &Block, began: &mut Option<Instant>) {
        let field = |key: &str| block.as_map().get(key).cloned().unwrap_or_default();
        let id = |key: &str| ToolUseId::new(field(key).as_str().unwrap_or_default());
        match block.kind() {
            "server_tool_use" if field("name") == SERVER_NAME => {
                *began = Some(Instant::now());
                let (id, name, input) = (id("id"), WEB_SEARCH.to_owned(), field("input"));
                self.emit(|| Event::ToolStarted { id, name, input });
            }
            "web_search_tool_result" => {
                let content = field("content");
                let preview = match (&content, content.get("error_code")) {
                    (_, Some(code)) => code.as_str().unwrap_or_default().to_owned(),
                    (Value::Array(found), None) => {
                        let titles = found.iter().filter_map(|page| page.get("title")?.as_str());
                        titles.collect::<Vec<_>>().join("\n")
                    }
                    _ => String::new(),
                };
                let duration = began.take().map(|began| began.elapsed()).unwrap_or_default();
                let (id, is_error) = (id("tool_use_id"), !content.is_array());
                self.emit(|| Event::ToolEnded { id, is_error, preview, duration });
            }
            _ => {}
        }
    }

    /// A prelude without the tool, where it has one that is no longer allowed.
    pub(crate) fn without_search(&self, prelude: &Prelude) -> Option<Prelude> {
        let is_search = |tool: &Value| tool.get("type").is_some_and(|kind| kind == SERVER_TYPE);
        let unwanted = prelude.tools.iter().any(is_search) && self.web_search().is_none();
        unwanted.then(|| {
            let mut kept = prelude.clone();
            kept.tools.retain(|tool| !is_search(tool));
            kept
        })
    }
}
