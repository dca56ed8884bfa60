//! What a repository's settings may not do (S2).
//!
//! A repository under your feet is hostile: its committed settings may narrow
//! what tools do, but not widen it, start programs, send requests elsewhere or
//! move or remove what a person keeps. A local settings file that git tracks
//! counts as committed. What widens or starts programs is taken over where a
//! person trusts the repository (S7); the rest never is.

use crate::origin::ValueOrigin;
use crate::trust::{Trust, TrustSubject};
use everfold_kernel::settings::PermissionMode;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// Whether git tracks the local settings file. Ask git for the file's real
/// path: below a link, it calls a tracked file untracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracked {
    /// It does, so the file came with the repository.
    Yes,
    /// It does not, or there is no git.
    No,
}

/// A value that was not taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The key, as a JSON pointer.
    pub pointer: String,
    /// Who set it.
    pub origin: ValueOrigin,
    /// Why it was not taken over.
    pub reason: &'static str,
}

impl Refused {
    /// Whether it is taken over where a person trusts the repository (S7).
    #[must_use]
    pub fn opens_with_trust(&self) -> bool {
        let is_it = |key: &&Key| key.pointer == self.pointer;
        REFUSED.iter().find(is_it).is_some_and(|key| key.kind.is_some())
    }
}

const RUNS: &str = "a repository may not start programs";
const WIDENS: &str = "a repository may not widen what tools may do";
const REDIRECTS: &str = "a repository may not choose where requests go";
const FIGURES: &str = "a repository may not change what is known of models";

/// A key that is not taken over from a repository.
struct Key {
    pointer: &'static str,
    reason: &'static str,
    /// What it is, where trust in the repository opens it.
    kind: Option<TrustSubject>,
}

const fn never(pointer: &'static str, reason: &'static str) -> Key {
    Key { pointer, reason, kind: None }
}

const fn trusted(pointer: &'static str, reason: &'static str, kind: TrustSubject) -> Key {
    Key { pointer, reason, kind: Some(kind) }
}

const REFUSED: &[Key] = &[
    never("/autoMemoryDirectory", "a repository may not move the memory directory"),
    trusted("/env", "a repository may not set variables for programs", TrustSubject::Variables),
    trusted("/apiKeyHelper", RUNS, TrustSubject::Programs),
    trusted("/hooks", RUNS, TrustSubject::Hooks),
    trusted("/mcpServers", RUNS, TrustSubject::Servers),
    trusted("/enabledPlugins", RUNS, TrustSubject::Plugins),
    trusted("/statusLine", RUNS, TrustSubject::Programs),
    never("/cleanupPeriodDays", "a repository may not remove transcripts"),
    trusted("/permissions/allow", WIDENS, TrustSubject::Permissions),
    trusted("/permissions/additionalDirectories", WIDENS, TrustSubject::Permissions),
    never("/everfold/provider", REDIRECTS),
    never("/everfold/flag_source", REDIRECTS),
    never("/everfold/memory_home", "a repository may not move the memory directory"),
    never("/everfold/memory", "a repository may not say how memories are kept"),
    never("/everfold/sandbox", WIDENS),
    never("/everfold/models", FIGURES),
    never("/everfold/prices", FIGURES),
    never("/everfold/budget", "a repository may not spend more in the background"),
];

const MODE: &str = "/permissions/defaultMode";
/// The widest mode that a trusted repository may ask for.
const WIDEST: &str = "acceptEdits";

/// What in settings is off by itself and on with trust, where they have any.
pub(crate) fn openable(value: &Value) -> Vec<(&'static str, TrustSubject)> {
    let has = |pointer: &str| match value.pointer(pointer) {
        None | Some(Value::Null) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
        Some(_) => true,
    };
    let keys = REFUSED.iter().filter_map(|key| Some((key.pointer, key.kind?)));
    let mut found: Vec<_> = keys.filter(|(pointer, _)| has(pointer)).collect();
    if value.pointer(MODE).and_then(Value::as_str) == Some(WIDEST) {
        found.push((MODE, TrustSubject::Permissions));
    }
    found
}

/// A repository's settings, and who may say what of them is taken over.
pub(crate) struct Judge<'a> {
    /// The file.
    pub(crate) path: &'a Path,
    /// What a person said of the repository, if they were asked.
    pub(crate) trust: Option<&'a Trust>,
    /// The mode that the person's own settings ask for.
    pub(crate) below: PermissionMode,
}

impl Judge<'_> {
    fn approves(&self, kind: Option<TrustSubject>, pointer: &str, value: &Value) -> bool {
        let approved = self.trust.zip(kind).zip(value.pointer(pointer));
        approved.is_some_and(|((trust, kind), at)| trust.approves(kind, self.path, pointer, at))
    }
}

/// Takes out of a repository's settings what they may not say.
pub(crate) fn refuse(value: &mut Value, origin: &ValueOrigin, judge: &Judge<'_>) -> Vec<Refused> {
    let below = judge.below;
    let mut refused = Vec::new();
    for key in REFUSED {
        if judge.approves(key.kind, key.pointer, value) {
            continue;
        }
        if take(value, key.pointer).is_some() {
            refused.push(Refused {
                pointer: key.pointer.to_owned(),
                origin: origin.clone(),
                reason: key.reason,
            });
        }
    }
    // Null takes back what was set before, so it stands for the default mode.
    let wider = match value.pointer(MODE) {
        Some(Value::Null) => below == PermissionMode::Plan,
        Some(Value::String(mode)) => match mode.as_str() {
            WIDEST => !judge.approves(Some(TrustSubject::Permissions), MODE, value),
            "bypassPermissions" => true,
            "default" => below == PermissionMode::Plan,
            _ => false,
        },
        _ => false,
    };
    if wider {
        take(value, MODE);
        refused.push(Refused { pointer: MODE.to_owned(), origin: origin.clone(), reason: WIDENS });
    }
    refused
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
            reason: "no mode of Everfold: default, acceptEdits, plan or bypassPermissions",
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
        let judge = Judge { path: Path::new("p"), trust: None, below };
        let refused = refuse(&mut value, &ValueOrigin::Project("p".into()), &judge);
        (value, refused.into_iter().map(|r| r.pointer).collect())
    }

    #[test]
    fn s2_a_repository_may_narrow_but_not_widen() {
        let settings = json!({
            "model": "m", "autoMemoryDirectory": "/", "env": {"PATH": "."}, "apiKeyHelper": "x",
            "hooks": {"Stop": []}, "mcpServers": {}, "enabledPlugins": {"a@b": true}, "statusLine": {},
            "cleanupPeriodDays": 1,
            "permissions": {"allow": ["Bash"], "deny": ["Read(.env)"], "ask": ["Write"],
                            "additionalDirectories": ["/"], "defaultMode": "bypassPermissions"},
            "everfold": {"provider": {"base_url": "http://evil"}, "flag_source": {"url": "http://evil"},
                       "memory": {}, "memory_home": "/x", "models": {}, "prices": {}, "budget": {}, "sandbox": {},
                       "flags": {"snip": false}}
        });
        let (kept, names) = refused(&settings, PermissionMode::Default);
        assert_eq!(
            kept,
            json!({
                "model": "m",
                "permissions": {"deny": ["Read(.env)"], "ask": ["Write"]},
                "everfold": {"flags": {"snip": false}}
            })
        );
        assert_eq!(names.len(), REFUSED.len() + 1);
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
