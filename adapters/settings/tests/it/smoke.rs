//! Whatever stands in settings, commands and trust records: no panic, and
//! nothing that was not recorded is let in (S9, S14).

use crate::house::House;
use everfold_kernel::Settings;
use everfold_settings::trust::TrustState;
use everfold_settings::{Home, TreeInputs, Trust};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

fn any_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
        Just(json!("bypassPermissions")),
        Just(json!("acceptEdits")),
        Just(json!("touch owned")),
    ];
    let key = prop_oneof![
        "[a-z~/$.]{0,6}",
        prop::sample::select(vec![
            "hooks",
            "env",
            "permissions",
            "allow",
            "defaultMode",
            "apiKeyHelper",
            "mcpServers",
            "statusLine",
            "everfold",
            "provider",
            "base_url",
            "sandbox",
            "command",
            "args",
            "Stop",
            "autoMemoryDirectory",
            "enabledPlugins",
            "additionalDirectories",
            "cleanupPeriodDays",
        ])
        .prop_map(str::to_owned),
    ];
    scalar.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// That settings hold nothing that acts or widens.
pub(crate) fn assert_harmless(settings: &Settings) {
    let own = Settings::default();
    assert_eq!(settings.hooks, own.hooks);
    assert_eq!(settings.env, own.env);
    assert_eq!(settings.api_key_helper, None);
    assert_eq!(settings.mcp_servers, own.mcp_servers);
    assert_eq!(settings.enabled_plugins, own.enabled_plugins);
    assert_eq!(settings.status_line, None);
    assert_eq!(settings.auto_memory_directory, None);
    assert_eq!(settings.cleanup_period_days, None);
    assert!(settings.permissions.allow.is_empty());
    assert!(settings.permissions.additional_directories.is_empty());
    let mode =
        settings.permissions.default_mode.map(everfold_kernel::settings::PermissionMode::as_str);
    assert!(!matches!(mode, Some("bypassPermissions" | "acceptEdits")));
    assert_eq!(settings.everfold.provider, own.everfold.provider);
    assert_eq!(settings.everfold.sandbox, own.everfold.sandbox);
}

pub(crate) fn trust_at(home: &Path, root: &Path) -> Trust {
    let home = Home::at(home);
    Trust::look(&TreeInputs { home: &home, user_home: None, root, cwd: root })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn s9_s14_any_settings_of_a_tree_load_and_widen_nothing(project in any_value(), local in any_value()) {
        let house = House::new().project(&project).local(&local);
        assert_harmless(&house.load().unwrap().settings);
    }

    #[test]
    fn s9_s14_any_bytes_as_settings_of_a_tree_load_and_widen_nothing(
        bytes in prop::collection::vec(any::<u8>(), 0..400), cut in 0_usize..200,
    ) {
        let text = json!({"hooks": {"Stop": []}, "env": {"A": "b"}, "permissions": {"allow": ["Bash"]}});
        let mut text = text.to_string().into_bytes();
        text.truncate(cut);
        text.extend(bytes);
        let house = House::new().write("repo/.claude/settings.local.json", &text);
        assert_harmless(&house.load().unwrap().settings);
    }

    #[test]
    fn s9_any_trust_record_opens_nothing_that_it_does_not_name(record in any_value(), as_file in any::<bool>()) {
        let house = House::new().project(&json!({"hooks": {"Stop": [{"hooks": [{"command": "./h.sh"}]}]}}));
        let root = house.path("repo").canonicalize().unwrap();
        let key = root.display().to_string();
        let file = if as_file { record } else { json!({"repositories": {key: record}, "rules": {}}) };
        let house = house.write("home/trust.json", file.to_string());
        let trust = trust_at(&house.path("home"), &root);
        prop_assert_ne!(trust.standing(), &TrustState::Trusted);
        assert_harmless(&house.load().unwrap().settings);
    }

    #[test]
    fn s9_any_command_is_looked_through(command in "[ -~\\n]{0,80}") {
        let house = House::new().project(&json!({"apiKeyHelper": command.clone(), "hooks": {"Stop": [{"hooks": [{"command": command}]}]}}));
        let root = house.path("repo").canonicalize().unwrap();
        let trust = trust_at(&house.path("home"), &root);
        prop_assert_ne!(trust.standing(), &TrustState::Trusted);
    }
}
