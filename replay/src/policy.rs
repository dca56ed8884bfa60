//! Policies: what a session could have been run under.

use everfold_kernel::settings::CompactEconomy;
use everfold_kernel::window::Overrides;
use everfold_kernel::{Flag, Flags, Limits};
use std::fmt;
use std::str::FromStr;

/// One way to keep a conversation in its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// As it went: its own boundaries and clearings.
    Recorded,
    /// Append only.
    None,
    /// This system by the defaults of its specification: results go by time
    /// alone (L2.2).
    Seed,
    /// This system by our defaults: a clearing is made where it pays (L2.7).
    Everfold,
    /// The API's `clear_tool_uses` at its own defaults.
    ApiClear,
    /// The newest results stay, the rest is cleared before every request.
    Mask(u64),
    /// A summary at this percentage of the effective window, and nothing else.
    SummarizeAt(u64),
    /// The settings in force.
    Settings,
}

impl Policy {
    /// What is compared where nothing is asked for: as it went, without any
    /// policy, and ours.
    pub const USUAL: [Self; 3] = [Self::Recorded, Self::None, Self::Everfold];

    pub const PRESETS: [Self; 7] = [
        Self::Recorded,
        Self::None,
        Self::Seed,
        Self::Everfold,
        Self::ApiClear,
        Self::Mask(10),
        Self::SummarizeAt(80),
    ];

    /// Whether it looks at texts, and not only at how much was said: such
    /// policies take longest.
    #[must_use]
    pub fn reads_texts(self) -> bool {
        let limits = Limits::default();
        let own =
            self.rules(&Flags::default(), &limits, (Overrides::default(), CompactEconomy::Auto));
        own.reads()
    }

    /// What it does, layer by layer.
    pub(crate) fn rules(
        self,
        flags: &Flags,
        limits: &Limits,
        (window, economy): (Overrides, CompactEconomy),
    ) -> Rules {
        let plain = Rules {
            boundaries: Boundaries::Ignored,
            offload: false,
            prune: Prune::Never,
            economy: CompactEconomy::Off,
            compact: None,
        };
        let whole = Rules { offload: true, compact: Some(Overrides::default()), ..plain };
        match self {
            Self::Recorded => Rules { boundaries: Boundaries::Honoured, ..plain },
            Self::None => plain,
            Self::Seed => Rules { prune: Prune::ByTime, ..whole },
            Self::Everfold => {
                Rules { prune: Prune::WhereItPays, economy: CompactEconomy::Auto, ..whole }
            }
            Self::ApiClear => {
                let own = &limits.replay;
                let (over, keep) = (own.api_trigger_tokens, own.api_keep_results);
                Rules { prune: Prune::AllBut { keep, over }, ..plain }
            }
            Self::Mask(keep) => Rules { prune: Prune::AllBut { keep, over: 0 }, ..plain },
            Self::SummarizeAt(percent) => {
                let at = Overrides { auto_compact_percent: Some(percent), ..Overrides::default() };
                Rules { compact: Some(at), ..plain }
            }
            Self::Settings => Rules {
                prune: if flags.is_on(Flag::PruneTime) { Prune::WhereItPays } else { Prune::Never },
                compact: flags.is_on(Flag::AutoCompact).then_some(window),
                economy: if flags.is_on(Flag::AutoCompact) { economy } else { CompactEconomy::Off },
                ..whole
            },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rules {
    pub(crate) boundaries: Boundaries,
    pub(crate) offload: bool,
    pub(crate) prune: Prune,
    /// Where it sums up between turns.
    pub(crate) economy: CompactEconomy,
    /// Where it compacts, if it does.
    pub(crate) compact: Option<Overrides>,
}

impl Rules {
    /// Whether it ever looks at what was said, and not only at how much.
    pub(crate) fn reads(&self) -> bool {
        self.offload || self.compact.is_some()
    }
}

/// Whether the session's own boundaries count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundaries {
    Honoured,
    Ignored,
}

/// When results are cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prune {
    Never,
    ByTime,
    WhereItPays,
    /// All but the newest, before every request whose whole conversation has
    /// more tokens than this.
    AllBut {
        keep: u64,
        over: u64,
    },
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recorded => f.write_str("recorded"),
            Self::None => f.write_str("none"),
            Self::Seed => f.write_str("seed"),
            Self::Everfold => f.write_str("everfold"),
            Self::ApiClear => f.write_str("api-clear"),
            Self::Mask(keep) => write!(f, "mask-{keep}"),
            Self::SummarizeAt(percent) => write!(f, "summarize-at-{percent}"),
            Self::Settings => f.write_str("settings"),
        }
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |start: &str| text.strip_prefix(start)?.parse::<u64>().ok();
        let known = match text {
            "recorded" => Some(Self::Recorded),
            "none" => Some(Self::None),
            "seed" => Some(Self::Seed),
            "everfold" => Some(Self::Everfold),
            "api-clear" => Some(Self::ApiClear),
            "settings" => Some(Self::Settings),
            _ => None,
        };
        let percent = number("summarize-at-").filter(|percent| (1..=100).contains(percent));
        known
            .or_else(|| number("mask-").map(Self::Mask))
            .or_else(|| percent.map(Self::SummarizeAt))
            .ok_or_else(|| {
                "the policies are recorded, none, seed, everfold, api-clear, mask-N, \
                 summarize-at-P \
                 (P from 1 to 100) and settings"
                    .to_owned()
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pc7_policies_have_names() {
        for policy in Policy::PRESETS.into_iter().chain([Policy::Settings, Policy::Mask(3)]) {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
        for wrong in ["", "mask-", "mask--1", "summarize-at-0", "summarize-at-101", "Everfold"] {
            assert!(wrong.parse::<Policy>().unwrap_err().contains("mask-N"), "{wrong}");
        }
    }
}
