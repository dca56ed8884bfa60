//! Whether a shell command only reads, found out by parsing it.
//!
//! A command is split by a grammar of Bash (tree-sitter). Every node must be
//! of a kind that is listed here; every byte must belong to a listed operator,
//! to a blank between words, or to a word that our own strict scanner reads
//! the same way. What is left are programs with their words, and a table says
//! which programs, options and operands only read. Anything unknown is
//! refused: a refusal costs a question or another attempt, an allowed write
//! cannot be taken back.
//!
//! What a command runs and which files it names, for rules, is told by
//! [`outline`].
//!
//! The answer is about the command's text. It trusts the machine: that `ls` is
//! the system's `ls`, that the environment and the repository's own git
//! settings (which may name a program for `diff`, or a file watcher) belong to
//! the user. It says nothing about *where* a command reads, nor how long.

mod flags;
mod git;
mod outline;
mod programs;
mod scripts;
mod tree;
mod word;

pub use outline::outline;

/// More than this is not a plain command any more.
const COMMAND_BYTES: usize = 8 * 1024;

/// A reason quotes the command, which may be long.
const REASON_CHARS: usize = 240;

/// On whose behalf a command would run without a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandCaller {
    /// An agent that nobody watches: one command out of a short list, or one of
    /// them piped into another, without redirections or variables (S3, L5.14,
    /// L6.5).
    BackgroundAgent,
    /// The agent of a conversation: more programs, and pipes and sequences of
    /// them. What is refused here can still be asked for.
    MainAgent,
}

/// Whether a command may run as one that only reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadOnlyVerdict {
    ReadOnly,
    /// It changes something, or nobody can tell.
    Refused {
        /// For the model: what stands in the way, and why.
        reason: String,
    },
}

impl ReadOnlyVerdict {
    /// Whether the command only reads.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        matches!(self, Self::ReadOnly)
    }
}

/// Why a command is refused, as a short sentence for the model.
#[derive(Debug, PartialEq, Eq)]
struct Refusal(String);

fn refuse<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal(reason.into()))
}

/// Judges a command. Pure: nothing is run, read or remembered.
///
/// ```
/// use everfold_process::analysis::{CommandCaller, is_read_only};
///
/// assert!(is_read_only("grep -rn needle src", CommandCaller::BackgroundAgent).is_read_only());
/// assert!(!is_read_only("find . -delete", CommandCaller::MainAgent).is_read_only());
/// ```
#[must_use]
pub fn is_read_only(command: &str, audience: CommandCaller) -> ReadOnlyVerdict {
    match judge(command, audience) {
        Ok(()) => ReadOnlyVerdict::ReadOnly,
        Err(Refusal(reason)) => {
            ReadOnlyVerdict::Refused { reason: reason.chars().take(REASON_CHARS).collect() }
        }
    }
}

fn judge(command: &str, audience: CommandCaller) -> Result<(), Refusal> {
    screen(command)?;
    for words in tree::commands(command, audience)? {
        programs::check(&words, audience)?;
    }
    Ok(())
}

/// What has no place in a plain command, wherever it stands.
fn screen(command: &str) -> Result<(), Refusal> {
    if command.len() > COMMAND_BYTES {
        return refuse(format!("the command is longer than {COMMAND_BYTES} bytes"));
    }
    if let Some(found) = command.chars().find(|c| is_unseen(*c)) {
        return refuse(format!(
            "the command has a control or invisible character (U+{:04X})",
            u32::from(found)
        ));
    }
    // The parser takes a backslash before a newline for a blank wherever it
    // stands; Bash takes it for nothing at all, and joins the words around it.
    if command.contains("\\\n") {
        return refuse("a line continued with a backslash is not analysed: write it as one line");
    }
    Ok(())
}

/// Characters that show as nothing, or change how others show.
fn is_unseen(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        c => c.is_control() || (c.is_whitespace() && c != ' '),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(command: &str, audience: CommandCaller) -> String {
        match is_read_only(command, audience) {
            ReadOnlyVerdict::ReadOnly => panic!("allowed: {command}"),
            ReadOnlyVerdict::Refused { reason } => reason,
        }
    }

    #[test]
    fn s3_a_reason_names_what_stands_in_the_way() {
        let main = CommandCaller::MainAgent;
        assert!(reason("rm x", main).contains("`rm`"));
        assert!(reason("find . -delete", main).contains("`-delete`"));
        assert!(reason("ls $(rm x)", main).contains("substitution"));
        assert!(reason("ls > f", main).contains("`f`"));
        assert!(reason("sort -o f g", main).contains("`-o`"));
        assert!(reason("git push", main).contains("`git push`"));
        assert!(reason("ls | wc | wc", CommandCaller::BackgroundAgent).contains("pipe"));
        assert!(reason("ls 'a", main).contains("parse"));
    }

    #[test]
    fn s3_an_empty_command_is_refused() {
        for command in ["", " ", "\n", "# only a remark"] {
            assert!(!is_read_only(command, CommandCaller::MainAgent).is_read_only(), "{command:?}");
        }
    }

    #[test]
    fn s3_a_very_long_command_is_refused() {
        let long = format!("ls {}", "a".repeat(COMMAND_BYTES));
        assert!(reason(&long, CommandCaller::MainAgent).contains("longer"));
    }
}
