use super::*;
use crate::merge::merge;
use serde_json::json;

fn variables(pairs: &[(&str, &str)]) -> Variables {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn value(pairs: &[(&str, &str)]) -> Value {
    merge(&read(&variables(pairs)).unwrap().layers).value
}

fn error(pairs: &[(&str, &str)]) -> String {
    read(&variables(pairs)).unwrap_err().to_string()
}

#[test]
fn c5_every_variable_sets_its_key() {
    let all = value(&[
        ("MNEMON_PROVIDER", "offline"),
        ("MNEMON_MODEL", "m"),
        ("MNEMON_SMALL_MODEL", "s"),
        ("MNEMON_MEMORY_DIR", "/mem"),
        ("MNEMON_DISABLE_AUTO_MEMORY", "1"),
        ("MNEMON_AUTO_COMPACT_WINDOW", "100000"),
        ("MNEMON_AUTO_COMPACT_PERCENT", "80"),
        ("MNEMON_FLAG_RECALL", "0"),
        ("MNEMON_LIMIT_MAX_RETRIES", "3"),
        ("HOME", "/home/ada"),
    ]);
    assert_eq!(
        all,
        json!({
            "model": "m", "autoMemoryDirectory": "/mem", "autoMemoryEnabled": false,
            "autoCompactWindow": 100_000,
            "mnemon": {"provider": {"kind": "offline"}, "small_model": "s", "auto_compact_percent": 80,
                       "flags": {"recall": false}, "limits": {"max_retries": 3}}
        })
    );
}

#[test]
fn c5_every_flag_has_a_variable() {
    for flag in Flag::ALL {
        let name = flag.env_name();
        let on = value(&[(&name, "1")]);
        assert_eq!(on["mnemon"]["flags"][flag.name()], true, "{name}");
    }
}

#[test]
fn q3_every_limit_has_a_variable_of_its_own() {
    let mut names: Vec<String> = limit_variables().map(|(name, _)| name).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(names.contains(&"MNEMON_LIMIT_MAX_RETRIES".to_owned()));
}

#[test]
fn q3_nested_limits_are_joined_by_an_underscore() {
    let mut out = Vec::new();
    walk(
        &json!({"offload": {"preview_bytes": 1}, "plain": 2}),
        env::LIMIT_PREFIX,
        "/mnemon/limits",
        &mut out,
    );
    assert_eq!(
        out,
        [
            (
                "MNEMON_LIMIT_OFFLOAD_PREVIEW_BYTES".to_owned(),
                "/mnemon/limits/offload/preview_bytes".to_owned()
            ),
            ("MNEMON_LIMIT_PLAIN".to_owned(), "/mnemon/limits/plain".to_owned()),
        ]
    );
}

#[test]
fn c5_names_of_claude_code_are_honoured_where_ours_is_unset() {
    assert_eq!(
        value(&[("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")]),
        json!({"autoMemoryEnabled": false})
    );
    assert_eq!(
        value(&[("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "0")]),
        json!({"autoMemoryEnabled": true})
    );
    assert_eq!(
        value(&[("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "5"), ("MNEMON_AUTO_COMPACT_WINDOW", "6")]),
        json!({"autoCompactWindow": 6})
    );
    assert_eq!(
        value(&[("CLAUDE_CODE_MAX_RETRIES", "5"), ("MNEMON_LIMIT_MAX_RETRIES", "")]),
        json!({"mnemon": {"limits": {"max_retries": 5}}})
    );
    let read = read(&variables(&[("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "50")])).unwrap();
    assert_eq!(read.layers[0].origin, Origin::Env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE".into()));
}

#[test]
fn c5_auto_compact_is_off_by_the_names_of_claude_code() {
    let off = json!({"mnemon": {"flags": {"auto_compact": false}}});
    assert_eq!(value(&[("DISABLE_AUTO_COMPACT", "1")]), off);
    assert_eq!(value(&[("DISABLE_COMPACT", "true")]), off);
    assert_eq!(value(&[("DISABLE_COMPACT", "0")]), json!({}));
    assert_eq!(
        value(&[("DISABLE_AUTO_COMPACT", "1"), ("MNEMON_FLAG_AUTO_COMPACT", "1")]),
        json!({"mnemon": {"flags": {"auto_compact": true}}})
    );
}

#[test]
fn c5_a_wrong_value_names_the_variable_and_what_it_takes() {
    assert_eq!(
        error(&[("MNEMON_PROVIDER", "acme")]),
        "use the variable MNEMON_PROVIDER: it takes anthropic, openai or offline"
    );
    assert_eq!(
        error(&[("MNEMON_FLAG_RECALL", "maybe")]),
        "use the variable MNEMON_FLAG_RECALL: it takes 0 or 1"
    );
    assert_eq!(
        error(&[("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "0")]),
        "use the variable CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: it takes a whole number from 1 to 100"
    );
    for wrong in ["-1", "many", "99999999999", "1.5", "\"3\"", "null"] {
        assert!(
            error(&[("MNEMON_LIMIT_MAX_RETRIES", wrong)]).contains("MNEMON_LIMIT_MAX_RETRIES"),
            "{wrong}"
        );
    }
}

#[test]
fn c4_unknown_flags_and_limits_are_named() {
    let read =
        read(&variables(&[("MNEMON_FLAG_FLY", "what"), ("MNEMON_LIMIT_SPEED", "x")])).unwrap();
    let names: Vec<&str> = read.unknown.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["/mnemon/flags/fly", "/mnemon/limits/speed"]);
    assert!(read.layers.is_empty());
}

#[test]
fn t3_the_window_of_an_unknown_model_comes_from_the_environment() {
    let window = |name: &str| read(&variables(&[(name, "64000")])).unwrap().ambient.context_window;
    assert_eq!(window("MNEMON_CONTEXT_WINDOW"), Some(64_000));
    assert_eq!(window("CLAUDE_CODE_MAX_CONTEXT_TOKENS"), Some(64_000));
    assert!(error(&[("MNEMON_CONTEXT_WINDOW", "200k")]).contains("MNEMON_CONTEXT_WINDOW"));
}

#[test]
fn c5_remote_mode() {
    let read = read(&variables(&[
        ("MNEMON_REMOTE", "1"),
        ("MNEMON_REMOTE_MEMORY_DIR", "/r"),
        ("MNEMON_MEMORY_EXTRA_GUIDELINES", "be brief"),
    ]))
    .unwrap();
    assert_eq!(read.ambient.place, Place::Remote);
    assert_eq!(read.ambient.remote_memory_dir.as_deref(), Some("/r"));
    assert_eq!(read.ambient.memory_extra_guidelines.as_deref(), Some("be brief"));
}
