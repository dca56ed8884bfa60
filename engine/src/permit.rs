//! May a call run? (Q6)
//!
//! Rules speak first: deny, then ask, then allow. Where none speaks, the mode
//! decides. Paths are judged as the operating system resolved them, and what a
//! repository could use to start programs is never changed without asking.

use crate::tools::Access;
use everfold_kernel::ports::Asks;
use everfold_kernel::settings::{PermissionMode, Permissions};
use std::path::{Path, PathBuf};

mod remit;
mod rule;

pub use remit::{Remit, Room};
pub use rule::{Rule, RuleError};

/// What is decided about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// The person is asked; "always" would add this rule.
    Ask {
        /// The rule.
        rule: String,
    },
    /// It may run where its command only reads; the shell knows (S3).
    AllowIfItOnlyReads,
    /// It may not.
    Deny {
        /// Why, for the model and the person.
        reason: String,
    },
}

/// The permissions of a session.
#[derive(Clone, Debug)]
pub struct Permit {
    mode: PermissionMode,
    places: Places,
    allow: Vec<Rule>,
    ask: Vec<Rule>,
    deny: Vec<Rule>,
    /// Rules of skills in use, until the turn ends.
    allow_now: Vec<Rule>,
    /// Rules by which they refuse, until the turn ends.
    deny_now: Vec<Rule>,
    /// What a background agent may do; none for a person's session.
    remit: Option<Remit>,
    /// The one file that may be written in plan mode.
    plan_file: Option<PathBuf>,
    /// Rules that could not be read.
    broken: Vec<RuleError>,
}

/// Where files may be touched.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Directories in which tools work, resolved; the first is the working directory.
    pub roots: Vec<PathBuf>,
    /// Directories that may be read besides: the session's own files.
    pub readable: Vec<PathBuf>,
    /// Directories in which Markdown files may be written besides: memories.
    pub writable: Vec<PathBuf>,
    /// The home directory of the person, for `~/` in rules.
    pub home: Option<PathBuf>,
}

/// Parts of a working directory through which a repository could act later:
/// hooks, settings, servers. They are changed only after asking.
const GUARDED: &[&str] = &[".git", ".claude", ".everfold", ".mcp.json"];

impl Permit {
    /// Permissions by settings. Rules that cannot be read are kept apart: they
    /// are left out, which never widens what is allowed but for a broken deny.
    #[must_use]
    pub fn new(mode: PermissionMode, settings: &Permissions, places: Places) -> Self {
        let mut broken = Vec::new();
        let mut parse = |rules: &[String]| {
            let parsed = rules.iter().filter_map(|text| match Rule::parse(text, &places) {
                Ok(rule) => Some(rule),
                Err(error) => {
                    broken.push(error);
                    None
                }
            });
            parsed.collect::<Vec<_>>()
        };
        let (allow, ask, deny) =
            (parse(&settings.allow), parse(&settings.ask), parse(&settings.deny));
        Self {
            mode,
            places,
            allow,
            ask,
            deny,
            allow_now: Vec::new(),
            deny_now: Vec::new(),
            remit: None,
            plan_file: None,
            broken,
        }
    }

    /// Rules that could not be read.
    #[must_use]
    pub fn broken(&self) -> &[RuleError] {
        &self.broken
    }

    /// The permissions of a background agent: what the person denies stays
    /// denied, and nobody is asked.
    #[must_use]
    pub fn confined(parent: &Self, remit: Remit) -> Self {
        Self { remit: Some(remit), ..parent.clone() }
    }

    /// The permissions of a sub-agent: the parent's rules and places, a mode
    /// that is no wider, and rooms of its own for what it learned.
    #[must_use]
    pub fn under(parent: &Self, mode: PermissionMode, rooms: &[PathBuf]) -> Self {
        let mut own = Self { mode, plan_file: None, ..parent.clone() };
        own.places.writable = rooms.to_vec();
        own
    }

    /// Sets the one file that may be written in plan mode. Its path must be
    /// resolved.
    pub fn set_plan_file(&mut self, file: Option<PathBuf>) {
        self.plan_file = file;
    }

    /// The mode in force.
    #[must_use]
    pub fn mode(&self) -> PermissionMode {
        self.mode
    }

    /// Whether a rule denies such a call or wants to be asked about it.
    pub(crate) fn holds_back(&self, tool: &str, access: &Access) -> bool {
        self.deny.iter().chain(&self.ask).any(|rule| rule.touches(tool, access))
    }

    /// Changes in which directories Markdown files may be written besides.
    pub(crate) fn set_writable(&mut self, dirs: Vec<PathBuf>) {
        self.places.writable = dirs;
    }

    /// Changes the mode.
    pub fn set_mode(&mut self, mode: PermissionMode) {
        self.mode = mode;
    }

    /// Allows what a rule covers until the session ends.
    pub fn allow_for_session(&mut self, rule: &str) {
        self.allow.extend(Rule::parse(rule, &self.places));
    }

    /// Allows what rules cover until the turn ends; broken ones are left out.
    pub fn allow_for_turn(&mut self, rules: &[String]) {
        let places = &self.places;
        self.allow_now.extend(rules.iter().filter_map(|rule| Rule::parse(rule, places).ok()));
    }

    /// Refuses what rules speak of until the turn ends; broken ones are left out.
    pub fn deny_for_turn(&mut self, rules: &[String]) {
        let places = &self.places;
        self.deny_now.extend(rules.iter().filter_map(|rule| Rule::parse(rule, places).ok()));
    }

    /// Takes back what was allowed and refused for a turn.
    pub fn end_turn(&mut self) {
        self.allow_now.clear();
        self.deny_now.clear();
    }

    /// Whether a rule, given as text, speaks of a call.
    #[must_use]
    pub fn speaks_of(&self, rule: &str, tool: &str, access: &Access) -> bool {
        Rule::parse(rule, &self.places).is_ok_and(|rule| rule.touches(tool, access))
    }

    /// The question that a call is asked by, whatever the rules say.
    #[must_use]
    pub fn question(&self, tool: &str, access: &Access) -> Verdict {
        Verdict::Ask { rule: Rule::covering(tool, access, &self.places) }
    }

    /// Decides about a call. Paths in `access` must be resolved.
    #[must_use]
    pub fn decide(&self, tool: &str, access: &Access) -> Verdict {
        let mut denying = self.deny.iter().chain(&self.deny_now);
        if let Some(rule) = denying.find(|rule| rule.touches(tool, access)) {
            return Verdict::Deny { reason: format!("the rule {rule} denies it") };
        }
        if let Some(remit) = &self.remit {
            return remit.decide(tool, access);
        }
        let ask = self.question(tool, access);
        let bypass = self.mode == PermissionMode::BypassPermissions;
        let always = matches!(access, Access::Server { asks: Asks::Always, .. });
        if !bypass && (always || self.ask.iter().any(|rule| rule.touches(tool, access))) {
            return ask;
        }
        if bypass || self.allow.iter().chain(&self.allow_now).any(|rule| rule.covers(tool, access))
        {
            return self.unless_planning(access);
        }
        match (self.by_default(access), self.mode) {
            (Free::Yes, _) => Verdict::Allow,
            (Free::No, PermissionMode::Plan) => self.unless_planning(access),
            (Free::No, _) => ask,
        }
    }

    fn unless_planning(&self, access: &Access) -> Verdict {
        if self.mode == PermissionMode::Plan && !access.is_read_only() {
            let reason = "plan mode only reads; finish the plan first".to_owned();
            return match access {
                Access::Execute(_) => Verdict::AllowIfItOnlyReads,
                Access::Edit(path) if self.plan_file.as_ref() == Some(path) => Verdict::Allow,
                _ => Verdict::Deny { reason },
            };
        }
        Verdict::Allow
    }

    fn by_default(&self, access: &Access) -> Free {
        let free = match access {
            Access::Nothing => true,
            Access::Read(path) => {
                let more = self.places.readable.iter().chain(&self.places.writable);
                self.in_roots(path) || more.into_iter().any(|dir| path.starts_with(dir))
            }
            Access::Edit(path) => {
                let accepted = self.mode == PermissionMode::AcceptEdits
                    && self.in_roots(path)
                    && !self.is_guarded(path);
                accepted || (self.mode != PermissionMode::Plan && self.is_memory(path))
            }
            Access::Execute(_) | Access::Fetch { .. } | Access::Server { .. } => false,
        };
        if free { Free::Yes } else { Free::No }
    }

    fn in_roots(&self, path: &Path) -> bool {
        self.places.roots.iter().any(|root| path.starts_with(root))
    }

    fn is_memory(&self, path: &Path) -> bool {
        self.places.writable.iter().any(|dir| remit::is_open_markdown(path, dir))
    }

    fn is_guarded(&self, path: &Path) -> bool {
        self.places.roots.iter().filter_map(|root| path.strip_prefix(root).ok()).any(|inside| {
            inside
                .components()
                .any(|part| GUARDED.iter().any(|name| part.as_os_str().eq_ignore_ascii_case(name)))
        })
    }
}

/// Whether a call needs no question.
enum Free {
    Yes,
    No,
}

#[cfg(test)]
mod tests;
