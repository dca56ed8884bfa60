//! Which files a script of Python takes in: modules beside it and in packages,
//! by any form of import, and what it starts.

use super::super::named_files::NamedFiles;
use super::quoted;
use std::path::Path;

/// Calls by which a script takes in or starts another.
const TAKES_IN: &[&str] = &[
    "import_module",
    "__import__",
    "exec",
    "run_path",
    "run_module",
    "spec_from_file_location",
    "subprocess",
    "system",
    "open",
    "spawn",
    "check_call",
    "check_output",
    "call(",
    "run(",
];

/// Takes up what a script takes in.
pub(super) fn follow(named: &mut NamedFiles, path: &Path, text: &str) {
    // Continued lines are one.
    let text = text.replace("\\\n", " ");
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.to_owned();
        if line.contains("import") && line.contains('(') {
            while !line.contains(')')
                && let Some(more) = lines.next()
            {
                line.push_str(more);
            }
        }
        // `try: import a; import b` is three statements.
        for statement in line.split([';', ':']).map(str::trim_start) {
            imports(named, path, statement);
        }
        if line.contains("sys.path") {
            quoted(&line).for_each(|dir| named.add_base(dir));
        }
        if TAKES_IN.iter().any(|word| line.contains(word)) {
            started(named, &line);
        }
    }
}

/// Modules are looked for beside the script first, also those that Python has.
fn imports(found: &mut NamedFiles, path: &Path, statement: &str) {
    let words = |text: &str| text.replace(['(', ')'], " ");
    if let Some(list) = statement.strip_prefix("import") {
        for module in words(list).split(',') {
            found.module(module.split_whitespace().next().unwrap_or_default());
        }
        return;
    }
    let Some((module, names)) =
        statement.strip_prefix("from").and_then(|rest| rest.split_once("import"))
    else {
        return;
    };
    let module = module.trim();
    let inside = module.trim_start_matches('.');
    let above = module.len() - inside.len();
    // One dot is the folder of the script, each more the one above it.
    let dir = path.ancestors().nth(above.max(1)).map(|dir| dir.display().to_string());
    if let Some(dir) = dir.filter(|_| above > 0) {
        found.add_base(&dir);
    }
    found.module(inside);
    for name in words(names).split(',') {
        let name = name.split_whitespace().next().unwrap_or_default();
        let whole = if inside.is_empty() { name.to_owned() } else { format!("{inside}.{name}") };
        found.module(&whole);
    }
}

/// Texts of a call that takes in or starts something: a module, a script, a
/// command.
fn started(named: &mut NamedFiles, line: &str) {
    for text in quoted(line).filter(|text| !text.is_empty()) {
        let is_python = Path::new(text).extension().is_some_and(|ending| ending == "py");
        if is_python || text.starts_with("./") {
            named.script(text);
        }
        named.shell(text);
        if line.contains("import") || line.contains("run_module") {
            named.module(text);
        }
    }
    // `["bash", "x.sh"]` is a command in words.
    let words: Vec<String> = quoted(line).map(str::to_owned).collect();
    named.program(&words);
}
