//! Who may depend on whom.
//!
//! The table of ARCHITECTURE.md, as code. A crate's group is the folder it
//! stands in. Only dependencies of the shipped code count; tests may also use
//! the testkit, and the outer groups anything.

use super::{Finding, line_of};
use crate::tree::Tree;
use anyhow::{Context, Result};
use cargo_metadata::{Dependency, DependencyKind, Metadata, MetadataCommand, Package};

/// What the crates of one folder may depend on.
struct Rule {
    group: &'static str,
    /// Groups, or single rooms such as `adapters/disk`.
    may_use: &'static [&'static str],
    /// What tests may use besides.
    tests_may_use: &'static [&'static str],
    /// Third-party crates that have no place here.
    banned: &'static [&'static [&'static str]],
}

const EVERYTHING: &[&str] = &[
    "core", "memory", "layers", "window", "engine", "tools", "replay", "adapters", "agent", "sdk",
    "apps", "testkit", "bench",
];

/// The rooms of memory that do no I/O.
const PURE_MEMORY: [&str; 3] = ["memory/file", "memory/judge", "memory/recall"];

/// Whole conversations are tested on the engine, on real files and memories in
/// temporary folders. A model is always scripted: nothing that speaks HTTP.
const ENGINE_TESTS: &[&str] =
    &["testkit", "memory", "adapters/disk", "adapters/process", "adapters/search"];

const RULES: &[Rule] = &[
    Rule {
        group: "core",
        may_use: &["core"],
        tests_may_use: &["testkit"],
        banned: &[RUNTIMES, OUTSIDE, ANYHOW],
    },
    Rule {
        group: "memory/store",
        may_use: &["core", PURE_MEMORY[0], PURE_MEMORY[1], PURE_MEMORY[2], "adapters/disk"],
        tests_may_use: &["testkit"],
        banned: &[ANYHOW],
    },
    Rule {
        group: "memory/service",
        may_use: &["core", "memory", "adapters/disk"],
        tests_may_use: &["testkit"],
        banned: &[ANYHOW],
    },
    Rule {
        group: "memory/team",
        may_use: &["core", "memory", "adapters/disk"],
        tests_may_use: &["testkit"],
        banned: &[RUNTIMES, FUTURES, ANYHOW],
    },
    Rule {
        group: "memory/embed",
        may_use: &["core", "memory"],
        tests_may_use: &["testkit"],
        banned: &[RUNTIMES, FUTURES, ANYHOW],
    },
    Rule {
        group: "memory",
        may_use: &["core", PURE_MEMORY[0], PURE_MEMORY[1], PURE_MEMORY[2]],
        tests_may_use: &["testkit"],
        banned: &[RUNTIMES, FUTURES, OUTSIDE, ANYHOW],
    },
    Rule {
        group: "layers",
        may_use: &["core", PURE_MEMORY[0], PURE_MEMORY[1], PURE_MEMORY[2]],
        tests_may_use: &["testkit"],
        banned: &[RUNTIMES, FUTURES, OUTSIDE, ANYHOW],
    },
    Rule {
        group: "window",
        may_use: &["core", "layers", PURE_MEMORY[0], PURE_MEMORY[1], PURE_MEMORY[2]],
        tests_may_use: &["testkit"],
        banned: &[RUNTIMES, FUTURES, OUTSIDE, ANYHOW],
    },
    Rule {
        group: "engine",
        may_use: &[
            "core",
            "layers",
            "window",
            "tools",
            PURE_MEMORY[0],
            PURE_MEMORY[1],
            PURE_MEMORY[2],
        ],
        tests_may_use: ENGINE_TESTS,
        banned: &[OUTSIDE, ANYHOW],
    },
    Rule {
        group: "tools",
        may_use: &["core", "layers", PURE_MEMORY[0], PURE_MEMORY[1], PURE_MEMORY[2]],
        tests_may_use: &["testkit"],
        banned: &[OUTSIDE, ANYHOW],
    },
    Rule {
        group: "replay",
        may_use: &["core", "layers", PURE_MEMORY[0], PURE_MEMORY[1], PURE_MEMORY[2]],
        tests_may_use: &["testkit"],
        banned: &[RUNTIMES, FUTURES, OUTSIDE, ANYHOW],
    },
    Rule {
        group: "adapters",
        may_use: &["core", PURE_MEMORY[0], PURE_MEMORY[1], PURE_MEMORY[2], "adapters/disk"],
        tests_may_use: &["testkit"],
        banned: &[ANYHOW],
    },
    Rule {
        group: "agent",
        may_use: &["core", "memory", "layers", "window", "engine", "tools", "replay", "adapters"],
        tests_may_use: EVERYTHING,
        banned: &[ANYHOW],
    },
    Rule {
        group: "sdk",
        may_use: &[
            "core",
            "memory",
            "layers",
            "window",
            "agent",
            "adapters/clock",
            "adapters/disk",
        ],
        tests_may_use: EVERYTHING,
        banned: &[ANYHOW],
    },
    Rule {
        group: "apps",
        may_use: &["agent", "core", "memory", "replay"],
        tests_may_use: EVERYTHING,
        banned: &[],
    },
    Rule { group: "testkit", may_use: &["core", "engine"], tests_may_use: &[], banned: &[] },
    Rule { group: "bench", may_use: EVERYTHING, tests_may_use: EVERYTHING, banned: &[] },
    Rule { group: "xtask", may_use: &[], tests_may_use: &[], banned: &[] },
];

/// The one app that may start the others.
const FRONT_DOOR: &str = "apps/cli";
/// The bottom of the house.
const KERNEL: &str = "core/kernel";

const RUNTIMES: &[&str] = &[
    "async-io",
    "async-std",
    "futures",
    "futures-executor",
    "smol",
    "tokio",
    "tokio-stream",
    "tokio-util",
];
const FUTURES: &[&str] = &["futures-core", "futures-util"];
/// Files, network, processes, chance: they belong behind a port.
const OUTSIDE: &[&str] = &[
    "axum",
    "cap-std",
    "dirs",
    "getrandom",
    "grep-searcher",
    "hyper",
    "ignore",
    "landlock",
    "libc",
    "nix",
    "notify",
    "process-wrap",
    "rand",
    "reqwest",
    "rmcp",
    "rustix",
    "rustls",
    "tempfile",
    "tracing-subscriber",
    "ureq",
    "walkdir",
];
const ANYHOW: &[&str] = &["anyhow"];

/// Looks at every dependency of every crate of the workspace.
pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let metadata = MetadataCommand::new()
        .manifest_path(tree.root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("failed to read the workspace with cargo metadata")?;
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let Some(room) = room(&metadata, package.manifest_path.as_str()) else {
            continue;
        };
        let manifest = format!("{room}/Cargo.toml");
        let group = room.split('/').next().unwrap_or(&room);
        let Some(rule) = RULES.iter().find(|rule| rule.group == room || rule.group == group) else {
            let message = format!("no rule for the folder `{group}`; add one to xtask");
            findings.push(Finding::new(&manifest, 1, message));
            continue;
        };
        let text = tree.text(&manifest).unwrap_or_default();
        findings.extend(package_findings(&metadata, package, rule, &room).map(
            |(dependency, message)| {
                let line = line_of(text, |line| names(line, &dependency.name));
                Finding::new(&manifest, line, message)
            },
        ));
    }
    Ok(findings)
}

fn package_findings<'a>(
    metadata: &'a Metadata,
    package: &'a Package,
    rule: &'static Rule,
    room: &'a str,
) -> impl Iterator<Item = (&'a Dependency, String)> {
    package.dependencies.iter().filter_map(move |dependency| {
        let own = dependency
            .path
            .as_ref()
            .and_then(|path| self::room(metadata, path.join("Cargo.toml").as_str()));
        let message = match own {
            Some(target) => forbidden_edge(rule, room, &target, dependency.kind),
            None => forbidden_crate(rule, dependency),
        };
        message.map(|message| (dependency, message))
    })
}

fn forbidden_edge(rule: &Rule, room: &str, target: &str, kind: DependencyKind) -> Option<String> {
    let in_list = |list: &[&str]| {
        list.iter().any(|entry| target == *entry || target.starts_with(&format!("{entry}/")))
    };
    if kind == DependencyKind::Development && in_list(rule.tests_may_use) {
        return None;
    }
    if room == KERNEL {
        return Some(format!("{KERNEL} is the bottom: it may not depend on {target}"));
    }
    if in_list(rule.may_use) || (room == FRONT_DOOR && target.starts_with("apps/")) {
        return None;
    }
    let allowed = match rule.may_use {
        [] => "no crate of ours".to_owned(),
        list => list.join(", "),
    };
    Some(format!(
        "{} may depend on {allowed}, not on {target}; see the table in ARCHITECTURE.md",
        rule.group
    ))
}

fn forbidden_crate(rule: &Rule, dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    let banned = rule.banned.iter().any(|list| list.contains(&name));
    if dependency.kind == DependencyKind::Development || !banned {
        return None;
    }
    let instead = if ANYHOW.contains(&name) {
        "define an error with thiserror"
    } else {
        "put what needs it behind a port of core/kernel"
    };
    Some(format!("`{name}` has no place in {}; {instead}", rule.group))
}

/// The folder of a manifest, relative to the workspace; none outside of it.
fn room(metadata: &Metadata, manifest: &str) -> Option<String> {
    let root = metadata.workspace_root.as_str().replace('\\', "/");
    let manifest = manifest.replace('\\', "/");
    let inner = manifest.strip_prefix(&root)?.strip_prefix('/')?;
    inner.strip_suffix("/Cargo.toml").map(str::to_owned)
}

/// Whether a line of a manifest declares this dependency.
fn names(line: &str, dependency: &str) -> bool {
    line.trim_start().strip_prefix(dependency).is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    fn findings(crates: &[(&str, &str)]) -> Vec<String> {
        let mut files = Vec::new();
        let members: Vec<String> = crates.iter().map(|(room, _)| format!("{room:?}")).collect();
        let root = format!("[workspace]\nresolver = \"3\"\nmembers = [{}]\n", members.join(", "));
        files.push(("Cargo.toml".to_owned(), root));
        for (room, dependencies) in crates {
            let name = room.replace('/', "-");
            let manifest = format!(
                "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n{dependencies}"
            );
            files.push((format!("{room}/Cargo.toml"), manifest));
            files.push((format!("{room}/src/lib.rs"), String::new()));
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
        let (_folder, tree) = sample(&files);
        check(&tree).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_edges_of_the_house_pass() {
        let found = findings(&[
            ("core/kernel", "[dependencies]\nbytes = \"1\"\n[dev-dependencies]\ntokio = \"1\"\n"),
            ("core/wire", "[dependencies]\ncore-kernel = { path = \"../kernel\" }\n"),
            (
                "layers/1-offload",
                "[dependencies]\ncore-kernel = { path = \"../../core/kernel\" }\n",
            ),
            (
                "engine",
                "[dependencies]\nlayers-1-offload = { path = \"../layers/1-offload\" }\ntokio = \"1\"\n\
                 [dev-dependencies]\ntestkit = { path = \"../testkit\" }\n",
            ),
            ("adapters/disk", "[dependencies]\ncap-std = \"4\"\n"),
            ("adapters/web", "[dependencies]\nadapters-disk = { path = \"../disk\" }\n"),
            ("agent", "[dependencies]\nengine = { path = \"../engine\" }\n"),
            ("sdk", "[dependencies]\nagent = { path = \"../agent\" }\n"),
            ("apps/tui", "[dependencies]\nagent = { path = \"../../agent\" }\n"),
            ("apps/cli", "[dependencies]\napps-tui = { path = \"../tui\" }\nanyhow = \"1\"\n"),
            ("testkit", "[dependencies]\ncore-kernel = { path = \"../core/kernel\" }\n"),
        ]);
        assert!(found.is_empty(), "{found:#?}");
    }

    #[test]
    fn forbidden_edges_are_found_with_their_line() {
        let found = findings(&[
            ("core/kernel", "[dependencies]\ncore-wire = { path = \"../wire\" }\n"),
            ("core/wire", "[dependencies]\ntokio = \"1\"\nanyhow = \"1\"\n"),
            ("layers/a", "[dependencies]\nlayers-b = { path = \"../b\" }\n"),
            ("layers/b", "[dependencies]\nfutures-util = \"0.3\"\n"),
            ("adapters/web", "[dependencies]\nadapters-search = { path = \"../search\" }\n"),
            ("adapters/search", ""),
            ("apps/tui", "[dependencies]\nadapters-web = { path = \"../../adapters/web\" }\n"),
            ("engine", "[dependencies]\nreqwest = \"0.13\"\ntestkit = { path = \"../testkit\" }\n"),
            ("testkit", ""),
            ("attic", ""),
        ]);
        let starts = [
            "core/kernel/Cargo.toml:6: core/kernel is the bottom",
            "core/wire/Cargo.toml:6: `tokio` has no place in core",
            "core/wire/Cargo.toml:7: `anyhow` has no place in core; define",
            "layers/a/Cargo.toml:6: layers may depend on core, memory/file, memory/judge, memory/recall, not on layers/b",
            "layers/b/Cargo.toml:6: `futures-util` has no place in layers",
            "adapters/web/Cargo.toml:6: adapters may depend on core, memory/file",
            "apps/tui/Cargo.toml:6: apps may depend on agent, core, memory, replay, not on adapters/web",
            "engine/Cargo.toml:6: `reqwest` has no place in engine",
            "engine/Cargo.toml:7: engine may depend on core, layers, window, tools, memory/file",
            "attic/Cargo.toml:1: no rule for the folder `attic`",
        ];
        for start in starts {
            assert!(found.iter().any(|f| f.starts_with(start)), "{start}: {found:#?}");
        }
        assert_eq!(found.len(), starts.len(), "{found:#?}");
    }
}
