//! How the log changes: markers in place of results, with the sum by which
//! it was decided.

use mnemon_kernel::limits::PruneLimits;
use mnemon_kernel::record::{ClearTrigger, Cleared, ClearedResult, ClearingSum};
use mnemon_kernel::{BlockView, Decision};
use mnemon_prefix::{ResultView, Showing};
use serde_json::Value;

/// What stands in place of a cleared result.
pub const CLEARED: &str = "[Old tool result content cleared]";

/// The marker of a result: with its id where it can be brought back by that
/// (L2.5), which is where it went to disk or is too long to be asked for
/// again lightly.
#[must_use]
pub fn marker(result: &ResultView<'_>, limits: &PruneLimits) -> String {
    let id = result.tool_use_id;
    if is_restorable(result, limits) && is_one_word(id) {
        format!("{CLEARED} (id: {id})")
    } else {
        CLEARED.to_owned()
    }
}

fn is_restorable(result: &ResultView<'_>, limits: &PruneLimits) -> bool {
    result.piece.shown == Showing::Spilled
        || match result.piece.block.view() {
            BlockView::ToolResult { content, .. } => {
                has_more_chars(content, limits.restorable_chars)
            }
            _ => false,
        }
}

/// Whether a content's texts have more than so many characters, looking no
/// further than it has to.
fn has_more_chars(content: &Value, most: u64) -> bool {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let parts = match content {
        Value::Array(parts) => parts.as_slice(),
        other => std::slice::from_ref(other),
    };
    let texts =
        parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str()));
    texts.flat_map(str::chars).nth(most).is_some()
}

/// Whether an id can stand on the marker's line.
fn is_one_word(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The decision to clear these results.
pub(crate) fn clear(
    results: Vec<ClearedResult>,
    trigger: ClearTrigger,
    sum: ClearingSum,
) -> Decision {
    Decision::Cleared(Cleared { results, trigger, sum })
}

/// The decision to have the server drop these results from its cache.
pub(crate) fn edit(results: &[&ResultView<'_>]) -> Decision {
    let tool_use_ids = results.iter().map(|result| result.tool_use_id.into()).collect();
    Decision::CacheEdited { tool_use_ids }
}
