//! The tools of a session. The list is part of the cached prefix: main thread
//! and forks have the same one in the same order, and restriction is by
//! refusal (PC4).

use crate::tools::{Tool, standard_tools};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// An ordered set of tools.
#[derive(Clone)]
pub struct Toolbox {
    tools: Arc<[Arc<dyn Tool>]>,
}

impl Default for Toolbox {
    fn default() -> Self {
        Self::new(standard_tools())
    }
}

impl Toolbox {
    /// These tools, in this order. Of two with one name the first is used.
    #[must_use]
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { tools: tools.into() }
    }

    /// The standard tools and these after them.
    #[must_use]
    pub fn with_extra(extra: Vec<Arc<dyn Tool>>) -> Self {
        let mut tools = standard_tools();
        tools.extend(extra);
        Self::new(tools)
    }

    /// The same with more, where there are none of their names.
    #[must_use]
    pub fn and(&self, more: Vec<Arc<dyn Tool>>) -> Self {
        let fresh = more.into_iter().filter(|tool| self.get(&tool.name()).is_none());
        Self { tools: self.tools.iter().cloned().chain(fresh).collect() }
    }

    /// Those of these tools whose names a test passes, in their order.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept = self.tools.iter().filter(|tool| keep(&tool.name()));
        Self { tools: kept.cloned().collect() }
    }

    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// Names, in order.
    pub fn names(&self) -> impl Iterator<Item = Cow<'static, str>> {
        self.tools.iter().map(|tool| tool.name())
    }

    /// The definitions, as a request carries them.
    #[must_use]
    pub fn definitions(&self) -> Vec<Value> {
        let definition = |tool: &Arc<dyn Tool>| {
            let spec = tool.spec();
            json!({
                "name": spec.name,
                "description": spec.description,
                "input_schema": sent_schema(spec.input_schema.clone()),
            })
        };
        self.tools.iter().map(definition).collect()
    }

    /// Those of the few tools that a small model can tell apart, in short (Q16).
    #[must_use]
    pub fn lean_definitions(&self) -> Vec<Value> {
        let few = LEAN_TOOLS.iter().filter_map(|(name, about)| Some((self.get(name)?, *about)));
        let definition = |(tool, about): (&Arc<dyn Tool>, &str)| {
            let spec = tool.spec();
            let schema = lean_schema(spec.input_schema.clone());
            json!({"name": spec.name, "description": about, "input_schema": schema})
        };
        few.map(definition).collect()
    }
}

/// The tools of the lean prompt, with all that is said of them.
const LEAN_TOOLS: [(&str, &str); 6] = [
    ("Read", "Shows a file, with line numbers. offset and limit page through a long one."),
    ("Write", "Makes a file, or replaces all of it."),
    ("Edit", "Replaces old_string, which must occur once in the file, by new_string."),
    ("Glob", "Lists files whose paths match a pattern such as src/**/*.rs."),
    ("Grep", "Searches file contents for a regular expression."),
    ("Bash", "Runs a shell command and shows what it prints."),
];

/// Fields that a small model does without.
const LEFT_OUT: [&str; 10] = [
    "-A",
    "-B",
    "-C",
    "-n",
    "description",
    "head_limit",
    "multiline",
    "output_mode",
    "run_in_background",
    "type",
];

/// Fields whose names say all.
const PLAIN: [&str; 16] = [
    "-A",
    "-B",
    "-C",
    "-i",
    "-n",
    "command",
    "file_path",
    "isolation",
    "limit",
    "message",
    "new_string",
    "offset",
    "old_string",
    "replace_all",
    "run_in_background",
    "todos",
];

/// A schema as it is sent: without what its fields' names say already, and
/// without bounds that are checked here anyway. Each request pays for it.
fn sent_schema(mut schema: Value) -> Value {
    if let Some(map) = schema.as_object_mut() {
        map.remove("additionalProperties");
    }
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        for (name, field) in fields.iter_mut() {
            let Some(field) = field.as_object_mut() else { continue };
            field.remove("minimum");
            if PLAIN.contains(&name.as_str()) {
                field.remove("description");
            }
        }
    }
    schema
}

/// A schema without what is said of its fields, and with the usual ones alone.
fn lean_schema(mut schema: Value) -> Value {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| {
        required.as_array().is_some_and(|names| names.iter().any(|own| own.as_str() == Some(name)))
    };
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.retain(|name, _| is_required(name) || !LEFT_OUT.contains(&name.as_str()));
        for field in fields.values_mut().filter_map(Value::as_object_mut) {
            field.remove("description");
        }
    }
    schema
}
