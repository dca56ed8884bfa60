//! Searching the web by a tool of the provider's (Q14).
//!
//! The provider runs the search while it answers, so nobody can be asked about
//! one call: the tool is in the list or it is not. It is there where the
//! provider offers it and no rule denies `WebSearch` or wants to be asked
//! about it. What it finds comes as blocks of the answer, which go back as
//! they came; for memories it counts as said by strangers (L5.26).

use crate::event::Event;
use crate::session::Session;
use crate::session::prelude::{SERVER_NAME, WEB_SEARCH};
use everfold_kernel::{Block, ToolUseId};
use serde_json::Value;
use tokio::time::Instant;

/// Shows a search that the provider makes while it answers, like a tool's.
pub(crate) fn show_search(session: &Session, block: &Block, began: &mut Option<Instant>) {
    let field = |key: &str| block.as_map().get(key).cloned().unwrap_or_default();
    let id = |key: &str| ToolUseId::new(field(key).as_str().unwrap_or_default());
    match block.kind() {
        "server_tool_use" if field("name") == SERVER_NAME => {
            *began = Some(Instant::now());
            let (id, name, input) = (id("id"), WEB_SEARCH.to_owned(), field("input"));
            session.emit(|| Event::ToolStarted { id, name, input });
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
            session.emit(|| Event::ToolEnded { id, is_error, preview, duration });
        }
        _ => {}
    }
}
