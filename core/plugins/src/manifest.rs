//! The manifest of a plugin.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Where a manifest is in its plugin.
pub const MANIFEST: &str = ".claude-plugin/plugin.json";

/// What a plugin says of itself. Paths are inside of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginManifest {
    /// Its name: the first part of the names of all that it brings.
    pub name: String,
    pub version: Option<String>,
    /// Whether it is on where nobody said so.
    pub default_enabled: bool,
    pub skills: Vec<PluginPath>,
    /// Commands: files, or folders of them.
    pub commands: Vec<PluginPath>,
    /// Agents: files, or folders of them.
    pub agents: Vec<PluginPath>,
    /// Styles of answers: files, or folders of them.
    pub styles: Vec<PluginPath>,
    /// What is run at events.
    pub hooks: Vec<JsonPart>,
    pub servers: Vec<JsonPart>,
    /// What a person may set, with what holds where they did not.
    pub options: BTreeMap<String, String>,
    /// What of it is not used, and why.
    pub faults: Vec<String>,
}

/// A place in a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginPath {
    /// The usual one, which need not be there.
    Usual(PathBuf),
    /// One that the manifest names.
    Named(PathBuf),
}

#[derive(Clone, Debug, PartialEq)]
pub enum JsonPart {
    File(PluginPath),
    Inline(Map<String, Value>),
}

/// Why a manifest describes no plugin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// It is not a JSON object.
    #[error("its manifest is not a JSON object: {reason}")]
    NoObject {
        /// What is wrong with it.
        reason: String,
    },
    #[error("its manifest has no name; add one")]
    NoName,
    /// The name cannot be one.
    #[error("{name:?} cannot name a plugin; use letters, digits, '-', '_' and '.'")]
    BadName { name: String },
}

impl PluginManifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// Why it describes no plugin.
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        let no_object = |reason: String| ManifestError::NoObject { reason };
        let value: Value =
            serde_json::from_str(text).map_err(|error| no_object(error.to_string()))?;
        let Value::Object(fields) = value else {
            return Err(no_object("it is something else".to_owned()));
        };
        let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::trim);
        let name = text("name").filter(|name| !name.is_empty()).ok_or(ManifestError::NoName)?;
        if !is_plain(name) {
            return Err(ManifestError::BadName { name: name.to_owned() });
        }
        let mut reader = Reader { fields: &fields, faults: Vec::new() };
        let mut skills = vec![PluginPath::Usual("skills".into())];
        skills.extend(reader.named("skills"));
        Ok(Self {
            name: name.to_owned(),
            version: text("version").map(str::to_owned),
            default_enabled: fields.get("defaultEnabled") != Some(&Value::Bool(false)),
            skills,
            commands: reader.in_place_of("commands", "commands"),
            agents: reader.in_place_of("agents", "agents"),
            styles: reader.in_place_of("outputStyles", "output-styles"),
            hooks: reader.parts("hooks", "hooks/hooks.json"),
            servers: reader.parts("mcpServers", ".mcp.json"),
            options: options(&fields),
            faults: reader.faults,
        })
    }
}

/// Whether a text can be a name, and a part of a path.
#[must_use]
pub fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=100).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('.')
}

struct Reader<'a> {
    fields: &'a Map<String, Value>,
    faults: Vec<String>,
}

impl Reader<'_> {
    /// The paths of a field: one, or a list.
    fn named(&mut self, key: &str) -> Vec<PluginPath> {
        let items = match self.fields.get(key) {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(items)) => items.as_slice(),
            Some(one) => std::slice::from_ref(one),
        };
        let mut places = Vec::new();
        for item in items {
            match inside(item) {
                Some(path) => places.push(PluginPath::Named(path)),
                None => self.fault(key, item),
            }
        }
        places
    }

    fn in_place_of(&mut self, key: &str, usual: &str) -> Vec<PluginPath> {
        match self.fields.get(key) {
            None | Some(Value::Null) => vec![PluginPath::Usual(usual.into())],
            Some(_) => self.named(key),
        }
    }

    /// The usual file, and files and objects of a field after it.
    fn parts(&mut self, key: &str, usual: &str) -> Vec<JsonPart> {
        let mut parts = vec![JsonPart::File(PluginPath::Usual(usual.into()))];
        let items = match self.fields.get(key) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(items)) => items.as_slice(),
            Some(one) => std::slice::from_ref(one),
        };
        for item in items {
            match item {
                Value::Object(inline) => parts.push(JsonPart::Inline(inline.clone())),
                item => match inside(item) {
                    // The usual one is there already.
                    Some(path) if path == Path::new(usual) => {}
                    Some(path) => parts.push(JsonPart::File(PluginPath::Named(path))),
                    None => self.fault(key, item),
                },
            }
        }
        parts
    }

    fn fault(&mut self, key: &str, item: &Value) {
        self.faults.push(format!(
            "{key}: {item} is not a path in the plugin; it must start with ./ and may not leave it"
        ));
    }
}

/// A path that starts with `./` and stays inside.
#[must_use]
pub fn inside(value: &Value) -> Option<PathBuf> {
    let rest = Path::new(value.as_str()?.strip_prefix("./")?);
    let mut path = PathBuf::new();
    for part in rest.components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(path)
}

/// What holds where a person set nothing.
fn options(fields: &Map<String, Value>) -> BTreeMap<String, String> {
    let entries = fields.get("userConfig").and_then(Value::as_object).into_iter().flatten();
    let defaults = entries.filter_map(|(key, entry)| {
        let value = match entry.get("default")? {
            Value::String(text) => text.clone(),
            Value::Null => return None,
            other => other.to_string(),
        };
        Some((key.clone(), value))
    });
    defaults.collect()
}

#[cfg(test)]
mod tests;
