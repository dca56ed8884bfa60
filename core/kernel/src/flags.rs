//! Kill switches (Q3, C6): one for each system that can be turned off alone.

use crate::env;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

macro_rules! flags {
    ($($(#[doc = $about:literal])+ $variant:ident $name:literal $default:literal),+ $(,)?) => {
        /// One switch.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Flag { $($(#[doc = $about])+ $variant),+ }

        impl Flag {
            /// Every switch, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name in settings.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// Whether it is on where nobody said otherwise.
            #[must_use]
            pub fn default_on(self) -> bool {
                match self { $(Self::$variant => $default),+ }
            }

            /// What it switches, for people.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => concat!($($about),+).trim_ascii_start()),+ }
            }
        }
    };
}

flags! {
    /// Running notes (layer 3).
    SessionMemory "session_memory" true,
    /// Compaction from the notes.
    SessionMemoryCompact "session_memory_compact" true,
    /// Compaction without being asked.
    AutoCompact "auto_compact" true,
    /// Writing memories after a turn.
    Extract "extract" true,
    /// Bringing memories in.
    Recall "recall" true,
    /// Consolidation.
    Dream "dream" true,
    /// Clearing old results once the cache is cold.
    PruneTime "prune_time" true,
    /// Clearing by cache edits.
    PruneCacheEdit "prune_cache_edit" false,
    /// Clearing by the API.
    PruneApi "prune_api" false,
    /// Projecting finished spans as summaries.
    Collapse "collapse" false,
    /// Taking ranges out of view.
    Snip "snip" true,
    /// The team's memory directory.
    TeamMemory "team_memory" false,
    /// Daily logs instead of an index.
    DailyLogs "daily_logs" false,
    /// Searching past conversations.
    PastSearch "past_search" true,
    /// Saying what sub-agents do.
    AgentSummary "agent_summary" true,
}

impl Flag {
    /// The switch of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|flag| flag.name() == name)
    }

    /// The environment variable that sets it, such as `EVERFOLD_FLAG_RECALL`.
    #[must_use]
    pub fn env_name(self) -> String {
        format!("{}{}", env::FLAG_PREFIX, self.name().to_ascii_uppercase())
    }
}

/// A reading of all switches.
///
/// ```
/// use everfold_kernel::{Flag, Flags};
///
/// let flags = Flags::default().with(Flag::Recall, false);
/// assert!(!flags.is_on(Flag::Recall));
/// assert!(flags.is_on(Flag::Extract));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Flags {
    set: BTreeMap<String, bool>,
}

impl Flags {
    /// Whether a switch is on.
    #[must_use]
    pub fn is_on(&self, flag: Flag) -> bool {
        self.set.get(flag.name()).copied().unwrap_or_else(|| flag.default_on())
    }

    /// What was said of a switch, if anything was.
    #[must_use]
    pub fn said(&self, flag: Flag) -> Option<bool> {
        self.set.get(flag.name()).copied()
    }

    /// The same reading with one switch set.
    #[must_use]
    pub fn with(mut self, flag: Flag, on: bool) -> Self {
        self.set(flag, on);
        self
    }

    /// Sets one switch.
    pub fn set(&mut self, flag: Flag, on: bool) {
        self.set.insert(flag.name().to_owned(), on);
    }

    /// Takes over what another reading says explicitly.
    pub fn overlay(&mut self, other: &Self) {
        self.set.extend(other.set.iter().map(|(name, on)| (name.clone(), *on)));
    }

    /// Names that were set but are no switch of this version.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.set.keys().map(String::as_str).filter(|name| Flag::by_name(name).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c6_defaults_of_the_specification() {
        let off: Vec<&str> =
            Flag::ALL.iter().filter(|flag| !flag.default_on()).map(|flag| flag.name()).collect();
        assert_eq!(off, ["prune_cache_edit", "prune_api", "collapse", "team_memory", "daily_logs"]);
        assert_eq!(Flag::ALL.len(), 15);
        assert_eq!(Flag::PruneTime.env_name(), "EVERFOLD_FLAG_PRUNE_TIME");
        assert_eq!(Flag::Dream.about(), "Consolidation.");
    }

    #[test]
    fn q3_a_later_reading_wins_where_it_says_something() {
        let mut flags = Flags::default().with(Flag::Recall, false).with(Flag::Snip, false);
        flags.overlay(&Flags::default().with(Flag::Recall, true));
        assert!(flags.is_on(Flag::Recall));
        assert!(!flags.is_on(Flag::Snip));
    }
}
