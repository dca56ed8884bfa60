//! The `hooks` of the settings, read once.

use crate::event::{HookEvent, NEVER};
use crate::matcher::{Matcher, MatcherError};
use crate::occasion::Occasion;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Every handler, by event.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    groups: BTreeMap<HookEvent, Vec<Group>>,
    /// What could not be read, for `doctor`.
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug)]
struct Group {
    matcher: Matcher,
    handlers: Vec<Handler>,
}

/// One thing to do at an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    pub act: Act,
    /// Only for calls that this permission rule speaks of.
    pub condition: Option<String>,
    /// Its time limit in seconds; none is the event's own.
    pub timeout_s: Option<u64>,
    /// Whether its answer is waited for.
    pub waits: Waits,
    /// How often it is called.
    pub often: Often,
    /// Variables that its program sees besides.
    pub env: BTreeMap<String, String>,
    /// Who set it, as `doctor` names it.
    pub origin: String,
}

/// How often a handler is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Often {
    /// Whenever the event happens.
    Always,
    /// The first time.
    Once,
}

/// What a handler does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// A command line for a shell.
    Shell(String),
    /// A program with its arguments.
    Program { command: String, args: Vec<String> },
    /// A request to a server.
    Http {
        url: String,
        /// Headers; `$NAME` stands for a variable that `allowed` names.
        headers: BTreeMap<String, String>,
        /// Variables that may be put into headers.
        allowed: Vec<String>,
    },
    /// A call of a server's tool.
    Server {
        server: String,
        tool: String,
        /// Arguments, with holes.
        input: Map<String, Value>,
    },
    /// A model's judgement.
    Judge {
        /// What it is asked; `$ARGUMENTS` stands for what happened.
        prompt: String,
        /// The model; none is the small one.
        model: Option<String>,
        /// By what it judges.
        means: Means,
    },
}

/// By what a model judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// By what it is told.
    Words,
    /// By what it finds with tools that read.
    Tools,
}

/// Whether an answer is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    Yes,
    /// It runs beside the conversation, and what it says is not heard.
    No,
    /// It runs beside the conversation; where it blocks, the model is told
    /// and goes on.
    Rewakes,
}

/// Something under `hooks` that does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, as a JSON pointer.
    pub pointer: String,
    pub origin: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Handler {
    /// What it is called in messages: the command, the address, the tool or
    /// the prompt.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.act {
            Act::Shell(command) | Act::Program { command, .. } => command,
            Act::Http { url, .. } => url,
            Act::Server { tool, .. } => tool,
            Act::Judge { prompt, .. } => prompt,
        }
    }

    /// Whether an agent is sent to judge.
    #[must_use]
    pub fn sends_agent(&self) -> bool {
        matches!(self.act, Act::Judge { means: Means::Tools, .. })
    }

    /// Whether another one does the same under the same condition: of two
    /// such, one runs.
    fn repeats(&self, other: &Self) -> bool {
        (&self.act, &self.condition, &self.env) == (&other.act, &other.condition, &other.env)
    }
}

impl Registry {
    /// Reads the `hooks` of merged settings. `origin` says who set the value
    /// at a pointer.
    #[must_use]
    pub fn read(hooks: &Map<String, Value>, origin: &dyn Fn(&str) -> String) -> Self {
        Self::read_with(hooks, origin, Often::Always)
    }

    /// The same for those of a skill, which alone may ask to be called `once`.
    #[must_use]
    pub fn of_skill(hooks: &Map<String, Value>, origin: &dyn Fn(&str) -> String) -> Self {
        Self::read_with(hooks, origin, Often::Once)
    }

    fn read_with(
        hooks: &Map<String, Value>,
        origin: &dyn Fn(&str) -> String,
        least: Often,
    ) -> Self {
        let mut reader = Reader { registry: Self::default(), origin, least };
        for (name, groups) in hooks {
            reader.event(name, groups);
        }
        reader.registry
    }

    /// These handlers and another's after them.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut all = self.clone();
        for (event, groups) in &other.groups {
            all.groups.entry(*event).or_default().extend(groups.iter().cloned());
        }
        all.problems.extend(other.problems.iter().cloned());
        all
    }

    /// The same, in which every program sees these variables.
    #[must_use]
    pub fn with_env(mut self, env: &BTreeMap<String, String>) -> Self {
        for group in self.groups.values_mut().flatten() {
            group.handlers.iter_mut().for_each(|handler| handler.env.clone_from(env));
        }
        self
    }

    /// The same for an agent: what is to happen when it stops happens when it,
    /// being an agent, stops.
    #[must_use]
    pub fn of_agent(mut self) -> Self {
        if let Some(groups) = self.groups.remove(&HookEvent::Stop) {
            self.groups.entry(HookEvent::SubagentStop).or_default().extend(groups);
        }
        self
    }

    /// Whether there is nothing to call.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether anything is called at an event.
    #[must_use]
    pub fn listens_to(&self, event: HookEvent) -> bool {
        self.groups.contains_key(&event)
    }

    /// Names of files in the working directory that handlers want watched.
    pub fn watched(&self) -> impl Iterator<Item = &str> {
        let groups = self.groups.get(&HookEvent::FileChanged).into_iter().flatten();
        groups.flat_map(|group| match &group.matcher {
            Matcher::Names(names) => names.iter().map(String::as_str).collect(),
            Matcher::All | Matcher::Pattern(_) => Vec::new(),
        })
    }

    /// Every handler with its event, for `doctor`.
    pub fn handlers(&self) -> impl Iterator<Item = (HookEvent, &Handler)> {
        self.groups.iter().flat_map(|(event, groups)| {
            groups.iter().flat_map(|group| &group.handlers).map(|handler| (*event, handler))
        })
    }

    /// The handlers that an occasion calls, in their order, each once.
    #[must_use]
    pub fn called(&self, occasion: &Occasion<'_>) -> Vec<&Handler> {
        let groups = self.groups.get(&occasion.event()).into_iter().flatten();
        let fitting = groups.filter(|group| group.matcher.fits(occasion.subject()));
        let mut called: Vec<&Handler> = Vec::new();
        for handler in fitting.flat_map(|group| &group.handlers) {
            if !called.iter().any(|known| known.repeats(handler)) {
                called.push(handler);
            }
        }
        called
    }
}

struct Reader<'a> {
    registry: Registry,
    origin: &'a dyn Fn(&str) -> String,
    /// The least often that a handler may ask to be called.
    least: Often,
}

impl Reader<'_> {
    fn event(&mut self, name: &str, groups: &Value) {
        let pointer = format!("/hooks/{name}");
        let Some(event) = HookEvent::by_name(name) else {
            let reason = if NEVER.contains(&name) {
                "this event does not happen in Everfold"
            } else {
                "unknown event"
            };
            return self.problem(&pointer, reason);
        };
        let Value::Array(groups) = groups else {
            return self.problem(&pointer, "this is not a list");
        };
        for (index, group) in groups.iter().enumerate() {
            self.group(event, group, &format!("{pointer}/{index}"));
        }
    }

    fn group(&mut self, event: HookEvent, group: &Value, pointer: &str) {
        let matcher = match group.get("matcher") {
            None | Some(Value::Null) => Ok(Matcher::All),
            Some(Value::String(text)) if event == HookEvent::FileChanged && text.trim() != "*" => {
                Ok(Matcher::names(text))
            }
            Some(Value::String(text)) => Matcher::parse(text),
            Some(_) => Err(MatcherError::NoText),
        };
        let matcher = match matcher {
            Ok(matcher) => matcher,
            Err(reason) => return self.problem(pointer, &format!("the matcher: {reason}")),
        };
        let Some(Value::Array(handlers)) = group.get("hooks") else {
            return self.problem(pointer, "it has no list \"hooks\"");
        };
        let mut read = Vec::new();
        for (index, handler) in handlers.iter().enumerate() {
            let place = format!("{pointer}/hooks/{index}");
            // Origins are known for whole elements of a list.
            match handler_of(handler, &(self.origin)(pointer)) {
                Ok(mut handler) => {
                    if self.least == Often::Always {
                        handler.often = Often::Always;
                    }
                    read.push(handler);
                }
                Err(reason) => self.problem(&place, &reason.to_string()),
            }
        }
        if !read.is_empty() {
            let group = Group { matcher, handlers: read };
            self.registry.groups.entry(event).or_default().push(group);
        }
    }

    fn problem(&mut self, pointer: &str, reason: &str) {
        let origin = (self.origin)(pointer);
        let (pointer, reason) = (pointer.to_owned(), reason.to_owned());
        self.registry.problems.push(Problem { pointer, origin, reason });
    }
}

/// Why something is no handler.
#[derive(Debug, thiserror::Error)]
enum HandlerError {
    #[error("it has no {0:?}")]
    Missing(String),
    #[error("\"args\" is not a list of strings")]
    Args,
    #[error("\"input\" is not an object")]
    Input,
    #[error("unknown handler type {0:?}")]
    UnknownType(String),
}

fn handler_of(value: &Value, origin: &str) -> Result<Handler, HandlerError> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let filled = |key: &str| {
        text(key)
            .filter(|text| !text.trim().is_empty())
            .map(str::to_owned)
            .ok_or_else(|| HandlerError::Missing(key.to_owned()))
    };
    let judge = |means| -> Result<Act, HandlerError> {
        let model = text("model").filter(|model| !model.trim().is_empty()).map(str::to_owned);
        Ok(Act::Judge { prompt: filled("prompt")?, model, means })
    };
    let act = match text("type").unwrap_or("command") {
        "command" => match value.get("args") {
            None | Some(Value::Null) => Act::Shell(filled("command")?),
            Some(args) => Act::Program {
                command: filled("command")?,
                args: texts(args).ok_or(HandlerError::Args)?,
            },
        },
        "http" => Act::Http {
            url: filled("url")?,
            headers: value
                .get("headers")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect(),
            allowed: value.get("allowedEnvVars").and_then(texts).unwrap_or_default(),
        },
        "mcp_tool" => Act::Server {
            // What a plugin brings is called `plugin:name:server` here.
            server: filled("server")?.replace(':', "_"),
            tool: filled("tool")?,
            input: match value.get("input") {
                None | Some(Value::Null) => Map::new(),
                Some(Value::Object(input)) => input.clone(),
                Some(_) => return Err(HandlerError::Input),
            },
        },
        "prompt" => judge(Means::Words)?,
        "agent" => judge(Means::Tools)?,
        other => return Err(HandlerError::UnknownType(other.to_owned())),
    };
    let flag = |key: &str| value.get(key).and_then(Value::as_bool) == Some(true);
    Ok(Handler {
        act,
        condition: text("if").filter(|text| !text.trim().is_empty()).map(str::to_owned),
        timeout_s: value.get("timeout").and_then(Value::as_f64).and_then(seconds),
        waits: match (flag("asyncRewake"), flag("async")) {
            (true, _) => Waits::Rewakes,
            (false, true) => Waits::No,
            (false, false) => Waits::Yes,
        },
        often: if flag("once") { Often::Once } else { Often::Always },
        env: BTreeMap::new(),
        origin: origin.to_owned(),
    })
}

/// Whole seconds, at least one.
fn seconds(given: f64) -> Option<u64> {
    let given = std::time::Duration::try_from_secs_f64(given).ok()?;
    (!given.is_zero()).then(|| given.as_secs().max(1))
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}
