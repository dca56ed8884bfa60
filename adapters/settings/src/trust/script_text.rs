//! What scripts name in turn: commands of shell scripts and build files,
//! modules beside a script of Python, files that one of JavaScript takes in.

mod python;

use super::named_files::NamedFiles;
use super::word_paths::without_version;
use everfold_disk::read_regular;
use serde_json::Value;
use std::path::Path;

/// Largest script that is looked into.
const SCRIPT_BYTES: u64 = 1024 * 1024;

/// Takes up what a script names. Where its name and its first line do not tell
/// what it is written in, who runs it does.
pub(super) fn follow(named: &mut NamedFiles, path: &Path, otherwise: Language) {
    let Ok(bytes) = read_regular(path, SCRIPT_BYTES) else { return };
    let Ok(text) = String::from_utf8(bytes) else { return };
    if let Some(dir) = path.parent() {
        named.add_base(&dir.display().to_string());
    }
    // Who carries it out may be of the tree, or be told to take in more of it.
    if let Some(line) = text.lines().next().and_then(|line| line.strip_prefix("#!")) {
        named.shell(line);
    }
    match language(path, &text).unwrap_or(otherwise) {
        Language::Shell => named.shell(&text),
        Language::Make => make(named, &text),
        Language::Package => package(named, &text),
        Language::Python => python::follow(named, path, &text),
        Language::JavaScript => java_script(named, path, &text),
        Language::Code => named.code(&text),
        Language::Orders => orders(named, &text),
        Language::Other => {}
    }
}

/// What a script is written in.
#[derive(Clone, Copy)]
pub(super) enum Language {
    Shell,
    Make,
    Package,
    Python,
    JavaScript,
    /// Another of which only words are known: what they name and is there.
    Code,
    /// Settings of a tool, of which some are commands.
    Orders,
    Other,
}

impl Language {
    /// What files are written in that a program takes its orders from.
    pub(super) fn of_orders(program: &str) -> Self {
        match program {
            "make" | "gmake" | "mingw32-make" | "bmake" | "pmake" | "just" => Self::Make,
            other => Self::of_interpreter(without_version(other)),
        }
    }

    /// What an interpreter carries out.
    pub(super) fn of_interpreter(program: &str) -> Self {
        match program {
            "python" | "pypy" => Self::Python,
            "node" | "deno" | "bun" | "tsx" | "ts-node" => Self::JavaScript,
            "ruby" | "perl" | "php" | "lua" => Self::Code,
            _ => Self::Other,
        }
    }
}

fn language(path: &Path, text: &str) -> Option<Language> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let name = name.unwrap_or_default();
    let ending = Path::new(&name).extension().and_then(|ending| ending.to_str());
    let first = text.lines().next().unwrap_or_default();
    let is_script = first.starts_with("#!");
    let known = match (name.as_str(), ending) {
        ("package.json", _) => Language::Package,
        (".npmrc" | ".yarnrc", _) => Language::Orders,
        ("makefile" | "gnumakefile" | "bsdmakefile" | "justfile" | ".justfile", _) => {
            Language::Make
        }
        (_, Some("mk" | "mak" | "make" | "just")) => Language::Make,
        (_, Some("sh" | "bash" | "zsh" | "ksh" | "envrc")) => Language::Shell,
        (_, Some("py" | "pyw")) => Language::Python,
        (_, Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx")) => {
            Language::JavaScript
        }
        (_, Some("rb" | "pl" | "pm" | "php" | "lua")) => Language::Code,
        _ if is_script && first.contains("python") => Language::Python,
        _ if is_script && (first.contains("node") || first.contains("deno")) => {
            Language::JavaScript
        }
        _ if is_script && first.contains("make") => Language::Make,
        _ if is_script && ["ruby", "perl", "php", "lua"].iter().any(|it| first.contains(it)) => {
            Language::Code
        }
        _ if is_script && first.contains("sh") => Language::Shell,
        _ => return None,
    };
    Some(known)
}

/// Recipes are commands, and other files are included.
fn make(named: &mut NamedFiles, text: &str) {
    // Continued lines are one, and its variables are written as a shell does.
    let text = text.replace("\\\n", " ");
    for line in text.lines() {
        let plain = with_braces(line);
        let words = plain.trim_start();
        let included = ["include ", "-include ", "sinclude ", "import ", "mod "];
        if let Some((_, command)) = line.split_once("$(shell ") {
            named.shell(command);
        }
        if line.starts_with(['\t', ' ']) {
            named.shell(words.trim_start_matches(['@', '-', '+']));
        } else if let Some((_, command)) = words.split_once("!=") {
            named.shell(command);
        } else if let Some((name, value)) = words.split_once('=') {
            named.set(name.trim_end_matches([':', '?', '+', ' ']), value.trim());
        } else if let Some((_, command)) = words.split_once(';') {
            named.shell(command);
        }
        if let Some(files) = included.iter().find_map(|word| words.strip_prefix(word)) {
            let files = files.split_whitespace().map(|file| file.trim_matches(['\'', '"']));
            files.for_each(|file| named.script(file));
        }
    }
}

/// `$(NAME)` as `${NAME}`.
fn with_braces(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("$(") {
        let is_name =
            |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let whole = after.split_once(')').filter(|(name, _)| is_name(name));
        out.push_str(before);
        rest = if let Some((name, behind)) = whole {
            out.extend(["${", name, "}"]);
            behind
        } else {
            out.push_str("$(");
            after
        };
    }
    out.push_str(rest);
    out
}

/// Lines of settings that are commands, or whose value is one: it has words, or
/// names a file as one that is run (`./x`). Other values name what is worked on.
fn orders(named: &mut NamedFiles, text: &str) {
    let bare = |c: char| c.is_whitespace() || "'\"[](),-".contains(c);
    for line in text.lines() {
        let values = line.split_once([':', '=']).map(|(_, value)| value);
        for value in [Some(line), values].into_iter().flatten().chain(quoted(line)) {
            let value = value.trim_matches(bare);
            if value.starts_with(['.', '$']) && value.contains('/') || value.contains(' ') {
                named.shell(value);
            }
        }
    }
}

/// Any of the scripts of a package may run: they call each other. Who takes in
/// the package runs what it names as its own start.
fn package(named: &mut NamedFiles, text: &str) {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(start) = package.get("main").and_then(Value::as_str) {
        node_module(named, start);
    }
    let scripts = package.get("scripts").and_then(Value::as_object);
    for command in scripts.into_iter().flat_map(|scripts| scripts.values()) {
        command.as_str().into_iter().for_each(|command| named.shell(command));
    }
}

/// `require('./x')`, `import … from './x'`, `import('./x')`, `fork('./x')`.
fn java_script(named: &mut NamedFiles, path: &Path, text: &str) {
    const TAKES_IN: &[&str] = &["require", "import", "export", "from", "Worker"];
    const STARTS: &[&str] = &["exec", "spawn", "fork"];
    let dir = path.parent().unwrap_or(path).display().to_string();
    let has = |line: &str, words: &[&str]| words.iter().any(|word| line.contains(word));
    for line in text.lines().filter(|line| has(line, TAKES_IN) || has(line, STARTS)) {
        for quoted in quoted(line) {
            if has(line, STARTS) {
                named.shell(quoted);
            }
            if !quoted.starts_with('.') {
                continue;
            }
            node_module(named, &format!("{dir}/{quoted}"));
        }
    }
}

/// The files that one may be that is named as a module of JavaScript.
pub(super) fn node_module(named: &mut NamedFiles, name: &str) {
    const ENDINGS: &[&str] =
        &["", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/index.ts", "/package.json"];
    for ending in ENDINGS {
        named.script(&format!("{name}{ending}"));
    }
}

/// What stands in quotes in a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split(['\'', '"', '`']).skip(1).step_by(2)
}
