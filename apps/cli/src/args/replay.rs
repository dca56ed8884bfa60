//! The command line of `everfold replay` (PC7), as it was typed.

use clap::{Args, ValueEnum};
use everfold_kernel::record::CacheTtl;
use everfold_replay::Policy;
use std::path::PathBuf;
use std::str::FromStr;

/// `everfold replay`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ReplayArgs {
    /// Transcripts of any agent, directories of them, or session ids; by default this directory's
    /// sessions
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The policies: recorded, none, seed, everfold, api-clear, mask-N, summarize-at-P,
    /// settings, or all for every preset; by default recorded, none and everfold
    #[arg(long, value_name = "POLICIES", value_delimiter = ',')]
    policy: Vec<Chosen>,
    /// Price everything at this model's rates; by default each request at its own
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// How long prefixes are cached; by default as in the session
    #[arg(long, value_enum)]
    pub(crate) ttl: Option<Ttl>,
    /// The window in tokens; by default the one that the session shows, or its model's
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) window: Option<u64>,
    /// Break down the real bill, with the most expensive moments of each session
    #[arg(long)]
    pub(crate) why: bool,
    /// Show every session, however many there are
    #[arg(long)]
    pub(crate) each: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// With --json: every request of every policy too
    #[arg(long, requires = "json")]
    pub(crate) rounds: bool,
    /// Draw the sessions to this SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

impl ReplayArgs {
    /// The policies that are compared.
    pub(crate) fn policies(&self) -> Vec<Policy> {
        if self.policy.is_empty() {
            return Policy::USUAL.to_vec();
        }
        let chosen = self.policy.iter().flat_map(|chosen| match chosen {
            Chosen::All => Policy::PRESETS.to_vec(),
            Chosen::One(policy) => vec![*policy],
        });
        chosen.collect()
    }
}

/// What was chosen among the policies.
#[derive(Clone, Copy, Debug)]
enum Chosen {
    All,
    One(Policy),
}

impl FromStr for Chosen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "all" { Ok(Self::All) } else { text.parse().map(Self::One) }
    }
}

/// How long a prefix is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ttl {
    /// Five minutes
    #[value(name = "5m")]
    FiveMinutes,
    /// An hour
    #[value(name = "1h")]
    OneHour,
}

impl From<Ttl> for CacheTtl {
    fn from(ttl: Ttl) -> Self {
        match ttl {
            Ttl::FiveMinutes => Self::FiveMinutes,
            Ttl::OneHour => Self::OneHour,
        }
    }
}
