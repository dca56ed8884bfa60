//! How large the window is, and where its thresholds lie (T3 to T5).

use crate::ids::ModelId;
use crate::limits::Limits;
use crate::models::{LONG_WINDOW_SUFFIX, ModelSpec};
use crate::tokens::Tokens;
use serde::Serialize;
use std::borrow::Cow;

/// The beta header that declares a window of a million tokens.
pub const LONG_WINDOW_BETA: &str = "context-1m-2025-08-07";

/// What a person set about the window, from settings and environment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overrides {
    /// The window that the environment names.
    pub window: Option<u64>,
    /// Whether it stands over the table.
    pub rank: WindowRank,
    /// Compact as if the window were this large; never above the real one.
    pub auto_compact_window: Option<u64>,
    /// Compact at this percentage of the effective window; only ever earlier.
    pub auto_compact_percent: Option<u64>,
}

/// Whether the environment's window or the model table comes first (T3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowRank {
    /// The table: the window is that of a model which it does not know.
    #[default]
    Table,
    /// The environment: a server of one's own has the window it was started
    /// with, whatever its model could hold.
    Environment,
}

/// The window of one model with its thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Window {
    /// What the model can hold, prompt and answer together.
    pub size: Tokens,
    /// Room that is kept for the answer.
    pub output: Tokens,
    /// The window less that room.
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
        Self::sized(size, spec, overrides, limits)
    }

    /// The same window where a server says that it holds less.
    #[must_use]
    pub fn at_most(
        self,
        size: u64,
        spec: &ModelSpec,
        overrides: &Overrides,
        limits: &Limits,
    ) -> Self {
        if size >= self.size.0 { self } else { Self::sized(size, spec, overrides, limits) }
    }

    fn sized(size: u64, spec: &ModelSpec, overrides: &Overrides, limits: &Limits) -> Self {
        let reserves = Reserves::new(size, spec, limits);
        let effective = size.saturating_sub(reserves.output);
        let compact_base = match overrides.auto_compact_window {
            Some(window) => window.min(size).saturating_sub(reserves.output),
            None => effective,
        };
        let by_buffer = compact_base.saturating_sub(reserves.buffer);
        let auto_compact = match overrides.auto_compact_percent {
            Some(percent) => by_buffer.min(compact_base.saturating_mul(percent.min(100)) / 100),
            None => by_buffer,
        };
        Self {
            size: Tokens(size),
            output: Tokens(reserves.output),
            effective: Tokens(effective),
            auto_compact: Tokens(auto_compact),
            warning: Tokens(auto_compact.saturating_sub(reserves.warning)),
            refuse: Tokens(effective.saturating_sub(reserves.refuse)),
        }
    }

    fn size(
        model: &ModelId,
        spec: &ModelSpec,
        betas: &[String],
        overrides: &Overrides,
        limits: &Limits,
    ) -> u64 {
        if let (WindowRank::Environment, Some(window)) = (overrides.rank, overrides.window) {
            window
        } else if model.as_str().ends_with(LONG_WINDOW_SUFFIX) {
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

/// What is kept free of a window. In a small one these are shares of it, so
/// that something is left between them (T8).
#[derive(Clone, Copy)]
struct Reserves {
    output: u64,
    buffer: u64,
    warning: u64,
    refuse: u64,
}

impl Reserves {
    fn new(size: u64, spec: &ModelSpec, limits: &Limits) -> Self {
        let share = |most: u64, percent: u64| {
            if size < limits.small_window_tokens {
                most.min(size.saturating_mul(percent) / 100)
            } else {
                most
            }
        };
        let output = spec.max_output.min(limits.output_reserve_tokens);
        Self {
            output: share(output, limits.small_output_percent),
            buffer: share(limits.auto_compact_buffer_tokens, limits.small_buffer_percent),
            warning: share(limits.warning_buffer_tokens, limits.small_warning_percent),
            // Half of the buffer: refusing comes after compacting.
            refuse: share(limits.refuse_buffer_tokens, limits.small_buffer_percent / 2),
        }
    }
}

impl Limits {
    /// The limits in a window: in a small one, what a compaction leaves is a share
    /// of it (T8). Else it would fill the window again, and the next message would
    /// be followed by the next compaction.
    #[must_use]
    pub fn within(&self, window: &Window) -> Cow<'_, Self> {
        if window.size.0 >= self.small_window_tokens {
            return Cow::Borrowed(self);
        }
        let share = |percent: u64| window.effective.0.saturating_mul(percent) / 100;
        let (told, restored) =
            (share(self.small_summary_percent), share(self.small_restored_percent));
        let mut own = self.clone();
        let at_most = |limit: &mut u64, most: u64| *limit = (*limit).min(most);
        at_most(&mut own.compact.summary_tokens, told);
        at_most(&mut own.compact.user_message_tokens, told);
        at_most(&mut own.compact.user_message_percent, self.small_user_message_percent);
        at_most(&mut own.compact.earlier_summary_tokens, told / 2);
        at_most(&mut own.compact.last_answer_tokens, told / 4);
        at_most(&mut own.compact.restore_tokens, restored);
        at_most(&mut own.compact.restore_file_tokens, restored / 2);
        at_most(&mut own.skills.restore_tokens, restored / 2);
        at_most(&mut own.skills.restore_each_tokens, restored / 4);
        // An id is some twenty tokens, and a span has two: listed like everywhere,
        // they filled a quarter of a window of 8,192.
        let spans = usize::try_from(told / self.small_span_tokens.max(1)).unwrap_or(usize::MAX);
        own.compact.span_items = own.compact.span_items.min(spans.max(1));
        Cow::Owned(own)
    }
}

/// Whether the conversation may be compacted without being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoCompact {
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
        let served = Overrides { rank: WindowRank::Environment, ..env };
        assert_eq!(window("claude-sonnet-4-5", &[], served).size, Tokens(64_000));
    }

    #[test]
    fn t8_every_window_from_4096_on_has_thresholds_in_their_order() {
        for size in [4_096, 8_192, 16_384, 32_768, 65_536, 99_999, 100_000, 200_000] {
            let own = Overrides {
                window: Some(size),
                rank: WindowRank::Environment,
                ..Overrides::default()
            };
            let w = window("mystery", &[], own);
            let (compact, size) = (w.auto_compact.0, w.size.0);
            assert!(compact >= size * 60 / 100, "{w:?}");
            assert!(w.warning < w.auto_compact && w.auto_compact < w.refuse, "{w:?}");
            assert!(w.refuse < w.effective && w.effective.0 + w.output.0 == size, "{w:?}");
            if size < 100_000 {
                assert!(w.output.0 <= size * 15 / 100, "{w:?}");
                assert!(w.effective.0 - compact <= size * 8 / 100, "{w:?}");
                assert!(compact - w.warning.0 <= size * 10 / 100, "{w:?}");
            }
        }
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
                auto_compact_window: window,
                auto_compact_percent: percent,
                ..Overrides::default()
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
