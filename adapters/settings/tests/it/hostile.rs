//! Whatever a repository writes, it gets no more than it may (S2).

use crate::house::House;
use everfold_kernel::settings::PermissionMode;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Values of any shape, with the names that matter as keys.
fn anything() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..200_u16).prop_map(Value::from),
        prop::sample::select(vec!["Bash", "bypassPermissions", "default", "plan", "http://x"])
            .prop_map(Value::from),
    ];
    let names = prop::sample::select(vec![
        "permissions",
        "allow",
        "deny",
        "ask",
        "defaultMode",
        "additionalDirectories",
        "everfold",
        "provider",
        "base_url",
        "flag_source",
        "url",
        "models",
        "prices",
        "env",
        "hooks",
        "apiKeyHelper",
        "statusLine",
        "autoMemoryDirectory",
        "cleanupPeriodDays",
        "x",
    ]);
    scalar.prop_recursive(3, 24, 5, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            4 => prop::collection::btree_map(names.clone(), inner, 0..5)
                .prop_map(|map| map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s2_no_form_of_repository_settings_widens(
        permissions in anything(), everfold in anything(), other in anything(),
    ) {
        let mut project = json!({"permissions": permissions, "everfold": everfold});
        if let Value::Object(other) = other {
            for (key, value) in other {
                project[key] = value;
            }
        }
        let house = House::new()
            .home_settings(&json!({"permissions": {"deny": ["Read(secret)"], "defaultMode": "plan"}}))
            .project(&project);
        // A file that is refused whole widens nothing.
        if let Ok(resolved) = house.load() {
            let settings = resolved.settings;
            prop_assert!(settings.permissions.allow.is_empty());
            prop_assert!(settings.permissions.additional_directories.is_empty());
            prop_assert!(settings.permissions.deny.contains(&"Read(secret)".to_owned()));
            prop_assert_eq!(settings.permissions.default_mode, Some(PermissionMode::Plan));
            prop_assert!(settings.env.is_empty() && settings.hooks.is_empty());
            prop_assert!(settings.api_key_helper.is_none() && settings.status_line.is_none());
            prop_assert!(settings.auto_memory_directory.is_none());
            prop_assert!(settings.cleanup_period_days.is_none());
            let own = settings.everfold;
            prop_assert_eq!(own.provider, everfold_kernel::settings::Provider::default());
            prop_assert_eq!(own.flag_source, everfold_kernel::settings::FlagSource::default());
            prop_assert!(own.models.is_empty() && own.prices.is_empty());
        }
    }
}
