//! Manifests, good and bad.

use super::*;
use proptest::prelude::*;

#[test]
fn q7_a_name_is_enough() {
    let own = PluginManifest::parse(r#"{"name": "tidy"}"#).unwrap();
    assert_eq!((own.name.as_str(), own.version, own.default_enabled), ("tidy", None, true));
    assert_eq!(own.skills, [PluginPath::Usual("skills".into())]);
    assert_eq!(own.commands, [PluginPath::Usual("commands".into())]);
    assert_eq!(own.hooks, [JsonPart::File(PluginPath::Usual("hooks/hooks.json".into()))]);
    assert!(own.faults.is_empty());
}

#[test]
fn q7_skills_are_added_and_commands_and_agents_replaced() {
    let own = PluginManifest::parse(
        r#"{"name": "tidy", "version": "1.2", "defaultEnabled": false, "skills": "./more/",
            "commands": ["./a.md", "./b"], "agents": [],
            "hooks": ["./hooks/hooks.json", "./other.json", {"Stop": []}],
            "mcpServers": {"web": {"command": "x"}},
            "userConfig": {"n": {"default": 3}, "s": {"default": "t"}, "u": {"type": "string"}},
            "lspServers": {}}"#,
    )
    .unwrap();
    assert!(!own.default_enabled);
    let named = |path: &str| PluginPath::Named(path.into());
    assert_eq!(own.skills, [PluginPath::Usual("skills".into()), named("more")]);
    assert_eq!(own.commands, [named("a.md"), named("b")]);
    assert!(own.agents.is_empty());
    assert_eq!(own.hooks.len(), 3, "the usual file once: {:?}", own.hooks);
    assert!(matches!(&own.servers[1], JsonPart::Inline(map) if map.contains_key("web")));
    let options: Vec<(&str, &str)> =
        own.options.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(options, [("n", "3"), ("s", "t")]);
}

#[test]
fn s1_paths_that_leave_the_plugin_are_named_and_left_out() {
    let own = PluginManifest::parse(
        r#"{"name": "sly", "skills": ["../x", "/etc", "./a/../../b", "plain", 3, "./ok"],
            "hooks": "./../../h.json"}"#,
    )
    .unwrap();
    assert_eq!(own.skills.last(), Some(&PluginPath::Named("ok".into())));
    assert_eq!((own.skills.len(), own.hooks.len()), (2, 1));
    assert_eq!(own.faults.len(), 6, "{:?}", own.faults);
}

#[test]
fn s6_what_is_no_manifest_says_why() {
    let error = |text: &str| PluginManifest::parse(text).unwrap_err().to_string();
    assert!(error("{").contains("not a JSON object"));
    assert!(error("[]").contains("not a JSON object"));
    assert!(error("{}").contains("no name"));
    for name in ["../x", "a b", ".x", "a:b", "é"] {
        assert!(error(&format!(r#"{{"name": {name:?}}}"#)).contains("cannot name a plugin"));
    }
}

proptest! {
    #[test]
    fn s1_no_path_of_a_manifest_leaves_it(path in "[./a-c\\\\]{0,12}") {
        let text = serde_json::json!({"name": "x", "skills": path}).to_string();
        for place in PluginManifest::parse(&text).unwrap().skills {
            let (PluginPath::Usual(path) | PluginPath::Named(path)) = place;
            prop_assert!(path.components().all(|part| matches!(part, Component::Normal(_))));
        }
    }
}
