//! Servers that settings name: the person's own, and those of a repository
//! that is trusted (S7).

use crate::shell;
use everfold_disk::read_regular_text;
use everfold_kernel::limits::McpLimits;
use everfold_kernel::ports::{ServerMaker, Servers};
use everfold_mcp::{BrokenServer, McpServers, ServerEntry, entries};
use everfold_plugdir::Plugin;
use everfold_plugins::server_name;
use everfold_settings::Resolved;
use everfold_settings::source::SETTINGS_FILE_BYTES;
use everfold_settings::trust::Trust;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file in which a repository names servers.
const REPOSITORY_FILE: &str = ".mcp.json";

/// What settings say of servers.
#[derive(Clone, Debug, Default)]
pub struct NamedServers {
    /// Those that can be connected to.
    pub entries: Vec<ServerEntry>,
    /// Those that cannot, with the reason.
    pub broken: Vec<BrokenServer>,
    /// Servers of the repository that are off because nobody trusts it.
    pub untrusted: Vec<String>,
}

/// Reads them: settings first, then the repository's file, then plugins. Of
/// two with one name the first counts.
pub(crate) fn named(
    resolved: &Resolved,
    root: &Path,
    trust: &Trust,
    plugins: &[Plugin],
    variables: &BTreeMap<String, String>,
) -> NamedServers {
    let mut named = NamedServers::default();
    for (name, value) in &resolved.settings.mcp_servers {
        let pointer = format!("/mcpServers/{name}");
        let origin = resolved.origins.iter().find(|(at, _)| at.starts_with(&pointer));
        let origin = origin.map_or_else(|| "settings".to_owned(), |(_, origin)| origin.to_string());
        named.add(&Map::from_iter([(name.clone(), value.clone())]), &origin, variables);
    }
    named.add_file(&root.join(REPOSITORY_FILE), trust, variables);
    for plugin in plugins {
        let servers = plugin
            .servers
            .iter()
            .map(|(name, value)| (server_name(&plugin.name, name), with_env(value, &plugin.env)));
        named.add(&servers.collect(), &format!("plugin {}", plugin.id), variables);
    }
    named
}

/// A server that sees variables besides its own.
fn with_env(server: &Value, env: &BTreeMap<String, String>) -> Value {
    let mut server = server.clone();
    if let Some(fields) = server.as_object_mut() {
        let own = fields.entry("env").or_insert_with(|| Value::Object(Map::new()));
        if let Some(own) = own.as_object_mut() {
            for (name, value) in env {
                own.entry(name.clone()).or_insert_with(|| Value::String(value.clone()));
            }
        }
    }
    server
}

impl NamedServers {
    /// The servers of a repository.
    fn add_file(&mut self, file: &Path, trust: &Trust, variables: &BTreeMap<String, String>) {
        let origin = file.display().to_string();
        let text = match read_regular_text(file, SETTINGS_FILE_BYTES) {
            Err(everfold_disk::Error::NotFound { .. }) => return,
            read => read.map_err(|error| error.to_string()),
        };
        let servers = text.and_then(|text| {
            serde_json::from_str::<Value>(&text).map_err(|error| error.to_string())
        });
        let servers = servers.and_then(|value| match value.get("mcpServers") {
            Some(Value::Object(servers)) => Ok(servers.clone()),
            _ => Err("it has no object \"mcpServers\"".to_owned()),
        });
        match servers {
            Err(reason) => {
                self.broken.push(BrokenServer { name: REPOSITORY_FILE.into(), origin, reason });
            }
            Ok(servers) if trust.allows_file(file) => {
                self.add(&servers, &origin, variables);
            }
            // What lies outside of the tree is not told of before it is trusted.
            Ok(_) if file.canonicalize().is_ok_and(|real| !trust.bounds().holds(&real)) => {
                self.untrusted.push(REPOSITORY_FILE.to_owned());
            }
            Ok(servers) => self.untrusted.extend(servers.keys().cloned()),
        }
    }

    fn add(
        &mut self,
        servers: &Map<String, Value>,
        origin: &str,
        variables: &BTreeMap<String, String>,
    ) {
        let (good, broken) = entries(servers, origin, variables);
        let known = |entry: &ServerEntry| self.entries.iter().any(|known| known.name == entry.name);
        let fresh: Vec<ServerEntry> = good.into_iter().filter(|entry| !known(entry)).collect();
        self.entries.extend(fresh);
        self.broken.extend(broken);
    }
}

/// What servers are made with, at the start and for agents later.
pub(crate) struct Maker {
    scrub: Vec<String>,
    env: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
    limits: McpLimits,
    /// Whether they hear that somebody answers them.
    answers: bool,
}

impl Maker {
    /// Servers that know the project by the first of these directories;
    /// `variables` are what definitions may name.
    pub(crate) fn new(
        roots: &[PathBuf],
        resolved: &Resolved,
        variables: &BTreeMap<String, String>,
        limits: &McpLimits,
    ) -> Self {
        let shell = shell::config(resolved);
        let mut env = shell.env;
        if let Some(root) = roots.first() {
            let name = everfold_kernel::env::HOOK_PROJECT_DIR.to_owned();
            env.insert(name, root.display().to_string());
        }
        let (variables, limits) = (variables.clone(), limits.clone());
        Self { scrub: shell.scrub, env, variables, limits, answers: false }
    }

    /// The same, telling servers that somebody answers what they want to know.
    pub(crate) fn answering(self) -> Self {
        Self { answers: true, ..self }
    }

    /// These servers, for work in these directories, not connected yet.
    pub(crate) fn servers(&self, entries: Vec<ServerEntry>, roots: &[PathBuf]) -> Arc<dyn Servers> {
        let (scrub, env) = (self.scrub.clone(), self.env.clone());
        let made = McpServers::new(entries, roots, scrub, env, self.limits.clone());
        Arc::new(if self.answers { made.answering() } else { made })
    }
}

impl ServerMaker for Maker {
    fn make(
        &self,
        servers: &Map<String, Value>,
        origin: &str,
        roots: &[PathBuf],
    ) -> Arc<dyn Servers> {
        let (good, broken) = entries(servers, origin, &self.variables);
        for BrokenServer { name, origin, reason } in broken {
            tracing::warn!(name, origin, reason, "a server cannot be used");
        }
        self.servers(good, roots)
    }
}
