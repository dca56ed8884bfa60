//! Whose words the results of other agents' tools are (L5.33).
//!
//! Their files do not say it, and the name of the tool is all that there is.
//! What a name does not tell stays unknown; so does every prompt, which is told
//! apart by its form where it is needed.

use crate::reader::{TranscriptEvent, What};
use everfold_kernel::provenance::Source;
use everfold_kernel::{BlockProvenance, BlockView, Entry};
use std::collections::BTreeMap;

/// Calls whose results have not come yet.
#[derive(Debug, Default)]
pub(crate) struct Origins(BTreeMap<String, Source>);

impl Origins {
    /// Notes calls, and says of a result whose words it is.
    pub(crate) fn mark(&mut self, told: &mut TranscriptEvent) {
        let What::Record(record) = &mut told.what else { return };
        match &mut record.entry {
            Entry::Assistant(answer) => {
                if let BlockView::ToolUse { id, name, .. } = answer.block.view()
                    && let Some(source) = source(name)
                {
                    self.0.insert(id.to_owned(), source);
                }
            }
            Entry::User(user) if user.provenance.is_empty() => {
                let whose = user.content.iter().map(|block| match block.view() {
                    BlockView::ToolResult { id, .. } => self.0.remove(id),
                    _ => None,
                });
                let whose: Vec<Option<Source>> = whose.collect();
                if whose.iter().any(Option::is_some) {
                    let known = |own: Option<Source>| own.map(BlockProvenance::whole);
                    user.provenance =
                        whose.into_iter().map(|own| known(own).unwrap_or_default()).collect();
                }
            }
            _ => {}
        }
    }
}

/// Whose words a tool of this name brings, by our name for it.
fn source(tool: &str) -> Option<Source> {
    match tool {
        "Bash" | "BashOutput" | "TaskOutput" => Some(Source::Command),
        "Read" | "Grep" | "Glob" | "Edit" | "Write" | "NotebookEdit" => Some(Source::Repository),
        "WebFetch" | "WebSearch" => Some(Source::Web),
        name if name.starts_with("mcp__") => Some(Source::Mcp),
        _ => None,
    }
}
