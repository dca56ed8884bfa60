//! What stands in files of other agents, for the doctor: it is read and not
//! changed.

use super::host::{Host, InstallEnv};
use super::piece::{Piece, is_outdated};
use super::shared_store::enabled_plugin;
use super::{Drawer, read};
use crate::setup::ProcessEnv;
use everfold_agent::hosts::HostKind;
use everfold_agent::settings::Home;
use everfold_agent::settings::jsonc::Node;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item};

/// What was found of us in a host.
pub(crate) struct HostSight {
    pub(crate) host: HostKind,
    /// Whether its folder is there at all.
    pub(crate) is_used: bool,
    /// Whether `install` was run for it.
    pub(crate) is_installed: bool,
    /// The programs of ours that its files name.
    pub(crate) programs: BTreeSet<PathBuf>,
    /// Our plugin in it, where that is switched on.
    pub(crate) plugin: Option<String>,
    /// What keeps its hooks from being called.
    pub(crate) hooks: HookState,
    /// A file of ours in it that another version wrote.
    pub(crate) outdated: Option<PathBuf>,
}

/// Whether a host calls hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookState {
    /// Nothing is known against it.
    On,
    /// They are switched off, by this key.
    Off(&'static str),
    /// The person has not looked at them yet.
    Untrusted,
}

/// Looks at every host.
pub(crate) fn look(env: &ProcessEnv) -> Vec<HostSight> {
    let Some(user_home) = env.user_home.as_deref() else { return Vec::new() };
    let Ok(home) = Home::resolve(&env.variables, Some(user_home)) else { return Vec::new() };
    let install = InstallEnv {
        variables: &env.variables,
        user_home,
        program: Path::new("everfold"),
        home: None,
    };
    let one = |host: HostKind| sight(Host::of(host), host, &install, home.root());
    HostKind::ALL.into_iter().map(one).collect()
}

fn sight(host: Host, kind: HostKind, env: &InstallEnv<'_>, home: &Path) -> HostSight {
    let dir = host.dir(env);
    let mut programs = BTreeSet::new();
    let mut outdated = None;
    for part in host.parts(env) {
        let Some(text) = read(&part.path).ok().flatten() else { continue };
        let is_old = |piece: &Piece| matches!(piece, Piece::Whole { text: ours } if is_outdated(&text, ours));
        if part.pieces.iter().any(is_old) {
            outdated = Some(part.path.clone());
        }
        if part.path.extension().is_some_and(|ending| ending == "toml") {
            programs.extend(toml_program(&text));
        } else if let Some(value) = json(&text) {
            own_programs(&value, &mut programs);
        }
    }
    HostSight {
        host: kind,
        is_used: dir.is_dir(),
        is_installed: Drawer::new(home, kind.as_str()).exists(),
        programs,
        plugin: (kind == HostKind::Claude)
            .then(|| enabled_plugin(&dir.join("settings.json")))
            .flatten(),
        hooks: hook_state(kind, &dir),
        outdated,
    }
}

fn json(text: &str) -> Option<Value> {
    Node::parse(text).ok().flatten()?.value(text)
}

fn hook_state(host: HostKind, dir: &Path) -> HookState {
    let settings = || read(&dir.join("settings.json")).ok().flatten().and_then(|text| json(&text));
    match host {
        HostKind::Claude => match settings() {
            Some(settings) if settings.get("disableAllHooks") == Some(&Value::Bool(true)) => {
                HookState::Off("disableAllHooks")
            }
            _ => HookState::On,
        },
        HostKind::Codex => codex_hooks(dir),
        HostKind::Gemini => match settings() {
            Some(settings)
                if settings.pointer("/hooksConfig/enabled") == Some(&Value::Bool(false)) =>
            {
                HookState::Off("hooksConfig.enabled")
            }
            _ => HookState::On,
        },
        HostKind::Opencode | HostKind::Pi => HookState::On,
    }
}

/// Codex calls a hook once the person has looked at it; what they looked at stands
/// in its settings, by the file.
fn codex_hooks(dir: &Path) -> HookState {
    let Some(text) = read(&dir.join("config.toml")).ok().flatten() else {
        return HookState::Untrusted;
    };
    let Ok(settings) = Document::parse(text.trim_start_matches('\u{feff}')) else {
        return HookState::On;
    };
    let at = |path: &[&str]| {
        path.iter().try_fold(settings.as_item(), |item, key| item.get(key)).cloned()
    };
    if at(&["features", "hooks"]).and_then(|item| item.as_bool()) == Some(false) {
        return HookState::Off("features.hooks");
    }
    let looked_at = at(&["hooks", "state"]).is_some_and(|state| {
        state.as_table_like().is_some_and(|state| {
            state.iter().any(|(name, hook)| {
                name.contains("hooks.json")
                    && (hook.get("trusted_hash").is_some()
                        || hook.get("trusted_content_hash").is_some())
            })
        })
    });
    if looked_at { HookState::On } else { HookState::Untrusted }
}

fn toml_program(text: &str) -> Option<PathBuf> {
    let settings = Document::parse(text.trim_start_matches('\u{feff}')).ok()?;
    let own = settings.as_table().get("mcp_servers")?.get("everfold")?;
    own.get("command").and_then(Item::as_str).map(PathBuf::from)
}

/// The programs of our hooks and servers, wherever they stand.
fn own_programs(value: &Value, found: &mut BTreeSet<PathBuf>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(command)) = members.get("command")
                && command.contains("everfold")
                && let Some((program, _)) = command.split_once(" hook ")
            {
                let plain = program.trim_matches(['\'', '"']).replace("'\\''", "'");
                found.insert(PathBuf::from(plain));
            }
            for (name, inner) in members {
                if name == "everfold" {
                    found.extend(server_program(inner));
                }
                own_programs(inner, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| own_programs(inner, found)),
        _ => {}
    }
}

fn server_program(server: &Value) -> Option<PathBuf> {
    let command = server.get("command")?;
    let word = command.as_str().or_else(|| command.get(0)?.as_str())?;
    Some(PathBuf::from(word))
}
