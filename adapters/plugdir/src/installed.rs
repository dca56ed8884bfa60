//! Where Claude Code installs plugins. The layout is its own affair and has
//! changed before, so whatever can be understood is taken.

use crate::plugin::text_of;
use everfold_plugins::{MANIFEST, inside};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder of an installed plugin: as the list says, else the newest copy,
/// else where its marketplace has it.
pub(crate) fn locate(homes: &[PathBuf], name: &str, market: &str) -> Option<PathBuf> {
    homes.iter().find_map(|home| {
        let dir = home.join("plugins");
        let listed = listed(&dir, &format!("{name}@{market}"));
        listed.or_else(|| newest(&dir, name, market)).or_else(|| offered(&dir, name, market))
    })
}

/// Folders with a manifest among skills.
pub(crate) fn among_skills(home: &Path) -> Vec<PathBuf> {
    let mut found = children(&home.join("skills"));
    found.retain(|dir| is_plugin(dir));
    found.sort();
    found
}

/// `installed_plugins.json`: by the id one entry, or a list with the newest last.
fn listed(dir: &Path, id: &str) -> Option<PathBuf> {
    let text = text_of(&dir.join("installed_plugins.json")).ok()?;
    let list: Value = serde_json::from_str(&text).ok()?;
    let entry = list.get("plugins").unwrap_or(&list).get(id)?;
    let entries = match entry {
        Value::Array(entries) => entries.as_slice(),
        one => std::slice::from_ref(one),
    };
    let paths =
        entries.iter().filter_map(|entry| Some(dir.join(entry.get("installPath")?.as_str()?)));
    paths.rev().find(|path| is_plugin(path))
}

/// `cache/<marketplace>/<plugin>/<version>`: the highest version.
fn newest(dir: &Path, name: &str, market: &str) -> Option<PathBuf> {
    let mut copies = children(&dir.join("cache").join(market).join(name));
    copies.retain(|copy| is_plugin(copy));
    copies.into_iter().max_by_key(|copy| rank(copy))
}

/// `marketplaces/<marketplace>`, a checkout whose list names folders in it.
fn offered(dir: &Path, name: &str, market: &str) -> Option<PathBuf> {
    let dir = dir.join("marketplaces").join(market);
    let text = text_of(&dir.join(".claude-plugin/marketplace.json")).ok()?;
    let list: Value = serde_json::from_str(&text).ok()?;
    let mut entries = list.get("plugins")?.as_array()?.iter();
    let entry = entries.find(|entry| entry.get("name").and_then(Value::as_str) == Some(name))?;
    let path = dir.join(inside(entry.get("source")?)?);
    is_plugin(&path).then_some(path)
}

/// By the numbers of a version; what has none is ordered by its name.
fn rank(copy: &Path) -> (Vec<u64>, String) {
    let name = copy.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let numbers = name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
    (numbers.collect(), name)
}

fn is_plugin(dir: &Path) -> bool {
    dir.join(MANIFEST).is_file()
}

fn children(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
