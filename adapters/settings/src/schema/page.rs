//! The reference page of settings, in Markdown.

use super::{Key, keys, settings_schema};
use crate::environment::{self, VARIABLES};
use crate::origin::dotted;
use everfold_kernel::{Flag, env};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const HEAD: &str = "\
# Settings

<!-- Generated from the settings themselves. To update: UPDATE_DOCS=1 cargo test -p everfold-settings -->

Settings are JSON objects. They are read in this order, and what comes later wins:

1. `<home>/settings.json`, where `<home>` is `EVERFOLD_HOME`, else `~/.everfold`
2. `<repo>/.claude/settings.json`
3. `<repo>/.claude/settings.local.json`
4. `--settings` with a file or a JSON object
5. the flag provider (`everfold.flag_source`), for flags and limits only
6. environment variables
7. command-line flags
8. managed settings: `/etc/everfold/settings.json`, on macOS `/Library/Application Support/Everfold/settings.json`, on Windows `C:\\ProgramData\\Everfold\\settings.json`

`<repo>` is the git root, else the working directory. Objects merge, lists are joined without duplicates, any other value replaces the one before. Unknown keys are kept, and `everfold doctor` names them. `everfold config` shows every value with its origin.

Flags and limits can change while sessions run: a session reads the files when a turn starts and follows them from then on. What its requests begin with (the system prompt, the tools, the parameters) stays as it was at the start. If a file is broken or missing, the last values stay in force and the session says so.

A repository is not trusted with everything: in both of its files, keys that start programs, widen permissions, send requests elsewhere, or move or remove what you keep are ignored, and `everfold doctor` names them. `everfold trust` turns most of them on; rules that you allowed \"always in this project\" are yours. See [security](security.md). Errors in a repository's file are skipped and reported; your own file must be valid.

An editor that supports JSON schemas checks the file if it names `docs/settings.schema.json` as `$schema`.
";

/// The page: keys, flags, limits and variables, with defaults and meanings.
#[must_use]
pub fn reference_page() -> String {
    let keys = keys(&settings_schema());
    let mut page = HEAD.to_owned();
    plain_keys(&mut page, &keys);
    flags(&mut page);
    limits(&mut page, &keys);
    variables(&mut page);
    page
}

const FLAGS: &str = "/everfold/flags/";
const LIMITS: &str = "/everfold/limits/";

fn plain_keys(page: &mut String, keys: &[Key]) {
    page.push_str("\n## Keys\n\n| key | takes | default | meaning |\n|---|---|---|---|\n");
    let apart = |key: &&Key| key.pointer.starts_with(FLAGS) || key.pointer.starts_with(LIMITS);
    for key in keys.iter().filter(|key| !apart(key)) {
        let name = code(&dotted(&key.pointer));
        row(page, &[&name, &key.takes, &default(key), &key.meaning]);
    }
}

fn flags(page: &mut String) {
    page.push_str(
        "\n## Flags\n\nEach turns one feature on or off: `everfold.flags.<name>`, or the variable \
         with `0` or `1`.\n\n| flag | variable | default | meaning |\n|---|---|---|---|\n",
    );
    for flag in Flag::ALL {
        let state = if flag.default_on() { "on" } else { "off" };
        let (name, variable) = (code(flag.name()), code(&flag.env_name()));
        row(page, &[&name, &variable, state, flag.about()]);
    }
}

fn limits(page: &mut String, keys: &[Key]) {
    page.push_str(
        "\n## Limits\n\nNumbers that limit something: `everfold.limits.<name>`, or the \
         variable.\n\n\
         | limit | variable | default | meaning |\n|---|---|---|---|\n",
    );
    let variables: BTreeMap<String, String> =
        environment::limit_variables().map(|(name, pointer)| (pointer, name)).collect();
    for key in keys.iter().filter(|key| key.pointer.starts_with(LIMITS)) {
        let name = dotted(key.pointer.trim_start_matches(LIMITS.trim_end_matches('/')));
        let variable = variables.get(&key.pointer).map(|name| code(name));
        let variable = variable.unwrap_or_default();
        row(page, &[&code(&name), &variable, &default(key), &key.meaning]);
    }
}

fn variables(page: &mut String) {
    page.push_str(
        "\n## Variables\n\nAn empty variable counts as unset.\n\n\
         | variable | sets | takes |\n|---|---|---|\n",
    );
    for variable in VARIABLES {
        let key = code(&dotted(variable.pointer));
        row(page, &[&code(variable.name), &key, &variable.takes.describe()]);
    }
    for (name, purpose, takes) in BESIDE_SETTINGS {
        row(page, &[&code(name), purpose, takes]);
    }
    page.push_str(
        "\nClaude Code's names work where ours is unset:\n\n\
         | theirs | ours |\n|---|---|\n",
    );
    for (theirs, ours) in env::ALIASES {
        row(page, &[&code(theirs), &code(ours)]);
    }
    let ours = code(&format!("{}=0", Flag::AutoCompact.env_name()));
    for theirs in env::DISABLE_AUTO_COMPACT {
        row(page, &[&code(theirs), &ours]);
    }
}

/// Variables that set no key: name, purpose, what they take.
const BESIDE_SETTINGS: &[(&str, &str, &str)] = &[
    (env::HOME, "the home directory", "a full path"),
    (env::CONTEXT_WINDOW, "the window of an unknown model", "a whole number from 1"),
    (env::REMOTE, "remote mode", "0 or 1"),
    (env::REMOTE_MEMORY_DIR, "the memory directory of remote mode", "a full path"),
    (
        env::MEMORY_EXTRA_GUIDELINES,
        "more text for the memory section of the system prompt",
        "a string",
    ),
    (env::LOG, "which log lines are kept", "a filter"),
    (env::ANTHROPIC_API_KEY, "the key, sent as `x-api-key`", "a key"),
    (
        env::ANTHROPIC_AUTH_TOKEN,
        "the key, sent as `Authorization: Bearer`; first if both are set",
        "a token",
    ),
    (env::ANTHROPIC_BASE_URL, "where Anthropic's API is", "a web address"),
    (env::ANTHROPIC_CUSTOM_HEADERS, "headers of every request", "`Name: Value`, one per line"),
    (env::ANTHROPIC_BETAS, "betas of every request", "names separated by commas"),
    (env::OPENAI_API_KEY, "the key of an OpenAI-compatible server", "a key"),
    (env::OPENAI_BASE_URL, "where an OpenAI-compatible server is", "a web address, with `/v1`"),
];

fn row(page: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    // Writing to a String cannot fail.
    let _ = writeln!(page, "| {} |", cells.join(" | "));
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn default(key: &Key) -> String {
    match &key.default {
        Value::Null => String::new(),
        Value::Object(map) if map.is_empty() => String::new(),
        Value::Array(list) if list.is_empty() => String::new(),
        other => code(&other.to_string()),
    }
}
