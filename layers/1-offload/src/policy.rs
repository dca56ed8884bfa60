//! When a tool result is too big: caps by tool, and the tools that have none.

use everfold_kernel::limits::OffloadLimits;

/// The tool that reads files. It pages by itself, and spilling what it read
/// would make the model read the spilled file, and so on (L1.2).
pub const READ_TOOL: &str = "Read";

use everfold_kernel::record::RECALL_TOOL;

const BASH_TOOL: &str = "Bash";
const GREP_TOOL: &str = "Grep";
/// What the names of tools of servers start with.
const SERVER_TOOLS: &str = "mcp__";

/// Most characters of a tool's result that stay in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultCap {
    /// All of it stays, whatever its size.
    Infinite,
    Chars(u64),
}

/// The cap of a tool under the limits in force (L1.1, L1.6). A tool's own cap
/// is never above the default one.
///
/// ```
/// use everfold_kernel::limits::OffloadLimits;
/// use everfold_offload::{ResultCap, cap};
///
/// let limits = OffloadLimits::default();
/// assert_eq!(cap("Bash", &limits), ResultCap::Chars(30_000));
/// assert_eq!(cap("mcp__db__query", &limits), ResultCap::Chars(50_000));
/// assert_eq!(cap("Read", &limits), ResultCap::Infinite);
/// ```
#[must_use]
pub fn cap(tool: &str, limits: &OffloadLimits) -> ResultCap {
    if is_exempt(tool) {
        return ResultCap::Infinite;
    }
    let own = limits.tool_chars.get(tool).copied().unwrap_or(match tool {
        BASH_TOOL => limits.bash_chars,
        GREP_TOOL => limits.grep_chars,
        name if name.starts_with(SERVER_TOOLS) => {
            limits.mcp_tokens.saturating_mul(limits.mcp_token_chars)
        }
        _ => limits.default_chars,
    });
    ResultCap::Chars(own.min(limits.default_chars))
}

/// Whether a tool's results always stay. They count for a message's budget,
/// and are never chosen for it.
#[must_use]
pub fn is_exempt(tool: &str) -> bool {
    matches!(tool, READ_TOOL | RECALL_TOOL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l1_1_caps_by_tool_are_clamped_to_the_default() {
        let mut limits = OffloadLimits::default();
        assert_eq!(cap("Grep", &limits), ResultCap::Chars(20_000));
        assert_eq!(cap("", &limits), ResultCap::Chars(50_000));
        limits.tool_chars.insert("Bash".into(), 900_000);
        limits.tool_chars.insert("Grep".into(), 7);
        assert_eq!(cap("Bash", &limits), ResultCap::Chars(50_000));
        assert_eq!(cap("Grep", &limits), ResultCap::Chars(7));
        limits.mcp_tokens = 1_000;
        assert_eq!(cap("mcp__call", &limits), ResultCap::Chars(4_000));
    }

    #[test]
    fn l1_2_no_setting_caps_the_tools_that_read() {
        let mut limits = OffloadLimits::default();
        limits.tool_chars.insert(READ_TOOL.into(), 1);
        limits.tool_chars.insert(RECALL_TOOL.into(), 1);
        assert_eq!(cap(READ_TOOL, &limits), ResultCap::Infinite);
        assert_eq!(cap(RECALL_TOOL, &limits), ResultCap::Infinite);
        assert!(!is_exempt("Bash"));
    }
}
