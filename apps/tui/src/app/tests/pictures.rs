//! Panels as a person sees them, at 80×24 and 120×40, without colours.

use crate::app::harness::{Bench, ledger, window_of};
use everfold_agent::engine::window::context_view::{CategoryKind, ContextView};

fn window() -> ContextView {
    window_of(&[
        ("system_prompt", "System prompt", CategoryKind::Used, 10_000),
        ("memory_files", "Memory files", CategoryKind::Used, 6_000),
        ("user_messages", "Your messages", CategoryKind::Used, 6_100),
        ("tool_results", "Tool results", CategoryKind::Used, 40_000),
        ("free_space", "Free space", CategoryKind::Free, 104_900),
        ("autocompact_buffer", "Buffer", CategoryKind::Buffer, 33_000),
    ])
}

/// A screen with a window that is known. The worker is busy, so that what
/// depends on this machine, such as the length of the system prompt, is not
/// looked at.
pub(in crate::app) async fn standing() -> Bench {
    let mut bench = Bench::with(&[]).await;
    bench.busy = true;
    if let Some(status) = &mut bench.app.status {
        status.context = window();
        status.window = status.context.window;
        status.used = 62_100;
        status.ledger = ledger(1);
    }
    bench
}

/// A panel at both sizes.
async fn picture(command: &str, keys: &str) -> String {
    let mut bench = standing().await;
    bench.send(command).await;
    bench.press(keys).await;
    bench.draw(80, 24);
    let mut at = |width, height| format!("--- {width}×{height}\n{}", bench.draw(width, height));
    at(80, 24) + &at(120, 40)
}

#[tokio::test]
async fn q9_pictures_of_panels() {
    for (name, command, keys) in [
        ("context", "/context", "<down><down>"),
        ("memory", "/memory", ""),
        ("memory_forget", "/memory", "f"),
        ("memory_search", "/memory", "/tabs"),
        ("memory_log", "/memory log", ""),
        ("memory_inbox", "/memory inbox", ""),
        ("tasks", "/tasks", ""),
        ("cost", "/cost", ""),
        ("resume", "/resume", ""),
        ("rewind", "/rewind", ""),
        ("compact", "/compact --preview", ""),
        ("help", "/help", ""),
        ("config", "/config", ""),
        ("doctor", "/doctor", ""),
        ("model", "/model", ""),
        ("mcp", "/mcp", ""),
        ("skills", "/skills", ""),
        ("permissions", "/permissions", ""),
    ] {
        insta::assert_snapshot!(name, picture(command, keys).await);
    }
}
