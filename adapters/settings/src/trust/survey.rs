//! What a repository brings that could act. Files are read and nothing is run.

use super::{Thing, TrustSubject};
use crate::layout::{self, Home};
use crate::origin::dotted;
use crate::refuse::{self, Tracked};
use crate::source::{Document, read_capped};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders whose Markdown files may run things.
const PROMPTS: [(&str, TrustSubject); 3] = [
    ("agents", TrustSubject::Agents),
    ("skills", TrustSubject::Skills),
    ("commands", TrustSubject::Skills),
];
/// Keys of their frontmatter by which they do.
const RUNS: [&str; 5] =
    ["hooks:", "mcpServers:", "permissionMode:", "allowed-tools:", "allowedTools:"];
/// How a prompt runs a command when it is read.
const COMMAND: &str = "!`";
/// Most files of one folder that are looked at.
const MAX_FILES: usize = 2_000;
/// How deep folders are looked into.
const MAX_DEPTH: usize = 8;
/// Files whose content counts; of a larger one, its size and time.
const FILE_BYTES: u64 = 8 * 1024 * 1024;
/// How much of a thing is shown to a person.
const SAID: usize = 20;

/// Everything that could act, by name.
pub(super) fn things(home: &Home, root: &Path, local_is_tracked: Tracked) -> Vec<Thing> {
    let mut found = Vec::new();
    let folder = root.join(".claude");
    // With the home at `~/.claude`, what is there is the person's own.
    let is_home = folder
        .canonicalize()
        .ok()
        .is_some_and(|real| home.root().canonicalize().is_ok_and(|home| home == real));
    if !is_home {
        settings(root, &layout::project_settings(root), &mut found);
        found.extend(folder_thing(root, &folder.join("hooks"), TrustSubject::Hooks));
        for (name, kind) in PROMPTS {
            found.extend(prompts(root, &folder.join(name), kind));
        }
    }
    if local_is_tracked == Tracked::Yes {
        settings(root, &layout::local_settings(root), &mut found);
    }
    found.extend(servers(root));
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The name of a value in a settings file.
pub(super) fn name_of(root: &Path, file: &Path, pointer: &str) -> String {
    format!("{} {}", relative(root, file), dotted(pointer))
}

pub(super) fn hash_of(value: &Value) -> String {
    hash(value.to_string().as_bytes())
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn relative(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    inside.to_string_lossy().replace('\\', "/")
}

/// A file that is broken is an error when settings are read; it acts on nothing.
fn settings(root: &Path, path: &Path, found: &mut Vec<Thing>) {
    let Ok(Some(document)) = Document::read(path) else { return };
    for (pointer, kind) in refuse::openable(&document.value) {
        let Some(value) = document.value.pointer(pointer) else { continue };
        found.push(Thing {
            kind,
            name: name_of(root, path, pointer),
            says: said(pointer, value),
            hash: hash_of(value),
            path: path.to_owned(),
        });
    }
}

fn said(pointer: &str, value: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    match (pointer, value) {
        ("/hooks", Value::Object(events)) => {
            for (event, entries) in events {
                commands(entries, &mut |command| lines.push(format!("{event}: {command}")));
            }
        }
        // Values of variables may be secret.
        ("/env", Value::Object(map)) => lines.extend(map.keys().cloned()),
        (_, Value::Array(list)) => {
            lines
                .extend(list.iter().map(|one| one.as_str().map_or(one.to_string(), str::to_owned)));
        }
        (_, Value::String(text)) => lines.push(text.clone()),
        (_, Value::Object(map)) if map.get("command").is_some_and(Value::is_string) => {
            commands(value, &mut |command| lines.push(command.to_owned()));
        }
        (_, other) => lines.push(other.to_string()),
    }
    lines.truncate(SAID);
    lines
}

/// Every `command` in a value.
fn commands(value: &Value, take: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(map) => {
            if let Some(command) = map.get("command").and_then(Value::as_str) {
                take(command);
            }
            map.values().for_each(|inner| commands(inner, take));
        }
        Value::Array(list) => list.iter().for_each(|inner| commands(inner, take)),
        _ => {}
    }
}

/// `.mcp.json`. One that cannot be read may be read by others; it is asked about.
fn servers(root: &Path) -> Option<Thing> {
    let path = root.join(".mcp.json");
    let bytes = read_capped(&path).ok()??;
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let servers = value.get("mcpServers").and_then(Value::as_object);
    if value.is_object() && servers.is_none_or(serde_json::Map::is_empty) {
        return None;
    }
    let one = |(name, server): (&String, &Value)| {
        let text = |key: &str| server.get(key).and_then(Value::as_str);
        let args = server.get("args").and_then(Value::as_array).into_iter().flatten();
        let words = text("command").or(text("url")).into_iter();
        let words: Vec<&str> = words.chain(args.filter_map(Value::as_str)).collect();
        format!("{name}: {}", words.join(" "))
    };
    let says = servers.into_iter().flatten().map(one).take(SAID).collect();
    Some(Thing {
        kind: TrustSubject::Servers,
        name: ".mcp.json".into(),
        says,
        hash: hash(&bytes),
        path,
    })
}

/// A folder as one thing, if there is anything in it.
fn folder_thing(root: &Path, dir: &Path, kind: TrustSubject) -> Option<Thing> {
    let files = files_of(dir);
    let hash = tree_hash(dir, &files)?;
    let says = files.iter().map(|file| relative(dir, file)).take(SAID).collect();
    Some(Thing { kind, name: relative(root, dir), says, hash, path: dir.to_owned() })
}

/// Agents, skills and commands that run things. A skill is its folder.
fn prompts(root: &Path, dir: &Path, kind: TrustSubject) -> Vec<Thing> {
    let mut found: Vec<Thing> = Vec::new();
    for file in files_of(dir) {
        let is_prompt = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
        if !is_prompt || found.iter().any(|thing| file.starts_with(&thing.path)) {
            continue;
        }
        let Some(why) = runs(&file) else { continue };
        let is_skill = file.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
        let path = match file.parent() {
            Some(folder) if is_skill && folder != dir => folder.to_owned(),
            _ => file.clone(),
        };
        let files = if path == file { vec![file] } else { files_of(&path) };
        let Some(hash) = tree_hash(&path, &files) else { continue };
        found.push(Thing { kind, name: relative(root, &path), says: vec![why], hash, path });
    }
    found
}

/// By what a prompt runs things; none if it only says something.
fn runs(file: &Path) -> Option<String> {
    let bytes = read_capped(file).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    if lines.next().is_some_and(|line| line.trim_end() == "---") {
        let head = lines.by_ref().take_while(|line| line.trim_end() != "---");
        let key = |line: &str| RUNS.iter().any(|key| line.starts_with(key));
        if let Some(line) = head.into_iter().find(|line| key(line)) {
            return Some(line.trim().chars().take(120).collect());
        }
    }
    let at = text.lines().find(|line| line.contains(COMMAND))?;
    Some(at.trim().chars().take(120).collect())
}

/// The files below a folder, by name; links count, and are not followed.
fn files_of(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut ahead = vec![(dir.to_owned(), 0)];
    while let Some((dir, depth)) = ahead.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => {
                    ahead.push((entry.path(), depth + 1));
                }
                Ok(kind) if !kind.is_dir() && found.len() < MAX_FILES => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// One hash for names and contents; none where there are no files.
fn tree_hash(dir: &Path, files: &[PathBuf]) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    for file in files {
        let about = fs::metadata(file).ok();
        let size = about.as_ref().map_or(0, fs::Metadata::len);
        hasher.update(relative(dir, file).as_bytes());
        hasher.update(&[0]);
        hasher.update(&size.to_le_bytes());
        match about {
            Some(about) if about.is_file() && size <= FILE_BYTES => {
                hasher.update(&fs::read(file).unwrap_or_default());
            }
            Some(about) => {
                hasher.update(format!("{:?}", about.modified().ok()).as_bytes());
            }
            None => {}
        }
    }
    (!files.is_empty()).then(|| hasher.finalize().to_hex().to_string())
}
