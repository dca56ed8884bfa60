//! What environment variables set (C5), from a map that the app hands in.
//!
//! An empty variable counts as unset. Names of Claude Code are honoured where
//! ours is unset. Keys and addresses of providers are not settings: they are
//! read in [`crate::provider`].

use crate::check;
use crate::error::Error;
use crate::merge::Layer;
use crate::origin::{ValueOrigin, child};
use everfold_kernel::settings::ProviderKind;
use everfold_kernel::{Flag, Limits, env};
use serde_json::Value;
use std::collections::BTreeMap;

pub type Variables = BTreeMap<String, String>;

/// What the environment says beside settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ambient {
    /// Where the session runs.
    pub place: RunPlace,
    /// The memory directory of remote mode.
    pub remote_memory_dir: Option<String>,
    /// Text for the memory section of the system prompt.
    pub memory_extra_guidelines: Option<String>,
    /// The window of a model that the table does not know (T3).
    pub context_window: Option<u64>,
    /// Which log lines are kept.
    pub log: Option<String>,
}

/// Where the session runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunPlace {
    /// On a person's own machine.
    #[default]
    Own,
    /// On a machine that goes away (`EVERFOLD_REMOTE=1`).
    Remote,
}

/// What the variables set.
#[derive(Debug, Default)]
pub(crate) struct FromEnvironment {
    pub(crate) layers: Vec<Layer>,
    pub(crate) unknown: Vec<(String, ValueOrigin)>,
    pub(crate) ambient: Ambient,
}

/// A variable that sets one key: its name, the pointer, what it takes.
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) pointer: &'static str,
    pub(crate) takes: Takes,
}

#[derive(Clone, Copy)]
pub(crate) enum Takes {
    Text,
    Provider,
    Number {
        least: u64,
        most: u64,
    },
    /// `1` sets the key to false.
    Not,
}

const TOKENS: Takes = Takes::Number { least: 1, most: u64::MAX };

/// Variables with a key of their own.
pub(crate) const VARIABLES: &[Variable] = &[
    variable(env::PROVIDER, "/everfold/provider/kind", Takes::Provider),
    variable(env::MODEL, "/model", Takes::Text),
    variable(env::SMALL_MODEL, "/everfold/small_model", Takes::Text),
    variable(env::MEMORY_DIR, "/autoMemoryDirectory", Takes::Text),
    variable(env::DISABLE_AUTO_MEMORY, "/autoMemoryEnabled", Takes::Not),
    variable(env::AUTO_COMPACT_WINDOW, "/autoCompactWindow", TOKENS),
    variable(
        env::AUTO_COMPACT_PERCENT,
        "/everfold/auto_compact_percent",
        Takes::Number { least: 1, most: 100 },
    ),
];

const fn variable(name: &'static str, pointer: &'static str, takes: Takes) -> Variable {
    Variable { name, pointer, takes }
}

/// The value of a variable, unless it is empty.
pub(crate) fn get<'a>(variables: &'a Variables, name: &str) -> Option<&'a str> {
    variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
}

/// The value of one of our variables or of its alias, with the name that held it.
fn lookup<'a>(variables: &'a Variables, ours: &str) -> Option<(String, &'a str)> {
    let aliases = env::ALIASES.iter().filter(|(_, name)| *name == ours);
    std::iter::once(ours)
        .chain(aliases.map(|(theirs, _)| *theirs))
        .find_map(|name| get(variables, name).map(|value| (name.to_owned(), value)))
}

pub(crate) fn read(variables: &Variables) -> Result<FromEnvironment, Error> {
    let mut out = FromEnvironment { ambient: ambient(variables)?, ..FromEnvironment::default() };
    for variable in VARIABLES {
        if let Some((name, text)) = lookup(variables, variable.name) {
            let value = variable.takes.parse(&name, text)?;
            out.layers.push(Layer::leaf(ValueOrigin::Env(name), variable.pointer, value));
        }
    }
    flags(variables, &mut out)?;
    limits(variables, &mut out)?;
    no_auto_compact(variables, &mut out);
    Ok(out)
}

fn ambient(variables: &Variables) -> Result<Ambient, Error> {
    let text = |name: &str| lookup(variables, name).map(|(_, value)| value.to_owned());
    let remote = lookup(variables, env::REMOTE).map(|(name, text)| switch(&name, text));
    let place = match remote.transpose()? {
        Some(true) => RunPlace::Remote,
        Some(false) | None => RunPlace::Own,
    };
    let window = match lookup(variables, env::CONTEXT_WINDOW) {
        Some((name, value)) => TOKENS.parse(&name, value)?.as_u64(),
        None => None,
    };
    Ok(Ambient {
        place,
        remote_memory_dir: text(env::REMOTE_MEMORY_DIR),
        memory_extra_guidelines: text(env::MEMORY_EXTRA_GUIDELINES),
        context_window: window,
        log: text(env::LOG),
    })
}

fn flags(variables: &Variables, out: &mut FromEnvironment) -> Result<(), Error> {
    for name in variables.keys() {
        let (Some(flag), Some(text)) = (name.strip_prefix(env::FLAG_PREFIX), get(variables, name))
        else {
            continue;
        };
        let flag = flag.to_ascii_lowercase();
        let origin = ValueOrigin::Env(name.clone());
        let pointer = child("/everfold/flags", &flag);
        if check::is_flag(&flag) {
            let on = switch(name, text)?;
            out.layers.push(Layer::leaf(origin, &pointer, on.into()));
        } else {
            out.unknown.push((pointer, origin));
        }
    }
    Ok(())
}

fn limits(variables: &Variables, out: &mut FromEnvironment) -> Result<(), Error> {
    let known: BTreeMap<String, String> = limit_variables().collect();
    let ours = variables.keys().map(String::as_str);
    let aliased = env::ALIASES.iter().map(|(_, ours)| *ours);
    let mut names: Vec<&str> =
        ours.chain(aliased).filter(|name| name.starts_with(env::LIMIT_PREFIX)).collect();
    names.sort_unstable();
    names.dedup();
    for ours in names {
        let Some((name, text)) = lookup(variables, ours) else {
            continue;
        };
        let Some(pointer) = known.get(ours) else {
            let rest = ours.strip_prefix(env::LIMIT_PREFIX).unwrap_or(ours);
            let pointer = child("/everfold/limits", &rest.to_ascii_lowercase());
            out.unknown.push((pointer, ValueOrigin::Env(name)));
            continue;
        };
        let wrong = || Error::Variable {
            name: name.clone(),
            takes: "a whole number within its bounds".to_owned(),
        };
        let value: Value = serde_json::from_str(text).map_err(|_| wrong())?;
        let layer = Layer::leaf(ValueOrigin::Env(name.clone()), pointer, value);
        check::check(&layer.value).map_err(|_| wrong())?;
        out.layers.push(layer);
    }
    Ok(())
}

/// Claude Code's variables that turn auto-compact off, where our flag does not speak.
fn no_auto_compact(variables: &Variables, out: &mut FromEnvironment) {
    if get(variables, &Flag::AutoCompact.env_name()).is_some() {
        return;
    }
    let set = env::DISABLE_AUTO_COMPACT
        .iter()
        .find(|name| get(variables, name).is_some_and(|value| value != "0"));
    if let Some(name) = set {
        let origin = ValueOrigin::Env((*name).to_owned());
        let pointer = child("/everfold/flags", Flag::AutoCompact.name());
        let layer = Layer::leaf(origin, &pointer, false.into());
        out.layers.push(layer);
    }
}

/// Every limit's variable with the pointer it sets.
pub(crate) fn limit_variables() -> impl Iterator<Item = (String, String)> {
    let mut leaves = Vec::new();
    let limits = serde_json::to_value(Limits::default()).unwrap_or_default();
    walk(&limits, env::LIMIT_PREFIX, "/everfold/limits", &mut leaves);
    leaves.into_iter()
}

fn walk(value: &Value, name: &str, pointer: &str, out: &mut Vec<(String, String)>) {
    let Value::Object(map) = value else {
        out.push((name.to_owned(), pointer.to_owned()));
        return;
    };
    for (key, value) in map {
        let joint = if name == env::LIMIT_PREFIX { "" } else { "_" };
        let name = format!("{name}{joint}{}", key.to_ascii_uppercase());
        walk(value, &name, &child(pointer, key), out);
    }
}

fn switch(name: &str, text: &str) -> Result<bool, Error> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "on" | "yes" => Ok(true),
        "0" | "false" | "off" | "no" => Ok(false),
        _ => Err(Error::Variable { name: name.to_owned(), takes: "0 or 1".to_owned() }),
    }
}

impl Takes {
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Text => "a string".to_owned(),
            Self::Provider => "anthropic, openai or offline".to_owned(),
            Self::Number { least, most: u64::MAX } => format!("a whole number from {least}"),
            Self::Number { least, most } => format!("a whole number from {least} to {most}"),
            Self::Not => "0 or 1".to_owned(),
        }
    }

    fn parse(self, name: &str, text: &str) -> Result<Value, Error> {
        let value = match self {
            Self::Text => Some(Value::from(text)),
            Self::Provider => ProviderKind::by_name(text).map(|kind| kind.as_str().into()),
            Self::Number { least, most } => text
                .parse()
                .ok()
                .filter(|number: &u64| (least..=most).contains(number))
                .map(Value::from),
            Self::Not => Some((!switch(name, text)?).into()),
        };
        value.ok_or_else(|| Error::Variable { name: name.to_owned(), takes: self.describe() })
    }
}

#[cfg(test)]
mod tests;
