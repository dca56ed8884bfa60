//! Plugins as Claude Code has them (CONTRACTS 2.8): what a manifest says, and
//! what the placeholders in a plugin's files stand for.
//!
//! Nothing is read or run here, and nothing else of Everfold knows of plugins:
//! what they bring becomes skills, agents, hooks and servers like any others.

mod manifest;
mod placeholders;

pub use manifest::{
    JsonPart, MANIFEST, ManifestError, PluginManifest, PluginPath, inside, is_plain,
};
pub use placeholders::Filling;

/// What something of a plugin is called: `plugin:name`.
#[must_use]
pub fn scoped(plugin: &str, name: &str) -> String {
    format!("{plugin}:{name}")
}

/// What a plugin's server is called where tools are named.
///
/// ```
/// assert_eq!(everfold_plugins::server_name("docs", "web"), "plugin_docs_web");
/// ```
#[must_use]
pub fn server_name(plugin: &str, server: &str) -> String {
    format!("plugin_{plugin}_{server}")
}
