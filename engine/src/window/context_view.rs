//! What fills the window, by category (L4.16, T4): the data of `/context`.
//!
//! The categories always add up to the canonical count (T1): raw estimates are
//! scaled to it, so that a person never sees two sums that differ. With the
//! free space and the buffer they add up to the window, or to the count where
//! that is more.
//!
//! Ids are those that programs know from the context report of the command
//! line tools that we are compatible with; the parts of `messages` are ours.
//! How it is drawn is a surface's business.

use crate::session::{Session, prelude};
use everfold_kernel::tokens::{estimate_json_bytes, estimate_text};
use everfold_kernel::window::{AutoCompact, WindowState};
use everfold_kernel::{
    BlockView, Decision, Entry, Flag, Limits, ModelId, Prelude, Record, Role, Timestamp, Tokens,
    UserOrigin, Window,
};
use everfold_prefix::message::PieceOrigin;
use everfold_prefix::{Fold, Piece};
use serde::Serialize;
use serde_json::Value;

/// Attachments that hold memories or instruction files.
const MEMORY_KINDS: [&str; 3] = ["relevant_memories", "nested_memory", "instructions"];
/// How tools of other servers are called.
const MCP_PREFIX: &str = "mcp__";

/// The window of a conversation and what is in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContextView {
    /// The model that answers.
    pub model: ModelId,
    /// Its window and thresholds.
    pub window: Window,
    /// The canonical count.
    pub used: Tokens,
    /// What the count means.
    pub state: WindowState,
    /// Where something happens, lowest first.
    pub thresholds: Vec<Threshold>,
    /// What fills it, in the order of a request, then free space and buffer.
    /// Those without a token are left out.
    pub categories: Vec<Category>,
}

/// A count at which something happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Threshold {
    pub kind: ThresholdKind,
    /// From which count on.
    pub tokens: Tokens,
}

/// What happens at a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdKind {
    /// The person is warned.
    Warning,
    /// The conversation is compacted.
    AutoCompact,
    Refuse,
}

/// One kind of content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Category {
    pub id: &'static str,
    /// The id that it is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_of: Option<&'static str>,
    /// Its name, for people.
    pub name: &'static str,
    /// What the space is.
    pub kind: CategoryKind,
    pub tokens: Tokens,
}

/// What a part of the window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CategoryKind {
    Used,
    /// Open to the conversation.
    Free,
    /// Kept for the answer and for making a summary.
    Buffer,
}

/// What the window is filled with: id, what it is a part of, name.
const CONTENT: [(&str, Option<&str>, &str); 11] = [
    ("system_prompt", None, "system prompt"),
    ("system_tools", None, "tools"),
    ("mcp_tools", None, "tools of servers"),
    ("memory_files", None, "memories and instructions"),
    ("summary", Some("messages"), "summary"),
    ("user_messages", Some("messages"), "user messages"),
    ("answers", Some("messages"), "answers"),
    ("thinking", Some("messages"), "thinking"),
    ("tool_calls", Some("messages"), "tool calls"),
    ("tool_results", Some("messages"), "tool results"),
    ("injected", Some("messages"), "injected"),
];

/// What fills the window now. Before the first turn it is what the first
/// request will start with.
#[must_use]
pub fn context_view(session: &Session) -> ContextView {
    let on = session.config.flags.is_on(Flag::AutoCompact);
    let auto = if on { AutoCompact::On } else { AutoCompact::Off };
    let limits = &session.config.limits;
    let (model, window) = (session.model().clone(), session.window());
    if session.state.fold.prelude().is_none()
        && let Ok(prelude) = prelude::compose_prelude_for(session, &model)
    {
        let mut fold = session.state.fold.clone();
        let entry = Entry::Decision(Decision::Prelude(Box::new(prelude)));
        let at = Timestamp::UNIX_EPOCH;
        fold.push(Record { id: "look".into(), parent: None, at, entry });
        return ContextView::of(&fold, model, window, auto, limits);
    }
    ContextView::of(&session.state.fold, model, window, auto, limits)
}

impl ContextView {
    /// The view of a fold.
    #[must_use]
    pub fn of(
        fold: &Fold,
        model: ModelId,
        window: Window,
        auto: AutoCompact,
        limits: &Limits,
    ) -> Self {
        let used = fold.count();
        let raw: Vec<u64> = raw_sizes(fold, limits);
        let mut categories: Vec<Category> = CONTENT
            .into_iter()
            .zip(scaled(&raw, used.0))
            .map(|((id, part_of, name), tokens)| {
                let (kind, tokens) = (CategoryKind::Used, Tokens(tokens));
                Category { id, part_of, name, kind, tokens }
            })
            .collect();
        let (last, buffer) = match auto {
            AutoCompact::On => (window.auto_compact, "autocompact_buffer"),
            AutoCompact::Off => (window.refuse, "compact_buffer"),
        };
        let space = |id, name, kind, tokens| Category { id, part_of: None, name, kind, tokens };
        categories.push(space("free_space", "free", CategoryKind::Free, last - used));
        let rest = window.size - last.max(used);
        categories.push(space(buffer, "buffer", CategoryKind::Buffer, rest));
        categories.retain(|category| category.tokens.0 > 0);
        let state = window.state(used, auto);
        Self { model, window, used, state, thresholds: thresholds(&window, auto), categories }
    }
}

fn thresholds(window: &Window, auto: AutoCompact) -> Vec<Threshold> {
    let last = match auto {
        AutoCompact::On => (ThresholdKind::AutoCompact, window.auto_compact),
        AutoCompact::Off => (ThresholdKind::Refuse, window.refuse),
    };
    [(ThresholdKind::Warning, window.warning), last]
        .into_iter()
        .map(|(kind, tokens)| Threshold { kind, tokens })
        .collect()
}

/// The raw estimates, in the order of [`CONTENT`].
fn raw_sizes(fold: &Fold, limits: &Limits) -> Vec<u64> {
    let mut sizes = vec![0_u64; CONTENT.len()];
    let mut add = |id: &str, tokens: Tokens| {
        let at = CONTENT.iter().position(|(own, ..)| *own == id);
        if let Some(size) = at.and_then(|at| sizes.get_mut(at)) {
            *size = size.saturating_add(tokens.0);
        }
    };
    if let Some(Prelude { system, tools, .. }) = fold.prelude() {
        add("system_prompt", system.iter().map(|block| estimate_text(&block.text, limits)).sum());
        for tool in tools {
            let of_server = tool_name(tool).is_some_and(|name| name.starts_with(MCP_PREFIX));
            let id = if of_server { "mcp_tools" } else { "system_tools" };
            add(id, estimate_json_bytes(tool.to_string().len(), limits));
        }
    }
    for message in fold.messages() {
        for piece in message.pieces() {
            add(category(message.role(), piece), piece.tokens);
        }
    }
    sizes
}

fn tool_name(tool: &Value) -> Option<&str> {
    tool.get("name").or_else(|| tool.pointer("/function/name"))?.as_str()
}

/// The id of what a piece is.
pub(crate) fn category(role: Role, piece: &Piece) -> &'static str {
    match (role, &piece.origin, piece.block.view()) {
        (_, _, BlockView::ToolResult { .. }) => "tool_results",
        (_, _, BlockView::ToolUse { .. }) => "tool_calls",
        (_, _, BlockView::Thinking(_) | BlockView::RedactedThinking) => "thinking",
        (Role::Assistant, ..) => "answers",
        (_, PieceOrigin::User(UserOrigin::Human), _) => "user_messages",
        (_, PieceOrigin::User(UserOrigin::CompactSummary), _) => "summary",
        (_, PieceOrigin::Attachment(kind), _) if MEMORY_KINDS.contains(&kind.as_str()) => {
            "memory_files"
        }
        _ => "injected",
    }
}

/// Sizes scaled so that they add up to a total: each gets what the running sum
/// comes to, rounded down, less what those before it got.
fn scaled(raw: &[u64], total: u64) -> Vec<u64> {
    let whole: u128 = raw.iter().map(|size| u128::from(*size)).sum();
    let (mut seen, mut given) = (0_u128, 0_u64);
    raw.iter()
        .map(|size| {
            seen += u128::from(*size);
            let upto = (u128::from(total) * seen).checked_div(whole).unwrap_or(0);
            let upto = u64::try_from(upto).unwrap_or(total);
            let own = upto.saturating_sub(given);
            given = upto;
            own
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::CategoryKind::{Buffer, Free, Used};
    use super::ThresholdKind::{AutoCompact as Compacts, Refuse, Warning};
    use super::*;
    use everfold_kernel::record::Breakpoint;
    use everfold_kernel::window::Overrides;
    use everfold_kernel::{
        AssistantEntry, Attachment, Block, ModelTable, Params, SystemBlock, ToolUseId, Usage,
        UserEntry,
    };
    use proptest::prelude::*;
    use serde_json::json;
    use std::sync::Arc;

    fn user(content: Vec<Block>, origin: UserOrigin) -> Entry {
        Entry::User(UserEntry { content, origin, tool_use_result: None, provenance: Vec::new() })
    }

    fn answer(block: Block, usage: Usage) -> Entry {
        Entry::Assistant(AssistantEntry {
            message_id: "m1".into(),
            request_id: None,
            model: "claude-haiku-4-5".into(),
            index: 0,
            block,
            usage,
            stop_reason: None,
        })
    }

    fn folded(usage: Usage) -> Fold {
        let id = ToolUseId::new("t1");
        let system =
            vec![SystemBlock { text: "be kind ".repeat(500), breakpoint: Breakpoint::None }];
        let tools = vec![json!({"name": "Read"}), json!({"name": "mcp__a__b"})];
        let params = Params::new("claude-haiku-4-5", 1_000);
        let memory = Attachment {
            kind: "relevant_memories".into(),
            rendered: "remember ".repeat(40),
            data: Value::Null,
            provenance: None,
        };
        let mut fold = Fold::new(Arc::default());
        for (number, entry) in [
            Entry::Decision(Decision::Prelude(Box::new(Prelude { system, tools, params }))),
            user(vec![Block::text("go ".repeat(100))], UserOrigin::Human),
            Entry::Attachment(memory),
            answer(Block::text("well ".repeat(30)), usage),
            answer(Block::tool_use(&id, "Read", json!({"file_path": "a"})), usage),
            user(vec![Block::tool_result(&id, json!("x".repeat(4_000)))], UserOrigin::ToolResult),
        ]
        .into_iter()
        .enumerate()
        {
            let at = Timestamp::UNIX_EPOCH;
            fold.push(Record { id: format!("r{number}").into(), parent: None, at, entry });
        }
        fold
    }

    fn view(fold: &Fold, auto: AutoCompact) -> ContextView {
        let (model, table) = (ModelId::new("claude-haiku-4-5"), ModelTable::builtin());
        let limits = Limits::default();
        let spec = table.spec(&model);
        let window = Window::resolve(&model, spec, &[], &Overrides::default(), &limits);
        ContextView::of(fold, model, window, auto, &limits)
    }

    fn size(view: &ContextView, id: &str) -> u64 {
        view.categories.iter().find(|own| own.id == id).map_or(0, |own| own.tokens.0)
    }

    #[test]
    fn l4_16_categories_add_up_to_the_canonical_count_and_the_window() {
        let usage = Usage { input: 7_000, output: 300, ..Usage::default() };
        for fold in [folded(Usage::default()), folded(usage)] {
            let view = view(&fold, AutoCompact::On);
            let sum = |kinds: &[CategoryKind]| -> u64 {
                let own = view.categories.iter().filter(|own| kinds.contains(&own.kind));
                own.map(|own| own.tokens.0).sum()
            };
            assert_eq!(view.used, fold.count());
            assert_eq!(sum(&[Used]), fold.count().0);
            assert_eq!(sum(&[Used, Free, Buffer]), view.window.size.0);
            for id in
                ["system_prompt", "system_tools", "mcp_tools", "memory_files", "user_messages"]
            {
                assert!(size(&view, id) > 0, "{id}: {view:#?}");
            }
            assert!(size(&view, "tool_results") > size(&view, "answers"));
            assert_eq!(size(&view, "thinking"), 0, "what is empty is left out");
        }
    }

    #[test]
    fn t4_thresholds_are_those_in_force() {
        let fold = folded(Usage::default());
        let kinds = |auto| -> Vec<(ThresholdKind, u64)> {
            view(&fold, auto).thresholds.iter().map(|own| (own.kind, own.tokens.0)).collect()
        };
        assert_eq!(kinds(AutoCompact::On), [(Warning, 147_000), (Compacts, 167_000)]);
        assert_eq!(kinds(AutoCompact::Off), [(Warning, 147_000), (Refuse, 177_000)]);
        assert_eq!(size(&view(&fold, AutoCompact::On), "autocompact_buffer"), 33_000);
        assert_eq!(size(&view(&fold, AutoCompact::Off), "compact_buffer"), 23_000);
    }

    #[test]
    fn t4_a_window_that_is_over_full_has_no_free_space() {
        let fold = folded(Usage { input: 190_000, ..Usage::default() });
        let view = view(&fold, AutoCompact::On);
        assert_eq!((size(&view, "free_space"), view.state), (0, WindowState::Full));
        assert!(size(&view, "autocompact_buffer") < 10_000);
    }

    proptest! {
        #[test]
        fn t1_scaling_never_loses_a_token(raw in proptest::collection::vec(0_u64..1 << 40, 1..12), total in 0_u64..1 << 50) {
            let out = scaled(&raw, total);
            let any = raw.iter().any(|size| *size > 0);
            prop_assert_eq!(out.iter().sum::<u64>(), if any { total } else { 0 });
        }
    }
}
