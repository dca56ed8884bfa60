//! How the screen behaves (U6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The interactive terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TerminalSettings {
    /// Whether the wheel scrolls the conversation. Ctrl-S then gives the mouse
    /// back to the terminal, to select text, and takes it again.
    pub mouse: bool,
    /// What happens when a long turn ends or something is asked: `off`, `bell`,
    /// or `notify` for a desktop notification (OSC 9), if the terminal supports it.
    pub bell: Bell,
    /// How long a turn must take for that, in milliseconds.
    pub bell_after_ms: u64,
}

impl Default for TerminalSettings {
    fn default() -> Self {
        Self { mouse: true, bell: Bell::default(), bell_after_ms: 10_000 }
    }
}

/// How the person is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bell {
    /// Not at all.
    Off,
    /// By the terminal's bell.
    #[default]
    Bell,
    /// By a notification of the desktop.
    Notify,
}
