//! What the settings of a working tree may not do (S2, S9).
//!
//! A repository under your feet is hostile, and so is every settings file in
//! it, whatever its name and whoever tracks it: they may narrow what tools do,
//! but not widen it, start programs, send requests elsewhere or move or remove
//! what a person keeps. What widens or starts programs is taken over where a
//! person trusts the tree (S7), permission rules also where this program wrote
//! them for its person; the rest never is.

use crate::origin::ValueOrigin;
use crate::trust::{Trust, TrustSubject};
use everfold_kernel::settings::PermissionMode;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// A value that was not taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The key, as a JSON pointer.
    pub pointer: String,
    pub origin: ValueOrigin,
    /// Why it was not taken over.
    pub reason: &'static str,
}

impl Refused {
    /// Whether it is taken over where a person trusts the repository (S7).
    #[must_use]
    pub fn opens_with_trust(&self) -> bool {
        let is_it = |key: &&Key| key.pointer == self.pointer;
        REFUSED.iter().find(is_it).is_some_and(|key| key.opens_in(&self.origin))
    }
}

const RUNS: &str = "a repository may not start programs";
const WIDENS: &str = "a repository may not widen what tools may do";
const REDIRECTS: &str = "a repository may not choose where requests go";
const FIGURES: &str = "a repository may not change the properties of models";

/// A key that is not taken over from a repository.
struct Key {
    pointer: &'static str,
    reason: &'static str,
    /// What it is, where trust in the repository opens it.
    kind: Option<TrustSubject>,
    files: SettingsFiles,
}

/// Settings files of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingsFiles {
    /// `settings.json` and `settings.local.json`.
    Both,
    /// The latter alone, which is not meant to be shared.
    Local,
}

impl Key {
    fn opens_in(&self, origin: &ValueOrigin) -> bool {
        let is_local = matches!(origin, ValueOrigin::Local(_));
        self.kind.is_some() && (self.files == SettingsFiles::Both || is_local)
    }
}

const fn never(pointer: &'static str, reason: &'static str) -> Key {
    Key { pointer, reason, kind: None, files: SettingsFiles::Both }
}

const fn trusted(pointer: &'static str, reason: &'static str, kind: TrustSubject) -> Key {
    Key { pointer, reason, kind: Some(kind), files: SettingsFiles::Both }
}

const REFUSED: &[Key] = &[
    Key {
        files: SettingsFiles::Local,
        ..trusted(
            "/autoMemoryDirectory",
            "a repository may not move the memory directory",
            TrustSubject::MemoryPaths,
        )
    },
    trusted("/env", "a repository may not set variables for programs", TrustSubject::Variables),
    trusted("/apiKeyHelper", RUNS, TrustSubject::Programs),
    trusted("/hooks", RUNS, TrustSubject::Hooks),
    trusted("/mcpServers", RUNS, TrustSubject::Servers),
    trusted("/enabledPlugins", RUNS, TrustSubject::Plugins),
    trusted("/statusLine", RUNS, TrustSubject::Programs),
    never("/cleanupPeriodDays", "a repository may not remove transcripts"),
    trusted(ALLOW, WIDENS, TrustSubject::Permissions),
    trusted("/permissions/additionalDirectories", WIDENS, TrustSubject::Permissions),
    never("/everfold/provider", REDIRECTS),
    never("/everfold/flag_source", REDIRECTS),
    never("/everfold/fleet", REDIRECTS),
    never("/everfold/memory_home", "a repository may not move the memory directory"),
    never("/everfold/memory", "a repository may not change how memories are kept"),
    never("/everfold/limits/fleet", "a repository may not change what a fleet may send"),
    never("/everfold/limits/team", "a repository may not change what a team may send"),
    never("/everfold/sandbox", WIDENS),
    never("/everfold/models", FIGURES),
    never("/everfold/prices", FIGURES),
    never("/everfold/budget", "a repository may not spend more in the background"),
];

/// Switches that a repository may turn in one direction only.
const ONE_WAY: &[(&str, bool, &str)] = &[
    ("/autoMemoryEnabled", false, "a repository may not turn memories on"),
    ("/autoDreamEnabled", false, "a repository may not spend more in the background"),
    ("/fileCheckpointingEnabled", true, "a repository may not stop files from being kept"),
];

const ALLOW: &str = "/permissions/allow";
const MODE: &str = "/permissions/defaultMode";
/// The widest mode that a trusted repository may ask for.
const WIDEST: &str = "acceptEdits";

/// What in settings is off by itself and on with trust, where they have any.
pub(crate) fn openable(value: &Value, origin: &ValueOrigin) -> Vec<(&'static str, TrustSubject)> {
    let has = |pointer: &str| match value.pointer(pointer) {
        None | Some(Value::Null) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
        Some(_) => true,
    };
    let keys = REFUSED.iter().filter(|key| key.opens_in(origin));
    let keys = keys.filter_map(|key| Some((key.pointer, key.kind?)));
    let mut found: Vec<_> = keys.filter(|(pointer, _)| has(pointer)).collect();
    if value.pointer(MODE).and_then(Value::as_str) == Some(WIDEST) {
        found.push((MODE, TrustSubject::Permissions));
    }
    found
}

/// Takes out permission rules that this program wrote for its person, and gives them.
pub(crate) fn take_own_rules(value: &mut Value, own: &BTreeSet<String>) -> Vec<Value> {
    let Some(Value::Array(rules)) = value.pointer_mut(ALLOW) else { return Vec::new() };
    let is_own = |rule: &Value| rule.as_str().is_some_and(|rule| own.contains(rule));
    let taken: Vec<Value> = rules.extract_if(.., |rule| is_own(rule)).collect();
    if !taken.is_empty() && rules.is_empty() {
        take(value, ALLOW);
    }
    taken
}

fn give_back(value: &mut Value, own: Vec<Value>) {
    let Some(permissions) = value.get_mut("permissions").and_then(Value::as_object_mut) else {
        return;
    };
    let rules = permissions.entry("allow").or_insert_with(|| Value::Array(Vec::new()));
    if let Some(rules) = rules.as_array_mut() {
        rules.extend(own);
    }
}

/// Settings of a working tree, and who may say what of them is taken over.
pub(crate) struct Judge<'a> {
    pub(crate) path: &'a Path,
    /// What a person said of the tree.
    pub(crate) trust: &'a Trust,
    /// The mode that the person's own settings ask for.
    pub(crate) below: PermissionMode,
}

impl Judge<'_> {
    fn approves(&self, pointer: &str, value: &Value) -> bool {
        value.pointer(pointer).is_some_and(|at| self.trust.approves(self.path, pointer, at))
    }
}

/// Takes out of the settings of a working tree what they may not say.
pub(crate) fn refuse(value: &mut Value, origin: &ValueOrigin, judge: &Judge<'_>) -> Vec<Refused> {
    let own = take_own_rules(value, judge.trust.own_rules());
    let mut refused = Vec::new();
    let mut refuse = |value: &mut Value, pointer: &str, reason| {
        if take(value, pointer).is_some() {
            refused.push(Refused { pointer: pointer.to_owned(), origin: origin.clone(), reason });
        }
    };
    for key in REFUSED {
        if !key.opens_in(origin) || !judge.approves(key.pointer, value) {
            refuse(value, key.pointer, key.reason);
        }
    }
    for (pointer, may_be, reason) in ONE_WAY {
        if value.pointer(pointer).is_some_and(|at| at != *may_be) {
            refuse(value, pointer, reason);
        }
    }
    if is_wider(value, judge) {
        refuse(value, MODE, WIDENS);
    }
    if !own.is_empty() {
        give_back(value, own);
    }
    refused
}

/// Whether the mode is wider than the person's own.
fn is_wider(value: &Value, judge: &Judge<'_>) -> bool {
    let below = judge.below;
    match value.pointer(MODE) {
        // Null takes back what was set before, so it stands for the default mode.
        Some(Value::Null) => below == PermissionMode::Plan,
        Some(Value::String(mode)) => match mode.as_str() {
            WIDEST => !judge.approves(MODE, value),
            "bypassPermissions" => true,
            "default" => below == PermissionMode::Plan,
            _ => false,
        },
        _ => false,
    }
}

/// Takes out a permission mode that only other tools know, so that their
/// settings files can be shared. What stays is the stricter default.
pub(crate) fn refuse_foreign_mode(value: &mut Value, origin: &ValueOrigin) -> Option<Refused> {
    let mode = value.pointer(MODE)?;
    let foreign =
        mode.is_string() && serde_json::from_value::<PermissionMode>(mode.clone()).is_err();
    foreign.then(|| {
        take(value, MODE);
        Refused {
            pointer: MODE.to_owned(),
            origin: origin.clone(),
            reason: "not a mode of Everfold: default, acceptEdits, plan or bypassPermissions",
        }
    })
}

fn take(value: &mut Value, pointer: &str) -> Option<Value> {
    let (parent, key) = pointer.rsplit_once('/')?;
    value.pointer_mut(parent)?.as_object_mut()?.shift_remove(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(value: &Value, below: PermissionMode) -> (Value, Vec<String>) {
        let mut value = value.clone();
        let (home, root) = (crate::Home::at("/none/home"), Path::new("/none/root"));
        let place = crate::TreeInputs { home: &home, user_home: None, root, cwd: root };
        let trust = Trust::look(&place);
        let judge = Judge { path: Path::new("p"), trust: &trust, below };
        let refused = refuse(&mut value, &ValueOrigin::Project("p".into()), &judge);
        (value, refused.into_iter().map(|r| r.pointer).collect())
    }

    #[test]
    fn s2_a_repository_may_narrow_but_not_widen() {
        let settings = json!({
            "model": "m", "autoMemoryDirectory": "/", "env": {"PATH": "."}, "apiKeyHelper": "x",
            "hooks": {"Stop": []}, "mcpServers": {}, "enabledPlugins": {"a@b": true}, "statusLine": {},
            "cleanupPeriodDays": 1, "autoMemoryEnabled": true, "autoDreamEnabled": true,
            "fileCheckpointingEnabled": false,
            "permissions": {"allow": ["Bash"], "deny": ["Read(.env)"], "ask": ["Write"],
                            "additionalDirectories": ["/"], "defaultMode": "bypassPermissions"},
            "everfold": {"provider": {"base_url": "http://evil"}, "flag_source": {"url": "http://evil"}, "fleet": {},
                       "memory": {}, "memory_home": "/x", "models": {}, "prices": {}, "budget": {}, "sandbox": {},
                       "flags": {"snip": false}, "limits": {"team": {"files": 1}, "fleet": {}}}
        });
        let (kept, names) = refused(&settings, PermissionMode::Default);
        assert_eq!(
            kept,
            json!({
                "model": "m",
                "permissions": {"deny": ["Read(.env)"], "ask": ["Write"]},
                "everfold": {"flags": {"snip": false}, "limits": {}}
            })
        );
        assert_eq!(names.len(), REFUSED.len() + ONE_WAY.len() + 1);
    }

    /// What a repository may say without being trusted. A new key is decided
    /// here, or above.
    const FREE: &[&str] = &[
        "/model",
        "/permissions/ask",
        "/permissions/deny",
        "/permissions/defaultMode",
        "/autoCompactEnabled",
        "/autoCompactWindow",
        "/claudeMdExcludes",
        "/outputStyle",
        "/language",
        "/everfold/flags",
        "/everfold/limits",
        "/everfold/cache",
        "/everfold/compact",
        "/everfold/recall",
        "/everfold/small_model",
        "/everfold/fallback_model",
        "/everfold/thinking",
        "/everfold/effort",
        "/everfold/lean",
        "/everfold/terminal",
        "/everfold/auto_compact_percent",
    ];

    #[test]
    fn s9_of_every_key_it_is_decided_whether_a_repository_may_set_it() {
        let keys = crate::schema::keys(&crate::schema::settings_schema());
        let decided: Vec<&str> =
            FREE.iter().copied().chain(REFUSED.iter().map(|key| key.pointer)).collect();
        let one_way = ONE_WAY.iter().map(|(pointer, ..)| *pointer);
        let decided: Vec<&str> = decided.into_iter().chain(one_way).collect();
        let is_decided = |pointer: &String| {
            decided.iter().any(|at| pointer == at || pointer.starts_with(&format!("{at}/")))
        };
        let open: Vec<String> = keys
            .into_iter()
            .map(|key| key.pointer)
            .filter(|pointer| !is_decided(pointer))
            .collect();
        assert_eq!(open, Vec::<String>::new(), "decide whether a repository may set these");
    }

    #[test]
    fn s2_a_mode_counts_as_wider_against_the_persons_own() {
        let with = |mode: &str| json!({"permissions": {"defaultMode": mode}});
        let names = |mode: &str, below| refused(&with(mode), below).1;
        assert!(names("plan", PermissionMode::Default).is_empty());
        assert!(names("default", PermissionMode::AcceptEdits).is_empty());
        assert_eq!(names("default", PermissionMode::Plan), [MODE]);
        let taken_back = json!({"permissions": {"defaultMode": null}});
        assert_eq!(refused(&taken_back, PermissionMode::Plan).1, [MODE]);
        assert_eq!(names("acceptEdits", PermissionMode::BypassPermissions), [MODE]);
    }

    #[test]
    fn c6_a_mode_of_another_tool_is_left_out() {
        let mut value = json!({"permissions": {"defaultMode": "somethingElse"}});
        assert!(refuse_foreign_mode(&mut value, &ValueOrigin::Inline).is_some());
        assert_eq!(value, json!({"permissions": {}}));
        let mut known = json!({"permissions": {"defaultMode": "plan"}});
        assert!(refuse_foreign_mode(&mut known, &ValueOrigin::Inline).is_none());
    }
}
