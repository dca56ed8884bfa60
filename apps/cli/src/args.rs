//! The command line (C1, C2), as it was typed. What it means is `setup`'s and
//! the commands' business.

pub(crate) mod agents;
#[cfg(feature = "fleet")]
pub(crate) mod fleets;
mod hosts;
pub(crate) mod memory;
mod models;
pub(crate) mod replay;
mod reports;
pub(crate) mod teams;

pub(crate) use hosts::{HookArgs, InstallArgs, McpArgs, UninstallArgs};
pub(crate) use models::ModelsCommand;
pub(crate) use reports::{
    By, ConfigArgs, CostArgs, DoctorArgs, DreamArgs, ExportFormat, HealthArgs, InstructionsArgs,
    Place, PricesArgs, ReportArgs, SearchArgs, SessionsCommand, ShowResultArgs, TrustArgs, WebArgs,
};

use agents::CrewArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
use memory::{MemoryCommand, RecallArgs};
use std::path::PathBuf;

/// What scripts go by (U10).
const EXIT_CODES: &str = "Exit codes:
  0  done
  1  the turn failed
  2  usage error or invalid settings
  3  nothing to do (dream)
  4  already running elsewhere (dream)
  5  the session is open elsewhere
  6  a spending ceiling ended the turn
  130  stopped by a second Ctrl-C";

/// An agent with a memory.
///
/// Without -p it is interactive; with -p it answers once and exits. Without an API key it works
/// offline, by fixed rules.
#[derive(Debug, Parser)]
#[command(
    name = "everfold",
    version,
    args_conflicts_with_subcommands = true,
    max_term_width = 100,
    after_help = EXIT_CODES
)]
pub(crate) struct Cli {
    /// A conversation, or one answer.
    #[command(flatten)]
    pub(crate) talk: Talk,
    /// Or one of these.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// A conversation.
#[derive(Debug, Args)]
pub(crate) struct Talk {
    /// The prompt; piped standard input is added to it
    pub(crate) prompt: Option<String>,
    /// Answer once and exit
    #[arg(short, long)]
    pub(crate) print: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t, requires = "print")]
    pub(crate) output_format: OutputFormat,
    /// Which session.
    #[command(flatten)]
    pub(crate) which: Which,
    /// Settings.
    #[command(flatten)]
    pub(crate) choices: Choices,
    /// Text to append to the system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,
    /// Stop a turn after this many requests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    /// Others.
    #[command(flatten)]
    pub(crate) crew: CrewArgs,
    /// No memory, no instruction files, no hooks
    #[arg(long)]
    pub(crate) bare: bool,
    /// Line by line, without the full screen
    #[arg(long, conflicts_with = "print")]
    pub(crate) plain: bool,
}

/// Which session a conversation goes on with.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Resume a session by its id, or by words that only it contains
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub(crate) resume: Option<String>,
    /// Continue the newest session in this directory
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub(crate) go_on: bool,
    /// Continue in a copy and leave the session unchanged
    #[arg(long)]
    pub(crate) fork_session: bool,
    /// Keep nothing: no memories, no transcript
    #[arg(long, conflicts_with_all = ["resume", "go_on", "fork_session"])]
    pub(crate) private: bool,
    /// The id of the new session
    #[arg(long, value_name = "UUID", value_parser = uuid)]
    pub(crate) session_id: Option<String>,
}

/// What settings can say too.
#[derive(Debug, Default, Args)]
pub(crate) struct Choices {
    /// A short prompt with few tools, for models with a small window
    #[arg(long)]
    pub(crate) lean: bool,
    /// The model
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// The model for side queries
    #[arg(long, value_name = "MODEL")]
    pub(crate) small_model: Option<String>,
    /// The model to fall back to when the first is overloaded
    #[arg(long, value_name = "MODEL")]
    pub(crate) fallback_model: Option<String>,
    /// What tools may do without asking
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permission_mode: Option<Mode>,
    /// Rules for what may run, such as 'Bash(git log:*) Edit(src/**)'
    #[arg(long, alias = "allowedTools", value_name = "RULES")]
    pub(crate) allowed_tools: Vec<String>,
    /// Rules for what may not run
    #[arg(long, alias = "disallowedTools", value_name = "RULES")]
    pub(crate) disallowed_tools: Vec<String>,
    /// More settings: a file or a JSON object
    #[arg(long, value_name = "FILE-OR-JSON")]
    pub(crate) settings: Option<String>,
    /// Another directory in which tools may work
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,
    /// A plugin's folder; may be given more than once
    #[arg(long, value_name = "DIR")]
    pub(crate) plugin_dir: Vec<PathBuf>,
    /// More detail on standard error and in the log
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl Choices {
    /// The flags that say who answers and by which settings, for a process that
    /// goes on with the same work.
    pub(crate) fn of_models(&self) -> Vec<&str> {
        let named = [
            ("--model", &self.model),
            ("--small-model", &self.small_model),
            ("--fallback-model", &self.fallback_model),
            ("--settings", &self.settings),
        ];
        let named = named.into_iter().filter_map(|(flag, value)| Some([flag, value.as_deref()?]));
        named.flatten().chain(self.lean.then_some("--lean")).collect()
    }
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Only the answer
    #[default]
    Text,
    /// One JSON object at the end
    Json,
    /// One JSON object per line, as it happens
    StreamJson,
}

/// What tools may do without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Reading is allowed, everything else asks
    Default,
    /// Edits in the working directories are allowed too
    #[value(name = "acceptEdits")]
    AcceptEdits,
    /// Only reading
    Plan,
    /// Everything is allowed except what a rule denies
    #[value(name = "bypassPermissions")]
    BypassPermissions,
}

impl Mode {
    /// The name in settings.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}

/// A command of its own.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show every setting, its value and where it is set
    Config(ConfigArgs),
    /// Show usage and cost
    Cost(CostArgs),
    /// Find problems and say how to fix them
    Doctor(DoctorArgs),
    /// Tidy memories: merge duplicates, fix the index, drop what no longer holds
    Dream(DreamArgs),
    /// Share memories and mail with agents on many machines, over NATS
    #[cfg(feature = "fleet")]
    #[command(subcommand)]
    Fleet(fleets::FleetCommand),
    /// Answer another agent's hook: JSON in, JSON out
    Hook(HookArgs),
    /// Add Everfold's memory to another agent: hooks and an MCP server
    Install(InstallArgs),
    /// Show which instruction files are loaded, why, and at what cost
    Instructions(InstructionsArgs),
    /// Show whether memory and context management earn their keep
    Health(HealthArgs),
    /// Serve memories to other agents over MCP
    Mcp(McpArgs),
    /// View and change memories
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Install sentence models for finding memories, from files
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Show which memories a message would recall, and why
    Recall(RecallArgs),
    /// Search memories and past conversations
    Search(SearchArgs),
    /// Show what models cost, and update the prices
    Prices(PricesArgs),
    /// Show what sessions cost, and what they would have cost under other policies
    Replay(replay::ReplayArgs),
    /// Show what the agents on this machine cost, why, and how to reduce it
    Report(ReportArgs),
    /// List, export and clean up past sessions
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Print a tool's result or a message by its id
    ShowResult(ShowResultArgs),
    /// Print one line for the status line of another agent: JSON in, text out
    Statusline,
    /// Share memories with a team, through a git repository
    #[command(subcommand)]
    Team(teams::TeamCommand),
    /// Trust this repository: allow its hooks, servers, permissions and imports
    Trust(TrustArgs),
    /// Remove what `install` added to another agent
    Uninstall(UninstallArgs),
    /// Open a page in your browser: sessions, costs and memories, on this machine only
    Web(WebArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

fn uuid(text: &str) -> anyhow::Result<String> {
    uuid::Uuid::try_parse(text)
        .map(|id| id.hyphenated().to_string())
        .map_err(|error| anyhow::anyhow!("a session id is a UUID ({error})"))
}

/// The rules in a flag's value: commas and blanks part them, but not inside
/// of parentheses.
pub(crate) fn split_rules(text: &str) -> Vec<String> {
    let mut rules = Vec::new();
    let (mut rule, mut depth) = (String::new(), 0_u32);
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (letter == ',' || letter.is_whitespace()) {
            rules.push(std::mem::take(&mut rule));
        } else {
            rule.push(letter);
        }
    }
    rules.push(rule);
    rules.retain(|rule| !rule.is_empty());
    rules
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(words: &[&str]) -> Cli {
        Cli::try_parse_from(std::iter::once(&"everfold").chain(words)).unwrap()
    }

    #[test]
    fn c1_the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn c1_the_prompt_may_stand_anywhere_after_print() {
        for words in [
            &["-p", "--output-format", "json", "do it"][..],
            &["-p", "do it", "--output-format", "json"],
            &["do it", "-p", "--output-format", "json"],
            &["--output-format=json", "--print", "do it"],
        ] {
            let cli = parse(words);
            assert_eq!(cli.talk.prompt.as_deref(), Some("do it"), "{words:?}");
            assert!(cli.talk.print && cli.talk.output_format == OutputFormat::Json);
        }
    }

    #[test]
    fn c1_a_prompt_may_be_the_name_of_a_command() {
        let cli = parse(&["-p", "cost"]);
        assert!(cli.command.is_none());
        assert_eq!(cli.talk.prompt.as_deref(), Some("cost"));
        assert!(matches!(parse(&["cost"]).command, Some(Command::Cost(_))));
    }

    #[test]
    fn q6_rules_are_parted_outside_of_parentheses() {
        assert_eq!(
            split_rules("Read, Bash(git log:*) Edit(a b,c),,Write"),
            ["Read", "Bash(git log:*)", "Edit(a b,c)", "Write"]
        );
        assert_eq!(split_rules("Bash(echo (x) y"), ["Bash(echo (x) y"]);
        assert!(split_rules(" , ").is_empty());
    }

    #[test]
    fn q4_a_session_id_is_a_uuid() {
        let cli = parse(&["--session-id", "0192F0C1-1111-7000-8000-000000000001"]);
        let id = cli.talk.which.session_id;
        assert_eq!(id.as_deref(), Some("0192f0c1-1111-7000-8000-000000000001"));
        assert!(Cli::try_parse_from(["everfold", "--session-id", "../x"]).is_err());
    }
}
