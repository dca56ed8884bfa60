//! What a command would run and touch, found out without running it (S11).
//!
//! Two lists of programs are kept apart. [`CommandOutline::runs`] is wide: it
//! has whatever may be run, for rules that forbid. [`CommandOutline::plain`]
//! is exact, and missing where that cannot be had: it is for rules that allow.

use std::path::PathBuf;

/// Where a command would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellPlace {
    pub cwd: PathBuf,
    /// The home directory of the person, for `~` and `$HOME`.
    pub home: Option<PathBuf>,
}

/// A command, looked through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutline {
    /// Every program that it may run, those inside of others too: of `sudo`,
    /// `xargs`, `sh -c`, a loop, a substitution.
    pub runs: Vec<ProgramCall>,
    /// The programs of a line of plain commands, one after another, as they
    /// get their words; none where it is anything more than that.
    pub plain: Option<Vec<ProgramCall>>,
    /// Texts that it hands to an interpreter to be carried out.
    pub code: Vec<String>,
    /// Why it may run something that is in no list.
    pub hidden: Option<String>,
    /// Files that its words may mean.
    pub files: Vec<FileMention>,
    /// Names of files whose content it shows, where not all of a name is known
    /// before it runs: that stands as `*`.
    pub open_reads: Vec<String>,
    /// Whether it only reads, for an agent that a person watches.
    pub effect: CommandEffect,
    /// The same for one that nobody watches: one command of a short list (S3).
    pub unwatched_effect: CommandEffect,
}

impl CommandOutline {
    /// One of which nothing can be told: it may run anything.
    #[must_use]
    pub fn unreadable(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            runs: Vec::new(),
            plain: None,
            code: Vec::new(),
            hidden: Some(reason.clone()),
            files: Vec::new(),
            open_reads: Vec::new(),
            effect: CommandEffect::Acts(reason.clone()),
            unwatched_effect: CommandEffect::Acts(reason),
        }
    }

    /// One plain command of words with blanks between them, which acts.
    #[must_use]
    pub fn of_words(text: &str) -> Self {
        let words = text.split_whitespace().map(CallWord::exact).collect();
        let acts = || CommandEffect::Acts("it is not known to only read".to_owned());
        let call = ProgramCall {
            words,
            role: CallRole::Program,
            effect: acts(),
            reading_words: 0,
            acting: Vec::new(),
        };
        Self {
            runs: vec![call.clone()],
            plain: Some(vec![call]),
            code: Vec::new(),
            hidden: None,
            files: Vec::new(),
            open_reads: Vec::new(),
            effect: acts(),
            unwatched_effect: acts(),
        }
    }
}

/// Whether something changes anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEffect {
    /// It only reads.
    Reads,
    /// It changes something, or nobody can tell; why.
    Acts(String),
}

/// A program with its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCall {
    /// Its name and its arguments.
    pub words: Vec<CallWord>,
    /// What it does with other programs.
    pub role: CallRole,
    /// Whether it only reads.
    pub effect: CommandEffect,
    /// How many words name something that only reads unless an option says
    /// otherwise: two of `git log --output=x`, none of `git push`.
    pub reading_words: usize,
    /// The places of words that make it run something else, or write where
    /// nobody thinks of it: no rule for the words before them allows them.
    pub acting: Vec<usize>,
}

/// What a program does with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallRole {
    /// Nothing that is known.
    Program,
    /// It runs the one that is listed after it, and adds nothing: `timeout`.
    Wrapper,
    /// It runs the one that is listed after it, as somebody else, elsewhere
    /// or many times: `sudo`, `env -C`, `xargs`.
    Runner,
    /// It is a word of another program, or stands in a script that is run:
    /// perhaps it is run, perhaps not.
    Perhaps,
}

/// One word of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallWord {
    /// Its text. What is not known of it stands as `*`.
    pub text: String,
    /// How much of it is known.
    pub kind: WordKind,
}

impl CallWord {
    /// A word of which all is known.
    #[must_use]
    pub fn exact(text: &str) -> Self {
        Self { text: text.to_owned(), kind: WordKind::Exact }
    }
}

/// How much is known of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WordKind {
    Exact,
    /// It starts as it is written, and cannot become an option.
    Pattern,
    /// It may become anything.
    Open,
}

/// A file that a word may mean.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileMention {
    /// Its path, with links resolved as far as it exists.
    pub path: PathBuf,
    /// Whether something is there.
    pub presence: Presence,
    pub touch: FileTouch,
}

/// Whether something is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Presence {
    There,
    Missing,
}

/// How a command touches a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileTouch {
    Named,
    /// It, and all that is below it.
    Tree,
    /// It, and what is below it under names without a leading dot.
    VisibleTree,
    /// It, all that is below it, and whatever links in it lead to.
    LinkedTree,
    Written,
    /// It may be written, removed or replaced: nobody can tell.
    Changed,
    /// The same, and what is below it.
    ChangedTree,
}
