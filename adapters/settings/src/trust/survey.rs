//! What a tree brings that could act. Files are read and nothing is run.

use super::content::{self, Files, Seal};
use super::named_files::NamedFiles;
use super::tree::{AgentDirOwner, Tree};
use super::{Thing, TrustSubject};
use crate::layout;
use crate::origin::{ValueOrigin, dotted};
use crate::refuse;
use crate::source::{Document, read_capped};
use everfold_frontmatter::{Fence, fence};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders whose Markdown files may run things.
const PROMPTS: [(&str, TrustSubject); 3] = [
    ("agents", TrustSubject::Agents),
    ("skills", TrustSubject::Skills),
    ("commands", TrustSubject::Skills),
];
/// Keys of their frontmatter by which they do.
const ACTS: [&str; 5] = ["hooks", "mcpServers", "permissionMode", "allowed-tools", "allowedTools"];
/// A skill may also ask for another model, which costs more.
const SKILL_ACTS: &str = "model";
/// An agent may also keep what it learned with what is the person's.
const AGENT_ACTS: (&str, &str) = ("memory", "user");
/// How a prompt runs a command when it is read.
const COMMAND: &str = "!`";
/// Keys whose texts are commands for a shell, in settings of any kind.
const HELPERS: [&str; 3] = ["command", "headersHelper", "apiKeyHelper"];
/// The key of an address that hooks post to.
const ADDRESS: &str = "url";
/// How much of a thing is shown to a person.
const SAID: usize = 20;
/// Characters of one line of it.
const SAID_CHARS: usize = 200;
/// The file in which a tree names servers.
pub(super) const SERVERS_FILE: &str = ".mcp.json";

/// Everything that could act, by name. Rules that were kept for the person are
/// not the tree's.
pub(super) fn things(tree: &Tree, own_rules: &BTreeSet<String>) -> Vec<Thing> {
    let mut survey = Survey { tree, own_rules, env: Map::new(), found: Vec::new() };
    let root_dir = tree.agent_dir();
    if tree.owner(&root_dir) == AgentDirOwner::Tree {
        survey.link(&root_dir);
        survey.settings(&[
            ValueOrigin::Project(layout::project_settings(&tree.root)),
            ValueOrigin::Local(layout::local_settings(&tree.root)),
        ]);
        survey.folder(&root_dir.join("hooks"), TrustSubject::Hooks);
        survey.styles(&root_dir.join("output-styles"));
    }
    for dir in tree.agent_dirs() {
        survey.link(&dir);
        for (name, kind) in PROMPTS {
            // Kinds of agents are taken from the root alone.
            if kind != TrustSubject::Agents || dir == root_dir {
                survey.prompts(&dir.join(name), kind);
            }
        }
    }
    survey.servers();
    let mut found = survey.found;
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found.dedup_by(|a, b| a.name == b.name);
    found
}

/// The name of a value in a settings file.
pub(super) fn name_of(tree: &Tree, file: &Path, pointer: &str) -> String {
    format!("{} {}", tree.name(file), dotted(pointer))
}

/// The hash of a value in a settings file.
pub(super) fn hash_of(value: &Value) -> String {
    content::hash(value.to_string().as_bytes())
}

struct Survey<'a> {
    tree: &'a Tree,
    own_rules: &'a BTreeSet<String>,
    /// Variables that its settings would set for what it runs.
    env: Map<String, Value>,
    found: Vec<Thing>,
}

impl Survey<'_> {
    fn add(
        &mut self,
        kind: TrustSubject,
        name: String,
        path: &Path,
        says: Vec<String>,
        seal: Seal,
    ) {
        let (path, files, words) = (path.to_owned(), Vec::new(), seal.clone());
        let (named, calls) = (BTreeSet::new(), BTreeSet::new());
        self.found.push(Thing { kind, name, says, files, hash: seal, path, words, named, calls });
    }

    /// Adds a thing with the files that it names.
    fn add_naming(
        &mut self,
        (kind, name): (TrustSubject, String),
        path: &Path,
        says: Vec<String>,
        words: Seal,
        named: NamedFiles,
    ) {
        let calls = named.calls.clone();
        let named = named.into_found();
        let files = named.iter().filter(|file| file.is_file()).map(|file| self.tree.name(file));
        let files = files.collect();
        let hash = content::with_files(self.tree, words.clone(), &named);
        let path = path.to_owned();
        self.found.push(Thing { kind, name, says, files, hash, path, words, named, calls });
    }

    fn named(&self) -> NamedFiles {
        let mut named = NamedFiles::new(self.tree.root.clone(), &self.tree.cwd);
        for (name, value) in &self.env {
            value.as_str().into_iter().for_each(|value| named.variable(name, value));
        }
        named
    }

    /// A path that leads out of the tree.
    fn link(&mut self, path: &Path) {
        let Some(real) = self.tree.outside(path) else { return };
        let is_known =
            |thing: &Thing| thing.kind == TrustSubject::Links && path.starts_with(&thing.path);
        if self.found.iter().any(is_known) {
            return;
        }
        let says = vec![format!("leads to {}", real.display())];
        let seal = Some(content::hash(real.to_string_lossy().as_bytes()));
        let name = format!("{} (link)", self.tree.name(path));
        self.add(TrustSubject::Links, name, path, says, seal);
    }

    /// A file that is broken is told of when settings are read; it acts on nothing.
    fn settings(&mut self, origins: &[ValueOrigin]) {
        let read = |origin: &ValueOrigin| {
            let (ValueOrigin::Project(path) | ValueOrigin::Local(path)) = origin else {
                return None;
            };
            Some((origin.clone(), path.clone(), Document::read(path).ok()??.value))
        };
        let documents: Vec<(ValueOrigin, PathBuf, Value)> =
            origins.iter().filter_map(read).collect();
        for (_, _, value) in &documents {
            let env = value.get("env").and_then(Value::as_object);
            self.env.extend(env.into_iter().flatten().map(|(name, it)| (name.clone(), it.clone())));
        }
        for (origin, path, mut value) in documents {
            self.link(&path);
            refuse::take_own_rules(&mut value, self.own_rules);
            for (pointer, kind) in refuse::openable(&value, &origin) {
                let Some(at) = value.pointer(pointer) else { continue };
                let mut named = self.named();
                name_commands(at, pointer.rsplit('/').next().unwrap_or_default(), &mut named);
                let name = name_of(self.tree, &path, pointer);
                let words = Some(hash_of(at));
                self.add_naming((kind, name), &path, said(pointer, at), words, named);
            }
        }
    }

    /// `.mcp.json`. One that is not JSON may be read by others; it is asked about.
    fn servers(&mut self) {
        let path = self.tree.root.join(SERVERS_FILE);
        let Ok(Some(bytes)) = read_capped(&path) else { return };
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let servers = value.get("mcpServers").and_then(Value::as_object);
        if value.is_object() && servers.is_none_or(Map::is_empty) {
            return;
        }
        self.link(&path);
        let says = servers.into_iter().flatten().map(|(name, server)| say_server(name, server));
        let says = says.take(SAID).collect();
        let mut named = self.named();
        if let Some(servers) = value.get("mcpServers") {
            name_commands(servers, "mcpServers", &mut named);
        }
        let id = (TrustSubject::Servers, SERVERS_FILE.to_owned());
        self.add_naming(id, &path, says, Some(content::hash(&bytes)), named);
    }

    /// A folder as one thing, if there is anything in it.
    fn folder(&mut self, dir: &Path, kind: TrustSubject) {
        let files = self.files(dir);
        if files.paths.is_empty() {
            return;
        }
        let name = |file: &PathBuf| {
            let inside = file.strip_prefix(dir).unwrap_or(file);
            inside.to_string_lossy().replace('\\', "/")
        };
        let says = files.paths.iter().map(name).take(SAID).collect();
        let seal = content::of_folder(self.tree, dir, &files);
        self.add(kind, self.tree.name(dir), dir, says, seal);
    }

    /// Styles are words, but not from anywhere.
    fn styles(&mut self, dir: &Path) {
        self.files(dir);
    }

    /// The files below a folder, and the links among them that leave.
    fn files(&mut self, dir: &Path) -> Files {
        let files = Files::below(self.tree, dir);
        self.link(dir);
        files.leaving.iter().for_each(|path| self.link(path));
        files
    }

    /// Agents, skills and commands that run things. A skill is its folder.
    fn prompts(&mut self, dir: &Path, kind: TrustSubject) {
        let mut taken: Vec<PathBuf> = Vec::new();
        for file in self.files(dir).paths {
            let is_prompt = file.extension().is_some_and(|it| it.eq_ignore_ascii_case("md"));
            if !is_prompt || taken.iter().any(|path| file.starts_with(path)) {
                continue;
            }
            let mut named = self.named();
            let Some(why) = runs(&file, kind, &mut named) else { continue };
            let is_skill = file.file_name().is_some_and(|it| it.eq_ignore_ascii_case("SKILL.md"));
            let path = match file.parent() {
                Some(folder) if is_skill && folder != dir => folder.to_owned(),
                _ => file.clone(),
            };
            let files =
                if path == file { Files::one(file) } else { Files::below(self.tree, &path) };
            let words = content::of_folder(self.tree, &path, &files);
            let id = (kind, self.tree.name(&path));
            self.add_naming(id, &path, vec![why], words, named);
            taken.push(path);
        }
    }
}

/// Notes the commands in a value: those of helpers, and programs with arguments.
fn name_commands(value: &Value, key: &str, named: &mut NamedFiles) {
    match value {
        Value::String(text) if HELPERS.contains(&key) => {
            named.calls.insert(text.clone());
            named.shell(text);
        }
        Value::String(text) if key == ADDRESS => {
            named.calls.insert(text.clone());
        }
        Value::String(text) if key == "env" => named.variable(key, text),
        Value::Array(list) => list.iter().for_each(|inner| name_commands(inner, key, named)),
        Value::Object(fields) => {
            if key == "env" {
                for (name, value) in fields {
                    value.as_str().into_iter().for_each(|value| named.variable(name, value));
                }
                return;
            }
            if let Some(Value::Object(env)) = fields.get("env") {
                name_commands(&Value::Object(env.clone()), "env", named);
            }
            if let Some(dir) = fields.get("cwd").and_then(Value::as_str) {
                named.add_base(dir);
            }
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let program = fields.get("command").and_then(text);
            let args = fields.get("args").and_then(Value::as_array);
            if let (Some(program), Some(args)) = (program, args) {
                let words = [program].into_iter().chain(args.iter().filter_map(text));
                named.program(&words.collect::<Vec<_>>());
            }
            fields.iter().for_each(|(key, inner)| name_commands(inner, key, named));
        }
        _ => {}
    }
}

fn say_server(name: &str, server: &Value) -> String {
    let text = |key: &str| server.get(key).and_then(Value::as_str);
    let args = server.get("args").and_then(Value::as_array).into_iter().flatten();
    let words = text("command").or(text("url")).into_iter();
    let words: Vec<&str> = words.chain(args.filter_map(Value::as_str)).collect();
    cut(&format!("{name}: {}", words.join(" ")))
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
        ("/mcpServers", Value::Object(map)) => {
            lines.extend(map.iter().map(|(name, server)| say_server(name, server)));
        }
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
    lines.iter().map(|line| cut(line)).collect()
}

/// One line, without what a terminal would obey.
fn cut(text: &str) -> String {
    text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(SAID_CHARS).collect()
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

/// By what a prompt runs things; none if it only says something. Read by those
/// who read it for a session too, so that both see the same keys.
fn runs(file: &Path, kind: TrustSubject, named: &mut NamedFiles) -> Option<String> {
    let bytes = read_capped(file).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}');
    let front = match fence(text) {
        Fence::Closed { yaml, .. } => {
            everfold_frontmatter::read(text.get(yaml).unwrap_or_default()).0
        }
        _ => Map::new(),
    };
    let inline = text.split(COMMAND).skip(1).filter_map(|rest| rest.split('`').next());
    inline.for_each(|command| named.shell(command));
    name_commands(&Value::Object(front.clone()), "", named);
    let acts = |(key, value): &(&String, &Value)| {
        let key = key.as_str();
        !value.is_null()
            && match kind {
                TrustSubject::Agents if key == AGENT_ACTS.0 => *value == AGENT_ACTS.1,
                TrustSubject::Skills if key == SKILL_ACTS => *value != "inherit",
                _ => ACTS.contains(&key),
            }
    };
    if let Some((key, value)) = front.iter().find(acts) {
        return Some(cut(&format!("{key}: {value}")));
    }
    let at = text.lines().find(|line| line.contains(COMMAND))?;
    Some(cut(at))
}
