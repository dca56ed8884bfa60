//! Servers that settings name: the person's own, and those of a repository
//! that is trusted (S7).

use crate::shell;
use mnemon_kernel::limits::McpLimits;
use mnemon_mcp::{Broken, Entry, McpServers, entries};
use mnemon_settings::Resolved;
use mnemon_settings::trust::{Kind, Trust};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The file in which a repository names servers.
const REPOSITORY_FILE: &str = ".mcp.json";

/// What settings say of servers.
#[derive(Clone, Debug, Default)]
pub struct NamedServers {
    /// Those that can be connected to.
    pub entries: Vec<Entry>,
    /// Those that cannot, with the reason.
    pub broken: Vec<Broken>,
    /// Servers of the repository that are off because nobody trusts it.
    pub untrusted: Vec<String>,
}

/// Reads them: settings first, then the repository's file. Of two with one
/// name the first counts.
pub(crate) fn named(
    resolved: &Resolved,
    root: &Path,
    trust: &Trust,
    variables: &BTreeMap<String, String>,
) -> NamedServers {
    let mut named = NamedServers::default();
    for (name, value) in &resolved.settings.mcp_servers {
        let pointer = format!("/mcpServers/{name}");
        let origin = resolved.origins.iter().find(|(at, _)| at.starts_with(&pointer));
        let origin = origin.map_or_else(|| "settings".to_owned(), |(_, origin)| origin.to_string());
        named.add(&Map::from_iter([(name.clone(), value.clone())]), &origin, variables);
    }
    let file = root.join(REPOSITORY_FILE);
    let Ok(text) = std::fs::read_to_string(&file) else { return named };
    let origin = file.display().to_string();
    let servers = serde_json::from_str::<Value>(&text).map_err(|error| error.to_string());
    let servers = servers.and_then(|value| match value.get("mcpServers") {
        Some(Value::Object(servers)) => Ok(servers.clone()),
        _ => Err("it has no object \"mcpServers\"".to_owned()),
    });
    match servers {
        Err(reason) => named.broken.push(Broken { name: REPOSITORY_FILE.into(), origin, reason }),
        Ok(servers) if trust.allows(Kind::Servers) => named.add(&servers, &origin, variables),
        Ok(servers) => named.untrusted.extend(servers.keys().cloned()),
    }
    named
}

impl NamedServers {
    fn add(
        &mut self,
        servers: &Map<String, Value>,
        origin: &str,
        variables: &BTreeMap<String, String>,
    ) {
        let (good, broken) = entries(servers, origin, variables);
        let known = |entry: &Entry| self.entries.iter().any(|known| known.name == entry.name);
        let fresh: Vec<Entry> = good.into_iter().filter(|entry| !known(entry)).collect();
        self.entries.extend(fresh);
        self.broken.extend(broken);
    }
}

/// The servers, not connected yet; none where none are named.
pub(crate) fn make(
    named: &NamedServers,
    roots: &[PathBuf],
    resolved: &Resolved,
    limits: &McpLimits,
) -> Option<McpServers> {
    if named.entries.is_empty() {
        return None;
    }
    let shell = shell::config(resolved);
    let mut env = shell.env;
    if let Some(root) = roots.first() {
        let name = mnemon_kernel::env::HOOK_PROJECT_DIR.to_owned();
        env.insert(name, root.display().to_string());
    }
    Some(McpServers::new(named.entries.clone(), roots, shell.scrub, env, limits.clone()))
}
