//! What the placeholders in a plugin's files stand for.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

const ROOT: &str = "CLAUDE_PLUGIN_ROOT";
const DATA: &str = "CLAUDE_PLUGIN_DATA";
const PROJECT: &str = "CLAUDE_PROJECT_DIR";
const OPTION: &str = "user_config.";
const OPTION_VARIABLE: &str = "CLAUDE_PLUGIN_OPTION_";

/// Fills in `${CLAUDE_PLUGIN_ROOT}`, `${CLAUDE_PLUGIN_DATA}`,
/// `${CLAUDE_PROJECT_DIR}` and `${user_config.KEY}`; other holes stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filling {
    places: BTreeMap<&'static str, String>,
    options: BTreeMap<String, String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holes {
    All,
    /// Not those of options: what a person typed is no part of a command line.
    Places,
}

impl Filling {
    /// The places of a plugin, and its options.
    #[must_use]
    pub fn new(
        root: &Path,
        data: &Path,
        project: &Path,
        options: BTreeMap<String, String>,
    ) -> Self {
        let places = [(ROOT, root), (DATA, data), (PROJECT, project)];
        let places = places.map(|(name, path)| (name, path.display().to_string())).into();
        Self { places, options }
    }

    #[must_use]
    pub fn text(&self, text: &str) -> String {
        self.filled(text, Holes::All)
    }

    #[must_use]
    pub fn servers(&self, servers: &Map<String, Value>) -> Map<String, Value> {
        self.object(servers, Holes::All)
    }

    /// Hooks, filled in; command lines without options.
    #[must_use]
    pub fn hooks(&self, hooks: &Map<String, Value>) -> Map<String, Value> {
        self.object(hooks, Holes::Places)
    }

    /// What programs of the plugin see besides.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<String, String> {
        let places = self.places.iter().filter(|(name, _)| **name != PROJECT);
        let places = places.map(|(name, path)| ((*name).to_owned(), path.clone()));
        let options = self.options.iter().flat_map(|(key, value)| {
            // As it is written, and as variables are written.
            [key.clone(), key.to_uppercase()]
                .map(|key| (format!("{OPTION_VARIABLE}{key}"), value.clone()))
        });
        places.chain(options).collect()
    }

    fn object(&self, fields: &Map<String, Value>, lines: Holes) -> Map<String, Value> {
        let is_line = |key: &str| key == "command" && !fields.contains_key("args");
        let filled = fields.iter().map(|(key, value)| {
            let value = match value {
                Value::String(text) if is_line(key) => Value::String(self.filled(text, lines)),
                value => self.value(value, lines),
            };
            (key.clone(), value)
        });
        filled.collect()
    }

    fn value(&self, value: &Value, lines: Holes) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.value(item, lines)).collect(),
            Value::Object(fields) => Value::Object(self.object(fields, lines)),
            other => other.clone(),
        }
    }

    /// One pass: what is filled in is not looked at again.
    fn filled(&self, text: &str, holes: Holes) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let known = after.split_once('}').and_then(|(name, tail)| {
                let option = || self.options.get(name.strip_prefix(OPTION)?);
                let value = self.places.get(name);
                let value = value.or_else(|| option().filter(|_| holes == Holes::All))?;
                Some((value.as_str(), tail))
            });
            let (value, tail) = known.unwrap_or(("${", after));
            out.push_str(value);
            rest = tail;
        }
        out.push_str(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filling() -> Filling {
        let options = BTreeMap::from([("key".to_owned(), "${CLAUDE_PLUGIN_ROOT}".to_owned())]);
        Filling::new(Path::new("/p"), Path::new("/d"), Path::new("/w"), options)
    }

    #[test]
    fn q7_placeholders_are_filled_in_once_and_others_stay() {
        let own = filling();
        assert_eq!(own.text("${CLAUDE_PLUGIN_ROOT}/x ${CLAUDE_PROJECT_DIR}"), "/p/x /w");
        assert_eq!(own.text("${user_config.key}"), "${CLAUDE_PLUGIN_ROOT}", "not again");
        assert_eq!(own.text("${HOME} ${user_config.no} ${ $x"), "${HOME} ${user_config.no} ${ $x");
        let env = own.environment();
        assert_eq!(env["CLAUDE_PLUGIN_DATA"], "/d");
        assert!(env.contains_key("CLAUDE_PLUGIN_OPTION_KEY") && !env.contains_key(PROJECT));
    }

    #[test]
    fn q7_options_are_no_part_of_a_command_line() {
        let hooks = json!({"Stop": [{"hooks": [
            {"command": "${CLAUDE_PLUGIN_ROOT}/a ${user_config.key}"},
            {"command": "b", "args": ["${user_config.key}"]}]}]});
        let filled = filling().hooks(hooks.as_object().unwrap());
        let handlers = &filled["Stop"][0]["hooks"];
        assert_eq!(handlers[0]["command"], "/p/a ${user_config.key}");
        assert_eq!(handlers[1]["args"][0], "${CLAUDE_PLUGIN_ROOT}");
        let servers = json!({"s": {"command": "${user_config.key}"}});
        assert_eq!(
            filling().servers(servers.as_object().unwrap())["s"]["command"],
            "${CLAUDE_PLUGIN_ROOT}"
        );
    }
}
