//! What forks and sub-agents are told (L7.2, L7.3).

use everfold_kernel::{Block, ToolUseId, UserOrigin};
use everfold_prefix::Fold;
use everfold_prefix::message::{Message, PieceOrigin};

const FORK: &str = include_str!("prompts/fork.md");
const COORDINATOR: &str = include_str!("prompts/coordinator.md");
const HOLE: &str = "{{ task }}";

/// What the directive of a fork starts with: by it a fork is known (L7.3).
pub const FORK_MARK: &str = "<fork-directive>";

/// The result that stands for every call of the message that was forked. It is
/// the same for all, so that forks of one message differ in their directive
/// alone (L7.2).
pub const PLACEHOLDER: &str = "This call is carried out elsewhere; its result does not come here.";

/// Results for calls that a fork leaves open.
#[must_use]
pub fn placeholders(calls: &[String]) -> Vec<Block> {
    let result = |id: &String| Block::tool_result(&ToolUseId::new(id), PLACEHOLDER.into());
    calls.iter().map(result).collect()
}

/// What a fork is told, last.
#[must_use]
pub fn directive(task: &str) -> String {
    FORK.trim().replace(HOLE, task.trim())
}

/// Whether a conversation is that of a fork.
#[must_use]
pub fn is_fork(fold: &Fold) -> bool {
    let mut pieces = fold.messages().iter().flat_map(Message::pieces);
    pieces.any(|piece| {
        piece.origin == PieceOrigin::User(UserOrigin::Meta)
            && piece.block.plain_text().starts_with(FORK_MARK)
    })
}

/// What the main thread is told where it delegates and watches (L7.7).
#[must_use]
pub fn coordinator() -> &'static str {
    COORDINATOR.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l7_2_directives_differ_in_their_task_alone() {
        let (one, two) = (directive("first {{ task }}"), directive("second"));
        assert!(one.starts_with(FORK_MARK) && one.contains("first {{ task }}"));
        let shared = one.bytes().zip(two.bytes()).take_while(|(a, b)| a == b).count();
        assert!(one.get(..shared).unwrap().ends_with("Your task:\n\n"), "{one}");
    }

    #[test]
    fn l7_2_every_call_has_the_same_placeholder() {
        let blocks = placeholders(&["a".to_owned(), "b".to_owned()]);
        assert_eq!(blocks.len(), 2);
        assert!(blocks.iter().all(|block| block.plain_text() == PLACEHOLDER));
    }
}
