//! The command line of `mnemon replay` (PC7), as it was typed.

use clap::{Args, ValueEnum};
use mnemon::engine::replay::Policy;
use mnemon::kernel::record::CacheTtl;
use std::path::PathBuf;

/// `mnemon replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Transcripts of mnemon, Claude Code, Codex or pi, or directories of them
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Under which policies: recorded, none, seed, mnemon, api-clear, mask-N, summarize-at-P, settings
    #[arg(long, value_name = "POLICIES", value_delimiter = ',')]
    pub(crate) policy: Vec<Policy>,
    /// Price everything by this model; else each request by its own
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// How long prefixes are cached; else as the session had it
    #[arg(long, value_enum)]
    pub(crate) ttl: Option<Ttl>,
    /// The dearest moments, why, and what would have avoided them
    #[arg(long)]
    pub(crate) why: bool,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
    /// With --json: every request of every policy too
    #[arg(long, requires = "json")]
    pub(crate) rounds: bool,
    /// Draw the sessions into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
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
