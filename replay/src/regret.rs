//! What the calls of a response ask for, and what they need.

use everfold_economy::regret::{ResultWish, wish, wish_of};
use everfold_kernel::call::file_of;
use everfold_kernel::{BlockView, Record, ToolUseId};

/// The calls of a response with what they ask for.
pub(crate) fn wishes(response: &[Record]) -> Vec<(ToolUseId, ResultWish)> {
    let calls = response.iter().flat_map(crate::weigh::blocks).filter_map(|block| {
        let BlockView::ToolUse { id, name, input } = block.view() else { return None };
        Some((ToolUseId::new(id), wish(name, input)?))
    });
    calls.collect()
}

/// What has to be in view for the calls of a response to be made: a file that
/// is edited was read.
pub(crate) fn needs(response: &[Record]) -> Vec<ResultWish> {
    let calls = response.iter().flat_map(crate::weigh::blocks).filter_map(|block| {
        let BlockView::ToolUse { name: "Edit" | "MultiEdit", input, .. } = block.view() else {
            return None;
        };
        Some(wish_of("Read", file_of(input)?))
    });
    calls.collect()
}
