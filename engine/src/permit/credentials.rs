//! Places where credentials are kept (S10).
//!
//! What is here is never read by agents that nobody watches, and asked about
//! for all others, unless a rule of the person names it. Paths come resolved;
//! names are compared without regard to case, because some file systems have
//! none, and `*` in a path is what a command does not tell.

mod places;

use places::{
    AGENT_FILES, DIRECTORIES, ENDINGS, ENV_EXAMPLES, FILES, KEY_NAMES, OWN_FILES, PROCESS_FILES,
};
use std::path::{Component, Path, PathBuf};

/// Where credentials are looked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Homes<'a> {
    pub(super) person: Option<&'a Path>,
    pub(super) own: Option<&'a Path>,
}

/// Whether credentials are kept at a path.
pub(super) fn is_credential(path: &Path, homes: Homes<'_>) -> bool {
    let names: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    DIRECTORIES.iter().any(|known| has_run(&names, known))
        || FILES.iter().any(|known| ends_with(&names, known))
        || names.last().is_some_and(|name| is_secret_name(name))
        || is_process_file(&names)
        || is_own(path, homes.own)
        || is_history(path, homes.person)
        || is_of_agent(path, homes.person)
}

/// Places of credentials that are known by name, for a sandbox to hide.
pub(super) fn known_places(homes: Homes<'_>) -> Vec<PathBuf> {
    let rooted =
        |known: &&&str| ["etc/", "run/", "docker.sock"].iter().any(|s| known.starts_with(s));
    let system = DIRECTORIES.iter().chain(FILES).filter(rooted);
    let mut places: Vec<PathBuf> = system.map(|known| Path::new("/").join(known)).collect();
    if let Some(home) = homes.person {
        let own = DIRECTORIES.iter().chain(FILES).filter(|known| !rooted(known));
        places.extend(own.map(|known| home.join(known)));
        // As they are written where case counts.
        for known in [
            ".config/BraveSoftware",
            "Library/Keychains",
            "Library/Cookies",
            "Library/Application Support/Google/Chrome",
            "Library/Application Support/Firefox",
            ".env",
            ".bash_history",
            ".zsh_history",
            ".psql_history",
            ".python_history",
            ".mysql_history",
            ".node_repl_history",
        ] {
            places.push(home.join(known));
        }
    }
    if let Some(own) = homes.own {
        places.extend(
            ["settings.json", "settings.local.json", "trust.json", "trust"]
                .map(|name| own.join(name)),
        );
    }
    places
}

/// Whether some names stand one after another in a path.
fn has_run(names: &[&str], known: &str) -> bool {
    let wanted: Vec<&str> = known.split('/').collect();
    names.windows(wanted.len()).any(|window| same(window, &wanted))
}

fn ends_with(names: &[&str], known: &str) -> bool {
    let wanted: Vec<&str> = known.split('/').collect();
    let skip = names.len().checked_sub(wanted.len());
    skip.and_then(|skip| names.get(skip..)).is_some_and(|tail| same(tail, &wanted))
}

fn same(names: &[&str], wanted: &[&str]) -> bool {
    names.iter().zip(wanted).all(|(name, wanted)| could_be(name, wanted))
}

/// Whether a name is another one. Where some of it is not known, whether it
/// could be; nothing known is no hint.
fn could_be(name: &str, wanted: &str) -> bool {
    if name == wanted {
        return true;
    }
    let known = name.chars().filter(|c| !matches!(c, '*' | '?')).count();
    known >= 2
        && name.contains('*')
        && globset::Glob::new(name).is_ok_and(|glob| glob.compile_matcher().is_match(wanted))
}

fn is_secret_name(name: &str) -> bool {
    let key = KEY_NAMES.iter().any(|known| could_be(name, known))
        || ENDINGS.iter().any(|ending| name.ends_with(ending));
    let pem = match name.rsplit_once('.') {
        Some((stem, "pem")) => stem.contains("key") || stem.contains("priv"),
        Some((stem, "key")) => !stem.contains("pub"),
        _ => false,
    };
    let of_service = name.strip_prefix("client_secret").is_some_and(|rest| rest.contains(".json"))
        || name.starts_with("ssh_host_") && name.ends_with("_key");
    key || pem || of_service || is_env(name)
}

/// `.env` and what begins or ends with it, but for examples.
fn is_env(name: &str) -> bool {
    let is_example = |text: &str| {
        let mut words = text.split(['.', '-', '_']);
        words.any(|word| ENV_EXAMPLES.contains(&word))
    };
    if let Some(stem) = name.strip_suffix(".env").filter(|stem| !stem.is_empty()) {
        return !is_example(stem);
    }
    let Some(rest) = name.strip_prefix(".env") else {
        return name.contains('*') && could_be(name, ".env");
    };
    let own = rest.is_empty() || rest.starts_with(['.', '-', '_', '~', '*']) || rest == "rc";
    own && !is_example(rest)
}

/// `/proc/1/environ` and its kin.
fn is_process_file(names: &[&str]) -> bool {
    match names {
        ["proc", process, rest @ ..] => {
            let of_process = matches!(*process, "self" | "thread-self")
                || process.chars().all(|c| c.is_ascii_digit() || c == '*');
            of_process && rest.iter().any(|name| PROCESS_FILES.contains(name))
                || matches!(*process, "kcore" | "kmem")
        }
        ["dev", "mem" | "kmem" | "port"] => true,
        _ => false,
    }
}

fn is_own(path: &Path, own: Option<&Path>) -> bool {
    let Some(inside) = own.and_then(|own| path.strip_prefix(own).ok()) else { return false };
    let Some(first) = inside.components().next() else { return false };
    let first = first.as_os_str().to_string_lossy().to_lowercase();
    OWN_FILES.iter().any(|known| first.starts_with(known))
}

/// Settings of another agent, which are the person's own.
fn is_of_agent(path: &Path, home: Option<&Path>) -> bool {
    let Some(inside) = home.and_then(|home| path.strip_prefix(home).ok()) else { return false };
    let name = inside.to_string_lossy().to_lowercase();
    AGENT_FILES.contains(&name.as_str())
}

/// What was typed into shells and clients of databases.
fn is_history(path: &Path, home: Option<&Path>) -> bool {
    let Some(inside) = home.and_then(|home| path.strip_prefix(home).ok()) else { return false };
    let name = inside.to_string_lossy().to_lowercase();
    name.starts_with('.') && name.ends_with("_history") && !name.contains('/')
}

#[cfg(test)]
mod tests;
