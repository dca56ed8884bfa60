//! What is in one plugin.

use crate::{Plugin, PluginDirs, SKILLS_DIR, is_on};
use everfold_disk::read_regular_text;
use everfold_plugins::{Filling, JsonPart, MANIFEST, PluginManifest, PluginPath};
use serde_json::{Map, Value};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Largest file of a plugin that is read as a whole.
const MOST_BYTES: u64 = 4 << 20;

/// Why a plugin is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnusedPlugin {
    #[error(transparent)]
    Folder(#[from] std::io::Error),
    #[error("its manifest {manifest} cannot be read: {0}", manifest = MANIFEST)]
    Unread(everfold_disk::Error),
    #[error(transparent)]
    Manifest(#[from] everfold_plugins::ManifestError),
}

/// Reads a plugin; none if it is off.
pub(crate) fn read(
    root: &Path,
    market: &str,
    places: &PluginDirs,
    problems: &mut Vec<String>,
) -> Result<Option<Plugin>, UnusedPlugin> {
    let root = root.canonicalize()?;
    let text = text_of(&root.join(MANIFEST)).map_err(UnusedPlugin::Unread)?;
    let manifest = PluginManifest::parse(&text)?;
    let id = format!("{}@{market}", manifest.name);
    let on = places.enabled.get(&id).map_or(manifest.default_enabled, is_on);
    // The others were switched on to come here.
    if market == SKILLS_DIR && !on {
        return Ok(None);
    }
    let data = places.data.join(id.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
    let filling = Filling::new(&root, &data, &places.project, manifest.options.clone());
    let mut inside = Inside { root: &root, name: &manifest.name, problems };
    manifest.faults.iter().for_each(|fault| inside.problem(fault));
    let hooks = filling.hooks(&inside.hooks(&manifest.hooks));
    let servers = filling.servers(&inside.servers(&manifest.servers));
    if !hooks.is_empty() || !servers.is_empty() {
        make(&data).unwrap_or_else(|error| inside.problem(&format!("{}: {error}", data.display())));
    }
    Ok(Some(Plugin {
        skills: manifest.skills.iter().filter_map(|place| inside.path(place)).collect(),
        commands: inside.files(&manifest.commands),
        agents: inside.files(&manifest.agents),
        styles: inside.files(&manifest.styles),
        bin: Some(root.join("bin")).filter(|bin| bin.is_dir()),
        env: filling.environment(),
        id,
        version: manifest.version,
        name: manifest.name,
        hooks,
        servers,
        filling,
        root,
    }))
}

struct Inside<'a> {
    root: &'a Path,
    name: &'a str,
    problems: &'a mut Vec<String>,
}

impl Inside<'_> {
    fn problem(&mut self, what: &str) {
        self.problems.push(format!("the plugin {}: {what}", self.name));
    }

    /// The real path of a place; none where it is not there, or leads out.
    fn path(&mut self, place: &PluginPath) -> Option<PathBuf> {
        let (PluginPath::Usual(path) | PluginPath::Named(path)) = place;
        match self.root.join(path).canonicalize() {
            Ok(real) if real.starts_with(self.root) => Some(real),
            Ok(_) => {
                self.problem(&format!("{} leads outside of it and is not used", path.display()));
                None
            }
            Err(error) => {
                if matches!(place, PluginPath::Named(_)) {
                    self.problem(&format!("{}: {error}", path.display()));
                }
                None
            }
        }
    }

    /// Markdown files: those that are named, and those in folders.
    fn files(&mut self, places: &[PluginPath]) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for path in places.iter().filter_map(|place| self.path(place)) {
            if path.is_dir() {
                let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
                let is_text = |path: &PathBuf| path.extension().is_some_and(|it| it == "md");
                let mut inner: Vec<PathBuf> =
                    entries.map(|entry| entry.path()).filter(is_text).collect();
                inner.sort();
                files.extend(inner);
            } else {
                files.push(path);
            }
        }
        files
    }

    /// All hooks of a plugin: of one event one after another.
    fn hooks(&mut self, parts: &[JsonPart]) -> Map<String, Value> {
        let mut all = Map::new();
        for part in parts {
            for (event, groups) in self.object(part, "hooks") {
                match (all.get_mut(&event), groups) {
                    (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
                    (_, groups) => {
                        all.insert(event, groups);
                    }
                }
            }
        }
        all
    }

    /// All servers: of one name the last.
    fn servers(&mut self, parts: &[JsonPart]) -> Map<String, Value> {
        parts.iter().flat_map(|part| self.object(part, "mcpServers")).collect()
    }

    /// A part, with or without the key that it has in settings around it.
    fn object(&mut self, part: &JsonPart, key: &str) -> Map<String, Value> {
        let fields = match part {
            JsonPart::Inline(fields) => fields.clone(),
            JsonPart::File(place) => {
                let Some(path) = self.path(place) else { return Map::new() };
                let mut not_used = |why: &dyn Display| {
                    self.problem(&format!("{} is not used: {why}", path.display()));
                    Map::new()
                };
                let text = match text_of(&path) {
                    Ok(text) => text,
                    Err(error) => return not_used(&error),
                };
                match serde_json::from_str(&text) {
                    Ok(fields) => fields,
                    Err(error) => return not_used(&error),
                }
            }
        };
        match fields.get(key) {
            Some(Value::Object(inner)) => inner.clone(),
            _ => fields,
        }
    }
}

/// Makes a directory for its owner alone, as all of the home is.
fn make(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

pub(crate) fn text_of(path: &Path) -> Result<String, everfold_disk::Error> {
    read_regular_text(path, MOST_BYTES)
}
