//! A kind of agent, as its file describes it (CONTRACTS 2.3).
//!
//! Fields that this version does not know are ignored. A file comes from a
//! person or from a repository; in both cases it may only narrow what the
//! session may do, never widen it (S2).

use everfold_frontmatter::{Fence, fence};
use everfold_kernel::settings::PermissionMode;
use serde_json::{Map, Value};

/// A kind of agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// By what it is asked for.
    pub name: String,
    /// When it is of use; the model chooses by this.
    pub description: String,
    pub prompt: String,
    /// The tools that it has; none is all.
    pub tools: Option<Vec<String>>,
    /// Tools that it has not.
    pub disallowed: Vec<String>,
    /// Its model, or what stands for one; none is the parent's.
    pub model: Option<String>,
    /// How its permissions are decided, where that is narrower than the parent's.
    pub permission_mode: Option<PermissionMode>,
    /// Most requests.
    pub max_turns: Option<u32>,
    /// Whose memory it keeps, if any (L5.20).
    pub memory: Option<AgentMemoryScope>,
    /// Whether it runs beside the conversation where the call does not say.
    pub running: Running,
    /// The effort asked of its model.
    pub effort: Option<String>,
    /// Whether it works in a checkout of its own where the call does not say.
    pub isolation: Isolation,
    /// What it is told before its task.
    pub initial_prompt: Option<String>,
    /// Skills whose text it is given from the start.
    pub skills: Vec<String>,
    /// The servers of the session whose tools it may use; none is all.
    pub servers: Option<Vec<String>>,
    /// Servers of its own, as settings write them: they run while it does.
    pub own_servers: Map<String, Value>,
    /// What is run at events while it works, as settings write it.
    pub hooks: Map<String, Value>,
    /// The colour that people see it in.
    pub color: Option<String>,
    /// What of its file is not used, for `doctor`.
    pub faults: Vec<String>,
}

/// Whose memory a kind of agent keeps (L5.20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentMemoryScope {
    /// The person's, in every project.
    User,
    /// The project's, shared by its repository.
    Project,
    /// The project's, on this machine.
    Local,
}

impl AgentMemoryScope {
    fn by_name(name: &str) -> Option<Self> {
        match name {
            "user" => Some(Self::User),
            "project" => Some(Self::Project),
            "local" => Some(Self::Local),
            _ => None,
        }
    }
}

/// Whether the conversation waits for an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Running {
    #[default]
    Foreground,
    Background,
}

/// Where an agent works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Where the session does.
    #[default]
    None,
    /// In a git worktree of its own.
    Worktree,
}

/// Why a file defines no agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// It does not start with frontmatter.
    #[error("it has no frontmatter; start it with name: and description: between two lines of ---")]
    NoFrontmatter,
    /// A field is missing.
    #[error("its frontmatter has no {field}; add one")]
    Missing { field: &'static str },
    /// The name cannot be one.
    #[error("{name:?} cannot name an agent; use letters, digits, '-', '_', ':' and '.'")]
    BadName { name: String },
    /// The name is one of ours.
    #[error("{name:?} is reserved; choose another name")]
    Reserved { name: String },
}

/// The kind that stands for a fork of the conversation.
pub const FORK: &str = "fork";

/// Tools that only the conversation with the person has: agents do not start
/// agents, and a plan is the person's to approve.
const PERSONS_OWN: &[&str] = &["Agent", "ExitPlanMode"];

/// What an agent needs for its memory.
const FOR_MEMORY: &[&str] = &["Read", "Write", "Edit"];

/// How names of tools of servers begin.
const SERVER_TOOL: &str = "mcp__";
/// What an agent needs to reach servers.
const FOR_SERVERS: &[&str] = &["ToolSearch", "mcp__call"];

/// Longest name of a kind, in bytes: it is a part of paths.
const MOST_NAME_BYTES: usize = 100;

impl Definition {
    /// An agent with all defaults.
    #[must_use]
    pub fn new(name: &str, description: &str, prompt: &str) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            prompt: prompt.trim().to_owned(),
            tools: None,
            disallowed: Vec::new(),
            model: None,
            permission_mode: None,
            max_turns: None,
            memory: None,
            running: Running::Foreground,
            effort: None,
            isolation: Isolation::None,
            initial_prompt: None,
            skills: Vec::new(),
            servers: None,
            own_servers: Map::new(),
            hooks: Map::new(),
            color: None,
            faults: Vec::new(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Why it defines no agent.
    pub fn parse(text: &str) -> Result<Self, DefinitionError> {
        let Fence::Closed { yaml, body } = fence(text) else {
            return Err(DefinitionError::NoFrontmatter);
        };
        let (yaml, prompt) =
            (text.get(yaml).unwrap_or_default(), text.get(body..).unwrap_or_default());
        let (front, fault) = everfold_frontmatter::read(yaml);
        let name = text_of(&front, "name").ok_or(DefinitionError::Missing { field: "name" })?;
        let mut own = Self::of_fields(&name, &front, prompt)?;
        own.faults.extend(fault.map(|fault| fault.to_string()));
        Ok(own)
    }

    /// Reads one of `--agents`: an object with the fields of a file, and the
    /// prompt under `prompt`.
    ///
    /// # Errors
    /// Why it defines no agent.
    pub fn of_json(name: &str, value: &Value) -> Result<Self, DefinitionError> {
        let fields = value.as_object().cloned().unwrap_or_default();
        let prompt =
            text_of(&fields, "prompt").ok_or(DefinitionError::Missing { field: "prompt" })?;
        Self::of_fields(name, &fields, &prompt)
    }

    fn of_fields(
        name: &str,
        fields: &Map<String, Value>,
        prompt: &str,
    ) -> Result<Self, DefinitionError> {
        checked(name)?;
        let missing = DefinitionError::Missing { field: "description" };
        let mut own = Self::new(name, &text_of(fields, "description").ok_or(missing)?, prompt);
        own.tools = fields.get("tools").map(names).filter(|tools| !tools.iter().any(|t| t == "*"));
        own.disallowed = fields.get("disallowedTools").map(names).unwrap_or_default();
        own.model = text_of(fields, "model").filter(|model| model != "inherit");
        own.permission_mode = text_of(fields, "permissionMode").as_deref().and_then(mode);
        own.max_turns = text_of(fields, "maxTurns").and_then(|turns| turns.parse().ok());
        own.memory = text_of(fields, "memory").as_deref().and_then(AgentMemoryScope::by_name);
        if text_of(fields, "background").as_deref() == Some("true") {
            own.running = Running::Background;
        }
        own.effort = text_of(fields, "effort");
        if text_of(fields, "isolation").as_deref() == Some("worktree") {
            own.isolation = Isolation::Worktree;
        }
        own.initial_prompt = text_of(fields, "initialPrompt");
        own.skills = fields.get("skills").map(names).unwrap_or_default();
        own.color = text_of(fields, "color");
        match fields.get("hooks") {
            None | Some(Value::Null) => {}
            Some(Value::Object(hooks)) => own.hooks.clone_from(hooks),
            Some(_) => own.faults.push("its hooks are not an object".to_owned()),
        }
        if let Some(servers) = fields.get("mcpServers").filter(|servers| !servers.is_null()) {
            own.servers = Some(names(servers));
            own.own_servers = defined(servers);
        }
        Ok(own)
    }

    /// Takes away what it would run by itself.
    pub fn disarm(&mut self) {
        self.hooks.clear();
        self.own_servers.clear();
    }

    /// Keeps it out of the memory that serves the person everywhere.
    pub fn keep_out(&mut self) {
        self.memory = self.memory.filter(|scope| *scope != AgentMemoryScope::User);
    }

    /// Whether it runs things by itself, and others than another one does.
    pub(crate) fn acts_beyond(&self, other: Option<&Self>) -> bool {
        let same =
            |other: &Self| (&self.hooks, &self.own_servers) == (&other.hooks, &other.own_servers);
        let acts = !self.hooks.is_empty() || !self.own_servers.is_empty();
        acts && !other.is_some_and(same)
    }

    /// Whether an agent of this kind has a tool. A sub-agent has its own
    /// prefix, so what it may not use is left out of its list; for forks, which
    /// share the parent's, restriction is by refusal (PC4).
    #[must_use]
    pub fn has_tool(&self, tool: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|entry| base_name(entry) == tool);
        if PERSONS_OWN.contains(&tool) || named(&self.disallowed) {
            return false;
        }
        let for_memory = self.memory.is_some() && FOR_MEMORY.contains(&tool);
        let tools = self.tools.as_deref();
        let of_server = |entry: &String| entry.starts_with(SERVER_TOOL);
        let reaches =
            !self.own_servers.is_empty() || tools.is_some_and(|tools| tools.iter().any(of_server));
        let for_servers = reaches && FOR_SERVERS.contains(&tool);
        for_memory || for_servers || tools.is_none_or(named)
    }

    /// Whether an agent of this kind has a tool of a server. Entries name a
    /// tool, or all of a server: `mcp__server__tool`, `mcp__server`,
    /// `mcp__server__*`. What its own servers bring it has in any case.
    #[must_use]
    pub fn has_server_tool(&self, server: &str, tool: &str) -> bool {
        let whole = format!("{SERVER_TOOL}{server}");
        let (all, one) = (format!("{whole}__*"), format!("{whole}__{tool}"));
        let meant = [whole.as_str(), &all, &one];
        let named = |list: &[String]| list.iter().any(|entry| meant.contains(&base_name(entry)));
        let own = self.own_servers.contains_key(server);
        !named(&self.disallowed) && (own || self.tools.as_deref().is_none_or(named))
    }

    /// The mode of an agent whose parent has this one: the narrower of the two.
    #[must_use]
    pub fn mode_under(&self, parent: PermissionMode) -> PermissionMode {
        match self.permission_mode {
            Some(own) if width(own) < width(parent) => own,
            _ => parent,
        }
    }
}

fn checked(name: &str) -> Result<(), DefinitionError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    let good = (1..=MOST_NAME_BYTES).contains(&name.len())
        && name.chars().all(plain)
        && !name.starts_with('.');
    if !good {
        return Err(DefinitionError::BadName { name: name.to_owned() });
    }
    if name == FORK {
        return Err(DefinitionError::Reserved { name: name.to_owned() });
    }
    Ok(())
}

/// The tool that an entry such as `Bash(git log:*)` speaks of.
fn base_name(entry: &str) -> &str {
    entry.split_once('(').map_or(entry, |(name, _)| name).trim()
}

fn text_of(fields: &Map<String, Value>, name: &str) -> Option<String> {
    let text = match fields.get(name)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// A list, or names with commas between them.
fn names(value: &Value) -> Vec<String> {
    let parts: Vec<String> = match value {
        Value::String(text) => split(text),
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let trimmed = parts.iter().map(|part| part.trim().to_owned());
    trimmed.filter(|part| !part.is_empty()).collect()
}

/// Servers that are defined in place: objects of a name and what settings say
/// of a server.
fn defined(value: &Value) -> Map<String, Value> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let maps = items.iter().filter_map(Value::as_object);
    maps.flatten().map(|(name, server)| (name.clone(), server.clone())).collect()
}

/// Parts a list at commas, but not inside of parentheses.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut part, mut depth) = (Vec::new(), String::new(), 0_u32);
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if letter == ',' && depth == 0 {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(letter);
        }
    }
    parts.push(part);
    parts
}

fn mode(name: &str) -> Option<PermissionMode> {
    use PermissionMode::{AcceptEdits, BypassPermissions, Default, Plan};
    [Default, AcceptEdits, Plan, BypassPermissions].into_iter().find(|mode| mode.as_str() == name)
}

/// How much a mode lets through.
fn width(mode: PermissionMode) -> u8 {
    match mode {
        PermissionMode::Plan => 0,
        PermissionMode::Default => 1,
        PermissionMode::AcceptEdits => 2,
        PermissionMode::BypassPermissions => 3,
    }
}

#[cfg(test)]
mod tests;
