//! A window that is known, for pictures of it.

use everfold_agent::engine::window::context_view::{
    Category, CategoryKind, ContextView, Threshold, ThresholdKind,
};
use everfold_kernel::window::WindowState;
use everfold_kernel::{Tokens, Window};

/// A window of 200,000 tokens with this in it: id, name, kind and tokens.
pub(crate) fn window_of(
    categories: &[(&'static str, &'static str, CategoryKind, u64)],
) -> ContextView {
    let window = Window {
        size: Tokens(200_000),
        output: Tokens(20_000),
        effective: Tokens(180_000),
        auto_compact: Tokens(167_000),
        warning: Tokens(147_000),
        refuse: Tokens(177_000),
    };
    let used = categories.iter().filter(|(.., kind, _)| *kind == CategoryKind::Used);
    ContextView {
        model: "m".into(),
        window,
        used: Tokens(used.map(|(.., tokens)| tokens).sum()),
        state: WindowState::Free,
        thresholds: vec![
            Threshold { kind: ThresholdKind::Warning, tokens: window.warning },
            Threshold { kind: ThresholdKind::AutoCompact, tokens: window.auto_compact },
        ],
        categories: categories
            .iter()
            .map(|(id, name, kind, tokens)| Category {
                id,
                part_of: None,
                name,
                kind: *kind,
                tokens: Tokens(*tokens),
            })
            .collect(),
    }
}
