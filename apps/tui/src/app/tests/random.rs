//! Whatever is typed at whatever size, the screen stands.

use crate::app::harness::Bench;
use proptest::prelude::*;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

const COMMANDS: [&str; 12] = [
    "/context",
    "/memory",
    "/tasks",
    "/cost",
    "/resume",
    "/rewind",
    "/compact --preview",
    "/help",
    "/config",
    "/doctor",
    "/model",
    "/skills",
];

fn key() -> impl Strategy<Value = KeyEvent> {
    let codes = prop_oneof![
        4 => "[a-z/1-5 é日]".prop_map(|text| KeyCode::Char(text.chars().next().unwrap())),
        1 => Just(KeyCode::Enter),
        1 => Just(KeyCode::Esc),
        1 => Just(KeyCode::Up),
        2 => Just(KeyCode::Down),
        1 => Just(KeyCode::PageDown),
        1 => Just(KeyCode::PageUp),
        1 => Just(KeyCode::Home),
        1 => Just(KeyCode::End),
        1 => Just(KeyCode::Backspace),
        1 => Just(KeyCode::Tab),
    ];
    codes.prop_map(|code| KeyEvent::new(code, KeyModifiers::NONE))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn q9_no_keys_at_no_size_break_a_panel(
        command in 0..COMMANDS.len(),
        keys in prop::collection::vec((key(), 1_u16..140, 1_u16..60), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut bench = Bench::with(&["hello"]).await;
            bench.send(COMMANDS[command]).await;
            for (key, width, height) in keys {
                bench.draw(width, height);
                let acts = bench.app.key(key);
                bench.follow(acts).await;
            }
            bench.draw(80, 24);
        });
    }
}
