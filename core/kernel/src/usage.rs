//! What requests used, and for whom.

use crate::ids::ModelId;
use crate::models::{ModelTable, Usd};
use crate::tokens::Tokens;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// What one response used: tokens by kind, which do not overlap, and searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Prompt tokens that were neither read from nor written to the cache.
    pub input: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the 5-minute cache.
    pub cache_write_5m: u64,
    /// Prompt tokens written to the 1-hour cache.
    pub cache_write_1h: u64,
    /// Tokens that the model wrote.
    pub output: u64,
    /// Searches of the web that the provider made; they have a price of their own.
    #[serde(skip_serializing_if = "is_none")]
    pub web_searches: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// The whole prompt: input, cache reads and cache writes.
    #[must_use]
    pub fn prompt(&self) -> Tokens {
        Tokens(self.input) + Tokens(self.cache_read) + Tokens(self.cache_write())
    }

    /// All prompt tokens written to the cache.
    #[must_use]
    pub fn cache_write(&self) -> u64 {
        self.cache_write_5m.saturating_add(self.cache_write_1h)
    }

    /// Prompt and output: what the conversation holds after this response (T1).
    #[must_use]
    pub fn total(&self) -> Tokens {
        self.prompt() + Tokens(self.output)
    }

    /// Adds another response's tokens. Counts may come from a file that
    /// anyone wrote, so a sum stops at the largest number instead of failing.
    pub fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write_5m = self.cache_write_5m.saturating_add(other.cache_write_5m);
        self.cache_write_1h = self.cache_write_1h.saturating_add(other.cache_write_1h);
        self.output = self.output.saturating_add(other.output);
        self.web_searches = self.web_searches.saturating_add(other.web_searches);
    }

    /// The share of the prompt that came from the cache, 0 to 1.
    #[must_use]
    pub fn hit_rate(&self) -> f64 {
        let prompt = self.prompt().0;
        if prompt == 0 { 0.0 } else { ratio(self.cache_read, prompt) }
    }
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// Who asked the model (T6).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuerySource {
    /// The conversation with the person.
    Main,
    /// Choosing memories for a prompt.
    Recall,
    /// Writing memories after a turn.
    Extract,
    /// Keeping the running notes.
    SessionMemory,
    /// Writing a summary.
    Compact,
    Dream,
    /// A sub-agent or a tool that asks a model, by its type.
    Agent(String),
    /// Saying what a sub-agent does.
    AgentSummary,
}

impl QuerySource {
    /// Whether the person waits for it: everything else is background.
    #[must_use]
    pub fn is_background(&self) -> bool {
        !matches!(self, Self::Main | Self::Agent(_))
    }

    /// Whether it has to keep to the budget of the background. Summaries that
    /// make room are needed for the conversation to go on.
    #[must_use]
    pub fn is_metered(&self) -> bool {
        self.is_background() && *self != Self::Compact
    }
}

impl fmt::Display for QuerySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main => f.write_str("main"),
            Self::Recall => f.write_str("recall"),
            Self::Extract => f.write_str("extract"),
            Self::SessionMemory => f.write_str("session_memory"),
            Self::Compact => f.write_str("compact"),
            Self::Dream => f.write_str("dream"),
            Self::Agent(kind) => write!(f, "agent:{kind}"),
            Self::AgentSummary => f.write_str("agent_summary"),
        }
    }
}

impl FromStr for QuerySource {
    type Err = std::convert::Infallible;

    /// Reads a source; a name that this version does not know is an agent's.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "main" => Self::Main,
            "recall" => Self::Recall,
            "extract" => Self::Extract,
            "session_memory" => Self::SessionMemory,
            "compact" => Self::Compact,
            "dream" => Self::Dream,
            "agent_summary" => Self::AgentSummary,
            other => Self::Agent(other.strip_prefix("agent:").unwrap_or(other).to_owned()),
        })
    }
}

impl Serialize for QuerySource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for QuerySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(text.parse().unwrap_or(Self::Main))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Booking {
    pub source: QuerySource,
    /// The model that answered.
    pub model: ModelId,
    /// Its tokens.
    pub usage: Usage,
    /// What it cost by the table in force at the time; none for a model without a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
}

impl Booking {
    /// Books a response at the table's prices.
    #[must_use]
    pub fn new(source: QuerySource, model: ModelId, usage: Usage, table: &ModelTable) -> Self {
        let cost = table.spec(&model).cost(&usage);
        Self { source, model, usage, cost }
    }
}

/// What was used, by source and model (T6).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    lines: BTreeMap<String, BTreeMap<String, LedgerLine>>,
}

/// The sum over the requests of one source to one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LedgerLine {
    pub requests: u64,
    /// Their tokens.
    pub usage: Usage,
    pub cost: Usd,
    /// Requests whose model has no price; their cost is not in the sum.
    pub unpriced: u64,
}

impl LedgerLine {
    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.usage.add(&other.usage);
        self.cost = Usd(self.cost.0 + other.cost.0);
        self.unpriced += other.unpriced;
    }
}

impl Ledger {
    pub fn book(&mut self, booking: &Booking) {
        let line = LedgerLine {
            requests: 1,
            usage: booking.usage,
            cost: booking.cost.unwrap_or_default(),
            unpriced: u64::from(booking.cost.is_none()),
        };
        self.lines
            .entry(booking.source.to_string())
            .or_default()
            .entry(booking.model.to_string())
            .or_default()
            .add(&line);
    }

    /// Adds all of another ledger.
    pub fn merge(&mut self, other: &Self) {
        for (source, model, line) in other.lines() {
            self.lines
                .entry(source.to_owned())
                .or_default()
                .entry(model.to_owned())
                .or_default()
                .add(line);
        }
    }

    /// Every line as (source, model, sum), in name order.
    pub fn lines(&self) -> impl Iterator<Item = (&str, &str, &LedgerLine)> {
        self.lines.iter().flat_map(|(source, models)| {
            models.iter().map(move |(model, line)| (source.as_str(), model.as_str(), line))
        })
    }

    /// The sum of all lines.
    #[must_use]
    pub fn total(&self) -> LedgerLine {
        self.sum(|_| true)
    }

    /// The sum of what nobody waited for.
    #[must_use]
    pub fn background(&self) -> LedgerLine {
        self.sum(|source| {
            let Ok(source) = source.parse::<QuerySource>();
            source.is_background()
        })
    }

    /// The sum of what has to keep to the budget of the background.
    #[must_use]
    pub fn metered(&self) -> LedgerLine {
        self.sum(|source| {
            let Ok(source) = source.parse::<QuerySource>();
            source.is_metered()
        })
    }

    fn sum(&self, counts: impl Fn(&str) -> bool) -> LedgerLine {
        let mut sum = LedgerLine::default();
        for (_, _, line) in self.lines().filter(|(source, ..)| counts(source)) {
            sum.add(line);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t6_sources_have_the_names_of_the_spec() {
        for name in [
            "main",
            "recall",
            "extract",
            "session_memory",
            "compact",
            "dream",
            "agent:explore",
            "agent_summary",
        ] {
            assert_eq!(name.parse::<QuerySource>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn s6_sums_of_absurd_counts_do_not_overflow() {
        let mut usage = Usage {
            input: u64::MAX,
            cache_read: 1,
            cache_write_5m: u64::MAX,
            cache_write_1h: 1,
            output: u64::MAX,
            web_searches: u64::MAX,
        };
        usage.add(&usage.clone());
        assert_eq!(usage.total(), Tokens(u64::MAX));
    }

    #[test]
    fn t6_the_ledger_sums_by_source_and_model() {
        let table = ModelTable::builtin();
        let usage = Usage { input: 1_000_000, output: 1_000_000, ..Usage::default() };
        let mut ledger = Ledger::default();
        for source in [QuerySource::Main, QuerySource::Main, QuerySource::Recall] {
            ledger.book(&Booking::new(source, "claude-sonnet-5-5".into(), usage, &table));
        }
        ledger.book(&Booking::new(QuerySource::Main, "no-such-model".into(), usage, &table));
        let lines: Vec<_> =
            ledger.lines().map(|(s, m, l)| (s, m, l.requests, l.unpriced)).collect();
        assert_eq!(
            lines,
            [
                ("main", "claude-sonnet-5-5", 2, 0),
                ("main", "no-such-model", 1, 1),
                ("recall", "claude-sonnet-5-5", 1, 0),
            ]
        );
        assert!((ledger.total().cost.0 - 36.0).abs() < 1e-9);
    }
}
