//! May a call run? (Q6)
//!
//! Rules speak first: deny, then ask, then allow. Where none speaks, the mode
//! decides. What is decided about is a [`Footprint`]: paths as the operating
//! system resolved them, commands as a parser sees them. Credentials are asked
//! about whatever a mode allows but bypassing, and never read by agents that
//! nobody watches (S10). What a repository could use to start programs is never
//! changed without asking.

use everfold_kernel::settings::{PermissionMode, Permissions};
use std::path::PathBuf;

mod always;
mod command_rule;
mod credentials;
mod decision;
mod footprint;
mod guard;
mod remit;
mod rule;

pub use footprint::{CommandUse, Footprint};
pub use remit::{Remit, Room};
pub use rule::{Rule, RuleError, RuleFlaw};

use command_rule::Touch;
use credentials::Homes;

/// What is decided about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    /// The person is asked; "always" would add this rule.
    Ask {
        rule: String,
    },
    /// It may not.
    Deny {
        /// Why, for the model and the person.
        reason: String,
    },
}

/// Whether somebody can be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watch {
    /// A person sees what is done.
    #[default]
    Person,
    /// Nobody does: a fork, or an agent in the background.
    Nobody,
}

/// The permissions of a session.
#[derive(Clone, Debug)]
pub struct Permit {
    mode: PermissionMode,
    places: Places,
    allow: Vec<Rule>,
    ask: Vec<Rule>,
    deny: Vec<Rule>,
    /// Rules that the person added by "always" (U3).
    granted: Vec<Rule>,
    /// Rules of skills in use, until the turn ends.
    allow_now: Vec<Rule>,
    /// Rules by which they refuse, until the turn ends.
    deny_now: Vec<Rule>,
    /// What a background agent may do; none for a person's session.
    remit: Option<Remit>,
    watch: Watch,
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
    /// Our own home, whose settings are nobody's to read.
    pub own_home: Option<PathBuf>,
    /// Most entries of a directory that are looked through for what may not
    /// be read of it.
    pub walked_entries: usize,
    /// Why commands are not held to the sandbox that the person wants; none
    /// where they are, or none is wanted.
    pub unheld: Option<String>,
}

impl Places {
    fn homes(&self) -> Homes<'_> {
        Homes { person: self.home.as_deref(), own: self.own_home.as_deref() }
    }
}

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
            granted: Vec::new(),
            allow_now: Vec::new(),
            deny_now: Vec::new(),
            remit: None,
            watch: Watch::Person,
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
        Self { remit: Some(remit), watch: Watch::Nobody, ..parent.clone() }
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

    /// Says whether somebody can be asked.
    pub(crate) fn set_watch(&mut self, watch: Watch) {
        self.watch = watch;
    }

    /// Whether commands are only let through where they read: for an agent on
    /// an errand, and in plan mode.
    pub(crate) fn only_reads(&self) -> bool {
        self.remit.is_some() || self.mode == PermissionMode::Plan
    }

    fn is_watched(&self) -> bool {
        self.watch == Watch::Person
    }

    /// Whether a rule denies every call of a tool.
    pub(crate) fn denies(&self, tool: &str) -> bool {
        self.deny.iter().any(|rule| rule.is_of_all(tool))
    }

    /// Whether a rule denies such a call or wants to be asked about it.
    pub(crate) fn holds_back(&self, tool: &str, deed: &Footprint) -> bool {
        self.deny.iter().chain(&self.ask).any(|rule| rule.touches(tool, deed) != Touch::No)
    }

    /// Changes in which directories Markdown files may be written besides.
    pub(crate) fn set_writable(&mut self, dirs: Vec<PathBuf>) {
        self.places.writable = dirs;
    }

    /// Lets tools work in another directory too.
    pub(crate) fn add_root(&mut self, dir: PathBuf) {
        self.places.roots.push(dir);
    }

    pub fn set_mode(&mut self, mode: PermissionMode) {
        self.mode = mode;
    }

    /// Allows what a rule covers until the session ends.
    pub fn allow_for_session(&mut self, rule: &str) {
        if !self.granted().any(|known| known == rule.trim()) {
            self.granted.extend(Rule::parse(rule, &self.places));
        }
    }

    /// Rules that the person added by "always" in this session (U3).
    pub fn granted(&self) -> impl Iterator<Item = String> + '_ {
        self.granted.iter().map(ToString::to_string)
    }

    /// Takes back a rule that the person added in this session. Whether there
    /// was one.
    pub fn take_back(&mut self, rule: &str) -> TakenBack {
        let before = self.granted.len();
        self.granted.retain(|known| known.to_string() != rule.trim());
        if self.granted.len() < before { TakenBack::Yes } else { TakenBack::Unknown }
    }

    /// Forgets a rule that stands in settings no longer.
    pub fn drop_allowed(&mut self, rule: &str) {
        self.allow.retain(|known| known.to_string() != rule.trim());
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
    pub fn speaks_of(&self, rule: &str, tool: &str, deed: &Footprint) -> bool {
        Rule::parse(rule, &self.places).is_ok_and(|rule| rule.touches(tool, deed) != Touch::No)
    }

    /// The question that a call is asked by, whatever the rules say.
    #[must_use]
    pub fn question(&self, tool: &str, deed: &Footprint) -> Verdict {
        Verdict::Ask { rule: always::covering(tool, deed) }
    }
}

/// Whether a rule was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenBack {
    Yes,
    /// There is none like it.
    Unknown,
}

#[cfg(test)]
mod tests;
