//! Rules such as `Bash(git status:*)`, `Edit(src/**)`, `WebFetch(domain:docs.rs)`.

use super::command_rule::{self, Touch};
use super::footprint::{CommandUse, Footprint};
use super::{Places, credentials};
use everfold_kernel::ports::{FileTouch, ProgramCall};
use everfold_kernel::{Class, Classify};
use globset::{Glob, GlobBuilder, GlobMatcher};
use std::fmt;
use std::path::{Path, PathBuf};

/// What stands before the host in a rule for pages.
const HOST_MARK: &str = "domain:";

#[derive(Clone, Debug)]
pub struct Rule {
    text: String,
    tool: String,
    scope: Scope,
}

/// What of a tool's calls a rule is about.
#[derive(Clone, Debug)]
enum Scope {
    All,
    Command(String),
    /// Commands that start with these words.
    CommandPrefix(Vec<String>),
    Path(Box<PathScope>),
    /// Pages of this host and those below it.
    Host(String),
}

/// Paths that a rule is about.
#[derive(Clone, Debug)]
struct PathScope {
    /// As it is written.
    exact: GlobMatcher,
    /// For rules that forbid: in any case, and at any depth where it is a name.
    wide: Vec<GlobMatcher>,
    /// Whether it names credentials (S10).
    names_credentials: bool,
}

/// A rule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the permission rule {rule:?} is invalid: {flaw}; it is ignored")]
pub struct RuleError {
    rule: String,
    flaw: RuleFlaw,
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleFlaw {
    /// Such as `Bash(ls`.
    #[error("the parenthesis is not closed")]
    Unclosed,
    /// Such as `(ls)`.
    #[error("it names no tool")]
    NoTool,
    /// What it says of paths is no pattern.
    #[error("{0}")]
    Pattern(globset::ErrorKind),
}

impl Classify for RuleError {
    fn class(&self) -> Class {
        Class::Degrade
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// If its parentheses or its glob are broken.
    pub fn parse(text: &str, places: &Places) -> Result<Self, RuleError> {
        let broken = |flaw| RuleError { rule: text.into(), flaw };
        let text = text.trim();
        let (tool, scope) = match text.split_once('(') {
            None => (text, Scope::All),
            Some((tool, rest)) => {
                let inside = rest.strip_suffix(')').ok_or_else(|| broken(RuleFlaw::Unclosed))?;
                let scope = scope(tool, inside.trim(), places).map_err(broken)?;
                (tool, scope)
            }
        };
        if tool.is_empty() {
            return Err(broken(RuleFlaw::NoTool));
        }
        Ok(Self { text: text.to_owned(), tool: tool.to_owned(), scope })
    }

    /// The rule for exactly this command, whatever is in it.
    #[must_use]
    pub(super) fn of_command(tool: &str, command: &str) -> String {
        let command = command.trim();
        // What would be read as a rule for more than itself is marked.
        let marked = command.is_empty()
            || command.ends_with('*')
            || command.starts_with(['=', '*'])
            || command.starts_with(HOST_MARK);
        format!("{tool}({}{command})", if marked { "=" } else { "" })
    }

    /// Whether the rule is about every call of a tool.
    pub(super) fn is_of_all(&self, tool: &str) -> bool {
        matches!(self.scope, Scope::All) && self.names(tool, &Footprint::Nothing)
    }

    /// Whether the rule allows all that a call does.
    #[must_use]
    pub fn covers(&self, tool: &str, deed: &Footprint) -> bool {
        self.names(tool, deed)
            && match (&self.scope, deed) {
                (Scope::All, _) => true,
                (Scope::Command(own), Footprint::Command(used)) => own == used.text.trim(),
                (Scope::Path(paths), Footprint::Read(path) | Footprint::Edit(path)) => {
                    paths.exact.is_match(path)
                }
                (Scope::Host(own), Footprint::Fetch { host, .. }) => is_host(host, own),
                _ => false,
            }
    }

    /// Whether the rule allows one program of a plain command.
    pub(super) fn covers_call(&self, tool: &str, call: &ProgramCall) -> bool {
        match &self.scope {
            Scope::CommandPrefix(words) if self.tool == tool => command_rule::covers(words, call),
            _ => false,
        }
    }

    /// Whether the rule is one of the person's that names credentials at a path.
    pub(super) fn opens(&self, path: &Path) -> bool {
        let Scope::Path(paths) = &self.scope else { return false };
        matches!(self.tool.as_str(), "Read" | "Edit" | "Write")
            && paths.names_credentials
            && paths.exact.is_match(path)
    }

    /// Whether the rule is for exactly this command.
    pub(super) fn is_exactly(&self, tool: &str, command: &str) -> bool {
        self.tool == tool && matches!(&self.scope, Scope::Command(own) if own == command.trim())
    }

    /// Whether it speaks of files.
    pub(super) fn is_about_files(&self) -> bool {
        matches!(self.scope, Scope::Path(_))
    }

    /// Whether it bars a file from being read, as a rule that forbids.
    pub(super) fn bars(&self, path: &Path) -> bool {
        matches!(self.tool.as_str(), "Read" | "*")
            && matches!(&self.scope, Scope::Path(paths) if paths.reaches(path))
    }

    /// Whether a call does anything that the rule speaks of, as one that
    /// forbids or asks. Wider than [`Self::covers`]: it holds for every tool
    /// that could reach the thing.
    pub(super) fn touches(&self, tool: &str, deed: &Footprint) -> Touch {
        let named = self.names(tool, deed);
        let sure = |is: bool| if is { Touch::Yes } else { Touch::No };
        match (&self.scope, deed) {
            (Scope::All, _) => sure(named),
            (Scope::CommandPrefix(words), Footprint::Command(used)) if named => {
                command_rule::touches(words, &used.outline)
            }
            (Scope::Command(own), Footprint::Command(used)) if named => {
                let exactly = sure(own == used.text.trim());
                exactly.max(command_rule::touches(&command_rule::words(own), &used.outline))
            }
            (Scope::Path(paths), Footprint::Command(used)) => self.touches_files(paths, used),
            (Scope::Path(paths), Footprint::Read(path)) => sure(named && paths.reaches(path)),
            // What is changed is shown, so a rule about reading holds too.
            (Scope::Path(paths), Footprint::Edit(path)) => {
                sure((named || self.tool == "Read") && paths.reaches(path))
            }
            (Scope::Host(own), Footprint::Fetch { host, .. }) => sure(named && is_host(host, own)),
            (Scope::Host(own), Footprint::Command(used)) => sure(names_host(used, own)),
            _ => Touch::No,
        }
    }

    fn touches_files(&self, paths: &PathScope, used: &CommandUse) -> Touch {
        let reads = matches!(self.tool.as_str(), "Read" | "*");
        let writes = matches!(self.tool.as_str(), "Edit" | "Write");
        let hit = used.outline.files.iter().any(|file| {
            let written = writes && file.touch == FileTouch::Written;
            (reads || written) && paths.reaches(&file.path)
                || written && paths.is_all_of(&file.path)
        });
        // What a shell is handed unseen may show the file as well as run a program.
        let hidden = used.outline.hidden.is_some();
        let open = used.outline.open_reads.iter().any(|name| paths.could_be(name));
        let changed = used.outline.files.iter().any(|file| match file.touch {
            FileTouch::Changed => paths.reaches(&file.path) || paths.is_all_of(&file.path),
            FileTouch::ChangedTree => paths.reaches(&file.path) || paths.is_below(&file.path),
            _ => false,
        });
        let could = reads && open || writes && changed || (reads || writes) && hidden;
        match (hit, could) {
            (true, _) => Touch::Yes,
            (false, true) => Touch::Could,
            (false, false) => Touch::No,
        }
    }

    fn names(&self, tool: &str, deed: &Footprint) -> bool {
        self.tool == "*"
            || self.tool == tool
            || matches!(deed, Footprint::Edit(_)) && self.tool == "Edit"
            || matches!(deed, Footprint::Read(_)) && self.tool == "Read"
            || self.tool.starts_with("mcp__") && tool.starts_with(&format!("{}__", self.tool))
    }
}

impl PathScope {
    /// Whether a path, or a directory that it is in, is meant.
    fn reaches(&self, path: &Path) -> bool {
        path.ancestors().any(|path| self.wide.iter().any(|glob| glob.is_match(path)))
    }

    /// Whether what is meant is in a directory.
    fn is_below(&self, dir: &Path) -> bool {
        self.known_start().starts_with(dir)
    }

    /// Whether a directory is the one of which all or some is meant.
    fn is_all_of(&self, dir: &Path) -> bool {
        self.known_start() == dir
    }

    /// The pattern up to what it leaves open.
    fn known_start(&self) -> &Path {
        let pattern = self.exact.glob().glob();
        let open = pattern.find(['*', '?', '[', '{', '\\']);
        Path::new(open.and_then(|at| pattern.get(..at)).unwrap_or(pattern))
    }

    /// Whether a name of which not all is known (`*`) may become a path that is
    /// meant: the last part of it decides, as nobody knows the ones before.
    fn could_be(&self, name: &str) -> bool {
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_lowercase();
        let (own, meant) = (last(name), last(self.exact.glob().glob()));
        let is_open = meant.contains(['*', '?', '[', '{']);
        let fits = Glob::new(&own).is_ok_and(|glob| glob.compile_matcher().is_match(&meant));
        is_open || fits
    }
}

fn is_host(host: &str, own: &str) -> bool {
    host == own || host.strip_suffix(own).is_some_and(|sub| sub.ends_with('.'))
}

/// Whether a word of a command has a host in it.
fn names_host(used: &CommandUse, own: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let words = used.outline.runs.iter().flat_map(|call| &call.words);
    let texts = words.map(|word| &word.text).chain(&used.outline.code);
    let mut hosts = texts.flat_map(|text| text.split(|c| !is_part(c)));
    hosts.any(|host| is_host(&host.trim_end_matches('.').to_ascii_lowercase(), own))
}

fn scope(tool: &str, inside: &str, places: &Places) -> Result<Scope, RuleFlaw> {
    if inside.is_empty() || inside == "*" || inside == "**" {
        return Ok(Scope::All);
    }
    if let Some(host) = inside.strip_prefix(HOST_MARK) {
        return Ok(Scope::Host(host.trim().to_ascii_lowercase()));
    }
    if tool == "Bash" {
        if let Some(exact) = inside.strip_prefix('=') {
            return Ok(Scope::Command(exact.trim().to_owned()));
        }
        return Ok(match inside.strip_suffix(":*").or_else(|| inside.strip_suffix(" *")) {
            Some(prefix) if prefix.trim().is_empty() => Scope::All,
            Some(prefix) => Scope::CommandPrefix(command_rule::words(prefix)),
            None => Scope::Command(inside.to_owned()),
        });
    }
    path_scope(inside, places).map(|paths| Scope::Path(Box::new(paths)))
}

fn path_scope(inside: &str, places: &Places) -> Result<PathScope, RuleFlaw> {
    let compile = |pattern: &str, fold: bool| {
        let mut builder = GlobBuilder::new(pattern);
        builder.literal_separator(true).case_insensitive(fold);
        let glob = builder.build().map_err(|error| RuleFlaw::Pattern(error.kind().clone()))?;
        Ok(glob.compile_matcher())
    };
    let pattern = absolute_pattern(inside, places);
    let mut wide = vec![compile(&pattern, true)?];
    // A name without a directory is one at any depth, as in ignore files.
    if !inside.contains('/') {
        for root in &places.roots {
            let root = literal(root);
            wide.push(compile(&format!("{}/**/{inside}", root.trim_end_matches('/')), true)?);
        }
    }
    let names_credentials = credentials::is_credential(Path::new(&pattern), places.homes());
    Ok(PathScope { exact: compile(&pattern, false)?, wide, names_credentials })
}

/// A path as the part of a pattern that matches it and nothing else. Backslashes
/// mean something in patterns where they do not part directories, and blanks at
/// the end of a rule are passed over.
pub(super) fn literal(path: &Path) -> String {
    let text = path.display().to_string();
    let text = if cfg!(windows) { text } else { text.replace('\\', "\\\\") };
    let kept = text.trim_end();
    let blanks = text.strip_prefix(kept).unwrap_or_default().chars();
    let blanks: String = blanks.flat_map(|blank| ['[', blank, ']']).collect();
    format!("{}{blanks}", globset::escape(kept))
}

/// `//x` is absolute, `~/x` is under the home directory, all else is under the
/// working directory.
pub(super) fn absolute_pattern(pattern: &str, places: &Places) -> String {
    let under = |directory: Option<&PathBuf>, rest: &str| {
        let directory = directory.map_or(Path::new("/"), |path| path.as_path());
        let directory = literal(directory);
        format!("{}/{rest}", directory.trim_end_matches('/'))
    };
    if let Some(rest) = pattern.strip_prefix("//") {
        format!("/{}", rest.trim_start_matches('/'))
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        under(places.home.as_ref(), rest)
    } else {
        let rest = pattern.trim_start_matches("./").trim_start_matches('/');
        under(places.roots.first(), rest)
    }
}
