//! How large the window is, and where its thresholds lie (T3 to T5).

use crate::ids::ModelId;
use crate::limits::Limits;
use crate::models::{LONG_WINDOW_SUFFIX, ModelSpec};
use crate::tokens::Tokens;
use serde::Serialize;

/// The beta header that declares a window of a million tokens.
pub const LONG_WINDOW_BETA: &str = "context-1m-2025-08-07";

/// What a person set about the window, from settings and environment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overrides {
    /// The window of a model that the table does not know.
    pub window: Option<u64>,
    /// Compact as if the window were this large; never above the real one.
    pub auto_compact_window: Option<u64>,
    /// Compact at this percentage of the effective window; only ever earlier.
    pub auto_compact_percent: Option<u64>,
}

/// The window of one model with its thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Window {
    /// What the model can hold, prompt and answer together.
    pub size: Tokens,
    /// The window less room for the answer.
    pub effective: Tokens,
    /// Over this count, auto-compact runs.
    pub auto_compact: Tokens,
    /// From this count on, the person is warned.
    pub warning: Tokens,
    /// With auto-compact off, requests over this count are refused.
    pub refuse: Tokens,
}

/// What a count means for the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowState {
    /// There is room.
    Free,
    /// The threshold is near.
    Warning,
    /// Auto-compact is due.
    Full,
    /// No request can be made.
    Blocked,
}

impl Window {
    /// The window of `model`.
    ///
    /// ```
    /// use everfold_kernel::{Limits, ModelTable, Tokens, Window};
    ///
    /// let table = ModelTable::builtin();
    /// let model = "claude-sonnet-4-5".into();
    /// let window = Window::resolve(&model, table.spec(&model), &[], &Default::default(), &Limits::default());
    /// assert_eq!(window.auto_compact, Tokens(167_000));
    /// ```
    #[must_use]
    pub fn resolve(
        model: &ModelId,
        spec: &ModelSpec,
        betas: &[String],
        overrides: &Overrides,
        limits: &Limits,
    ) -> Self {
        let size = Self::size(model, spec, betas, overrides, limits);
        let effective = size.saturating_sub(spec.max_output.min(limits.output_reserve_tokens));
        let compact_base = match overrides.auto_compact_window {
            Some(window) => {
                window.min(size).saturating_sub(spec.max_output.min(limits.output_reserve_tokens))
            }
            None => effective,
        };
        let by_buffer = compact_base.saturating_sub(limits.auto_compact_buffer_tokens);
        let auto_compact = match overrides.auto_compact_percent {
            Some(percent) => by_buffer.min(compact_base.saturating_mul(percent.min(100)) / 100),
            None => by_buffer,
        };
        Self {
            size: Tokens(size),
            effective: Tokens(effective),
            auto_compact: Tokens(auto_compact),
            warning: Tokens(auto_compact.saturating_sub(limits.warning_buffer_tokens)),
            refuse: Tokens(effective.saturating_sub(limits.refuse_buffer_tokens)),
        }
    }

    fn size(
        model: &ModelId,
        spec: &ModelSpec,
        betas: &[String],
        overrides: &Overrides,
        limits: &Limits,
    ) -> u64 {
        if model.as_str().ends_with(LONG_WINDOW_SUFFIX) {
            limits.long_window_tokens
        } else if let Some(window) = spec.window {
            window
        } else if betas.iter().any(|beta| beta == LONG_WINDOW_BETA) {
            limits.long_window_tokens
        } else {
            overrides.window.unwrap_or(limits.default_window_tokens)
        }
    }

    /// What this count means, with auto-compact on or off.
    #[must_use]
    pub fn state(&self, count: Tokens, auto_compact: AutoCompact) -> WindowState {
        match auto_compact {
            AutoCompact::On if count > self.auto_compact => WindowState::Full,
            AutoCompact::Off if count > self.refuse => WindowState::Blocked,
            _ if count > self.warning => WindowState::Warning,
            _ => WindowState::Free,
        }
    }
}

/// Whether the conversation may be compacted without being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoCompact {
    /// It may.
    On,
    /// It may not.
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::ModelTable;

    fn window(model: &str, betas: &[&str], overrides: Overrides) -> Window {
        let table = ModelTable::builtin();
        let model = ModelId::new(model);
        let betas: Vec<String> = betas.iter().map(|b| (*b).to_owned()).collect();
        Window::resolve(&model, table.spec(&model), &betas, &overrides, &Limits::default())
    }

    #[test]
    fn t3_the_first_that_applies_wins() {
        let env = Overrides { window: Some(64_000), ..Overrides::default() };
        assert_eq!(window("claude-sonnet-4-5[1m]", &[], env).size, Tokens(1_000_000));
        assert_eq!(window("claude-sonnet-4-5", &[LONG_WINDOW_BETA], env).size, Tokens(200_000));
        assert_eq!(window("mystery", &[LONG_WINDOW_BETA], env).size, Tokens(1_000_000));
        assert_eq!(window("mystery", &[], env).size, Tokens(64_000));
        assert_eq!(window("mystery", &[], Overrides::default()).size, Tokens(200_000));
    }

    #[test]
    fn t4_thresholds_of_a_200k_window() {
        let w = window("claude-sonnet-4-5", &[], Overrides::default());
        assert_eq!(w.effective, Tokens(180_000));
        assert_eq!(w.auto_compact, Tokens(167_000));
        assert_eq!(w.warning, Tokens(147_000));
        assert_eq!(w.refuse, Tokens(177_000));
        assert_eq!(w.state(Tokens(147_001), AutoCompact::On), WindowState::Warning);
        assert_eq!(w.state(Tokens(167_001), AutoCompact::On), WindowState::Full);
        assert_eq!(w.state(Tokens(167_001), AutoCompact::Off), WindowState::Warning);
        assert_eq!(w.state(Tokens(177_001), AutoCompact::Off), WindowState::Blocked);
    }

    #[test]
    fn t5_overrides_only_ever_lower_the_threshold() {
        let at = |window: Option<u64>, percent: Option<u64>| {
            let overrides = Overrides {
                window: None,
                auto_compact_window: window,
                auto_compact_percent: percent,
            };
            self::window("claude-sonnet-4-5", &[], overrides).auto_compact.0
        };
        assert_eq!(at(Some(100_000), None), 67_000);
        assert_eq!(at(Some(9_000_000), None), 167_000);
        assert_eq!(at(None, Some(50)), 90_000);
        assert_eq!(at(None, Some(100)), 167_000);
        assert_eq!(at(None, Some(900)), 167_000);
    }
}
