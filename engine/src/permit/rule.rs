//! Rules such as `Bash(git status:*)`, `Edit(src/**)`, `WebFetch(domain:docs.rs)`.

use super::Places;
use crate::tools::Access;
use everfold_kernel::{Class, Classify};
use globset::{GlobBuilder, GlobMatcher};
use std::fmt;
use std::path::{Path, PathBuf};

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    text: String,
    tool: String,
    scope: Scope,
}

/// What of a tool's calls a rule is about.
#[derive(Clone, Debug)]
enum Scope {
    /// All.
    All,
    /// Exactly this command.
    Command(String),
    /// Commands that start with these words.
    CommandPrefix(String),
    /// Paths that match.
    Path(GlobMatcher),
    /// Pages of this host and those below it.
    Host(String),
}

/// A rule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the permission rule {rule:?} cannot be read: {reason}; it is left out")]
pub struct RuleError {
    rule: String,
    reason: String,
}

impl Classify for RuleError {
    fn class(&self) -> Class {
        Class::Degrade
    }
}

/// Characters by which a shell does more than run one command. A command with
/// one of them is never covered by an allow rule for its first words.
const SHELL_SPECIAL: &[char] =
    &[';', '&', '|', '`', '$', '<', '>', '\n', '\r', '(', ')', '{', '}', '\\'];

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
        let broken = |reason: &str| RuleError { rule: text.into(), reason: reason.into() };
        let text = text.trim();
        let (tool, scope) = match text.split_once('(') {
            None => (text, Scope::All),
            Some((tool, rest)) => {
                let inside = rest
                    .strip_suffix(')')
                    .ok_or_else(|| broken("the parenthesis is not closed"))?;
                let scope = scope(tool, inside.trim(), places).map_err(|e| broken(&e))?;
                (tool, scope)
            }
        };
        if tool.is_empty() {
            return Err(broken("it names no tool"));
        }
        Ok(Self { text: text.to_owned(), tool: tool.to_owned(), scope })
    }

    /// The rule that "always" adds for a call like this.
    #[must_use]
    pub fn covering(tool: &str, access: &Access, places: &Places) -> String {
        match access {
            Access::Nothing | Access::Server { .. } => tool.to_owned(),
            Access::Execute(command) => {
                let words: Vec<&str> = command.split_whitespace().take(2).collect();
                if command.contains(SHELL_SPECIAL) || words.is_empty() {
                    format!("{tool}({command})")
                } else {
                    format!("{tool}({}:*)", words.join(" "))
                }
            }
            Access::Read(path) | Access::Edit(path) => {
                let inside = places.roots.iter().find(|root| path.starts_with(root));
                let directory =
                    inside.map(PathBuf::as_path).or_else(|| path.parent()).unwrap_or(path);
                format!("{tool}(/{}/**)", directory.display())
            }
            Access::Fetch { host, .. } => format!("{tool}(domain:{host})"),
        }
    }

    /// Whether the rule allows all that a call does.
    #[must_use]
    pub fn covers(&self, tool: &str, access: &Access) -> bool {
        self.names(tool, access)
            && match (&self.scope, access) {
                (Scope::CommandPrefix(prefix), Access::Execute(command)) => {
                    !command.contains(SHELL_SPECIAL) && starts_with_words(command, prefix)
                }
                _ => self.fits(access),
            }
    }

    /// Whether a call does anything that the rule speaks of. Wider than
    /// [`Self::covers`]: a command is looked through part by part.
    #[must_use]
    pub fn touches(&self, tool: &str, access: &Access) -> bool {
        self.names(tool, access)
            && match (&self.scope, access) {
                (
                    Scope::CommandPrefix(prefix) | Scope::Command(prefix),
                    Access::Execute(command),
                ) => {
                    command.split(SHELL_SPECIAL).any(|part| starts_with_words(part.trim(), prefix))
                }
                _ => self.fits(access),
            }
    }

    fn names(&self, tool: &str, access: &Access) -> bool {
        self.tool == "*"
            || self.tool == tool
            || matches!(access, Access::Edit(_)) && self.tool == "Edit"
            || matches!(access, Access::Read(_)) && self.tool == "Read"
            || self.tool.starts_with("mcp__") && tool.starts_with(&format!("{}__", self.tool))
    }

    fn fits(&self, access: &Access) -> bool {
        match (&self.scope, access) {
            (Scope::All, _) => true,
            (Scope::Command(own), Access::Execute(command)) => own == command.trim(),
            (Scope::Path(glob), Access::Read(path) | Access::Edit(path)) => glob.is_match(path),
            (Scope::Host(own), Access::Fetch { host, .. }) => {
                host == own || host.strip_suffix(own.as_str()).is_some_and(|sub| sub.ends_with('.'))
            }
            _ => false,
        }
    }
}

fn scope(tool: &str, inside: &str, places: &Places) -> Result<Scope, String> {
    if inside.is_empty() || inside == "*" || inside == "**" {
        return Ok(Scope::All);
    }
    if let Some(host) = inside.strip_prefix("domain:") {
        return Ok(Scope::Host(host.trim().to_ascii_lowercase()));
    }
    if tool == "Bash" {
        return Ok(match inside.strip_suffix(":*").or_else(|| inside.strip_suffix(" *")) {
            Some(prefix) => Scope::CommandPrefix(prefix.trim().to_owned()),
            None => Scope::Command(inside.to_owned()),
        });
    }
    let pattern = absolute_pattern(inside, places);
    let glob = GlobBuilder::new(&pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| error.kind().to_string())?;
    Ok(Scope::Path(glob.compile_matcher()))
}

/// `//x` is absolute, `~/x` is under the home directory, all else is under the
/// working directory.
fn absolute_pattern(pattern: &str, places: &Places) -> String {
    let under = |directory: Option<&PathBuf>, rest: &str| {
        let directory = directory.map_or(Path::new("/"), |path| path.as_path());
        let directory = globset::escape(&directory.display().to_string());
        format!("{}/{rest}", directory.trim_end_matches('/'))
    };
    if let Some(rest) = pattern.strip_prefix("//") {
        format!("/{rest}")
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        under(places.home.as_ref(), rest)
    } else {
        let rest = pattern.trim_start_matches("./").trim_start_matches('/');
        under(places.roots.first(), rest)
    }
}

/// `git status` starts with `git`, `gitk` does not.
fn starts_with_words(command: &str, prefix: &str) -> bool {
    command
        .trim_start()
        .strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}
