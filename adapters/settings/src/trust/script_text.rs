//! What scripts name in turn: commands of shell scripts and build files,
//! modules beside a script of Python, files that one of JavaScript takes in.

use super::named_files::NamedFiles;
use everfold_disk::read_regular;
use serde_json::Value;
use std::path::Path;

/// Largest script that is looked into.
const SCRIPT_BYTES: u64 = 1024 * 1024;

/// Takes up what a script names.
pub(super) fn follow(named: &mut NamedFiles, path: &Path) {
    let Ok(bytes) = read_regular(path, SCRIPT_BYTES) else { return };
    let Ok(text) = String::from_utf8(bytes) else { return };
    if let Some(dir) = path.parent() {
        named.add_base(&dir.display().to_string());
    }
    match language(path, &text) {
        Language::Shell => named.shell(&text),
        Language::Make => make(named, &text),
        Language::Package => package(named, &text),
        Language::Python => python(named, path, &text),
        Language::JavaScript => java_script(named, path, &text),
        Language::Other => {}
    }
}

enum Language {
    Shell,
    Make,
    Package,
    Python,
    JavaScript,
    Other,
}

fn language(path: &Path, text: &str) -> Language {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let name = name.unwrap_or_default();
    let ending = Path::new(&name).extension().and_then(|ending| ending.to_str());
    let first = text.lines().next().unwrap_or_default();
    let is_script = first.starts_with("#!");
    match (name.as_str(), ending) {
        ("package.json", _) => Language::Package,
        ("makefile" | "gnumakefile" | "bsdmakefile" | "justfile" | ".justfile", _) => {
            Language::Make
        }
        (_, Some("mk")) => Language::Make,
        (_, Some("sh" | "bash" | "zsh" | "ksh" | "envrc")) => Language::Shell,
        (_, Some("py" | "pyw")) => Language::Python,
        (_, Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx")) => {
            Language::JavaScript
        }
        _ if is_script && first.contains("python") => Language::Python,
        _ if is_script && (first.contains("node") || first.contains("deno")) => {
            Language::JavaScript
        }
        _ if is_script && first.contains("sh") => Language::Shell,
        _ => Language::Other,
    }
}

/// Recipes are commands, and other files are included.
fn make(named: &mut NamedFiles, text: &str) {
    for line in text.lines() {
        let included = ["include ", "-include ", "sinclude ", "import ", "mod "];
        if let Some(files) = included.iter().find_map(|word| line.strip_prefix(word)) {
            let files = files.split_whitespace().map(|file| file.trim_matches(['\'', '"']));
            files.for_each(|file| named.script(file));
        } else if line.starts_with(['\t', ' ']) {
            named.shell(line.trim_start().trim_start_matches(['@', '-', '+']));
        } else if let Some((_, command)) = line.split_once("$(shell ") {
            named.shell(command);
        }
    }
}

/// Any of the scripts of a package may run: they call each other.
fn package(named: &mut NamedFiles, text: &str) {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    let scripts = package.get("scripts").and_then(Value::as_object);
    for command in scripts.into_iter().flat_map(|scripts| scripts.values()) {
        command.as_str().into_iter().for_each(|command| named.shell(command));
    }
}

/// Modules are looked for beside the script first, also those that Python has.
fn python(named: &mut NamedFiles, path: &Path, text: &str) {
    let dir = path.parent().unwrap_or(path).display().to_string();
    for line in text.lines() {
        let line = line.trim_start();
        let modules = match (line.strip_prefix("import "), line.strip_prefix("from ")) {
            (Some(list), _) => list.split(',').collect::<Vec<_>>(),
            (_, Some(from)) => vec![from],
            _ => continue,
        };
        for module in modules {
            let name = module.split_whitespace().next().unwrap_or_default();
            let name = name.trim_start_matches('.').replace('.', "/");
            let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '/';
            if !name.is_empty() && name.chars().all(is_name) {
                named.script(&format!("{dir}/{name}.py"));
                named.script(&format!("{dir}/{name}/__init__.py"));
            }
        }
    }
}

/// `require('./x')`, `import … from './x'`, `import('./x')`.
fn java_script(named: &mut NamedFiles, path: &Path, text: &str) {
    let dir = path.parent().unwrap_or(path).display().to_string();
    let lines = text.lines().filter(|line| {
        ["require", "import", "export", "from"].iter().any(|word| line.contains(word))
    });
    for quoted in lines.flat_map(|line| line.split(['\'', '"', '`']).skip(1).step_by(2)) {
        if !quoted.starts_with('.') {
            continue;
        }
        for ending in ["", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/index.ts"] {
            named.script(&format!("{dir}/{quoted}{ending}"));
        }
    }
}
