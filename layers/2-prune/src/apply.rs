//! How the log changes: markers in place of results, with the sum by which
//! it was decided.

use everfold_kernel::Decision;
use everfold_kernel::limits::PruneLimits;
use everfold_kernel::record::{ClearTrigger, Cleared, ClearedResult, ClearingSum};
use everfold_prefix::{ResultView, Showing};
use serde_json::Value;

/// What stands in place of a cleared result.
pub const CLEARED: &str = "[Old tool result content cleared]";

const ID_PREFIX: &str = " (id: ";

/// The marker of a result: with its id where it can be brought back by that
/// (L2.5), which is where it went to disk or is too long to be asked for
/// again lightly.
#[must_use]
pub fn marker(result: &ResultView<'_>, limits: &PruneLimits) -> String {
    let mut text =
        String::with_capacity(CLEARED.len() + ID_PREFIX.len() + result.tool_use_id.len() + 1);
    write_marker(&mut text, result, limits);
    text
}

/// Writes the marker of a result in place of what `text` held.
pub(crate) fn write_marker(text: &mut String, result: &ResultView<'_>, limits: &PruneLimits) {
    text.clear();
    text.push_str(CLEARED);
    let id = result.tool_use_id;
    if is_one_word(id) && is_restorable(result, limits) {
        for part in [ID_PREFIX, id, ")"] {
            text.push_str(part);
        }
    }
}

fn is_restorable(result: &ResultView<'_>, limits: &PruneLimits) -> bool {
    let content = || result.piece.block.as_map().get("content");
    result.piece.shown == Showing::Spilled
        || content().is_some_and(|content| has_more_chars(content, limits.restorable_chars))
}

/// Whether a content's texts have more than so many characters, looking no
/// further than it has to: before every request this is asked of many.
fn has_more_chars(content: &Value, most: u64) -> bool {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let parts = match content {
        Value::Array(parts) => parts.as_slice(),
        other => std::slice::from_ref(other),
    };
    let texts =
        || parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str()));
    let bytes: usize = texts().map(str::len).sum();
    let chars = || texts().map(|text| text.chars().count()).sum::<usize>();
    bytes > most && (bytes / MAX_CHAR_BYTES > most || chars() > most)
}

/// Most bytes of a character in UTF-8.
const MAX_CHAR_BYTES: usize = 4;

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
