//! Plugins on disk: where they are ([`find`]), and what is in one ([`Plugin`]).
//!
//! Three places have them: folders that were given with the start, those that
//! settings switch on by `plugin@marketplace` and that Claude Code installed,
//! and folders with a manifest among a person's skills. A plugin that cannot
//! be read is named and left out; nothing ends by it.

mod installed;
mod plugin;

use everfold_plugins::{Filling, is_plain};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Stands for the marketplace of a plugin that is among a person's skills.
const SKILLS_DIR: &str = "skills-dir";
/// The same for one that was given with the start.
const GIVEN: &str = "inline";

/// Where plugins are looked for.
#[derive(Clone, Debug)]
pub struct PluginDirs {
    /// Folders that were given with the start.
    pub given: Vec<PathBuf>,
    /// The homes of agents whose plugins count, such as `~/.claude`.
    pub homes: Vec<PathBuf>,
    /// Where plugins keep what outlives them.
    pub data: PathBuf,
    pub project: PathBuf,
    /// What settings say: `plugin@marketplace`, and whether it is on.
    pub enabled: Map<String, Value>,
}

/// A plugin, with its placeholders filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Plugin {
    /// `name@marketplace`.
    pub id: String,
    pub name: String,
    pub version: Option<String>,
    pub root: PathBuf,
    /// Folders of skills, each a skill or a folder of some.
    pub skills: Vec<PathBuf>,
    pub commands: Vec<PathBuf>,
    pub agents: Vec<PathBuf>,
    pub styles: Vec<PathBuf>,
    /// Programs for the PATH of shell commands.
    pub bin: Option<PathBuf>,
    /// What is run at events.
    pub hooks: Map<String, Value>,
    /// Servers, by their names in the plugin.
    pub servers: Map<String, Value>,
    /// What its programs see besides.
    pub env: BTreeMap<String, String>,
    /// What its placeholders stand for.
    pub filling: Filling,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The plugins that are on; of one name the first.
    pub plugins: Vec<Plugin>,
    /// What is wrong with others, or with parts of these.
    pub problems: Vec<String>,
}

/// Looks for the plugins that are on.
#[must_use]
pub fn find(places: &PluginDirs) -> Found {
    let mut found = Found::default();
    for root in &places.given {
        found.take(root, GIVEN, places);
    }
    for id in places.enabled.iter().filter(|(_, on)| is_on(on)).map(|(id, _)| id) {
        let parts = id.split_once('@').filter(|(name, market)| is_plain(name) && is_plain(market));
        match parts {
            Some((_, SKILLS_DIR)) => {}
            None => found
                .problems
                .push(format!("the plugin {id:?} is not of the form plugin@marketplace")),
            Some((name, market)) => match installed::locate(&places.homes, name, market) {
                Some(root) => found.take(&root, market, places),
                None => found.problems.push(format!(
                    "the plugin {id} is enabled but not installed; install it, give its folder \
                     with --plugin-dir, or set it to false in enabledPlugins"
                )),
            },
        }
    }
    for root in places.homes.iter().flat_map(|home| installed::among_skills(home)) {
        found.take(&root, SKILLS_DIR, places);
    }
    let mut known = BTreeSet::new();
    found.plugins.retain(|plugin| known.insert(plugin.name.clone()));
    found
}

impl Found {
    fn take(&mut self, root: &Path, market: &str, places: &PluginDirs) {
        match plugin::read(root, market, places, &mut self.problems) {
            Ok(plugin) => self.plugins.extend(plugin),
            Err(why) => {
                self.problems.push(format!("the plugin {} is not used: {why}", root.display()));
            }
        }
    }
}

/// Anything but `false` and `null` switches a plugin on.
fn is_on(value: &Value) -> bool {
    !matches!(value, Value::Bool(false) | Value::Null)
}

#[cfg(test)]
mod tests;
